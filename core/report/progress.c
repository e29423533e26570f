/* progress.c - see progress.h.
 *
 * A bar consists of parts. Several forms are tried, each with fewer parts, until one fits. For a
 * given width the gauge has a fixed length, so that it does not jump with the numbers beside it.
 * Names of steps and pipelines are ASCII, so bytes are columns.
 */
#include "report/progress.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "record/activity.h"

#define SAMPLE_NS TM_S
#define FEW       10 /* mini-batches: fewer in the window give no speed */
#define GAUGE_MIN 10 /* columns */
#define GAUGE_MAX 40

void tm_progress_init(struct tm_progress *p, const char *name)
{
  tm_require(name);
  memset(p, 0, sizeof(*p));
  p->name = name;
}

static int64_t done_of(const struct tm_progress *p)
{
  return p->counts.succeeded + p->counts.failed;
}

static void add_counts(struct tm_counts *sum, const struct tm_counts *c)
{
  sum->created += c->created;
  sum->all_created = sum->all_created && c->all_created;
  sum->succeeded += c->succeeded;
  sum->failed += c->failed;
  sum->running += c->running;
  sum->items += c->items;
  sum->items_succeeded += c->items_succeeded;
  sum->items_failed += c->items_failed;
  sum->uncounted += c->uncounted;
  sum->items_created += c->items_created;
  sum->returned += c->returned;
}

static void keep_sample(struct tm_progress *p)
{
  size_t newest = (size_t)((p->samples_len + TM_PROGRESS_SAMPLES - 1) % TM_PROGRESS_SAMPLES);
  size_t next = (size_t)(p->samples_len % TM_PROGRESS_SAMPLES);
  if (p->samples_len > 0 && p->now_ns - p->samples[newest].at_ns < SAMPLE_NS)
    return;
  p->samples[next].at_ns = p->now_ns;
  p->samples[next].done = done_of(p);
  p->samples[next].items = p->counts.items;
  p->samples_len++;
}

void tm_progress_sample(struct tm_progress *p, const struct tm_counts *counts, int64_t mono_ns)
{
  p->counts = *counts;
  p->now_ns = mono_ns;
  if (p->samples_len == 0) {
    p->begin_ns = mono_ns;
    p->begin_done = done_of(p);
    p->begin_items = counts->items;
  }
  keep_sample(p);
}

void tm_progress_set_steps(struct tm_progress *p, const struct tm_job_view *job)
{
  p->steps = job->steps_len > 1 ? job->steps_len : 0;
  p->steps_over = p->steps_running = 0;
  for (size_t i = 0; i < p->steps; i++) {
    const struct tm_step_view *s = job->steps[i];
    p->steps_over += s && s->verdict != TM_RUNNING;
    p->steps_running += s && s->verdict == TM_RUNNING && !s->is_idle;
  }
}

static void keep_text(char *to, size_t size, const struct tm_buf *text)
{
  size_t n = text->len < size ? text->len : size - 1;
  memcpy(to, tm_buf_str(text), n);
  to[n] = '\0';
}

void tm_progress_set_slow(struct tm_progress *p, const struct tm_step_view *const *steps, size_t n)
{
  struct tm_slow slow = { .first = NULL };
  const struct tm_step_view *step = NULL;
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < n; i++) {
    struct tm_slow one = { .first = NULL };
    if (steps[i] && steps[i]->activities && steps[i]->verdict == TM_RUNNING)
      one = tm_activities_slow(steps[i]->activities);
    if (!one.first || (step && one.first->ns <= slow.first->ns))
      continue;
    slow = one;
    step = steps[i];
  }
  p->slow[0] = p->slow_short[0] = '\0';
  if (!step)
    return;
  tm_slow_add_short(&text, &slow);
  keep_text(p->slow_short, sizeof(p->slow_short), &text);
  tm_buf_clear(&text);
  if (n > 1)
    tm_buf_printf(&text, "step '%s': ", step->name);
  tm_slow_add(&text, &slow, step->activities);
  keep_text(p->slow, sizeof(p->slow), &text);
  tm_buf_release(&text);
}

const char *tm_progress_sum(struct tm_counts *out, const struct tm_job_view *job)
{
  const struct tm_step_view *last = NULL;
  *out = (struct tm_counts) { .all_created = job->steps_len > 0 };
  for (size_t i = 0; i < job->steps_len; i++) {
    last = job->steps[i];
    if (last)
      add_counts(out, &last->counts);
    else
      out->all_created = false;
  }
  return job->steps_len == 1 && last ? last->name : job->name;
}

