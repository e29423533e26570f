/* resume_line.c - see resume_line.h. */
#include "records/resume_line.h"

#include <stdlib.h>
#include <string.h>
#include <tidemill.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "records/rerun.h"

static void add_command(struct tm_buf *out, const char *dir,
                        const struct tm_resume_command *command, bool accepts)
{
  if (command) {
    command->add(command->data, out, dir, accepts);
    return;
  }
  tm_buf_add_str(out, "tidemill resume ");
  tm_text_shell(out, dir);
  tm_buf_add_str(out, accepts ? " --accept-changes" : "");
}

/* Adds the command for a job whose own command is not recorded. */
static void add_words(struct tm_buf *out, const char *dir)
{
  tm_buf_add_str(out, "run the command that started the job again, with --resume --job-dir ");
  tm_text_shell(out, dir);
}

/* Adds the command for a new job. */
static void add_anew(struct tm_buf *out, const char *dir, const struct tm_resume_command *command)
{
  struct tidemill_record *job = NULL;
  if (tidemill_record_open(&job, NULL, dir, NULL) >= 0)
    tm_rerun_add_anew(out, job, command ? command->add_anew : NULL, command ? command->data : NULL);
  tidemill_record_close(job);
}

static void add_never(struct tm_buf *out, const char *dir, const struct tm_err *why,
                      const struct tm_resume_command *command)
{
  char *record = tm_xprintf("%s/job.json", dir);
  bool is_there = access(record, F_OK) == 0;
  free(record);
  if (is_there) {
    tm_buf_printf(out, "the job cannot be resumed: %s; see 'tidemill help troubleshooting'",
                  why->text);
    add_anew(out, dir, command);
  } else {
    tm_buf_printf(
        out,
        "the job cannot be resumed here: '%s' has been removed or renamed; if you renamed "
        "it, resume it under its new name: tidemill resume DIRECTORY; else start a new job",
        dir);
    if (command && command->add_anew) {
      tm_buf_add_str(out, ": ");
      tm_rerun_add_own(out, command->add_anew, command->data);
    }
  }
}

/* Whether nothing was listed. The same command would end in the same way. */
static bool has_no_input(const char *dir)
{
  struct tidemill_record *job = NULL;
  bool yes = tidemill_record_open(&job, NULL, dir, NULL) >= 0 &&
             strncmp(tidemill_record_info(job)->cause, "no input: ", strlen("no input: ")) == 0;
  tidemill_record_close(job);
  return yes;
}

/* If the job's pipeline file is gone, adds the command that resumes the job with the file at its
 * new place. False: it is there, or the job has none. */
static bool add_moved(struct tm_buf *out, const char *dir)
{
  struct tidemill_record *job = NULL;
  const char *file =
      tidemill_record_open(&job, NULL, dir, NULL) >= 0 ? tidemill_record_info(job)->file : "";
  bool is_gone = *file && access(file, F_OK) < 0;
  if (is_gone) {
    tm_buf_printf(out, "the pipeline file '%s' is not there; if it has moved, to go on: ", file);
    tm_buf_add_str(out, "tidemill run PIPELINE.lua --resume --job-dir ");
    tm_text_shell(out, dir);
    tm_buf_add_str(out, " --accept-changes"); /* its paths are others */
  }
  tidemill_record_close(job);
  return is_gone;
}

/* ---- an input that has changed ---- */

/* Whether the list of inputs is complete. The counts of a step that has ended do not tell. */
static bool is_listed(struct tidemill_record *job)
{
  struct tm_json *v = tm_json_of(tidemill_record_json(job));
  const struct tm_json *steps = tm_json_get(v, "steps");
  bool yes = true;
  for (size_t i = 0; i < tm_json_items(steps); i++)
    yes = yes && (strcmp(tm_json_str(steps->list.at[i], "status", ""), "Failed") != 0 ||
                  tm_json_bool(steps->list.at[i], "is_listed", true));
  tm_json_free(v);
  return yes;
}

/* Adds the command for a new job, which reads the input as it is now. */
static void add_new_job(struct tm_buf *out, struct tidemill_record *job,
                        const struct tm_resume_command *command)
{
  struct tm_buf anew = TM_BUF_NONE;
  tm_rerun_add_anew(&anew, job, command ? command->add_anew : NULL, command ? command->data : NULL);
  if (anew.len > 2)
    tm_buf_add_str(out, anew.data + 2); /* without "; " */
  else
    tm_buf_add_str(out, "to start a new job: run the command that started this one again, without "
                        "--resume and with another --job-dir");
  tm_buf_release(&anew);
}

bool tm_resume_line_add_changed(struct tm_buf *out, struct tm_buf *after, const char *dir,
                                const struct tm_resume_command *command)
{
  struct tidemill_record *job = NULL;
  if (tidemill_record_open(&job, NULL, dir, NULL) < 0)
    return false;
  const struct tidemill_record_info *info = tidemill_record_info(job);
  bool is_completed = info->state == TIDEMILL_STATE_COMPLETED;
  bool yes = is_completed || strstr(info->cause, "the input has changed: ");
  if (yes && !is_completed && is_listed(job)) {
    tm_buf_add_str(out, "to go on with the list of inputs as it was: ");
    add_command(out, dir, command, true);
    add_new_job(after, job, command);
  } else if (yes)
    add_new_job(out, job, command);
  tidemill_record_close(job);
  return yes;
}

