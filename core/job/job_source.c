/* job_source.c - see job_source.h.
 *
 *  (1) The loop reads no file: a thread does. When the node has ended, the thread is left behind.
 *      It ends by itself, because its handoff is closed.
 *  (2) A node is not late while bytes go to it.
 */
#include "job/job_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/tree_bytes.h"
#include "fleet/launch_plan.h"
#include "job/job_own.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/errand.h"
#include "sys/handoff.h"

#define LIMIT ((size_t)256 << 10) /* bytes that were read and not sent */
#define PIECE TM_SOURCE_MESSAGE

/* Shared with the thread. */
struct packing {
  struct tm_errand errand;
  struct tm_job_source *source; /* not for the thread; NULL: it was left behind */
  struct tm_handoff handoff;
  const struct tm_fs *fs;
  char *dir, *hash;
  struct tm_err err; /* read by the loop when the thread has ended */
};

struct tm_job_source {
  struct tm_launched_node *node; /* NULL: it has ended */
  bool sizes_alone;
  size_t step;                  /* whose script is sent, or is next */
  struct TM_ARRAY(size_t) sent; /* steps whose scripts were */
  struct packing *packing;      /* NULL: none */
  struct tm_turn turn;
  struct tm_buf piece;
};

/* ---- on the thread ---- */

static int on_bytes(void *data, struct tm_buf *bytes, struct tm_err *err)
{
  struct packing *p = data;

  for (size_t at = 0; at < bytes->len;) {
    size_t n = bytes->len - at < PIECE ? bytes->len - at : PIECE;
    if (!tm_handoff_put(&p->handoff, bytes->data + at, n))
      return tm_err_set(err, -ECANCELED, "left behind"); /* keeps (1) */
    tm_errand_wake(&p->errand);
    at += n;
  }
  bytes->len = 0;
  return 0;
}

static void run(void *data)
{
  struct packing *p = data;
  struct tm_snapshot_pack pack = { .on_bytes = on_bytes, .data = p };
  struct tm_buf end = TM_BUF_NONE;
  char hash[17];

  if (tm_snapshot_pack(&pack, p->fs, p->dir, hash, &p->err) < 0)
    return;
  if (strcmp(hash, p->hash) != 0) {
    tm_err_set(&p->err, TM_EDAMAGE, "the job's copy in '%s' has changed while the job runs",
               p->dir);
    return;
  }
  tm_tree_add_end(&end);
  (void)on_bytes(p, &end, &p->err);
  tm_buf_release(&end);
}

static void free_packing(void *data)
{
  struct packing *p = data;

  tm_handoff_release(&p->handoff);
  free(p->dir);
  free(p->hash);
  free(p);
}

/* ---- on the loop's thread ---- */

static struct tm_node *node_of(const struct tm_job_source *s)
{
  return s->node ? tm_fleet_node(&s->node->job->fleet, s->node->id) : NULL;
}

/* Ends `s`. */
static void refuse(struct tm_job_source *s, const char *problem)
{
  struct tm_node *node = node_of(s);
  char *text = tm_xprintf("the source cannot be sent to it: %s", problem);

  s->node->is_refused = true;
  if (node)
    tm_node_give_up(node, text);
  free(text);
}

/* Each turn may end `s`; its memory lasts until the loop turns. */
static void send_pieces(struct tm_job_source *s)
{
  for (;;) {
    struct tm_node *node = s->packing ? node_of(s) : NULL;
    if (!node || tm_node_source_pending(node) > 0 || node_of(s) != node)
      return;
    s->piece.len = 0;
    if (tm_handoff_take(&s->packing->handoff, &s->piece, PIECE) == 0)
      return;
    tm_node_send_source_data(node, s->piece.data, s->piece.len);
    tm_launch_plan_moves(&tm_job_launched_group(s->node)->plan, s->node->id,
                         tm_clock_mono_ns()); /* keeps (2) */
  }
}

static void on_turn(struct tm_turn *t)
{
  send_pieces(t->data);
}

