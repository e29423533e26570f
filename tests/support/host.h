/* host.h - a fixture for tests of the library: a folder with a pipeline whose items say what
 * happens with them, and a record of the events of a job.
 *
 *   good.*  a row   bad.*  an error   wait.*  waits for the test's signal
 *
 *   host_setup(&h, "good", 3, "wait", 1, NULL);
 *   host_runtime(&h, NULL);
 *   host_submit(&h);
 *   ...
 *   host_end(&h);
 */
#ifndef TM_TESTS_HOST_H
#define TM_TESTS_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tidemill.h>

#define HOST_LIMIT_MS 120000

struct host {
  char dir[64];
  int go; /* a FIFO, open for both */
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *pipeline;
  struct tidemill_pipeline_step *step; /* of a pipeline that a test builds */
  struct tidemill_pipeline_input *input;
  struct tidemill_job *job;
  struct tidemill_job_options options;
  struct tidemill_error err;
  /* events received */
  int events, states, done, given_up, retried, ready, ended, progress;
  int node_states[TIDEMILL_NODE_ENDED + 1];
  int64_t rows; /* committed bytes */
  enum tidemill_state state;
  char text[400], log[4000];
  void (*on_event)(struct host *h, const struct tidemill_event *e);
  void *data;
};

/* Writes into 256 bytes. */
static inline void host_path(const struct host *h, const char *name, char *path)
{
  strcpy(path, h->dir);
  strcat(path, "/");
  strcat(path, name);
}

static inline void host_put(const struct host *h, const char *name, const char *text)
{
  char path[256];
  host_path(h, name, path);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

static const char *const host_score =
    "function run(files)\n"
    "  local rows = {}\n"
    "  for i, path in ipairs(files) do\n"
    "    local name = path:match '[^/]+$'\n"
    "    if name:find '^wait' then\n"
    "      local go = io.open(arg[1] .. '/go')\n"
    "      go:setvbuf 'no'\n"
    "      go:read(1)\n"
    "    end\n"
    "    if name:find '^bad' then error('no good: ' .. name) end\n"
    "    rows[i] = name\n"
    "  end\n"
    "  return rows\n"
    "end\n";

static const char host_text[] =
    "local t = require 'tidemill'\n"
    "return t.Pipeline { name = 'case', steps = { t.ParallelRunStep { name = 'score',\n"
    "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua', mini_batch_size = "
    "1,\n"
    "    process_count_per_node = t.PipelineParameter { name = 'workers', default_value = 2 },\n"
    "    run_max_try = 2, error_threshold = -1 },\n"
    "  inputs = t.Dataset.File.from_files 'in/*', arguments = { '%s' } } } }\n";

static inline void host_told(const struct tidemill_event *e, void *data)
{
  struct host *h = data;
  h->events++;
  assert_int_equal(e->size, sizeof(*e));
  switch (e->kind) {
  case TIDEMILL_EVENT_STATE:
    h->states++;
    h->state = e->state;
    break;
  case TIDEMILL_EVENT_PROGRESS: h->progress++; break;
  case TIDEMILL_EVENT_MINI_BATCH:
    h->done += e->outcome == TIDEMILL_OUTCOME_DONE;
    h->given_up += e->outcome == TIDEMILL_OUTCOME_GIVEN_UP;
    h->retried += e->outcome == TIDEMILL_OUTCOME_RETRIED;
    if (e->outcome != TIDEMILL_OUTCOME_DONE)
      snprintf(h->text, sizeof h->text, "%s: %s", e->where, e->text);
    break;
  case TIDEMILL_EVENT_WORKER:
    h->ready += e->worker_state == TIDEMILL_WORKER_READY;
    h->ended += e->worker_state == TIDEMILL_WORKER_ENDED;
    break;
  case TIDEMILL_EVENT_NODE:
    h->node_states[e->node_state]++;
    assert_string_not_equal(e->node_id, "");
    assert_string_not_equal(e->text, "");
    break;
  case TIDEMILL_EVENT_STEP:
  case TIDEMILL_EVENT_LOG: break;
  case TIDEMILL_EVENT_ROWS: h->rows = e->output_bytes; break;
  }
  if (h->on_event)
    h->on_event(h, e);
}

/* Names, each followed by its number of items; NULL ends the list. */
static inline void host_setup(struct host *h, ...)
{
  char path[256], text[1200];
  const char *name;
  va_list ap;
  memset(h, 0, sizeof(*h));
  strcpy(h->dir, "/tmp/tidemill-host-XXXXXX");
  assert_non_null(mkdtemp(h->dir));
  host_path(h, "in", path);
  assert_int_equal(mkdir(path, 0700), 0);
  va_start(ap, h);
  while ((name = va_arg(ap, const char *)) != NULL) {
    int n = va_arg(ap, int);
    for (int i = 0; i < n; i++) {
      char item[64];
      snprintf(item, sizeof item, "in/%.40s.%03d", name, i);
      host_put(h, item, "");
    }
  }
  va_end(ap);
  host_path(h, "go", path);
  assert_int_equal(mkfifo(path, 0600), 0);
  h->go = open(path, O_RDWR | O_CLOEXEC);
  assert_true(h->go >= 0);
  host_put(h, "score.lua", host_score);
  snprintf(text, sizeof text, host_text, h->dir);
  host_put(h, "pipeline.lua", text);
  h->options = (struct tidemill_job_options)TIDEMILL_JOB_OPTIONS_INIT;
  h->options.on_event = host_told;
  h->options.data = h;
}

static inline void host_must(const struct host *h, int rc)
{
  if (rc < 0)
    fail_msg("%s", h->err.text);
}

static inline void host_runtime(struct host *h, const struct tidemill_runtime_options *given)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  char workspace[256];
  host_path(h, "ws", workspace);
  if (given)
    o = *given;
  o.workspace = workspace;
  host_must(h, tidemill_runtime_new(&h->rt, &o, &h->err));
}

