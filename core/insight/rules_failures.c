/* rules_failures.c - rules about tries that failed; see rules.h. */
#include "insight/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"

#define FEW         10  /* fewer failed tries make no pattern */
#define NEARLY_ALL  0.9 /* of the failed tries */
#define BURST_BINS  20  /* with fewer, the time is not known well enough */
#define BURST_PARTS 10  /* of the time: how long a burst is at most */
#define MESSAGE_MAX 200 /* bytes */

static int64_t failed_ns(const struct tm_step_model *m)
{
  int64_t ns = m->workers.others.run_failed_ns;
  for (size_t i = 0; i < m->workers.list.len; i++)
    tm_sum_add(&ns, m->workers.list.at[i].run_failed_ns);
  return ns;
}

/* What so many of the failed tries took, if they took as long as the others. */
static int64_t share_of_failed(const struct tm_step_model *m, int64_t tries)
{
  return (int64_t)((double)failed_ns(m) * (double)tries / (double)m->tries_failed);
}

/* The group with the most tries; NULL: there is none. */
static const struct tm_error_group *largest_group(const struct tm_finding_input *in)
{
  const struct tm_error_group *largest = NULL;
  for (size_t i = 0; in->groups && i < in->groups->list.len; i++)
    if (!largest || in->groups->list.at[i].tries > largest->tries)
      largest = &in->groups->list.at[i];
  return largest && largest->tries > 0 ? largest : NULL;
}

static bool is_nearly_all(const struct tm_step_model *m, int64_t tries)
{
  return (double)tries >= NEARLY_ALL * (double)m->tries_failed;
}

/* ---- a burst ---- */

struct burst {
  int64_t tries, from_ns, to_ns;
};

/* The span of a tenth of the time in which most tries failed, without its empty ends. */
static bool find_burst(const struct tm_step_model *m, struct burst *out)
{
  const struct tm_bins *s = &m->series;
  size_t bins = (size_t)((m->last_ns - s->origin_ns) / s->width_ns), window = bins / BURST_PARTS;
  int64_t sum = 0, most = 0;
  size_t end = 0, begin;
  if (bins < BURST_BINS || m->tries_failed < FEW)
    return false;
  for (size_t i = 0; i < s->len; i++) {
    sum += tm_bins_at(s, TM_SERIES_FAILED, i);
    sum -= i >= window ? tm_bins_at(s, TM_SERIES_FAILED, i - window) : 0;
    if (sum > most) {
      most = sum;
      end = i;
    }
  }
  begin = end + 1 > window ? end + 1 - window : 0;
  while (begin < end && tm_bins_at(s, TM_SERIES_FAILED, begin) == 0)
    begin++;
  *out = (struct burst) { .tries = most,
                          .from_ns = s->origin_ns + (int64_t)begin * s->width_ns,
                          .to_ns = s->origin_ns + (int64_t)(end + 1) * s->width_ns };
  return 2 * most >= m->tries_failed;
}

/* Nearly all failed tries have one error, and all of those are in the burst. */
static bool is_one_error(const struct tm_finding_input *in, const struct burst *b)
{
  const struct tm_error_group *g = largest_group(in);
  return g && is_nearly_all(in->model, g->tries) && g->first_ns >= b->from_ns &&
         g->last_ns <= b->to_ns;
}

static void add_error(struct tm_buf *out, const struct tm_error_group *g)
{
  tm_buf_add_str(out, "\"");
  tm_text_one_line(out, g->is_mixed ? g->pattern : g->message,
                   strlen(g->is_mixed ? g->pattern : g->message), MESSAGE_MAX);
  tm_buf_add_str(out, "\"");
}

/* "8,214 of 8,286 failed tries" */
static void add_share(struct tm_buf *out, const struct tm_step_model *m, int64_t tries)
{
  if (tries == m->tries_failed)
    tm_buf_add_str(out, "all ");
  tm_text_grouped(out, tries);
  if (tries != m->tries_failed) {
    tm_buf_add_str(out, " of ");
    tm_text_grouped(out, m->tries_failed);
  }
  tm_buf_add_str(out, " failed tries");
}