static void on_wake(void *data)
{
  struct packing *p = data;
  struct tm_job_source *s = p->source;

  if (s && tm_errand_wait(&p->errand, 0) && p->err.code < 0)
    refuse(s, p->err.text);
  /* else the turn sends what there is */
}

static void leave(struct tm_job_source *s)
{
  struct packing *p = s->packing;

  s->packing = NULL;
  if (!p)
    return;
  p->source = NULL;
  tm_handoff_close(&p->handoff);
  (void)tm_errand_end(&p->errand, 0); /* keeps (1) */
}

static void start(struct tm_job_source *s, const struct tm_snapshot *copy)
{
  struct packing *p = TM_NEW(struct packing);
  struct tm_job *job = s->node->job;
  struct tm_err err = TM_ERR_NONE;
  char *dir = tm_temp_dirs_source(&job->temps.at[s->node->id], copy->hash);

  p->source = s;
  p->fs = job->o.fs;
  p->dir = tm_xstrdup(copy->dir);
  p->hash = tm_xstrdup(copy->hash);
  tm_handoff_init(&p->handoff, LIMIT);
  p->errand = (struct tm_errand) {
    .loop = job->o.loop, .run = run, .on_wake = on_wake, .free_data = free_packing, .data = p
  };
  tm_node_send_source(node_of(s), &(struct tm_node_source) {
                                      .job_dir = job->dir.path, .dir = dir, .hash = p->hash });
  free(dir);
  s->packing = p;
  if (tm_errand_start(&p->errand, &err) == 0)
    return;
  s->packing = NULL;
  refuse(s, err.text);
}

static bool ships(const struct tm_launched_node *n, size_t i)
{
  const struct tm_job *job = n->job;

  return job->launches->group_of[i] == n->group && job->steps[i].state != TM_STEP_OVER &&
         job->o.pipeline->steps[i]->config.ships_source;
}

/* An earlier step, which may be over by now, may have had the same source. */
static bool was_sent(const struct tm_job_source *s, size_t i)
{
  const struct tm_snapshot *snapshots = s->node->job->snapshots;

  for (size_t k = 0; k < s->sent.len; k++)
    if (strcmp(snapshots[s->sent.at[k]].hash, snapshots[i].hash) == 0)
      return true;
  return false;
}

static void send_next(struct tm_job_source *s)
{
  struct tm_job *job = s->node->job;

  while (s->step < job->steps_len && (!ships(s->node, s->step) || was_sent(s, s->step)))
    s->step++;
  if (s->step < job->steps_len)
    start(s, &job->snapshots[s->step]);
  else
    tm_node_admit(node_of(s), s->sizes_alone); /* frees `s` if the node is ready */
}

static void on_closed(struct tm_turn *t)
{
  struct tm_job_source *s = t->data;

  tm_buf_release(&s->piece);
  TM_ARRAY_RELEASE(&s->sent);
  free(s);
}

void tm_job_source_begin(struct tm_launched_node *n, bool sizes_alone)
{
  struct tm_job_source *s = TM_NEW(struct tm_job_source);

  tm_require(!n->source);
  n->source = s;
  s->node = n;
  s->sizes_alone = sizes_alone;
  tm_turn_open(&s->turn, n->job->o.loop, on_turn, s);
  s->turn.on_closed = on_closed;
  send_next(s);
}

void tm_job_source_taken(struct tm_launched_node *n, const char *problem)
{
  struct tm_job_source *s = n->source;

  if (!s || !s->packing) /* it is being ended */
    return;
  if (problem[0]) {
    refuse(s, problem);
    return;
  }
  leave(s);
  *TM_ARRAY_ADD(&s->sent) = s->step++;
  send_next(s);
}

void tm_job_source_end(struct tm_launched_node *n)
{
  struct tm_job_source *s = n->source;

  if (!s)
    return;
  n->source = NULL;
  leave(s);
  s->node = NULL;
  tm_turn_close(&s->turn);
}
