/* job_rig.h - runs whole jobs with core alone, without Lua: the test's program is supervisor,
 * keeper ("keeper") and worker ("worker"). A listener records every event. A test waits for events,
 * never for a time; JOB_LIMIT ends a test whose event never comes.
 *
 *   job_setup(&j);
 *   job_add(&j, "name", n);
 *   job_open(&j, ...);
 *   job_run(&j);
 *   expect ...
 *   job_close(&j);
 *   job_end(&j);
 */
#ifndef TM_TESTS_JOB_RIG_H
#define TM_TESTS_JOB_RIG_H

#include <ctype.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "job/job.h"
#include "job_keeper.h"
#include "job_script.h"
#include "node/worker_page.h"
#include "plan/pipeline.h"
#include "plan/read.h"
#include "sys/fs.h"
#include "sys/loop.h"
#include "sys/process.h"

#define JOB_LIMIT (60 * TM_S)
#define JOB_STEPS 2

struct job_seen { /* an event */
  enum tm_event_kind kind;
  uint32_t step;
  char worker[24], node[12], text[400];
  int64_t pid;
  enum tm_level level;
  uint64_t index;
  uint32_t try;
  int64_t picked, failed;
  enum tm_status status;
  bool is_final;
};

struct job {
  struct tm_loop *loop, own_loop;
  char dir[64], *job_dir, *self;
  struct tm_buf items[JOB_STEPS]; /* one path per line */
  int64_t items_len;
  /* settings; 0: the default */
  size_t steps;
  int64_t workers, size, max_try, max_result;
  double timeout, sync; /* seconds */
  int64_t threshold;    /* -1 after setup */
  bool isolates;        /* isolate_failures */
  const char *mode;
  const char *program; /* NULL: this program */
  const char *path;    /* the input, in place of the items */
  bool resume, keep_failed, no_rows;
  int64_t nodes; /* more than 0: compute_target = "exec"; the workers' number is not given */
  const char *node_words; /* the command of a node, without the program */
  struct tm_pipeline *pipeline;
  struct tm_job *job;
  struct tm_events events;
  struct tm_listener listener;
  struct TM_ARRAY(struct job_seen) seen;
  void (*on_seen)(struct job *j, const struct job_seen *e);
  void (*on_begun)(struct job *j);
  void (*on_tick)(struct job *j);
  struct tm_timer limit;
  struct tm_poll poll;
  int begun, go;
  bool is_ended, is_late;
  int *still_open; /* jobs on the loop that have not ended */
  int count;
};

static inline void job_keep(void *data, const struct tm_event *e)
{
  struct job *j = data;
  struct job_seen s = { .kind = e->kind, .pid = e->pid, .level = e->level };
  if (e->kind == TM_EVENT_TICK) {
    if (j->on_tick)
      j->on_tick(j);
    return;
  }
  s.step = e->step ? e->step->number : 0;
  snprintf(s.worker, sizeof s.worker, "%s", e->worker ? e->worker : "");
  snprintf(s.node, sizeof s.node, "%s", e->node_id ? e->node_id : "");
  snprintf(s.text, sizeof s.text, "%s", e->message ? e->message : e->text);
  if (e->attempt) {
    s.index = e->attempt->index;
    s.try = e->attempt->try;
    s.picked = e->attempt->picked;
    s.failed = e->attempt->failed;
    s.status = e->attempt->status;
    s.is_final = e->attempt->is_final;
    snprintf(s.text, sizeof s.text, "%s", e->attempt->message);
  }
  if (getenv("TM_TEST_SHOW"))
    fprintf(stderr, "%d %s %llu.%u p%d %d %s\n", s.kind, s.worker, (unsigned long long)s.index,
            s.try, (int)s.picked, s.status, s.text);
  *TM_ARRAY_ADD(&j->seen) = s;
  if (j->on_seen)
    j->on_seen(j, &s);
}

static inline int job_make_fifo(const struct job *j, const char *name)
{
  char *path = tm_path_join(j->dir, name);
  assert_int_equal(mkfifo(path, 0600), 0);
  int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  assert_true(fd >= 0);
  free(path);
  return fd;
}

static inline void job_setup(struct job *j)
{
  *j = (struct job) { .steps = 1, .workers = 2, .size = 1, .threshold = -1 };
  strcpy(j->dir, "/tmp/tidemill-test-XXXXXX");
  assert_non_null(mkdtemp(j->dir));
  j->job_dir = tm_path_join(j->dir, "job");
  j->self = tm_process_program();
  j->begun = job_make_fifo(j, "begun");
  j->go = job_make_fifo(j, "go");
  j->listener = (struct tm_listener) { .on_event = job_keep, .data = j };
  tm_events_add(&j->events, &j->listener);
}