void tm_progress_set_nodes(struct tm_progress *p, const struct tm_nodes_now *nodes)
{
  struct tm_buf text = TM_BUF_NONE;
  if (nodes)
    tm_nodes_now_add(&text, nodes);
  keep_text(p->nodes, sizeof(p->nodes), &text);
  tm_buf_release(&text);
}

/* The oldest stored sample. */
static size_t oldest(const struct tm_progress *p)
{
  return p->samples_len <= TM_PROGRESS_SAMPLES ? 0 : (size_t)(p->samples_len % TM_PROGRESS_SAMPLES);
}

static double per_second(int64_t n, int64_t ns)
{
  return ns <= 0 || n <= 0 ? 0 : (double)n * (double)TM_S / (double)ns;
}

/* The window is too short for long mini-batches: two end in one, none in the next, and the time
 * left would jump. Then the average since the beginning is better, but not for a job that was fast
 * and is slow now. */
static bool is_window_short(const struct tm_progress *p)
{
  double average = per_second(done_of(p) - p->begin_done, p->now_ns - p->begin_ns);
  int64_t done, ns;
  if (p->samples_len == 0)
    return true;
  done = done_of(p) - p->samples[oldest(p)].done;
  ns = p->now_ns - p->samples[oldest(p)].at_ns;
  return done < FEW && average * (double)ns / (double)TM_S < FEW;
}

static double speed_of(const struct tm_progress *p, int64_t n, int64_t n_window, int64_t n_begin)
{
  if (is_window_short(p))
    return per_second(n - n_begin, p->now_ns - p->begin_ns);
  return per_second(n - n_window, p->now_ns - p->samples[oldest(p)].at_ns);
}

double tm_progress_speed(const struct tm_progress *p)
{
  return speed_of(p, done_of(p), p->samples[oldest(p)].done, p->begin_done);
}

double tm_progress_item_speed(const struct tm_progress *p)
{
  return speed_of(p, p->counts.items, p->samples[oldest(p)].items, p->begin_items);
}

int64_t tm_progress_left(const struct tm_progress *p)
{
  double speed = tm_progress_speed(p);
  int64_t open = p->counts.created - done_of(p);
  double seconds = speed > 0 && open > 0 ? (double)open / speed : -1;
  if (!p->counts.all_created || seconds < 0 || seconds > 1e8)
    return -1;
  return (int64_t)(seconds * (double)TM_S);
}

/* Parts. */

static void add_speed(struct tm_buf *out, double speed)
{
  if (speed >= 10)
    tm_text_grouped(out, (int64_t)(speed + 0.5));
  else
    tm_buf_printf(out, "%d.%d", (int)(speed * 10 + 0.5) / 10, (int)(speed * 10 + 0.5) % 10);
}

static void add_left(struct tm_buf *out, int64_t ns) /* an estimate: no fractions */
{
  if (ns < 60 * TM_S)
    tm_buf_printf(out, "%d s left", (int)((ns + TM_S - 1) / TM_S));
  else {
    tm_time_duration(out, ns);
    tm_buf_add_str(out, " left");
  }
}

static int percent(const struct tm_progress *p)
{
  return p->counts.created > 0 ? (int)(done_of(p) * 100 / p->counts.created) : 100;
}

static void add_done(struct tm_buf *out, const struct tm_progress *p, bool with_words)
{
  int64_t created = p->counts.created;
  bool is_open = !p->counts.all_created;
  if (with_words && is_open && created == 0) {
    tm_buf_add_str(out, "no mini-batches yet");
    return;
  }
  tm_text_count(out, done_of(p), with_words ? " of " : "/");
  tm_text_grouped(out, created);
  if (is_open)
    tm_buf_add_str(out, with_words ? " or more" : "+");
  if (with_words)
    tm_buf_add_str(out, created == 1 && !is_open ? " mini-batch" : " mini-batches");
}

static void add_gauge(struct tm_buf *out, const struct tm_progress *p, int columns)
{
  int full = p->counts.created > 0 ? (int)(done_of(p) * columns / p->counts.created) : columns;
  tm_buf_add_char(out, '[');
  for (int i = 0; i < columns; i++)
    tm_buf_add_char(out, i < full ? '=' : i == full ? '>' : ' ');
  tm_buf_add_str(out, "] ");
}

/* The parts in a form of the bar, from the most to the least. */
struct form {
  bool name, gauge, words, items, speed, left, nodes, slow;
};

