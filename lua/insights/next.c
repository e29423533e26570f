/* next.c - the command to type next, and what for: lines of resume_line.h and rerun.h, in parts. */
#include "insights/insight.h"

#include <string.h>

#include "records/rerun.h"
#include "records/resume_line.h"

/* Where the command begins in "what for: COMMAND"; NULL: the line has none. */
static const char *command_in(const char *line)
{
  static const char *const begins[] = { ": tidemill ", ": cd " };
  const char *found = NULL;
  for (size_t i = 0; i < TM_COUNT_OF(begins); i++) {
    const char *at = strstr(line, begins[i]);
    found = at && (!found || at < found) ? at : found;
  }
  return found;
}

static void set(struct tidemill_insight *in, const struct tm_buf *line, const char **command,
                const char **why)
{
  const char *at = line->len > 0 ? command_in(line->data) : NULL;
  if (at) {
    *command = tm_insight_keep(in, at + 2);
    *why = tm_insight_own(in, tm_xstrndup(line->data, (size_t)(at - line->data)));
  } else {
    *why = tm_insight_keep(in, tm_buf_str(line));
  }
}

void tm_insight_read_next(struct tidemill_insight *in)
{
  struct tm_fact_job *job = &in->job;
  struct tm_buf line = TM_BUF_NONE, other = TM_BUF_NONE;
  if (job->state == TM_FACT_COMPLETED)
    (void)tm_rerun_add(&line, in->record, NULL, NULL);
  else
    tm_resume_line_add(&line, job->state == TM_FACT_FAILED ? &other : NULL, job->dir, NULL);
  set(in, &line, &job->next, &job->next_why);
  set(in, &other, &job->next_other, &job->next_other_why);
  tm_buf_release(&line);
  tm_buf_release(&other);
}
