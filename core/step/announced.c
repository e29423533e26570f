/* announced.c - see announced.h.
 *
 *   begin -> LOOKING: a look, a wait, a look, ... -> decided: seen, or given up
 *         -> handled, when no copy is under way -> committed, run again, or failed
 */
#include "step/announced.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/path.h"
#include "base/time.h"
#include "step/failed_tries.h"
#include "step/spill_look.h"
#include "sys/clock.h"

static void look_on(struct tm_supervisor *s);

bool tm_spilled_read(struct tm_spilled *out, const char *spill_dir, struct tm_reader *r)
{
  size_t len;
  const char *name = tm_read_bytes32(r, &len);
  char *text;

  out->length = tm_read_u64(r);
  out->hash = tm_read_u64(r);
  if (r->bad)
    return false;
  text = tm_xstrndup(name, len);
  out->path = tm_path_join(spill_dir, tm_path_base(text));
  free(text);
  return true;
}

struct tm_announced *tm_announced_of(struct tm_in_flight *held)
{
  return held->is_announced ? TM_LIST_OWNER(held, struct tm_announced, held) : NULL;
}

const struct tm_assignment *tm_announced_what(const struct tm_in_flight *held)
{
  return held->is_announced ? &TM_LIST_OWNER(held, struct tm_announced, held)->what : NULL;
}

/* ---- ends ---- */

static void free_announced(struct tm_announced *x)
{
  free(x->held.first_item);
  tm_buf_release(&x->payload);
  free(x->file.path);
  TM_ARRAY_RELEASE_EACH(&x->files);
  free(x);
}

static void release(struct tm_announced *x)
{
  struct tm_announcements *a = &x->w->s->announced;

  tm_looks_remove(&a->looks, &x->look);
  tm_list_remove(&a->decided, &x->decided);
  tm_list_remove(&a->list, &x->item);
  tm_workers_let_go(x->w);
  free_announced(x);
}

static struct tm_sched_event event_of(const struct tm_announced *x, enum tm_sched_event_kind kind)
{
  return (struct tm_sched_event) { .kind = kind,
                                   .node = x->w->node->id,
                                   .worker = x->w->number,
                                   .seq = x->held.seq,
                                   .what = &x->what };
}

/* Its rows and its output files. */
static void remove_files(const struct tm_announced *x)
{
  const struct tm_supervisor *s = x->w->s;
  char *staging = tm_staging_path(s->staging_dir, x->w->name, x->held.seq);

  if (x->file.path)
    s->o.fs->unlink(s->o.fs->self, x->file.path);
  tm_staging_remove(tm_fs_real(), s->output_dir, staging);
  free(staging);
}

static void drop(struct tm_announced *x)
{
  struct tm_sched_event e = event_of(x, TM_SCHED_ON_DROPPED);

  tm_workers_tell(x->w->s, &e);
  remove_files(x);
  if (x->under_way)
    tm_spill_look_hurry(x->under_way);
  release(x);
}

void tm_announced_drop(struct tm_supervisor *s, const struct tm_step_node *n) /* keeps (3) */
{
  struct tm_list *list = &s->announced.list;
  struct tm_list_item *next;

  for (struct tm_list_item *i = tm_list_first(list); i; i = next) {
    struct tm_announced *x = TM_LIST_OWNER(i, struct tm_announced, item);
    next = tm_list_next(list, i);
    if (!x->is_handled && (!n || x->w->node == n))
      drop(x);
  }
}

/* What is looked for. */
static const char *what(const struct tm_announced *x)
{
  return x->file.path ? "rows" : "output files";
}

/* The file that was not found, or the first one. */
static const char *path_of(const struct tm_announced *x)
{
  if (x->found.file > 0)
    return x->files.at[x->found.file - 1];
  return x->file.path ? x->file.path : x->files.at[0];
}

/* Why it is given up. */
static void describe(const struct tm_announced *x, struct tm_buf *out)
{
  const struct tm_step_node *n = x->w->node;

  tm_buf_printf(out, "the %s of %s on node %s (%s) cannot be read here after %g s: '%s': ", what(x),
                x->w->name, n->name, n->address, (double)x->w->s->announced.looks.limit_ns / 1e9,
                path_of(x));
  tm_look_describe(out, &x->found, x->file.length);
  tm_buf_printf(out, "; check that this folder is on a file system which this machine and the node "
                     "share, that both see what the other writes there, and that it is not full");
}

