/* rules_time.c - rules about where the time of workers went; see rules.h. */
#include "insight/rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/sums.h"

#define TAIL_SHARE  0.05 /* of the time of the session */
#define CUT_TIMES   5.0  /* as long as the longest try that succeeded */
#define CUT_SHARE   0.05 /* of worker time */
#define INPUT_SHARE 0.1  /* likewise */
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

struct long_try {
  int64_t mini_batch, elapsed_ns, items;
  bool is_cut; /* it did not end by itself */
};

struct long_tries { /* the longest, of a few */
  struct long_try at[2];
  size_t len;
};

static void add_long_try(struct long_tries *l, struct long_try t)
{
  size_t i = l->len < TM_COUNT_OF(l->at) ? l->len++ : l->len;
  while (i > 0 && l->at[i - 1].elapsed_ns < t.elapsed_ns) {
    if (i < l->len)
      l->at[i] = l->at[i - 1];
    i--;
  }
  if (i < l->len)
    l->at[i] = t;
}

/* Of those that were cut off later. */
static void find_cut(const struct tm_step_model *m, int64_t from_ns, struct long_tries *found)
{
  for (size_t i = 0; i < m->workers.list.len; i++) {
    const struct tm_open_try *t = &m->workers.list.at[i].open;
    if (t->elapsed_ns > 0 && !t->runs && tm_sum(t->begin_ns, t->elapsed_ns) > from_ns)
      add_long_try(found, (struct long_try) { t->mini_batch, t->elapsed_ns, 0, true });
  }
}

/* Of those that ended later, or were cut off. */
static struct long_tries find_long(const struct tm_step_model *m, int64_t from_ns)
{
  struct long_tries found = { .len = 0 };
  size_t len;
  struct tm_notable_try **slowest = tm_notable_slowest(&m->notable, &len);
  find_cut(m, from_ns, &found);
  for (size_t i = 0; i < len; i++)
    if (tm_sum(slowest[i]->begin_ns, slowest[i]->elapsed_ns) > from_ns)
      add_long_try(&found, (struct long_try) { slowest[i]->mini_batch, slowest[i]->elapsed_ns,
                                               slowest[i]->items, false });
  free(slowest);
  return found;
}

/* "mini-batches 6 and 7 took 7.2 s and 6.1 s", "mini-batch 6 was cut off after 7.2 s" */
static void add_long(struct tm_buf *out, const struct long_tries *l)
{
  bool are_alike = l->len < 2 || l->at[0].is_cut == l->at[1].is_cut;
  size_t first = are_alike ? l->len : 1;
  tm_buf_add_str(out, first > 1 ? "mini-batches " : "mini-batch ");
  for (size_t i = 0; i < first; i++) {
    tm_buf_add_str(out, i > 0 ? " and " : "");
    tm_buf_add_int(out, l->at[i].mini_batch);
  }
  if (l->at[0].is_cut)
    tm_buf_add_str(out, first > 1 ? " were cut off after " : " was cut off after ");
  else
    tm_buf_add_str(out, " took ");
  for (size_t i = 0; i < first; i++) {
    tm_buf_add_str(out, i > 0 ? " and " : "");
    tm_time_precise(out, l->at[i].elapsed_ns);
  }
  if (!are_alike) {
    tm_buf_add_str(out, ", and ");
    add_long(out, &(struct long_tries) { { l->at[1] }, 1 });
  }
}

/* If the longest mini-batch of the tail had been cut into mini-batches of `size` items which take
 * equally long, the work of the tail would have been done by all slots, and the last piece would
 * have ended at most its own length after that. */
static int64_t saved_ns(const struct tm_step_model *m, const struct tm_rule_tail *tail,
                        const struct long_try *longest, int64_t size)
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
  if (l->len == 0 || size < 2 || l->at[0].items < 2)
    return false;
  smaller = size / 10 > 0 ? size / 10 : 1;
  saved = saved_ns(m, tail, &l->at[0], smaller);
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
  snprintf(number, sizeof(number), "%lld", (long long)l->at[0].mini_batch);
  tm_buf_add_char(out, ' ');
  tm_rule_add_command(out, in, "replay", "--mini-batch", number);
  tm_buf_add_str(out, " runs the longest again.");
}

static bool is_long_tail(const struct tm_finding_input *in, const struct tm_rule_tail *tail)
{
  const struct tm_step_model *m = in->model;
  return !tm_rule_runs(in) && m->workers.slots.len > 1 &&
         is_much(tail->ns, TAIL_SHARE, m->last_ns - tm_rule_begin_ns(in));
}

