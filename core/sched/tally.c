/* tally.c - see tally.h. */
#include "sched/tally.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

void tm_tally_init(struct tm_tally *t, const struct tm_limits *limits, bool append_row)
{
  memset(t, 0, sizeof(*t));
  t->limits = *limits;
  t->append_row = append_row;
  t->verdict = TM_RUNNING;
}

/* Only the readers of a table know how many rows it has. */
static void raise_created(struct tm_tally *t)
{
  if (t->counts.items > t->counts.items_created)
    t->counts.items_created = t->counts.items;
}

void tm_tally_add_earlier(struct tm_tally *t, int64_t succeeded, int64_t failed, int64_t items,
                          int64_t items_succeeded, int64_t returned)
{
  tm_require(items_succeeded <= items);
  t->counts.succeeded += succeeded;
  t->counts.failed += failed;
  t->counts.items += items;
  t->counts.items_succeeded += items_succeeded;
  t->counts.items_failed += items - items_succeeded;
  t->counts.returned += returned;
  raise_created(t);
}

void tm_tally_set_created(struct tm_tally *t, int64_t mini_batches, int64_t items, bool all)
{
  t->counts.created = mini_batches;
  t->counts.items_created = items;
  t->counts.all_created = all;
  raise_created(t);
}

int64_t tm_tally_succeeded(int64_t items, int64_t marked, int64_t returned)
{
  int64_t good = marked < items ? items - marked : 0;

  return returned < good ? returned : good;
}

void tm_tally_add_done(struct tm_tally *t, int64_t items, int64_t succeeded, int64_t returned)
{
  t->counts.succeeded++;
  t->counts.items += items;
  t->counts.items_succeeded += succeeded;
  t->counts.items_failed += items - succeeded;
  t->counts.returned += returned;
  raise_created(t);
}

void tm_tally_add_failed(struct tm_tally *t, int64_t items)
{
  t->counts.failed++;
  t->counts.items += items;
  t->counts.items_failed += items;
  raise_created(t);
}

void tm_tally_add_uncounted(struct tm_tally *t, int64_t mini_batches)
{
  t->counts.uncounted += mini_batches;
}

void tm_tally_add_part(struct tm_tally *t)
{
  t->counts.parts++;
}

void tm_tally_add_failed_try(struct tm_tally *t, enum tm_tally_failure why)
{
  switch (why) {
  case TM_FAILED_BY_ERROR: t->counts.errors++; break;
  case TM_FAILED_BY_TIMEOUT: t->counts.timeouts++; break;
  case TM_FAILED_WITH_WORKER: t->counts.lost++; break;
  }
}

/* Names the limit that was exceeded, and by how much: negative. 0: none. */
static int check_limits(const struct tm_tally *t, struct tm_err *err)
{
  const struct tm_counts *c = &t->counts;
  const struct tm_limits *l = &t->limits;

  if (l->failed_items >= 0 && c->items_failed > l->failed_items)
    return tm_err_set(err, TM_ETHRESHOLD,
                      "%s%" PRId64 " %s failed, and error_threshold tolerates %" PRId64,
                      c->uncounted > 0 ? "at least " : "", c->items_failed,
                      tm_text_counted(c->items_failed, "item has", "items have"), l->failed_items);
  if (l->failed_mini_batches >= 0 && c->failed > l->failed_mini_batches)
    return tm_err_set(err, TM_ETHRESHOLD,
                      "%" PRId64 " %s failed, and allowed_failed_count tolerates %" PRId64,
                      c->failed, tm_text_counted(c->failed, "mini-batch has", "mini-batches have"),
                      l->failed_mini_batches);
  if (c->all_created && l->failed_percent >= 0 &&
      (double)c->failed * 100 > l->failed_percent * (double)c->created)
    return tm_err_set(
        err, TM_ETHRESHOLD,
        "%" PRId64 " of %" PRId64 " %s failed, and allowed_failed_percent tolerates %g %%",
        c->failed, c->created, tm_text_counted(c->created, "mini-batch has", "mini-batches have"),
        l->failed_percent);
  return 0;
}

static void refuse_all(int64_t n, const char *one, const char *more, struct tm_err *err)
{
  if (n == 1)
    tm_err_set(err, TM_ETHRESHOLD, "the only %s failed", one);
  else
    tm_err_set(err, TM_ETHRESHOLD, "not one of %" PRId64 " %s succeeded", n, more);
}

static enum tm_verdict judge(const struct tm_tally *t, struct tm_err *err)
{
  const struct tm_counts *c = &t->counts;

  tm_require(!c->all_created || c->succeeded + c->failed <= c->created);
  if (check_limits(t, err) < 0)
    return TM_FAILED;
  if (!c->all_created || c->succeeded + c->failed < c->created)
    return TM_RUNNING;
  if (t->append_row && c->items == 0) {
    tm_err_set(err, TM_ETHRESHOLD,
               "no input: there is no row in %" PRId64 " %s; what was asked of the dataset (filter "
               "and the like) has left out all",
               c->created, tm_text_counted(c->created, "mini-batch", "mini-batches"));
    return TM_FAILED;
  }
  if (t->append_row && c->items_succeeded == 0) {
    refuse_all(c->items, "item", "items", err);
    return TM_FAILED;
  }
  if (!t->append_row && c->created > 0 && c->succeeded == 0) {
    refuse_all(c->created, "mini-batch", "mini-batches", err);
    return TM_FAILED;
  }
  return TM_COMPLETED;
}

void tm_tally_count_again(const struct tm_tally *t, struct tm_err *cause)
{
  if (cause->code == TM_ETHRESHOLD)
    check_limits(t, cause);
}

enum tm_verdict tm_tally_verdict(struct tm_tally *t, struct tm_err *err)
{
  if (t->verdict == TM_RUNNING)
    t->verdict = judge(t, err);
  return t->verdict;
}