/* Keeps (2). */
static void give_up(struct tm_announced *x)
{
  struct tm_sched_event e = event_of(x, TM_SCHED_ON_UNUSABLE);
  struct tm_supervisor *s = x->w->s;
  struct tm_buf words = TM_BUF_NONE;
  struct tm_answer a = { .head = x->head, .status = TM_RUN_EXCEPTION, .stack = "", .where = "" };

  describe(x, &words);
  remove_files(x);
  if (tm_workers_tell(s, &e)) {
    tm_supervisor_say(s, TM_WARNING, "mini-batch %" PRIu64 " is run again, uncounted: %s",
                      x->held.index, words.data);
  } else {
    a.message = words.data;
    tm_failed_tries_end(x->w, &x->held, &a);
  }
  tm_buf_release(&words);
}

static void note_late(const struct tm_announced *x)
{
  int64_t late_ns = tm_clock_mono_ns() - x->look.begin_ns;

  if (x->look.wait_ns > 0) /* not at the first look */
    tm_supervisor_say(x->w->s, TM_INFO,
                      "the %s of %s on node %s could be read here %.1f s after they were written",
                      what(x), x->w->name, x->w->node->name, (double)late_ns / 1e9);
}

/* A step that has failed commits nothing more. */
static bool settle(struct tm_announced *x)
{
  if (x->w->s->code != 0)
    remove_files(x);
  else if (!x->is_seen)
    give_up(x);
  else
    return tm_worker_results_on_seen(x->w, &x->held, &x->f);
  return true;
}

void tm_announced_handle(struct tm_announced *x)
{
  struct tm_supervisor *s = x->w->s;

  x->is_handled = true;
  if (!settle(x))
    return;
  release(x);
  tm_workers_carry_out(s, NULL);
  tm_workers_fill(s);
  tm_supervisor_judge(s);
  tm_supervisor_check_end(s);
}

void tm_announced_go_on(struct tm_supervisor *s)
{
  struct tm_list *decided = &s->announced.decided;

  while (decided->len > 0 && !s->copying.is_on) {
    struct tm_announced *x = TM_LIST_OWNER(tm_list_first(decided), struct tm_announced, decided);
    tm_list_remove(decided, &x->decided);
    if (x->w->node->node)
      tm_announced_handle(x);
    else
      drop(x); /* the news of its node's loss waits behind a copy: keeps (3) */
  }
}

/* ---- looks ---- */

static void decide(struct tm_announced *x, bool is_seen)
{
  struct tm_announcements *a = &x->w->s->announced;

  tm_looks_remove(&a->looks, &x->look);
  x->is_seen = is_seen;
  tm_list_add(&a->decided, &x->decided);
}

static void note_first(const struct tm_announced *x)
{
  tm_supervisor_say(x->w->s, TM_DEBUG, "the %s of %s on node %s are not there yet: '%s'", what(x),
                    x->w->name, x->w->node->name, path_of(x));
}

static void end_look(struct tm_announced *x, const struct tm_look_finding *found)
{
  bool is_first = x->look.wait_ns == 0;

  x->under_way = NULL;
  x->found = *found;
  if (found->kind == TM_LOOK_GOOD) {
    note_late(x);
    decide(x, true);
  } else if (!tm_looks_again(&x->w->s->announced.looks, &x->look, tm_clock_mono_ns())) {
    decide(x, false);
  } else if (is_first) {
    note_first(x);
  }
}

/* NULL: it was dropped. */
static struct tm_announced *find(const struct tm_announcements *a, const struct tm_spill_look *l)
{
  for (struct tm_list_item *i = tm_list_first(&a->list); i; i = tm_list_next(&a->list, i))
    if (TM_LIST_OWNER(i, struct tm_announced, item)->under_way == l)
      return TM_LIST_OWNER(i, struct tm_announced, item);
  return NULL;
}

static void on_looked(void *data, struct tm_spill_look *l, const struct tm_look_finding *found)
{
  struct tm_supervisor *s = data;
  struct tm_announcements *a = &s->announced;
  struct tm_announced *x = find(a, l);

  for (size_t i = 0; i < a->under_way.len; i++)
    if (a->under_way.at[i] == l)
      a->under_way.at[i--] = a->under_way.at[--a->under_way.len];
  if (x)
    end_look(x, found);
  look_on(s);
  tm_announced_go_on(s);
}

static void start_look(struct tm_supervisor *s, struct tm_announced *x)
{
  struct tm_spill_look_options o = { .loop = s->o.loop,
                                     .fs = s->o.fs,
                                     .path = x->file.path,
                                     .length = x->file.length,
                                     .hash = x->file.hash,
                                     .files = x->files.at,
                                     .files_len = x->files.len,
                                     .on_ended = on_looked,
                                     .data = s };
  struct tm_look_finding none = { .kind = TM_LOOK_UNREADABLE };

  x->under_way = tm_spill_look_start(&o, &none.err);
  if (x->under_way)
    *TM_ARRAY_ADD(&s->announced.under_way) = x->under_way;
  else
    end_look(x, &none);
}