static inline void host_load(struct host *h)
{
  char path[256];
  host_path(h, "pipeline.lua", path);
  host_must(h, tidemill_pipeline_load(&h->pipeline, h->rt, path, &h->err));
}

static inline void host_submit(struct host *h)
{
  host_load(h);
  host_must(h, tidemill_job_submit(&h->job, h->pipeline, &h->options, &h->err));
}

static inline void host_wait(struct host *h)
{
  host_must(h, tidemill_job_wait(h->job, HOST_LIMIT_MS, &h->err));
}

/* Runs a job to its end and closes it. */
static inline void host_run_job(struct host *h)
{
  host_submit(h);
  host_wait(h);
  tidemill_job_close(h->job);
  tidemill_pipeline_free(h->pipeline);
  h->job = NULL;
  h->pipeline = NULL;
}

/* The same, and keeps its directory. */
static inline void host_run_job_in(struct host *h, char *dir, size_t size)
{
  host_submit(h);
  host_wait(h);
  snprintf(dir, size, "%s", tidemill_job_dir(h->job));
  tidemill_job_close(h->job);
  h->job = NULL;
}

/* The last call failed with this code, and its message contains `words`. */
static inline void host_expect(const struct host *h, int rc, int code, const char *words)
{
  if (rc != code || !strstr(h->err.text, words))
    fail_msg("%d, '%s': expected %d with '%s'", rc, h->err.text, code, words);
}

/* The workspace of the case. */
static inline struct tidemill_workspace *host_workspace(struct host *h, bool make)
{
  struct tidemill_workspace_options o = TIDEMILL_WORKSPACE_OPTIONS_INIT;
  struct tidemill_workspace *ws = NULL;
  char path[256];
  host_path(h, "ws", path);
  o.path = path;
  o.make = make;
  host_must(h, tidemill_workspace_open(&ws, &o, &h->err));
  assert_string_equal(tidemill_workspace_path(ws), path);
  return ws;
}

static inline void host_go(const struct host *h, int n)
{
  for (int i = 0; i < n; i++)
    assert_int_equal(write(h->go, "g", 1), 1);
}

/* A handler of SIGCHLD. */
static inline void host_reap_all(int number)
{
  int saved = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0)
    ;
  errno = saved;
}

static inline void host_end(struct host *h)
{
  char command[128];
  tidemill_job_close(h->job);
  tidemill_pipeline_free(h->pipeline);
  if (h->rt)
    host_must(h, tidemill_runtime_close(h->rt, &h->err));
  close(h->go);
  strcpy(command, "rm -rf ");
  strcat(command, h->dir);
  assert_int_equal(system(command), 0);
}

#endif
