/* job_beside.c - what a step reads beside its inputs, and the libraries of its workers: see
 * job_own.h.
 *
 * A resumed step that has committed rows is refused if one of these has changed: its output would
 * mix the rows of two models. What a step has begun with is recorded before its first worker starts
 * (record/side_files.h). A job from before there was such a record is resumed, and recorded then.
 *
 * A thread looks at the files, because a file system may hang: such a thread is left behind.
 */
#include <stdlib.h>

#include "base/path.h"
#include "job/job_own.h"
#include "record/same_libraries.h"
#include "record/side_files.h"
#include "snapshot/resume.h"
#include "sys/errand.h"

#define CHECK_NS  (10 * TM_S)
#define RECORD_NS (2 * TM_S) /* other steps may be running */

struct look {
  struct tm_side_files *files;
  struct tm_errand errand;
};

static void run(void *data)
{
  tm_side_files_list(((struct look *)data)->files);
}

static void free_look(void *data)
{
  tm_side_files_free(((struct look *)data)->files);
  free(data);
}

/* Lists the files of step `i`; to be ended. NULL: it has none, or they cannot be listed in time,
 * and the job says so. */
static struct look *look(struct tm_job *job, size_t i, int64_t patience_ns)
{
  const struct tm_job_step *st = &job->steps[i];
  char *state_dir = tm_path_join(st->own.dir, "state");
  struct tm_side_files *files = tm_side_files_new(job->o.fs, job->o.pipeline->steps[i], state_dir);

  free(state_dir);
  if (!files)
    return NULL;
  struct look *l = TM_NEW(struct look);
  l->files = files;
  l->errand = (struct tm_errand) { .run = run, .free_data = free_look, .data = l };
  if (tm_errand_start(&l->errand, NULL) < 0)
    return NULL;
  if (tm_errand_wait(&l->errand, patience_ns))
    return l;
  (void)tm_errand_end(&l->errand, 0);
  tm_job_warn(job,
              "step '%s': whether its side inputs change is not known, because their file system "
              "takes too long to answer",
              st->own.name);
  return NULL;
}

static void end(struct look *l)
{
  if (l)
    (void)tm_errand_end(&l->errand, TM_ERRAND_JOIN);
}

static void add_changes(struct tm_job *job, size_t i, struct tm_buf *words)
{
  const struct tm_step *step = job->o.pipeline->steps[i];
  struct tm_buf why = TM_BUF_NONE;
  struct look *l = look(job, i, CHECK_NS);

  if (l)
    tm_side_files_compare(l->files, words);
  end(l);
  /* workers elsewhere look for libraries on their own machines */
  if (!step->config.launches_nodes && !tm_libraries_are_same(job->o.fs, step, job->dir.path, &why))
    tm_buf_printf(words, "%s%s", words->len > 0 ? "; " : "", why.data);
  tm_buf_release(&why);
}

/* Whether rows that this step adds come behind rows of an earlier session. */
static bool continues(const struct tm_job *job, size_t i)
{
  const struct tm_supervisor *s = job->steps[i].s;

  return tm_supervisor_found(s)->committed > 0 && !tm_supervisor_is_over(s);
}

int tm_job_beside_check(struct tm_job *job, size_t i, struct tm_err *err)
{
  const char *name = job->steps[i].own.name;
  struct tm_buf words = TM_BUF_NONE;
  int rc = 0;

  if (!continues(job, i))
    return 0;
  add_changes(job, i, &words);
  if (words.len > 0 && job->o.accept_changes)
    tm_job_note(job, "step '%s': it reads something else than when it began: %s", name, words.data);
  else if (words.len > 0)
    rc = tm_resume_refuse(name, words.data, err);
  tm_buf_release(&words);
  return rc;
}

/* What was accepted counts as what the step has begun with. */
void tm_job_beside_record(struct tm_job *job, size_t i)
{
  struct tm_job_step *st = &job->steps[i];
  bool again = job->o.accept_changes || !continues(job, i);
  const struct tm_identity *contents =
      st->reuse && st->reuse->has_side && st->reuse->side.has_contents ? &st->reuse->side : NULL;
  struct tm_err err = TM_ERR_NONE;
  struct look *l = tm_supervisor_is_over(st->s) ? NULL : look(job, i, RECORD_NS);

  if (l)
    (void)tm_side_files_write(l->files, contents, again, &err);
  end(l);
  if (again && !tm_supervisor_found(st->s)->is_new && err.code == 0)
    (void)tm_libraries_forget(job->o.fs, job->o.pipeline->steps[i], job->dir.path, &err);
  if (err.code < 0)
    tm_job_warn(job, "step '%s': what it reads beside its inputs is not recorded: %s", st->own.name,
                err.text);
}