/* Adds n items with this name; the numbering continues. */
static inline void job_add_to(struct job *j, size_t step, const char *name, int n)
{
  for (int i = 0; i < n; i++)
    tm_buf_printf(&j->items[step], "/%s.%06lld\n", name, (long long)j->items_len++);
}

static inline void job_add(struct job *j, const char *name, int n)
{
  job_add_to(j, 0, name, n);
}

static inline struct tm_json *job_tagged(const char *tag)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  v->tag = tm_xstrdup(tag);
  return v;
}

static inline void job_add_nodes(const struct job *j, struct tm_json *v)
{
  char *command = tm_xprintf("{program} %s", j->node_words);
  tm_json_set(v, "compute_target", tm_json_new_string("exec"));
  tm_json_set(v, "node_command", tm_json_new_string(command));
  tm_json_set(v, "node_count", tm_json_new_int(j->nodes));
  free(command);
}

static inline struct tm_json *job_config(const struct job *j)
{
  struct tm_json *v = job_tagged("ParallelRunConfig");
  tm_json_set(v, "entry_script", tm_json_new_string("score.lua"));
  tm_json_set(v, "mini_batch_size", tm_json_new_int(j->size));
  if (j->nodes > 0)
    job_add_nodes(j, v);
  else
    tm_json_set(v, "process_count_per_node", tm_json_new_int(j->workers));
  tm_json_set(v, "error_threshold", tm_json_new_int(j->threshold));
  if (j->no_rows)
    tm_json_set(v, "output_action", tm_json_new_string("summary_only"));
  if (j->max_try > 0)
    tm_json_set(v, "run_max_try", tm_json_new_int(j->max_try));
  if (j->timeout > 0)
    tm_json_set(v, "run_invocation_timeout", tm_json_new_number(j->timeout));
  if (j->sync > 0)
    tm_json_set(v, "sync_interval", tm_json_new_number(j->sync));
  if (j->isolates)
    tm_json_set(v, "isolate_failures", tm_json_new_bool(true));
  if (j->max_result > 0)
    tm_json_set(v, "max_result_size", tm_json_new_int(j->max_result));
  return v;
}

static inline struct tm_json *job_input(struct job *j, size_t step)
{
  struct tm_json *v = job_tagged("FileDataset"), *paths = tm_json_new(TM_JSON_ARRAY);
  char *name = tm_xprintf("items%zu", step), *path = tm_path_join(j->dir, name);
  assert_true(tm_fs_write_file(tm_fs_real(), path, tm_buf_str(&j->items[step]), j->items[step].len,
                               0600, NULL) >= 0);
  tm_json_set(v, "kind", tm_json_new_string(j->path ? "files" : "manifest"));
  tm_json_add(paths, tm_json_new_string(j->path ? j->path : name));
  tm_json_set(v, "paths", paths);
  tm_json_set(v, "name", tm_json_new_string("items"));
  free(name);
  free(path);
  return v;
}

static inline struct tm_json *job_step(struct job *j, size_t step)
{
  struct tm_json *v = job_tagged("ParallelRunStep"), *inputs = tm_json_new(TM_JSON_ARRAY),
                 *arguments = tm_json_new(TM_JSON_ARRAY);
  tm_json_set(v, "name", tm_json_new_string(step == 0 ? "score" : "second"));
  tm_json_set(v, "parallel_run_config", job_config(j));
  tm_json_add(inputs, job_input(j, step));
  tm_json_set(v, "inputs", inputs);
  tm_json_add(arguments, tm_json_new_string(j->dir));
  tm_json_add(arguments, tm_json_new_string(j->mode ? j->mode : ""));
  tm_json_set(v, "arguments", arguments);
  return v;
}

static inline void job_plan(struct job *j)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = job_tagged("Pipeline"), *steps = tm_json_new(TM_JSON_ARRAY);
  char *file = tm_path_join(j->dir, "pipeline.lua"), *script = tm_path_join(j->dir, "score.lua");
  assert_true(tm_fs_write_file(tm_fs_real(), script, "-- in C\n", 8, 0600, NULL) >= 0);
  tm_json_set(v, "name", tm_json_new_string("case"));
  for (size_t i = 0; i < j->steps; i++)
    tm_json_add(steps, job_step(j, i));
  tm_json_set(v, "steps", steps);
  j->pipeline = tm_pipeline_from_json(v, file, NULL, 0, false, &err);
  if (!j->pipeline)
    fail_msg("%s", err.text);
  tm_json_free(v);
  free(file);
  free(script);
}

