/* resume_line.c - see resume_line.h. */
#include "cli/resume_line.h"

#include <stdlib.h>
#include <string.h>
#include <tidemill.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/rerun.h"

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
  } else
    tm_buf_printf(out,
                  "the job cannot be resumed: its files in '%s' have been removed; start a new job",
                  dir);
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
  }
  tidemill_record_close(job);
  return is_gone;
}

/* Whether a step has Failed because none of its items succeeded (run/tally.c), though each
 * mini-batch returned. These are committed, so a resume has nothing to run, and must end in the
 * same way. */
static bool has_only_failed_items(struct tidemill_record *job)
{
  const struct tidemill_record_step *step;
  for (size_t i = 0; (step = tidemill_record_step(job, i)) != NULL; i++) {
    bool has_none = strncmp(step->cause, "not one of ", strlen("not one of ")) == 0 ||
                    strcmp(step->cause, "the only item failed") == 0;
    if (has_none && step->counts.failed == 0 && step->counts.items_failed > 0)
      return true;
  }
  return false;
}

/* Adds the line for such a job. */
static bool add_rerun(struct tm_buf *out, const char *dir, const struct tm_resume_command *command)
{
  struct tidemill_record *job = NULL;
  bool is_added =
      tidemill_record_open(&job, NULL, dir, NULL) >= 0 && has_only_failed_items(job) &&
      tm_rerun_add(out, job, command ? command->add_anew : NULL, command ? command->data : NULL);
  tidemill_record_close(job);
  return is_added;
}

/* Adds the line for a corrected script or input. */
static void add_after(struct tm_buf *out, const char *dir, const struct tm_resume_command *command,
                      bool is_known)
{
  tm_buf_add_str(out, "after a change of the script or its input: ");
  if (is_known)
    add_command(out, dir, command, true);
  else {
    add_words(out, dir);
    tm_buf_add_str(out, " --accept-changes");
  }
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
  if (after && add_rerun(out, dir, command))
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
  if (after && is_known && way != TIDEMILL_RESUME_BY_ACCEPTING)
    add_after(after, dir, command, true);
}
