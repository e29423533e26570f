/* registering.c - see registering.h. */
#include "run/registering.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "store/db.h"
#include "store/registry.h"
#include "store/workspace.h"
#include "sys/clock.h"
#include "sys/process.h"

#define WORD_LEN 32 /* hexadecimal digits */

/* The workspace of the pipeline file, to free(); NULL with words. */
static char *find_workspace(const struct tm_fs *fs, const struct tm_pipeline *p, struct tm_err *err)
{
  char *cwd = getcwd(NULL, 0), *found; /* what the variable is against */
  found = tm_workspace_find(fs, p->file, getenv(TM_WORKSPACE_VARIABLE), cwd ? cwd : "/", err);
  free(cwd);
  return found;
}

int tm_registering_check(const struct tm_fs *fs, const struct tm_pipeline *p, struct tm_err *err)
{
  struct tm_db *db = NULL;
  const char *name = NULL;
  char *workspace;
  int rc;
  for (size_t i = 0; i < p->steps_len && !name; i++)
    name = p->steps[i]->register_as;
  if (!name || !p->file)
    return 0;
  workspace = find_workspace(fs, p, err);
  rc = workspace ? tm_db_open(&db, workspace, TM_DB_WRITE, err) : err->code;
  tm_db_close(db);
  free(workspace);
  return rc < 0 ? tm_err_wrap(err, "dataset '%s' could not be registered later", name) : 0;
}

/* The step's word, to free(): that of an earlier session, else a new one. NULL with words. */
static char *take_word(const struct tm_fs *fs, const struct tm_step_view *view, struct tm_err *err)
{
  char *path = tm_path_join(view->dir, "registered");
  struct tm_buf text = TM_BUF_NONE;
  int rc = 0;
  if (tm_fs_exists(fs, path))
    rc = tm_fs_read_file(fs, path, WORD_LEN, &text, err);
  if (rc >= 0 && text.len != WORD_LEN) {
    tm_buf_clear(&text);
    tm_buf_printf(&text, "%016" PRIx64 "%016" PRIx64, tm_process_random(), tm_process_random());
    rc = tm_fs_write_file(fs, path, text.data, text.len, 0600, err); /* keeps (1) */
  }
  free(path);
  if (rc < 0)
    tm_buf_release(&text);
  return rc < 0 ? NULL : tm_buf_take(&text);
}

struct registering {
  const struct tm_fs *fs;
  const struct tm_job_view *job;
  const struct tm_events *events;
  char *workspace;
};

static void say(const struct registering *g, const char *words)
{
  struct tm_event e = { .kind = TM_EVENT_MESSAGE,
                        .level = TM_INFO,
                        .text = words,
                        .wall_ns = tm_clock_wall_ns(),
                        .mono_ns = tm_clock_mono_ns(),
                        .job = g->job };
  tm_events_emit(g->events, &e);
}

static int add(const struct registering *g, const struct tm_registration *r, struct tm_err *err)
{
  struct tm_registered out;
  int rc = tm_registry_add(&out, g->workspace, r, err);
  if (rc >= 0) {
    char *words =
        tm_xprintf("step '%s': its output is dataset '%s', version %" PRId64 "%s", r->step,
                   out.name, out.version, rc == 0 ? ", as it was registered before" : "");
    say(g, words);
    free(words);
  }
  tm_registered_release(&out);
  return rc < 0 ? rc : 0;
}

static int add_output(const struct registering *g, const struct tm_step *step,
                      const struct tm_step_view *view, struct tm_err *err)
{
  char *dir = (char *)view->output_dir, *word = take_word(g->fs, view, err);
  struct tm_dataset output = {
    .kind = TM_DATASET_FILES, .paths = &dir, .paths_len = 1, .base_dir = dir, .input = -1
  };
  struct tm_registration r = { .fs = g->fs,
                               .name = step->register_as,
                               .dataset = &output,
                               .description = step->output_description,
                               .tags = step->output_tags,
                               .create_new_version = true,
                               .source = word,
                               .job = g->job->dir,
                               .step = step->name,
                               .wall_ns = tm_clock_wall_ns() };
  int rc = word ? add(g, &r, err) : err->code;
  free(word);
  return rc < 0 ? tm_err_wrap(err, "step '%s' is Completed, but", step->name) : 0;
}

int tm_registering_add(const struct tm_job_view *job, const struct tm_fs *fs,
                       const struct tm_pipeline *p, const struct tm_events *events,
                       struct tm_err *err)
{
  struct registering g = { .fs = fs, .job = job, .events = events };
  int rc = 0;
  for (size_t i = 0; i < p->steps_len && rc == 0; i++) {
    if (!p->steps[i]->register_as || !p->file || job->steps[i]->verdict != TM_COMPLETED)
      continue;
    if (!g.workspace && !(g.workspace = find_workspace(fs, p, err)))
      rc = err->code;
    else
      rc = add_output(&g, p->steps[i], job->steps[i], err);
  }
  free(g.workspace);
  return rc;
}