static inline void job_on_ended(void *data, struct tm_job *job)
{
  struct job *j = data;
  j->is_ended = true;
  if (--*j->still_open == 0)
    tm_loop_stop(j->loop);
}

static inline void job_on_limit(struct tm_timer *t)
{
  struct job *j = t->data;
  j->is_late = true;
  tm_loop_stop(j->loop);
}

static inline void job_on_poll(struct tm_poll *p, int events)
{
  struct job *j = p->data;
  char byte;
  while (read(j->begun, &byte, 1) == 1)
    if (j->on_begun)
      j->on_begun(j);
}

/* Opens the job on `loop`; NULL: on its own loop. */
static inline int job_try_open(struct job *j, struct tm_loop *loop, struct tm_err *err)
{
  struct tm_job_options o = { .fs = tm_fs_real(),
                              .dir = j->job_dir,
                              .program = j->program ? j->program : j->self,
                              .events = &j->events,
                              .resume = j->resume,
                              .keep_failed = j->keep_failed,
                              .on_ended = job_on_ended,
                              .data = j };
  j->seen.len = 0;
  j->is_ended = false;
  j->loop = loop ? loop : &j->own_loop;
  if (!loop)
    assert_int_equal(tm_loop_init(j->loop, NULL), 0);
  job_plan(j);
  o.pipeline = j->pipeline;
  o.loop = j->loop;
  int rc = tm_job_open(&j->job, &o, err);
  if (rc == 0) {
    tm_timer_open(&j->limit, j->loop, job_on_limit, j);
    assert_int_equal(tm_poll_open(&j->poll, j->loop, j->begun, job_on_poll, j, NULL), 0);
    tm_poll_want(&j->poll, TM_READABLE);
  }
  return rc;
}

static inline void job_open_on(struct job *j, struct tm_loop *loop)
{
  struct tm_err err = TM_ERR_NONE;
  if (job_try_open(j, loop, &err) < 0)
    fail_msg("%s", err.text);
}

/* Runs the loop until all jobs in the list have ended. */
static inline void job_run_all(struct job *jobs[], int n)
{
  int still_open = n;
  for (int i = 0; i < n; i++) {
    jobs[i]->still_open = &still_open;
    tm_timer_start(&jobs[i]->limit, JOB_LIMIT, 0);
    tm_job_start(jobs[i]->job);
  }
  if (still_open > 0)
    tm_loop_run(jobs[0]->loop);
  for (int i = 0; i < n; i++) {
    assert_false(jobs[i]->is_late);
    assert_true(jobs[i]->is_ended);
  }
}

/* Closes the job and keeps the test's folder. */
static inline void job_close(struct job *j)
{
  tm_job_close(j->job);
  j->job = NULL;
  tm_timer_close(&j->limit);
  tm_poll_close(&j->poll);
  if (j->loop == &j->own_loop) {
    tm_loop_release(j->loop);
    tm_pipeline_free(j->pipeline);
    j->pipeline = NULL;
  }
}

/* Runs the job on its own loop, checks its exit status and leaves it open. */
static inline int job_run(struct job *j)
{
  job_open_on(j, NULL);
  job_run_all(&j, 1);
  return tm_job_exit_status(j->job);
}

static inline void job_end(struct job *j)
{
  struct tm_err err = TM_ERR_NONE;
  tm_pipeline_free(j->pipeline);
  for (size_t i = 0; i < JOB_STEPS; i++)
    tm_buf_release(&j->items[i]);
  TM_ARRAY_RELEASE(&j->seen);
  close(j->begun);
  close(j->go);
  if (tm_tree_remove(j->dir, &err) < 0)
    fail_msg("%s", err.text);
  free(j->job_dir);
  free(j->self);
}

/* Releases one try that holds. */
static inline void job_let_go(struct job *j)
{
  assert_int_equal(write(j->go, "x", 1), 1);
}

/* Events seen. */

static inline int job_count(const struct job *j, enum tm_event_kind kind)
{
  int n = 0;
  for (size_t i = 0; i < j->seen.len; i++)
    n += j->seen.at[i].kind == kind;
  return n;
}

static inline int job_count_status(const struct job *j, enum tm_status status)
{
  int n = 0;
  for (size_t i = 0; i < j->seen.len; i++)
    n += j->seen.at[i].kind == TM_EVENT_TRY_ENDED && j->seen.at[i].status == status;
  return n;
}