static void add_form(struct tm_buf *out, const struct tm_progress *p, const struct form *f,
                     int gauge)
{
  double speed = tm_progress_item_speed(p);
  int64_t left = tm_progress_left(p);
  if (f->name)
    tm_buf_printf(out, "%s ", p->name);
  if (f->gauge && p->counts.all_created)
    add_gauge(out, p, gauge);
  if (p->counts.all_created)
    tm_buf_printf(out, "%d%% ", percent(p));
  add_done(out, p, f->words);
  if (f->items && p->steps > 0)
    tm_buf_printf(out, ", %zu of %zu steps done, %zu running", p->steps_over, p->steps,
                  p->steps_running);
  if (f->items) {
    tm_buf_add_str(out, ", ");
    tm_text_count(out, p->counts.items, tm_text_counted(p->counts.items, " item", " items"));
  }
  if (f->items || p->counts.items_failed > 0) {
    tm_buf_add_str(out, ", ");
    tm_text_count(out, p->counts.items_failed, " failed");
  }
  if (f->speed && speed > 0) {
    tm_buf_add_str(out, ", ");
    add_speed(out, speed);
    tm_buf_add_str(out, "/s");
  }
  if (f->left && left >= 0) {
    tm_buf_add_str(out, ", ");
    add_left(out, left);
  }
  if (f->nodes && *p->nodes)
    tm_buf_printf(out, "; %s", p->nodes);
  if (f->slow)
    tm_buf_printf(out, "; %s", p->slow_short);
}

void tm_progress_add_bar(struct tm_buf *out, const struct tm_progress *p, int width)
{
  static const struct form forms[] = {
    { true, true, true, true, true, true, true, true },
    { true, true, false, true, true, true, true, true },
    { true, true, false, true, false, true, true, true },
    { true, true, false, true, false, true, false, true },
    { true, true, false, false, false, true, false, true },
    { true, false, false, false, false, true, false, true },
    { false, false, false, false, false, false, false, true },
    { true, true, true, true, true, true, true, false },
    { true, true, false, true, true, true, true, false },
    { true, true, false, true, false, true, true, false },
    { true, false, false, true, false, true, true, false },
    { true, false, false, true, false, true, false, false },
    { false, false, false, true, false, true, false, false },
    { false, false, false, true, false, false, false, false },
    { false, false, false, false, false, false, false, false },
  };
  size_t start = out->len;
  int gauge = width / 5 < GAUGE_MIN ? GAUGE_MIN : width / 5 > GAUGE_MAX ? GAUGE_MAX : width / 5;
  for (size_t i = 0; i < TM_COUNT_OF(forms); i++) {
    if (forms[i].slow && !*p->slow_short)
      continue;
    out->len = start;
    add_form(out, p, &forms[i], gauge);
    if ((int)(out->len - start) <= width)
      return;
  }
  out->len = start + (size_t)(width > 0 ? width : 0);
  out->data[out->len] = '\0';
}

/* What is so just now, for whole lines. */
static void add_now(struct tm_buf *out, const struct tm_progress *p)
{
  if (*p->nodes)
    tm_buf_printf(out, "; %s", p->nodes);
  if (*p->slow)
    tm_buf_printf(out, "; %s", p->slow);
}

void tm_progress_add_line(struct tm_buf *out, const struct tm_progress *p)
{
  tm_require(p->name);
  static const struct form whole = { false, false, true, true, false, true, false, false };
  double speed = tm_progress_item_speed(p);
  tm_buf_printf(out, "%s: ", p->name);
  add_form(out, p, &whole, 0);
  if (speed > 0) {
    tm_buf_add_str(out, ", ");
    add_speed(out, speed);
    tm_buf_add_str(out, " items/s");
  }
  tm_buf_add_str(out, ", ");
  tm_time_duration(out, p->now_ns - p->begin_ns);
  tm_buf_add_str(out, " so far");
  add_now(out, p);
}

void tm_progress_add_overview(struct tm_buf *out, const struct tm_progress *p)
{
  const struct tm_counts *c = &p->counts;
  int64_t left = tm_progress_left(p);
  tm_text_count(out, c->created,
                tm_text_counted(c->created, " mini-batch created", " mini-batches created"));
  tm_buf_add_str(out, c->all_created ? ", " : " so far, ");
  tm_text_count(out, done_of(p), " processed (");
  tm_text_count(out, c->succeeded, " succeeded, ");
  tm_text_count(out, c->failed, " failed), ");
  tm_text_count(out, c->running, " running; ");
  tm_text_count(out, c->items, tm_text_counted(c->items, " item, ", " items, "));
  tm_text_count(out, c->items_failed, " failed; output: ");
  tm_text_count(out, c->returned, tm_text_counted(c->returned, " row; ", " rows; "));
  tm_time_duration(out, p->now_ns - p->begin_ns);
  tm_buf_add_str(out, " so far, ");
  if (left >= 0)
    add_left(out, left);
  else
    tm_buf_add_str(out, c->all_created && done_of(p) == c->created ? "nothing left"
                                                                   : "time left unknown");
  add_now(out, p);
}
