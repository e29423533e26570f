/* registering.c - see registering.h. */
#include "outputs/registering.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/path.h"
#include "commit/journal.h"
#include "store/db.h"
#include "store/registry.h"
#include "sys/clock.h"
#include "sys/process.h"

#define WORD_LEN 32 /* hexadecimal digits */

const char *tm_registering_name(const struct tm_pipeline *p)
{
  const char *name = NULL;
  for (size_t i = 0; i < p->steps_len && !name; i++)
    for (size_t k = 0; k < p->steps[i]->outputs_len && !name; k++)
      name = p->steps[i]->outputs[k].register_as;
  return name;
}

int tm_registering_check(const char *workspace, const struct tm_pipeline *p, struct tm_err *err)
{
  struct tm_db *db = NULL;
  const char *name = tm_registering_name(p);
  int rc;
  if (!name)
    return 0;
  rc = workspace ? tm_db_open(&db, workspace, TM_DB_WRITE, err)
                 : tm_err_set(err, TM_EUSAGE, "there is no workspace");
  tm_db_close(db);
  return rc < 0 ? tm_err_wrap(err, "dataset '%s' could not be registered later", name) : 0;
}

/* The step's word, to free(): that of an earlier session, otherwise a new one. NULL with a
 * message. */
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
  const char *workspace;
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

/* If the output has a destination, the dataset refers to the files there: they remain when the job
 * is removed. For an archive it is the folder that was packed. */
static char *place_of(const struct registering *g, const struct tm_step_output *out)
{
  return out->destination && !out->archive_format ? tm_xstrdup(out->destination)
                                                  : tm_path_join(g->job->dir, out->folder);
}

/* A string that changes with the step's data; to free(), or NULL and an error. */
static char *contents_of(const struct tm_fs *fs, const struct tm_step_view *view,
                         struct tm_err *err)
{
  char *path = tm_path_join(view->dir, "state/journal");
  struct tm_journal_sum sum;
  int rc = tm_journal_sum_read(&sum, fs, path, err);
  free(path);
  return rc < 0 ? NULL : tm_xprintf("%" PRId64 ".%016" PRIx64, sum.outcomes, sum.hash);
}

/* `source`: unique to this output. */
static int add_output(const struct registering *g, const struct tm_step *step,
                      const struct tm_step_output *out, const char *source, const char *contents,
                      struct tm_err *err)
{
  char *dir = place_of(g, out);
  struct tm_dataset output = {
    .kind = TM_DATASET_FILES,
    .paths = &dir,
    .paths_len = 1,
    .base_dir = dir,
    .input = -1,
    .partition_format = out->partition_format,
  };
  struct tm_registration r = { .fs = g->fs,
                               .name = out->register_as,
                               .dataset = &output,
                               .description = out->description,
                               .tags = out->tags,
                               .create_new_version = true,
                               .source = source,
                               .contents = contents,
                               .job = g->job->dir,
                               .step = step->name,
                               .wall_ns = tm_clock_wall_ns() };
  int rc = add(g, &r, err);
  free(dir);
  return rc;
}

static bool registers(const struct tm_step *step)
{
  for (size_t k = 0; k < step->outputs_len; k++)
    if (step->outputs[k].register_as)
      return true;
  return false;
}

/* The first output gets the step's word; each further one gets the word and its name. */
static int add_outputs(const struct registering *g, const struct tm_step *step,
                       const struct tm_step_view *view, struct tm_err *err)
{
  tm_require(view->verdict == TM_COMPLETED);
  char *word = take_word(g->fs, view, err);
  char *contents = word ? contents_of(g->fs, view, err) : NULL;
  int rc = contents ? 0 : err->code;
  for (size_t k = 0; k < step->outputs_len && rc == 0; k++) {
    const struct tm_step_output *out = &step->outputs[k];
    char *source = k == 0 ? tm_xstrdup(word) : tm_xprintf("%s.%s", word, out->name);
    if (out->register_as)
      rc = add_output(g, step, out, source, contents, err);
    free(source);
  }
  free(contents);
  free(word);
  return rc < 0 ? tm_err_wrap(err, "step '%s' is Completed, but", step->name) : 0;
}

int tm_registering_add(const struct tm_job_view *job, const struct tm_fs *fs, const char *workspace,
                       const struct tm_pipeline *p, const struct tm_events *events,
                       struct tm_err *err)
{
  struct registering g = { .fs = fs, .job = job, .events = events, .workspace = workspace };
  int rc = 0;
  for (size_t i = 0; i < p->steps_len && rc == 0; i++)
    if (registers(p->steps[i]) && job->steps[i]->verdict == TM_COMPLETED)
      rc = add_outputs(&g, p->steps[i], job->steps[i], err);
  return rc;
}
