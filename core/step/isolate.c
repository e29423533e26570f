/* isolate.c - see isolate.h.
 *
 *   a failed try -> search (the scheduler's) -> parts in its queue -> each ends: a piece, or its
 *                halves -> ... -> tm_isolate_finish()
 *
 *  (1) In the end, the pieces hold each item of the mini-batch once, and are sorted.
 *  (2) A good piece's rows are held back, its files in the staging folder of its try: nothing is
 *      recorded before the whole mini-batch is, in one add.
 */
#include "step/isolate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "record/part.h"
#include "step/held_rows.h"

/* A part that is not divided any further. */
struct piece {
  uint64_t part;
  bool is_good, is_frame;
  struct tm_outcome outcome; /* if good: */
  struct tm_held_range rows;
  struct tm_buf lines, files;
  char *staging;            /* or NULL */
  struct tm_failed_try why; /* if not good; the piece owns the strings */
};

struct tm_isolate {
  struct tm_supervisor *s;
  uint32_t search; /* the scheduler's number for it */
  uint64_t index;
  uint32_t items;   /* of the mini-batch */
  int64_t untested; /* items */
  struct tm_held_rows held_rows;
  struct tm_map names; /* of output files -> the part that has each */
  struct TM_ARRAY(struct piece) pieces;
  bool is_joined; /* its rows are, and are being copied to the output */
};

static void release_piece(struct piece *p)
{
  tm_buf_release(&p->lines);
  tm_buf_release(&p->files);
  free(p->staging);
  free((char *)p->why.message);
  free((char *)p->why.log);
  free((char *)p->why.where);
}

static void isolate_free(struct tm_isolate *x)
{
  for (size_t i = 0; i < x->pieces.len; i++)
    release_piece(&x->pieces.at[i]);
  TM_ARRAY_RELEASE(&x->pieces);
  tm_map_release(&x->names);
  tm_held_rows_release(&x->held_rows);
  free(x);
}

static struct tm_isolate *find(const struct tm_supervisor *s, uint32_t search)
{
  return search < s->isolates.len ? s->isolates.at[search] : NULL;
}

static const struct tm_search *search_of(const struct tm_isolate *x)
{
  return tm_sched_search(&x->s->sched, x->search);
}

static void forget(struct tm_isolate *x)
{
  tm_require(find(x->s, x->search) == x);
  x->s->isolates.at[x->search] = NULL;
  isolate_free(x);
}

static void drop_all(struct tm_supervisor *s)
{
  for (size_t i = 0; i < s->isolates.len; i++)
    if (s->isolates.at[i])
      forget(s->isolates.at[i]);
}

static struct tm_isolate *isolate_new(struct tm_supervisor *s, const struct tm_in_flight *held,
                                      uint32_t search)
{
  struct tm_isolate *x = TM_NEW(struct tm_isolate);
  char *path = tm_xprintf("%s/isolated-%" PRIu64, s->spill_dir, held->index);

  x->s = s;
  x->search = search;
  x->index = held->index;
  x->items = held->items;
  tm_held_rows_init(&x->held_rows, s->o.fs, path);
  free(path);
  while (s->isolates.len <= search)
    *TM_ARRAY_ADD(&s->isolates) = NULL;
  tm_require(!s->isolates.at[search] && x->items > 1);
  s->isolates.at[search] = x;
  s->drop_isolates = drop_all;
  tm_supervisor_say(s, TM_INFO,
                    "mini-batch %" PRIu64
                    " has used up its tries; it is run in parts, until the bad "
                    "ones of its %" PRIu32 " items stand alone",
                    x->index, x->items);
  return x;
}

/* The end. */

static int by_place(const void *a, const void *b)
{
  const struct piece *p = a, *q = b;

  return p->part < q->part ? -1 : p->part > q->part;
}

static void set_why(struct piece *p, const struct tm_failed_try *why, const char *message,
                    size_t message_len)
{
  p->is_good = false;
  p->why = *why;
  p->why.message = tm_xstrndup(message, message_len);
  p->why.message_len = message_len;
  p->why.log = tm_xstrdup(why->log);
  p->why.where = tm_xstrdup(why->where);
}

/* A file has vanished, or another mini-batch has taken its name: the part's result cannot count.
 * This says nothing about its items, so the part is run again, uncounted, a few times. */