static void add_replay(struct tm_buf *out, const struct tm_finding_input *in, int64_t mini_batch)
{
  char number[24];
  snprintf(number, sizeof(number), "%lld", (long long)mini_batch);
  tm_rule_add_command(out, in, "replay", "--mini-batch", number);
}

/* How to look at one of the errors. */
static void add_look(struct tm_buf *out, const struct tm_finding_input *in,
                     const struct tm_error_group *g)
{
  if (g->mini_batch >= 0) {
    add_replay(out, in, g->mini_batch);
    tm_buf_add_str(out, " runs the first of these mini-batches again.");
  } else {
    tm_rule_add_command(out, in, "logs", "--errors", NULL);
    tm_buf_add_str(out, " shows it with its stack.");
  }
}

bool tm_rule_burst(const struct tm_finding_input *in, struct tm_finding *out)
{
  struct tm_buf text = TM_BUF_NONE;
  struct burst b;
  if (!find_burst(in->model, &b))
    return false;
  bool is_one = is_one_error(in, &b);
  const struct tm_error_group *g = largest_group(in);
  add_share(&text, in->model, is_one ? g->tries : b.tries);
  if (is_one) {
    tm_buf_add_str(&text, " have one error, ");
    add_error(&text, g);
    tm_buf_add_str(&text, ", and ended");
  } else {
    tm_buf_add_str(&text, " ended");
  }
  tm_buf_add_str(&text, " between ");
  tm_rule_add_span(&text, in, b.from_ns, b.to_ns);
  tm_buf_add_str(&text, ". ");
  if (is_one) {
    add_look(&text, in, g);
  } else {
    tm_rule_add_command(&text, in, "logs", "--errors", NULL);
    tm_buf_add_str(&text, " shows what else happened then.");
  }
  out->weight = TM_WEIGHT_HIGH;
  out->head = tm_xstrdup(is_one ? "A burst of one error:" : "A burst of failures:");
  out->text = tm_buf_take(&text);
  out->lost_ns = share_of_failed(in->model, b.tries);
  out->from_ns = b.from_ns;
  out->to_ns = b.to_ns;
  out->section = is_one ? "failures" : "timeline";
  return true;
}

/* ---- one error ---- */

bool tm_rule_one_error(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_error_group *g = largest_group(in);
  struct tm_buf text = TM_BUF_NONE;
  struct burst b;
  if (!g || in->model->tries_failed < FEW || !is_nearly_all(in->model, g->tries) ||
      (find_burst(in->model, &b) && is_one_error(in, &b)))
    return false;
  add_share(&text, in->model, g->tries);
  tm_buf_add_str(&text, " have one error: ");
  add_error(&text, g);
  tm_buf_add_str(&text, ". ");
  add_look(&text, in, g);
  out->weight = TM_WEIGHT_HIGH;
  out->head = tm_xstrdup("One error causes nearly all failures:");
  out->text = tm_buf_take(&text);
  out->lost_ns = share_of_failed(in->model, g->tries);
  out->section = "failures";
  return true;
}

/* ---- failed and then succeeded ---- */

bool tm_rule_retried(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  struct tm_buf text = TM_BUF_NONE;
  if (m->retried_items < 1)
    return false;
  if (m->failed_before.len >= TM_FAILED_BEFORE)
    tm_buf_add_str(&text, "at least ");
  tm_text_count(&text, m->retried_items, tm_text_counted(m->retried_items, " item", " items"));
  tm_buf_add_str(&text, " succeeded after a try of the same mini-batch had failed. ");
  tm_rule_add_command(&text, in, "logs", "--errors", NULL);
  tm_buf_add_str(&text, " shows why.");
  out->weight = TM_WEIGHT_LOW;
  out->head = tm_xstrdup("Failures that passed:");
  out->text = tm_buf_take(&text);
  out->lost_ns = tm_rule_step(in)->counts.items_failed == 0 ? failed_ns(m) : -1;
  out->section = "failures";
  return true;
}