static void look_on(struct tm_supervisor *s)
{
  struct tm_announcements *a = &s->announced;
  int64_t now_ns = tm_clock_mono_ns(), due_ns;
  struct tm_look *look;

  while ((look = tm_looks_next(&a->looks, now_ns)))
    start_look(s, TM_LIST_OWNER(look, struct tm_announced, look));
  due_ns = tm_looks_due(&a->looks);
  if (due_ns != INT64_MAX)
    tm_timer_start(&a->due, due_ns > now_ns ? due_ns - now_ns : 0, 0);
}

static void on_due(struct tm_timer *t)
{
  struct tm_supervisor *s = t->data;

  look_on(s);
  tm_announced_go_on(s);
}

/* ---- the beginning and the end ---- */

/* Who counts only the returned elements needs no rows, but a part's rows are held in any case. */
static bool needs_rows(const struct tm_worker *w, const struct tm_in_flight *held)
{
  return w->s->output_file || held->part != 0;
}

/* False: a name cannot be one, which the commit refuses. */
static bool read_files(struct tm_announced *x, struct tm_reader names)
{
  const struct tm_supervisor *s = x->w->s;
  char *staging = tm_staging_path(s->staging_dir, x->w->name, x->held.seq);
  bool is_good = true;

  while (is_good && names.at < names.end) {
    size_t len = 0;
    const char *bytes = tm_read_bytes32(&names, &len);
    is_good = !names.bad && tm_output_file_is_good(bytes, len);
    if (is_good) {
      char *name = tm_xstrndup(bytes, len);
      *TM_ARRAY_ADD(&x->files) = tm_output_file_staged(s->o.fs, s->output_dir, staging, name);
      free(name);
    }
  }
  free(staging);
  return is_good;
}

/* What is looked for. False: nothing. */
static bool read_announced(struct tm_announced *x, const struct tm_in_flight *held,
                           struct tm_reader r, struct tm_reader files)
{
  bool has_rows = x->head.is_spilled && needs_rows(x->w, held);

  x->held.seq = held->seq;
  if (!read_files(x, files))
    return false;
  return has_rows ? tm_spilled_read(&x->file, x->w->s->spill_dir, &r) : x->files.len > 0;
}

static void take_held(struct tm_announced *x, struct tm_in_flight *held)
{
  const struct tm_assignment *what = tm_sched_assignment(&x->w->s->sched, x->w->number, held->seq);

  tm_require(what);
  x->held = *held;
  x->held.is_announced = true;
  held->first_item = NULL; /* it is taken */
  x->what = *what;
  x->what.rows = held->rows; /* as the worker counted them */
  tm_workers_forget(x->w, held);
}

bool tm_announced_begin(struct tm_worker *w, const struct tm_msg *f, struct tm_in_flight *held,
                        const struct tm_result_head *head, struct tm_reader r,
                        struct tm_reader files)
{
  struct tm_announced *x;
  struct tm_sched_event e;

  if (w->node->id == TM_LOCAL_NODE || (!head->is_spilled && files.at == files.end))
    return false;
  x = TM_NEW(struct tm_announced);
  x->w = w;
  x->head = *head;
  if (!read_announced(x, held, r, files)) {
    free_announced(x);
    return false;
  }
  tm_workers_keep(w);
  take_held(x, held);
  tm_buf_add(&x->payload, f->payload, f->length);
  x->f = *f;
  x->f.payload = x->payload.data;
  tm_list_add(&w->s->announced.list, &x->item);
  tm_looks_add(&w->s->announced.looks, &x->look, tm_clock_mono_ns());
  e = event_of(x, TM_SCHED_ON_ANNOUNCED);
  e.what = NULL; /* the worker has it */
  e.ns = head->total_ns;
  tm_workers_tell(w->s, &e);
  look_on(w->s);
  return true;
}

static void on_due_closed(struct tm_timer *t)
{
  tm_supervisor_closed_one(t->data);
}

void tm_announced_init(struct tm_supervisor *s)
{
  tm_list_init(&s->announced.list);
  tm_list_init(&s->announced.decided);
  tm_looks_init(&s->announced.looks);
}

void tm_announced_open(struct tm_supervisor *s)
{
  tm_timer_open(&s->announced.due, s->o.loop, on_due, s);
  s->announced.due.on_closed = on_due_closed;
  s->open++;
}

void tm_announced_close(struct tm_supervisor *s)
{
  struct tm_announcements *a = &s->announced;

  while (a->list.len > 0)
    release(TM_LIST_OWNER(tm_list_first(&a->list), struct tm_announced, item));
  for (size_t i = 0; i < a->under_way.len; i++)
    tm_spill_look_close(a->under_way.at[i]);
  TM_ARRAY_RELEASE(&a->under_way);
  tm_timer_close(&a->due);
}
