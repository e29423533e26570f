/* rules_time.c - rules about where the time of workers went; see rules.h. */
#include "insight/rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"

#define TAIL_SHARE  0.05 /* of the time of the session */
#define INPUT_SHARE 0.1  /* of worker time */
#define INIT_SHARE  0.1
#define SMALL_SHARE 0.3
/* What is around run() is the way of a mini-batch, and not the loading of large items, if it takes
 * at most this at the median. */
#define SMALL_AROUND_NS (20 * TM_MS)
/* What workers wait for each mini-batch at most if it was there and is only handed over. */
#define HANDING_NS  (2 * TM_MS)
#define LITTLE_NS   TM_S /* less time is not worth a sentence */
#define SAVED_SHARE 0.02 /* of the time: what is worth another mini_batch_size */

static bool is_much(int64_t ns, double share, int64_t of_ns)
{
  return ns >= LITTLE_NS && (double)ns > share * (double)of_ns;
}

/* ---- the tail ---- */

struct long_tries { /* the longest that ended in the tail */
  const struct tm_notable_try *at[2];
  size_t len;
};

static struct long_tries find_long(const struct tm_step_model *m, int64_t from_ns)
{
  struct long_tries found = { .len = 0 };
  size_t len;
  struct tm_notable_try **slowest = tm_notable_slowest(&m->notable, &len);
  for (size_t i = 0; i < len && found.len < TM_COUNT_OF(found.at); i++)
    if (tm_sum(slowest[i]->begin_ns, slowest[i]->elapsed_ns) > from_ns)
      found.at[found.len++] = slowest[i];
  free(slowest);
  return found;
}

static void add_long(struct tm_buf *out, const struct long_tries *l)
{
  if (l->len == 0)
    return;
  tm_buf_add_str(out, l->len > 1 ? "; mini-batches " : "; mini-batch ");
  for (size_t i = 0; i < l->len; i++) {
    tm_buf_add_str(out, i > 0 ? " and " : "");
    tm_buf_add_int(out, l->at[i]->mini_batch);
  }
  tm_buf_add_str(out, " took ");
  for (size_t i = 0; i < l->len; i++) {
    tm_buf_add_str(out, i > 0 ? " and " : "");
    tm_time_precise(out, l->at[i]->elapsed_ns);
  }
}

/* If the longest mini-batch of the tail had been cut into mini-batches of `size` items which take
 * equally long, the work of the tail would have been done by all slots, and the last piece would
 * have ended at most its own length after that. */
static int64_t saved_ns(const struct tm_step_model *m, const struct tm_rule_tail *tail,
                        const struct tm_notable_try *longest, int64_t size)
{
  int64_t shared = tail->busy_ns / (int64_t)m->workers.slots.len;
  double piece = (double)longest->elapsed_ns * (double)size / (double)longest->items;
  return tail->ns - shared - (int64_t)piece;
}

static bool add_saved(struct tm_buf *out, const struct tm_finding_input *in,
                      const struct tm_rule_tail *tail, const struct long_tries *l)
{
  const struct tm_step_model *m = in->model;
  int64_t size = tm_rule_step(in)->mini_batch_size, smaller, saved;
  if (l->len == 0 || size < 2 || l->at[0]->items < 2)
    return false;
  smaller = size / 10 > 0 ? size / 10 : 1;
  saved = saved_ns(m, tail, l->at[0], smaller);
  if (!is_much(saved, SAVED_SHARE, m->last_ns - tm_rule_begin_ns(in)))
    return false;
  tm_buf_printf(out, " With mini_batch_size %lld instead of %lld, it would have ended about ",
                (long long)smaller, (long long)size);
  tm_time_precise(out, saved);
  tm_buf_add_str(out, " earlier, if the items of a mini-batch take equally long.");
  return true;
}

static void add_replay(struct tm_buf *out, const struct tm_finding_input *in,
                       const struct long_tries *l)
{
  char number[24];
  if (l->len == 0)
    return;
  snprintf(number, sizeof(number), "%lld", (long long)l->at[0]->mini_batch);
  tm_buf_add_char(out, ' ');
  tm_rule_add_command(out, in, "replay", "--mini-batch", number);
  tm_buf_add_str(out, " runs the longest again.");
}

bool tm_rule_tail(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  struct tm_rule_tail tail = tm_rule_find_tail(in);
  struct long_tries longest = find_long(m, tail.from_ns);
  struct tm_buf text = TM_BUF_NONE;
  if (tm_rule_runs(in) || m->workers.slots.len < 2 || longest.len == 0 ||
      !is_much(tail.ns, TAIL_SHARE, m->last_ns - tm_rule_begin_ns(in)))
    return false;
  tm_buf_add_str(&text, "in the last ");
  tm_time_precise(&text, tail.ns);
  tm_buf_printf(&text, " fewer than half of the %zu worker slots had work", m->workers.slots.len);
  add_long(&text, &longest);
  tm_buf_add_char(&text, '.');
  if (!add_saved(&text, in, &tail, &longest))
    add_replay(&text, in, &longest);
  out->weight = TM_WEIGHT_MIDDLE;
  out->head = tm_xstrdup("A long tail:");
  out->text = tm_buf_take(&text);
  out->lost_ns = tail.idle_ns;
  out->from_ns = tail.from_ns;
  out->to_ns = m->last_ns;
  out->section = "timeline";
  return true;
}

/* ---- waiting for input ---- */

/* Before the last new mini-batch was begun, in the last session: how long workers lived, and how
 * long they had nothing to do. */
struct waiting {
  int64_t alive_ns, idle_ns;
};