/* The n-th event of this kind whose text contains `text`, or NULL. */
static inline const struct job_seen *job_find(const struct job *j, enum tm_event_kind kind,
                                              const char *text)
{
  for (size_t i = 0; i < j->seen.len; i++)
    if (j->seen.at[i].kind == kind && strstr(j->seen.at[i].text, text))
      return &j->seen.at[i];
  return NULL;
}

static inline const struct tm_counts *job_counts(const struct job *j)
{
  return &tm_job_view(j->job)->steps[0]->counts;
}

static inline int job_compare(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The sorted lines of a text, as one text. The caller frees it. */
static inline char *job_sorted(char *text)
{
  struct TM_ARRAY(char *) lines = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    *TM_ARRAY_ADD(&lines) = line;
  if (lines.len > 0)
    qsort(lines.at, lines.len, sizeof *lines.at, job_compare);
  for (size_t i = 0; i < lines.len; i++)
    tm_buf_printf(&out, "%s\n", lines.at[i]);
  TM_ARRAY_RELEASE(&lines);
  return out.data ? tm_buf_take(&out) : tm_xstrdup("");
}

static inline char *job_read(const char *dir, const char *name)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(dir, name);
  if (tm_fs_read_file(tm_fs_real(), path, 1 << 30, &text, NULL) < 0)
    fail_msg("there is no '%s'", path);
  free(path);
  return text.data ? tm_buf_take(&text) : tm_xstrdup("");
}

/* Checks that the output of the step has the name of each item once, in any order. */
static inline void job_expect_rows(const struct job *j, size_t step, bool is_completed,
                                   const char *items)
{
  char *name = tm_xprintf("%s/output/parallel_run_step.txt%s", step == 0 ? "score" : "second",
                          is_completed ? "" : ".partial");
  char *text = job_read(j->job_dir, name), *rows = job_sorted(text);
  char *copy = tm_xcalloc(strlen(items) + 1, 1), *to = copy;
  for (const char *p = items; *p; p++)
    if (*p != '/')
      *to++ = *p;
  char *expected = job_sorted(copy);
  assert_string_equal(rows, expected);
  free(name);
  free(text);
  free(rows);
  free(copy);
  free(expected);
}

static inline void job_expect_completed(const struct job *j)
{
  if (tm_job_exit_status(j->job) != 0)
    fail_msg("not Completed: %s", tm_job_view(j->job)->cause);
  for (size_t i = 0; i < j->steps; i++)
    job_expect_rows(j, i, true, tm_buf_str(&j->items[i]));
}

static inline void job_expect_failed(const struct job *j, int exit_status, const char *cause)
{
  assert_int_equal(tm_job_view(j->job)->verdict, TM_FAILED);
  if (!strstr(tm_job_view(j->job)->cause, cause))
    fail_msg("'%s' is not in '%s'", cause, tm_job_view(j->job)->cause);
  assert_int_equal(tm_job_exit_status(j->job), exit_status);
}

/* Counts of files and processes. */

static inline int job_on_name(void *data, const char *name, int type)
{
  ++*(int *)data;
  return 0;
}

static inline int job_count_names(const char *dir)
{
  int n = 0;
  assert_true(tm_dir_read(dir, job_on_name, &n) >= 0);
  return n;
}

static inline int job_on_pid(void *data, const char *name, int type)
{
  struct job *j = data;
  char value[4096], *mark = tm_job_mark(j->job_dir);
  pid_t pid = (pid_t)atol(name);
  j->count += pid > 0 && tm_process_env(pid, TM_ENV_WORKER, value, sizeof value) &&
              strncmp(value, mark, strlen(mark)) == 0;
  free(mark);
  return 0;
}

/* Counts the processes of the job, also those that have left its session. */
static inline int job_count_processes(struct job *j)
{
  pid_t children[64];
  j->count = 0;
  tm_dir_read("/proc", job_on_pid, j);
  return j->count + (int)tm_process_children(getpid(), children, 64);
}

static inline pid_t job_keeper_pid(void)
{
  pid_t children[64];
  assert_int_equal(tm_process_children(getpid(), children, 64), 1);
  return children[0];
}

static inline int job_serve(int argc, char **argv)
{
  if (strcmp(argv[1], "keeper") == 0)
    return job_keeper();
  return strcmp(argv[1], "worker") == 0 ? job_worker() : 2;
}

#endif
