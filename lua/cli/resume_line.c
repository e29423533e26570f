/* resume_line.c - see resume_line.h. */
#include "cli/resume_line.h"

#include <stdlib.h>
#include <tidemill.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

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
static void add_words(struct tm_buf *out, const char *dir, bool needs_list)
{
  tm_buf_printf(out, "run the command that started the job again, with %s--resume --job-dir ",
                needs_list ? "the same list on standard input and " : "");
  tm_text_shell(out, dir);
}

static void add_never(struct tm_buf *out, const char *dir, const struct tm_err *why)
{
  char *record = tm_xprintf("%s/job.json", dir);
  bool is_there = access(record, F_OK) == 0;
  free(record);
  if (is_there)
    tm_buf_printf(out, "the job cannot be resumed: %s; see 'tidemill help troubleshooting'",
                  why->text);
  else
    tm_buf_printf(out,
                  "the job cannot be resumed: its files in '%s' have been removed; start a new job",
                  dir);
}

void tm_resume_line_add(struct tm_buf *out, struct tm_buf *after, const char *dir,
                        const struct tm_resume_command *command)
{
  struct tm_err why = { 0 };
  enum tidemill_resume_way way = tidemill_resume_way(dir, &why);
  bool is_known = way == TIDEMILL_RESUME_BY_JOB || way == TIDEMILL_RESUME_BY_ACCEPTING || command;
  if (way == TIDEMILL_RESUME_NEVER) {
    add_never(out, dir, &why);
    return;
  }
  tm_buf_add_str(out, "to go on: ");
  if (is_known)
    add_command(out, dir, command, way == TIDEMILL_RESUME_BY_ACCEPTING);
  else
    add_words(out, dir, way == TIDEMILL_RESUME_BY_LIST);
  if (after && is_known && way != TIDEMILL_RESUME_BY_ACCEPTING) {
    tm_buf_add_str(after, "after a change of the script or its input: ");
    add_command(after, dir, command, true);
  }
}