static struct waiting find_waiting(const struct tm_finding_input *in)
{
  const struct tm_step_model *m = in->model;
  const struct tm_bins *s = &m->series;
  int64_t begin = tm_rule_begin_ns(in);
  struct waiting w = { 0 };
  for (size_t i = 0; i < s->len; i++) {
    int64_t from = s->origin_ns + (int64_t)i * s->width_ns;
    if (from < begin || from + s->width_ns > m->last_new_ns)
      continue;
    tm_sum_add(&w.alive_ns, tm_bins_at(s, TM_SERIES_ALIVE, i));
    w.idle_ns += tm_bins_at(s, TM_SERIES_ALIVE, i) - tm_bins_at(s, TM_SERIES_BUSY, i);
  }
  for (size_t i = 0; i < m->workers.list.len; i++)
    if (m->workers.list.at[i].session + 1 >= m->sessions.len)
      w.idle_ns -= m->workers.list.at[i].start_ns + m->workers.list.at[i].init_ns;
  return w;
}

static int64_t mini_batches_begun(const struct tm_step_model *m)
{
  int64_t tries = m->tries[TM_CATEGORY_OK] + m->tries_failed, last = 0;
  if (m->sessions.len > 1)
    last = m->sessions.at[m->sessions.len - 1].mini_batches;
  return tm_larger(last > 0 ? last : tries, 1);
}

/* Whether workers wait only as long as it takes to hand over a mini-batch that is there. */
static bool is_handing(const struct tm_step_model *m, const struct waiting *w)
{
  return w->idle_ns / mini_batches_begun(m) <= HANDING_NS;
}

/* As long as new mini-batches still come, a worker that waits for longer is one for which none was
 * there. */
bool tm_rule_input(const struct tm_finding_input *in, struct tm_finding *out)
{
  struct waiting w = find_waiting(in);
  struct tm_buf text = TM_BUF_NONE;
  if (is_handing(in->model, &w) || !is_much(w.idle_ns, INPUT_SHARE, w.alive_ns))
    return false;
  tm_buf_printf(&text, "until the last mini-batch came, workers had none for %d %% of their time. ",
                tm_rule_percent((double)w.idle_ns / (double)w.alive_ns));
  tm_buf_add_str(&text, "Fewer workers (process_count_per_node) would have been enough, unless the "
                        "input can be listed faster: 'tidemill run --dry-run' lists it alone.");
  out->weight = TM_WEIGHT_MIDDLE;
  out->head = tm_xstrdup("Workers waited for input:");
  out->text = tm_buf_take(&text);
  out->lost_ns = w.idle_ns;
  out->section = "time";
  return true;
}

/* ---- init() ---- */

static int64_t count_inits(const struct tm_step_model *m)
{
  int64_t inits = 0;
  for (size_t i = 0; i < m->workers.list.len; i++)
    inits += m->workers.list.at[i].init_ns > 0;
  return inits;
}

bool tm_rule_init(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  struct tm_worker_time time = tm_rule_time(in);
  int64_t inits = count_inits(m);
  struct tm_buf text = TM_BUF_NONE, head = TM_BUF_NONE;
  if (inits == 0 || !is_much(time.init_ns, INIT_SHARE, time.lived_ns))
    return false;
  tm_buf_add_str(&head, "init() takes ");
  tm_time_precise(&head, time.init_ns / inits);
  tm_buf_add_str(&text, "and was run ");
  tm_text_count(&text, inits, tm_text_counted(inits, " time", " times"));
  tm_buf_printf(&text, " for %zu worker %s, %d %% of worker time. ", m->workers.slots.len,
                tm_text_counted((int64_t)m->workers.slots.len, "slot", "slots"),
                tm_rule_percent((double)time.init_ns / (double)time.lived_ns));
  if (m->workers.deaths > 0) {
    tm_text_count(&text, m->workers.deaths,
                  tm_text_counted(m->workers.deaths, " worker died; ", " workers died; "));
    tm_rule_add_command(&text, in, "logs", "--errors", NULL);
    tm_buf_add_str(&text, " shows why.");
  } else {
    tm_buf_add_str(&text, "Fewer workers (process_count_per_node) run it less often.");
  }
  out->weight = TM_WEIGHT_LOW;
  out->head = tm_buf_take(&head);
  out->text = tm_buf_take(&text);
  out->lost_ns = time.init_ns;
  out->section = "workers";
  return true;
}

/* ---- mini-batches that are too small ---- */

bool tm_rule_small(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  struct tm_worker_time time = tm_rule_time(in);
  struct waiting w = find_waiting(in);
  int64_t median = tm_quantiles_at(&m->around, 0.5), size = tm_rule_step(in)->mini_batch_size;
  int64_t handing = time.around_ns + (is_handing(m, &w) ? tm_larger(w.idle_ns, 0) : 0);
  struct tm_buf text = TM_BUF_NONE;
  if (!is_much(handing, SMALL_SHARE, time.lived_ns) || median > SMALL_AROUND_NS)
    return false;
  tm_buf_printf(&text, "%s %d %% of worker time, ",
                handing > time.around_ns ? "handing them over and waiting for the next one take"
                                         : "handing them over takes",
                tm_rule_percent((double)handing / (double)time.lived_ns));
  tm_time_precise(&text, handing);
  tm_buf_add_str(&text, " in all, and run() ");
  tm_time_precise(&text, time.run_ok_ns + time.run_failed_ns);
  tm_buf_add_str(&text, ". A larger mini_batch_size costs less");
  if (size > 0)
    tm_buf_printf(&text, "; it is %lld", (long long)size);
  tm_buf_add_char(&text, '.');
  out->weight = TM_WEIGHT_MIDDLE;
  out->head = tm_xstrdup("Mini-batches are too small:");
  out->text = tm_buf_take(&text);
  out->lost_ns = handing;
  out->section = "time";
  return true;
}