static bool run_again(struct tm_isolate *x, struct piece *p, const struct tm_err *err)
{
  bool is_again = tm_workers_tell(x->s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_SPOILED,
                                                                   .search = x->search,
                                                                   .part = p->part });

  tm_supervisor_say(
      x->s, TM_WARNING,
      "mini-batch %" PRIu64 ", items %" PRIu32 " to %" PRIu32 ", which had succeeded, %s: %s",
      x->index, tm_part_first(p->part) + 1, tm_part_first(p->part) + tm_part_count(p->part),
      is_again ? "are run again" : "count as failed", err->text);
  if (p->staging)
    tm_staging_remove(tm_fs_real(), x->s->output_dir, p->staging);
  return is_again;
}

static void refuse_piece(struct tm_isolate *x, struct piece *p, const struct tm_err *err)
{
  struct tm_failed_try why = {
    .index = x->index, .try = p->outcome.try, .status = TM_RUN_EXCEPTION, .log = ""
  };

  set_why(p, &why, err->text, strlen(err->text));
}

/* 1: parts are run again, and nothing is noted. */
static int note_files(struct tm_isolate *x, struct tm_err *err)
{
  size_t kept = 0;
  int failed = 0;

  for (size_t i = 0; i < x->pieces.len; i++) {
    struct piece p = x->pieces.at[i];
    int rc = p.is_good && p.files.len > 0 && failed == 0
                 ? tm_commit_note_files(x->s->commit, p.staging, p.files.data, p.files.len, err)
                 : 0;
    if (rc == TM_EDAMAGE && run_again(x, &p, err)) {
      release_piece(&p);
      continue;
    }
    if (rc == TM_EDAMAGE)
      refuse_piece(x, &p, err);
    else if (rc < 0)
      failed = rc;
    x->pieces.at[kept++] = p;
  }
  x->pieces.len = kept;
  if (search_of(x)->isolation.open > 0)
    tm_commit_drop_notes(x->s->commit);
  return failed < 0 ? failed : search_of(x)->isolation.open > 0;
}

/* Adds lines for all failed items, in item order. */
static int add_lines(const struct tm_isolate *x, struct tm_buf *out, struct tm_err *err)
{
  struct tm_manifest_entry entry;
  int rc = tm_manifest_read(x->s->manifest, x->index, &entry, err);

  for (size_t i = 0; rc == 0 && i < x->pieces.len; i++) {
    struct piece *p = &x->pieces.at[i];
    p->why.dataset = entry.dataset;
    if (p->is_good)
      tm_buf_add(out, tm_buf_str(&p->lines), p->lines.len);
    else
      tm_failed_lines_part(out, &p->why, &entry, tm_part_first(p->part), tm_part_count(p->part));
  }
  return rc;
}

/* Sums the good pieces and collects their rows, for the commit. Returns the number of good
 * pieces. */
static size_t sum_up(const struct tm_isolate *x, struct tm_outcome *o, struct tm_held_range *ranges)
{
  size_t n = 0;

  *o = (struct tm_outcome) { .index = x->index, .try = search_of(x)->try, .items = x->items };
  for (size_t i = 0; i < x->pieces.len; i++) {
    const struct piece *p = &x->pieces.at[i];
    if (!p->is_good)
      continue;
    o->succeeded += p->outcome.succeeded;
    o->returned += p->outcome.returned;
    ranges[n++] = p->rows;
  }
  return n;
}

static bool is_frame_of(const struct tm_isolate *x)
{
  for (size_t i = 0; i < x->pieces.len; i++)
    if (x->pieces.at[i].is_good && x->pieces.at[i].is_frame)
      return true;
  return false;
}

static int add_rows(struct tm_isolate *x, const struct tm_outcome *o,
                    const struct tm_held_range *ranges, size_t n, struct tm_err *err)
{
  struct tm_joined joined;
  struct tm_columns *columns = &x->s->columns;
  bool is_frame = is_frame_of(x);
  int rc = tm_held_rows_join(&x->held_rows, ranges, n, &joined, err);

  if (rc == 0)
    rc = tm_columns_begin_add(columns, x->s->commit, x->index, is_frame, err);
  if (rc == 0 && joined.path)
    rc =
        tm_commit_add_spilled(x->s->commit, o, joined.path, (uint64_t)joined.len, joined.hash, err);
  else if (rc == 0)
    tm_commit_add_done(x->s->commit, o, joined.rows.data, joined.rows.len);
  if (rc == 0)
    tm_columns_end_add(columns, x->s->commit, is_frame);
  tm_buf_release(&joined.rows);
  return rc;
}

