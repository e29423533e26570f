/* rules.c - what the rules share; see rules.h. */
#include "insight/rules.h"

#include <stdlib.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"

const struct tm_fact_step *tm_rule_step(const struct tm_finding_input *in)
{
  return &in->job->steps.at[in->step];
}

bool tm_rule_runs(const struct tm_finding_input *in)
{
  return tm_rule_step(in)->state == TM_FACT_RUNNING;
}

struct tm_worker_time tm_rule_time(const struct tm_finding_input *in)
{
  struct tm_worker_time time;
  tm_step_model_time(in->model, tm_rule_runs(in) ? in->job->now_ns : 0, &time);
  return time;
}

int64_t tm_rule_begin_ns(const struct tm_finding_input *in)
{
  const struct tm_step_model *m = in->model;
  return m->sessions.len > 0 ? m->sessions.at[m->sessions.len - 1].begin_ns : m->origin_ns;
}

/* ---- the tail ---- */

/* Where a bin begins, and how long it lasts: the last one ends with the step. */
static int64_t bin_from(const struct tm_step_model *m, size_t bin)
{
  return m->series.origin_ns + (int64_t)bin * m->series.width_ns;
}

static int64_t bin_ns(const struct tm_step_model *m, size_t bin)
{
  return tm_smaller(m->series.width_ns, m->last_ns - bin_from(m, bin));
}

struct tm_rule_tail tm_rule_find_tail(const struct tm_finding_input *in)
{
  const struct tm_step_model *m = in->model;
  struct tm_rule_tail tail = { .from_ns = m->last_ns };
  int64_t slots = (int64_t)m->workers.slots.len;
  int64_t begin = tm_larger(tm_rule_begin_ns(in), m->last_new_ns);
  size_t bins = m->lacks_tries ? 0 : m->series.len; /* else nobody knows how many were busy */
  for (size_t i = bins; i-- > 0 && bin_from(m, i) >= begin;) {
    int64_t busy = tm_bins_at(&m->series, TM_SERIES_BUSY, i), ns = bin_ns(m, i);
    if (ns <= 0)
      continue;
    if (2 * busy >= slots * ns)
      break;
    tail.from_ns = bin_from(m, i);
    tail.busy_ns += busy;
    tail.idle_ns += slots * ns - busy;
  }
  tail.ns = m->last_ns - tail.from_ns;
  return tail;
}

/* ---- words ---- */

void tm_rule_add_command(struct tm_buf *out, const struct tm_finding_input *in, const char *command,
                         const char *option, const char *value)
{
  tm_buf_printf(out, "'tidemill %s ", command);
  tm_text_shell(out, tm_text_or_empty(in->job->dir));
  if (in->job->steps.len > 1) {
    tm_buf_add_str(out, " --step ");
    tm_text_shell(out, tm_rule_step(in)->name);
  }
  if (option) {
    tm_buf_printf(out, " %s", option);
    if (value) {
      tm_buf_add_char(out, ' ');
      tm_text_shell(out, value);
    }
  }
  tm_buf_add_char(out, '\'');
}

void tm_rule_add_span(struct tm_buf *out, const struct tm_finding_input *in, int64_t from_ns,
                      int64_t to_ns)
{
  tm_time_precise(out, tm_larger(from_ns - in->model->origin_ns, 0));
  tm_buf_add_str(out, " and ");
  tm_time_precise(out, tm_larger(to_ns - in->model->origin_ns, 0));
  tm_buf_add_str(out, " after the start");
}

void tm_rule_add_bytes(struct tm_buf *out, double bytes)
{
  tm_text_bytes(out, (int64_t)bytes);
}

int tm_rule_percent(double share)
{
  int percent = (int)(share * 100 + 0.5);
  return percent < 1 ? 1 : percent;
}