bool tm_rule_tail(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  struct tm_rule_tail tail = tm_rule_find_tail(in);
  struct long_tries longest = find_long(m, tail.from_ns);
  struct tm_buf text = TM_BUF_NONE;
  if (longest.len == 0 || !is_long_tail(in, &tail))
    return false;
  tm_buf_add_str(&text, "in the last ");
  tm_time_precise(&text, tail.ns);
  tm_buf_printf(&text, " fewer than half of the %zu worker slots had work", m->workers.slots.len);
  tm_buf_add_str(&text, "; ");
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

/* ---- tries that were cut off ---- */

struct cut { /* in the last session */
  int64_t tries, ns, first_ns;
};

static struct cut count_cut(const struct tm_finding_input *in)
{
  const struct tm_workers *w = &in->model->workers;
  struct cut cut = { .first_ns = in->model->last_ns };
  for (size_t i = 0; i < w->list.len; i++) {
    const struct tm_open_try *t = &w->list.at[i].open;
    if (t->elapsed_ns <= 0 || t->runs || t->begin_ns < tm_rule_begin_ns(in))
      continue;
    cut.tries++;
    tm_sum_add(&cut.ns, t->elapsed_ns);
    cut.first_ns = tm_smaller(cut.first_ns, t->begin_ns);
  }
  return cut;
}

static int64_t longest_ok_ns(const struct tm_step_model *m)
{
  size_t len;
  struct tm_notable_try **slowest = tm_notable_slowest(&m->notable, &len);
  int64_t ns = len > 0 ? slowest[0]->elapsed_ns : 0;
  free(slowest);
  return ns;
}

/* Each end of a job may cut tries off. One that hung is much longer than those that ended. */
bool tm_rule_cut(const struct tm_finding_input *in, struct tm_finding *out)
{
  const struct tm_step_model *m = in->model;
  struct tm_rule_tail tail = tm_rule_find_tail(in);
  struct long_tries longest = { .len = 0 };
  struct cut cut = count_cut(in);
  int64_t ok_ns = longest_ok_ns(m);
  struct tm_buf text = TM_BUF_NONE;
  find_cut(m, cut.first_ns, &longest);
  if (tm_rule_runs(in) || longest.len == 0 || is_long_tail(in, &tail) ||
      !is_much(longest.at[0].elapsed_ns, CUT_TIMES, ok_ns) ||
      !is_much(cut.ns, CUT_SHARE, tm_rule_time(in).lived_ns))
    return false;
  add_long(&text, &longest);
  if (cut.tries > (int64_t)longest.len) {
    tm_buf_add_str(&text, ", and ");
    tm_text_count(&text, cut.tries - (int64_t)longest.len, " more");
  }
  if (ok_ns > 0) {
    tm_buf_add_str(&text, "; the longest that succeeded took ");
    tm_time_precise(&text, ok_ns);
  }
  tm_buf_add_char(&text, '.');
  add_replay(&text, in, &longest);
  out->weight = TM_WEIGHT_MIDDLE;
  out->head =
      tm_xstrdup(cut.tries == 1 ? "A mini-batch did not end:" : "Mini-batches did not end:");
  out->text = tm_buf_take(&text);
  out->lost_ns = cut.ns;
  out->from_ns = cut.first_ns;
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

/* When the last first try of a mini-batch began, also one that runs. */
static int64_t last_new_ns(const struct tm_step_model *m)
{
  int64_t last_ns = m->last_new_ns;
  for (size_t i = 0; i < m->workers.list.len; i++) {
    const struct tm_open_try *t = &m->workers.list.at[i].open;
    if (t->runs && t->try_number <= 1)
      last_ns = tm_larger(last_ns, t->begin_ns);
  }
  return last_ns;
}

static struct waiting find_waiting(const struct tm_finding_input *in)
{
  const struct tm_step_model *m = in->model;
  const struct tm_bins *s = &m->series;
  int64_t begin = tm_rule_begin_ns(in), last_ns = last_new_ns(m);
  struct waiting w = { 0 };
  for (size_t i = 0; i < s->len; i++) {
    int64_t from = s->origin_ns + (int64_t)i * s->width_ns;
    if (from < begin || from + s->width_ns > last_ns)
      continue;
    tm_sum_add(&w.alive_ns, tm_bins_at(s, TM_SERIES_ALIVE, i));
    w.idle_ns += tm_bins_at(s, TM_SERIES_ALIVE, i) - tm_bins_at(s, TM_SERIES_BUSY, i) -
                 tm_bins_at(s, TM_SERIES_RUNS, i);
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
  if (in->model->lacks_tries || is_handing(in->model, &w) ||
      !is_much(w.idle_ns, INPUT_SHARE, w.alive_ns))
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
  bool is_known = !m->lacks_tries && is_handing(m, &w);
  int64_t handing = time.around_ns + (is_known ? tm_larger(w.idle_ns, 0) : 0);
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
  tm_buf_add_str(&text, size > 0 ? ". A mini_batch_size" : ". A larger mini_batch_size");
  if (size > 0)
    tm_buf_printf(&text, " larger than %lld", (long long)size);
  tm_buf_add_str(&text, " costs less.");
  out->weight = TM_WEIGHT_MIDDLE;
  out->head = tm_xstrdup("Mini-batches are too small:");
  out->text = tm_buf_take(&text);
  out->lost_ns = handing;
  out->section = "time";
  return true;
}