static void say_end(const struct tm_isolate *x, const struct tm_outcome *o)
{
  int64_t tries = search_of(x)->isolation.tries;

  tm_supervisor_say(x->s, TM_INFO,
                    "mini-batch %" PRIu64 ": of its %" PRIu32 " items %" PRIu32
                    " failed, found in %" PRId64 " %s of parts",
                    x->index, o->items, o->items - o->succeeded, tries,
                    tm_text_counted(tries, "try", "tries"));
  if (x->untested > 0)
    tm_supervisor_say(x->s, TM_WARNING,
                      "mini-batch %" PRIu64 ": isolation_max_try (%" PRId64
                      ") is used up, and %" PRId64
                      " of its items could not be tried apart from bad ones: they count as failed",
                      x->index, x->s->o.step->config.isolation_max_try, x->untested);
}

/* Keeps (2). 1: not yet. */
static int commit_all(struct tm_isolate *x, struct tm_err *err)
{
  struct tm_supervisor *s = x->s;
  struct tm_held_range *ranges = tm_xcalloc(x->pieces.len, sizeof(*ranges));
  struct tm_buf lines = TM_BUF_NONE;
  struct tm_outcome o;
  size_t good = 0;
  int rc = note_files(x, err);

  if (rc == 0 && (rc = add_lines(x, &lines, err)) == 0)
    good = sum_up(x, &o, ranges);
  if (rc == 0 && good == 0) {
    tm_commit_add_failed(s->commit, &o, lines.data, lines.len);
    tm_tally_add_failed(&s->tally, o.items);
  } else if (rc == 0) {
    tm_commit_note_failures(s->commit, lines.data, lines.len);
    if ((rc = add_rows(x, &o, ranges, good, err)) == 0)
      tm_tally_add_done(&s->tally, o.items, o.succeeded, o.returned);
  }
  if (rc == 0)
    say_end(x, &o);
  tm_buf_release(&lines);
  free(ranges);
  return rc;
}

/* Whether (1) holds; the pieces are sorted. */
static bool holds_each_once(const struct tm_isolate *x)
{
  uint32_t next = 0;

  for (size_t i = 0; i < x->pieces.len; i++) {
    if (tm_part_first(x->pieces.at[i].part) != next)
      return false;
    next += tm_part_count(x->pieces.at[i].part);
  }
  return next == x->items;
}

static void sort_pieces(struct tm_isolate *x) /* keeps (1) */
{
  qsort(x->pieces.at, x->pieces.len, sizeof(*x->pieces.at), by_place);
}

bool tm_isolate_join_ahead(struct tm_supervisor *s, uint32_t search)
{
  struct tm_isolate *x = find(s, search);
  struct tm_held_range *ranges;
  struct tm_outcome o;
  size_t good;
  bool begins;

  if (!x)
    return false;
  sort_pieces(x);
  ranges = tm_xcalloc(x->pieces.len + 1, sizeof(*ranges));
  good = sum_up(x, &o, ranges);
  begins = tm_held_rows_join_ahead(&x->held_rows, ranges, good);
  x->is_joined = false;
  free(ranges);
  return begins;
}

bool tm_isolate_join_more(struct tm_supervisor *s, uint32_t search)
{
  struct tm_isolate *x = find(s, search);
  struct tm_buf header = TM_BUF_NONE;
  struct tm_joined joined;

  if (!x)
    return false;
  if (x->is_joined)
    return tm_commit_copy_more(s->commit);
  if (tm_held_rows_join_more(&x->held_rows))
    return true;
  if (!tm_held_rows_joined(&x->held_rows, &joined))
    return false;
  tm_columns_add_header(&s->columns, s->commit, is_frame_of(x), &header);
  x->is_joined =
      tm_commit_copy_ahead(s->commit, joined.path, (uint64_t)joined.len, joined.hash, &header);
  tm_buf_release(&header);
  return x->is_joined;
}

void tm_isolate_finish(struct tm_supervisor *s, uint32_t search)
{
  struct tm_isolate *x = find(s, search);
  struct tm_err err = TM_ERR_NONE;
  int rc;

  if (!tm_check(x) || tm_copying_join(s, search))
    return;
  sort_pieces(x);
  tm_require(holds_each_once(x));
  rc = commit_all(x, &err);
  if (rc < 0)
    tm_supervisor_fail(s, &err);
  if (rc > 0)
    return;
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_SETTLED, .search = search });
  forget(x);
}

/* Running. */

static void add_bad(struct tm_isolate *x, uint64_t part, const struct tm_failed_try *t)
{
  struct piece *p = TM_ARRAY_ADD(&x->pieces);

  memset(p, 0, sizeof(*p));
  p->part = part;
  set_why(p, t, t->message, t->message_len);
}