/* ---- items that failed although run() returned ---- */

/* Their mini-batches are committed, so that a resume keeps them as they are. */
static int count_kept(const struct tidemill_failure *f, void *data)
{
  int64_t *kept = data;
  if (!*f->status || strcmp(f->status, "RUN_DONE") == 0)
    *kept += f->items;
  return 0;
}

static int64_t threshold_of(const struct tm_json *definition, size_t step)
{
  const struct tm_json *steps = tm_json_get(definition, "steps");
  const struct tm_json *of = step < tm_json_items(steps) ? steps->list.at[step] : NULL;
  const struct tm_json *settings = tm_json_get(tm_json_get(of, "definition"), "settings");
  return tm_json_int(tm_json_get(settings, "error_threshold"), "value", -1);
}

/* Whether the step fails again at once: the failed items that a resume keeps are too many, or it
 * has nothing to run. */
static bool fails_again(struct tidemill_record *job, size_t i, const struct tm_json *definition)
{
  const struct tidemill_record_step *step = tidemill_record_step(job, i);
  const struct tidemill_counts *c = step->counts;
  int64_t kept = 0, threshold = threshold_of(definition, i);
  if (step->state != TIDEMILL_STATE_FAILED || c->items_failed == 0)
    return false;
  (void)tidemill_record_failures(job, step->name, count_kept, &kept, NULL);
  return (threshold >= 0 && kept > threshold) ||
         (kept > 0 && c->all_created && c->succeeded == c->created);
}

/* Adds the command that works in place of a resume. False: a resume may work. */
static bool add_for_kept(struct tm_buf *out, const char *dir,
                         const struct tm_resume_command *command)
{
  struct tidemill_record *job = NULL;
  struct tm_buf rerun = TM_BUF_NONE;
  bool yes = false;
  if (tidemill_record_open(&job, NULL, dir, NULL) < 0)
    return false;
  struct tm_json *definition = tm_json_of(tidemill_record_definition(job));
  for (size_t i = 0; i < tidemill_record_info(job)->steps_len; i++)
    yes = yes || fails_again(job, i, definition);
  yes = yes && tm_rerun_add(&rerun, job, command ? command->add_anew : NULL,
                            command ? command->data : NULL);
  if (yes)
    tm_buf_printf(out,
                  "a resume would end in the same way: it keeps mini-batches for which run() "
                  "returned; correct the script or its input; %s",
                  rerun.data);
  tm_buf_release(&rerun);
  tm_json_free(definition);
  tidemill_record_close(job);
  return yes;
}

/* Adds the line for a corrected script or input. */
static void add_after(struct tm_buf *out, const char *dir, const struct tm_resume_command *command,
                      bool is_known)
{
  tm_buf_add_str(out, command ? "after a change of the script, its input or these options: "
                              : "after a change of the script or its input: ");
  if (is_known)
    add_command(out, dir, command, true);
  else {
    add_words(out, dir);
    tm_buf_add_str(out, " --accept-changes");
  }
}

/* A command that accepts changes already needs no second line. */
static void drop_repeated(const struct tm_buf *line, struct tm_buf *after)
{
  const char *command = strstr(tm_buf_str(after), ": ");
  size_t n = command ? strlen(command) : 0;
  if (command && line->len >= n && strcmp(tm_buf_str(line) + line->len - n, command) == 0)
    tm_buf_clear(after);
}

void tm_resume_line_add(struct tm_buf *out, struct tm_buf *after, const char *dir,
                        const struct tm_resume_command *command)
{
  struct tm_err why = { 0 };
  enum tidemill_resume_way way = tidemill_resume_way(dir, &why);
  bool is_known = way == TIDEMILL_RESUME_BY_JOB || way == TIDEMILL_RESUME_BY_ACCEPTING || command;
  if (way == TIDEMILL_RESUME_NEVER) {
    add_never(out, dir, &why, command);
    return;
  }
  if (!command && add_moved(out, dir))
    return;
  if (after && tm_resume_line_add_changed(out, after, dir, command))
    return;
  if (after && add_for_kept(out, dir, command))
    return;
  if (after && has_no_input(dir)) {
    add_after(out, dir, command, is_known);
    return;
  }
  tm_buf_printf(out, "to go on%s: ",
                way == TIDEMILL_RESUME_BY_LIST ? ", with the same list on standard input" : "");
  if (is_known)
    add_command(out, dir, command, way == TIDEMILL_RESUME_BY_ACCEPTING);
  else
    add_words(out, dir);
  if (after && is_known && way != TIDEMILL_RESUME_BY_ACCEPTING) {
    add_after(after, dir, command, true);
    drop_repeated(out, after);
  }
}
