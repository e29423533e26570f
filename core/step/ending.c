/* ending.c - the end of a step, after its last worker has ended: the commit is finished, outputs go
 * to their destinations, and the owner is informed. See supervisor_own.h.
 */
#include "base/mem.h"
#include "base/check.h"
#include "outputs/destinations.h"
#include "outputs/uploads.h"
#include "record/job_dir.h"
#include "step/row_items.h"
#include "step/supervisor_own.h"

void tm_supervisor_take_cause(struct tm_supervisor *s, const struct tm_err *err)
{
  char *partial = s->output_file ? tm_xprintf("%s.partial", s->output_file) : NULL;
  /* These exist from the beginning; only the end renames the rows. */
  const char *const paths[] = { s->o.job->dir, s->dir, s->state_dir, s->output_dir,
                                s->commit ? partial : NULL };

  s->code = err->code;
  s->cause = *err;
  tm_job_dir_explain(s->o.fs, paths, TM_COUNT_OF(paths), &s->cause);
  free(partial);
}

/* Completes the output, or leaves it as .partial. A broken commit is left as it is: the disk has
 * what counts. */
static void finish_commit(struct tm_supervisor *s)
{
  struct tm_err err = TM_ERR_NONE;
  bool has_failed =
      s->code == TM_EDAMAGE || (s->code < 0 && s->code > TM_EUSAGE) || s->code == TM_EINUSE;

  tm_require(s->workers.len == 0 && !s->lister && !tm_flusher_is_busy(&s->flusher));
  if (has_failed)
    return;
  if (tm_commit_finish(s->commit, s->tally.verdict == TM_COMPLETED, &err) < 0) {
    tm_supervisor_take_cause(s, &err);
    s->tally.verdict = TM_FAILED;
    tm_supervisor_say(s, TM_ERROR, "step '%s' cannot be finished: %s", s->view.name, s->cause.text);
  }
}

/* Workers of a lost node may live a little longer, and write results that nobody reads. */
static void remove_spilled(const struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->nodes.len; i++)
    if (s->nodes.at[i] && s->nodes.at[i]->id != TM_LOCAL_NODE) {
      tm_commit_remove_spilled(s->commit, "");
      return;
    }
}

static enum tm_failing failing_of(int code)
{
  if (tm_exit_status_of(code) == 3)
    return TM_FAILING_SYSTEM;
  return code == TM_ESCRIPT ? TM_FAILING_SCRIPT : TM_FAILING_INPUT;
}

void tm_ending_tell(struct tm_supervisor *s)
{
  struct tm_event e = { .kind = TM_EVENT_STEP_ENDED };

  tm_require(s->tally.verdict != TM_RUNNING && s->code <= 0);
  tm_input_staging_clear(s->o.fs, s->o.step, s->o.job->dir);
  s->view.verdict = s->tally.verdict;
  if (s->tally.verdict == TM_FAILED && s->code == 0)
    tm_tally_count_again(&s->tally, &s->cause);
  s->view.cause = s->tally.verdict == TM_FAILED ? s->cause.text : "";
  if (s->code < 0)
    s->view.failing = failing_of(s->code);
  tm_supervisor_emit(s, &e, NULL);
  s->o.on_ended(s->o.data, s);
}

/* The outputs are not all at their destinations: the step is not Completed, and its rows are
 * renamed back. */
static void fail_upload(struct tm_supervisor *s, int code, const struct tm_err *err)
{
  const struct tm_fs *fs = s->o.fs;
  char *partial = s->output_file ? tm_xprintf("%s.partial", s->output_file) : NULL;

  s->tally.verdict = code == -ECANCELED ? TM_CANCELED_JOB : TM_FAILED;
  if (code != -ECANCELED) {
    s->code = code;
    s->cause = *err;
    tm_supervisor_say(s, TM_ERROR, "%s", err->text);
  }
  if (partial && fs->rename(fs->self, s->output_file, partial) >= 0)
    tm_fs_sync_dir(fs, s->output_dir, NULL); /* the next session accepts either name */
  free(partial);
}

static void on_uploaded(void *data, int code, const struct tm_err *err)
{
  struct tm_supervisor *s = data;

  tm_require(s->upload && s->tally.verdict == TM_COMPLETED);
  tm_uploads_stop(s->upload);
  s->upload = NULL;
  if (code < 0)
    fail_upload(s, code, err);
  tm_supervisor_happen(s, TM_STEP_ON_UPLOADED);
}

static void start_upload(struct tm_supervisor *s)
{
  struct tm_uploads_options o = { .loop = s->o.loop,
                                  .fs = s->o.fs,
                                  .step = s->o.step,
                                  .job_dir = s->o.job->dir,
                                  .on_ended = on_uploaded,
                                  .data = s };
  struct tm_err err = TM_ERR_NONE;
  bool is_needed = s->tally.verdict == TM_COMPLETED && tm_destinations_has_upload(s->o.step);

  s->upload = is_needed ? tm_uploads_start(&o, &err) : NULL;
  if (is_needed && !s->upload)
    fail_upload(s, err.code, &err);
  tm_supervisor_happen(s, s->upload ? TM_STEP_ON_UPLOADING : TM_STEP_ON_UPLOADED);
}

void tm_ending_commit(struct tm_supervisor *s)
{
  if (!tm_lister_stop(s->lister))
    tm_supervisor_say(s, TM_WARNING,
                      "step '%s': a read of its inputs does not return, as on a file system that "
                      "hangs; the job ends without it",
                      s->view.name);
  s->lister = NULL;
  tm_rows_sum_up(s);
  remove_spilled(s);
  finish_commit(s);
  start_upload(s);
}