static void add_untested(struct tm_isolate *x, uint64_t part, const struct tm_failed_try *t)
{
  struct tm_buf words = TM_BUF_NONE;
  struct tm_failed_try why = *t;

  tm_buf_printf(&words,
                "not tried alone: isolation_max_try (%" PRId64
                ") is used up; together with others it failed: ",
                x->s->o.step->config.isolation_max_try);
  tm_buf_add(&words, t->message, t->message_len);
  why.message = words.data;
  why.message_len = words.len;
  why.where = NULL;
  add_bad(x, part, &why);
  x->untested += tm_part_count(part);
  tm_buf_release(&words);
}

int64_t tm_isolate_failed(struct tm_supervisor *s, const struct tm_in_flight *held,
                          const struct tm_failed_try *t, const struct tm_sched_action *a)
{
  struct tm_isolate *x = a->is_new ? isolate_new(s, held, a->search) : find(s, a->search);

  if (!tm_check(x))
    return 0;
  if (!a->is_new)
    tm_tally_add_part(&s->tally);
  if (a->bad)
    add_bad(x, a->bad, t);
  if (a->untested)
    add_untested(x, a->untested, t);
  if (a->is_over)
    tm_isolate_finish(s, a->search);
  return (int64_t)tm_part_count(a->bad) + tm_part_count(a->untested);
}

static int refuse_name(const char *bytes, size_t len, struct tm_err *err)
{
  char *name = tm_xstrndup(bytes, len), *call = tm_output_file_call(name);

  tm_err_set(err, TM_EDAMAGE,
             "%.300s: another part of this mini-batch has that name; put context.part.first in it "
             "if there is a context.part, or the item's own name",
             call);
  free(name);
  free(call);
  return TM_EDAMAGE;
}

/* Checks that no other part has one of the names. */
static int check_names(struct tm_isolate *x, uint64_t part, const struct tm_good_try *g,
                       struct tm_err *err)
{
  const uint64_t *owner;
  struct tm_reader r;
  size_t len = 0;

  tm_reader_init(&r, g->files, g->files_len);
  while (r.at < r.end && !r.bad) {
    const char *name = tm_read_bytes32(&r, &len);
    owner = name ? tm_map_find(&x->names, name, len) : NULL;
    if (owner && *owner != part)
      return refuse_name(name, len, err);
  }
  tm_reader_init(&r, g->files, g->files_len);
  while (r.at < r.end && !r.bad) {
    const char *name = tm_read_bytes32(&r, &len);
    if (name)
      *tm_map_add(&x->names, name, len, NULL) = part;
  }
  return 0;
}

bool tm_isolate_copy_ahead(struct tm_supervisor *s, uint32_t search, const struct tm_good_try *g)
{
  struct tm_isolate *x = find(s, search);

  return x && g->spilled && g->length <= INT64_MAX &&
         tm_held_rows_copy_ahead(&x->held_rows, g->spilled, (int64_t)g->length, g->hash);
}

bool tm_isolate_copy_more(struct tm_supervisor *s, uint32_t search)
{
  struct tm_isolate *x = find(s, search);

  return x && tm_held_rows_copy_more(&x->held_rows);
}

static int held_rows_rows(struct tm_isolate *x, const struct tm_good_try *g,
                          struct tm_held_range *out, struct tm_err *err)
{
  bool is_wanted = x->s->output_file; /* otherwise only their number counts */

  if (g->spilled && g->length > INT64_MAX)
    return tm_err_set(err, TM_EDAMAGE, "the result in '%s' has no length", g->spilled);
  if (g->spilled)
    return tm_held_rows_add_file(&x->held_rows, g->spilled, (int64_t)g->length, g->hash, out, err);
  return tm_held_rows_add(&x->held_rows, g->rows, is_wanted ? g->rows_len : 0, out, err);
}

int tm_isolate_done(struct tm_supervisor *s, const struct tm_in_flight *held,
                    const struct tm_good_try *g, bool *no_halves, struct tm_err *err)
{
  struct tm_isolate *x = find(s, held->search);
  struct piece p = {
    .part = held->part, .is_good = true, .is_frame = g->is_frame, .outcome = g->outcome
  };
  int rc;

  if (!tm_check(x))
    return 0;
  if (g->files_len > 0 && (rc = check_names(x, p.part, g, err)) < 0) {
    *no_halves = true;
    return rc;
  }
  if ((rc = held_rows_rows(x, g, &p.rows, err)) < 0)
    return rc;
  tm_buf_add(&p.lines, tm_buf_str(&g->lines), g->lines.len);
  tm_buf_add(&p.files, g->files_len > 0 ? g->files : "", g->files_len);
  p.staging = tm_xstrdup(g->staging);
  *TM_ARRAY_ADD(&x->pieces) = p;
  tm_tally_add_part(&s->tally);
  return 0;
}
