/* fleet.c - see fleet.h. */
#include "fleet/fleet.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/time.h"
#include "sys/clock.h"

#define LATE_NS (10 * TM_S) /* how long a lost node is read */

void tm_fleet_init(struct tm_fleet *f, const struct tm_fleet_options *o)
{
  tm_require(o->loop && o->on_note && o->on_lost && o->on_gone);
  *f = (struct tm_fleet) { .o = *o };
}

static void on_note(void *data, const char *text)
{
  struct tm_fleet_place *p = data;

  p->fleet->o.on_note(p->fleet->o.data, p->id, text);
}

static void on_gone(void *data)
{
  struct tm_fleet_place *p = data;

  tm_require(p->closing && !p->node);
  p->closing = NULL;
  p->fleet->o.on_gone(p->fleet->o.data, p->id);
}

static void on_report(void *data)
{
  struct tm_fleet_place *p = data;

  p->fleet->o.on_report(p->fleet->o.data, p->id);
}

static void on_probed(void *data, const struct tm_node_probed *probed)
{
  struct tm_fleet_place *p = data;

  p->fleet->o.on_probed(p->fleet->o.data, p->id, probed);
}

static void on_source_taken(void *data, const char *problem)
{
  struct tm_fleet_place *p = data;

  p->fleet->o.on_source_taken(p->fleet->o.data, p->id, problem);
}

static void on_ready(void *data)
{
  struct tm_fleet_place *p = data;

  tm_require(p->node && !p->is_ready);
  p->is_ready = true;
  if (p->is_stream && p->fleet->o.on_ready)
    p->fleet->o.on_ready(p->fleet->o.data, p->id);
}

static void on_drains(void *data)
{
  struct tm_fleet_place *p = data;

  if (p->fleet->o.on_drains)
    p->fleet->o.on_drains(p->fleet->o.data, p->id);
}

static void on_left_gone(void *data)
{
  struct tm_fleet_place *p = data;

  p->left = NULL;
}

static void close_left(struct tm_fleet_place *p)
{
  if (!p || !p->left || p->left_ns == 0)
    return;
  p->left_ns = 0;
  tm_node_close(p->left, on_left_gone);
}

static void on_quiet(void *data)
{
  close_left(data);
}

static void on_late(struct tm_late *l)
{
  on_gone(l->data);
}

/* What a node that was used has on its way is still read, so that it is known to be late. Nobody
 * waits for that: for the user it is gone. */
static void on_lost(void *data, const char *text)
{
  struct tm_fleet_place *p = data;
  bool was_ready = p->is_stream && p->is_ready;

  tm_require(p->node && !p->closing);
  p->closing = p->node;
  p->node = NULL;
  p->is_ready = false;
  if (was_ready && tm_node_leave(p->closing, on_quiet)) {
    p->left = p->closing;
    p->left_ns = tm_clock_mono_ns();
    tm_late_add(p->fleet->o.loop, &p->gone);
    p->fleet->o.on_lost(p->fleet->o.data, p->id, text);
  } else {
    p->fleet->o.on_lost(p->fleet->o.data, p->id, text);
    tm_node_close(p->closing, on_gone);
  }
}

static struct tm_fleet_place *place_of(struct tm_fleet *f, uint32_t id)
{
  while (f->places.len <= id)
    *TM_ARRAY_ADD(&f->places) = NULL;
  if (!f->places.at[id]) {
    f->places.at[id] = TM_NEW(struct tm_fleet_place);
    *f->places.at[id] = (struct tm_fleet_place) { .fleet = f, .id = id };
    f->places.at[id]->gone = (struct tm_late) { .on_late = on_late, .data = f->places.at[id] };
  }
  return f->places.at[id];
}

static bool lives(const struct tm_fleet_place *p)
{
  return p && (p->node || p->closing);
}

static struct tm_node_options options_of(struct tm_fleet_place *p)
{
  const struct tm_fleet_options *o = &p->fleet->o;

  return (struct tm_node_options) { .loop = o->loop,
                                    .program = o->program,
                                    .has_stderr = o->has_stderr,
                                    .incarnation = { o->epoch, p->id, p->started },
                                    .on_note = on_note,
                                    .on_report = on_report,
                                    .on_probed = on_probed,
                                    .on_source_taken = on_source_taken,
                                    .on_ready = on_ready,
                                    .on_drains = on_drains,
                                    .on_lost = on_lost,
                                    .data = p };
}

int tm_fleet_start(struct tm_fleet *f, uint32_t id, struct tm_err *err)
{
  struct tm_fleet_place *p = place_of(f, id);
  struct tm_node_options o = options_of(p);

  tm_require(!lives(p) && !p->is_stream);
  p->started++;
  p->node = tm_node_start(&o, err);
  return p->node ? 0 : err->code;
}

int tm_fleet_connect(struct tm_fleet *f, uint32_t id, int in, int out, const char *address,
                     int64_t node_timeout_ns, struct tm_err *err)
{
  struct tm_fleet_place *p = place_of(f, id);
  struct tm_node_options o = options_of(p);

  tm_require(f->o.on_report && f->o.on_probed);
  tm_require(!lives(p) && p->started == 0); /* an id is used once */
  o.address = address;
  o.node_timeout_ns = node_timeout_ns;
  p->started++;
  p->is_stream = true;
  p->node = tm_node_connect(&o, in, out, err);
  return p->node ? 0 : err->code;
}

bool tm_fleet_is_ready(const struct tm_fleet *f, uint32_t id)
{
  return tm_fleet_node(f, id) && f->places.at[id]->is_ready;
}

struct tm_node *tm_fleet_node(const struct tm_fleet *f, uint32_t id)
{
  return id < f->places.len && f->places.at[id] ? f->places.at[id]->node : NULL;
}

void tm_fleet_give_up(struct tm_fleet *f, uint32_t id, const char *text)
{
  struct tm_node *n = tm_fleet_node(f, id);

  tm_require(n && f->places.at[id]->is_stream);
  tm_node_give_up(n, text);
}

const char *tm_fleet_foreign(const struct tm_fleet *f, uint32_t id, size_t *len)
{
  const struct tm_fleet_place *p = id < f->places.len ? f->places.at[id] : NULL;

  *len = 0;
  return lives(p) ? tm_node_foreign(p->node ? p->node : p->closing, len) : NULL;
}

bool tm_fleet_is_other_build(const struct tm_fleet *f, uint32_t id)
{
  const struct tm_fleet_place *p = id < f->places.len ? f->places.at[id] : NULL;

  return p && p->closing && tm_node_is_other_build(p->closing);
}

bool tm_fleet_lives(const struct tm_fleet *f, uint32_t id)
{
  return id < f->places.len && lives(f->places.at[id]);
}

size_t tm_fleet_ids(const struct tm_fleet *f)
{
  return f->places.len;
}

bool tm_fleet_is_empty(const struct tm_fleet *f)
{
  for (size_t i = 0; i < f->places.len; i++)
    if (lives(f->places.at[i]))
      return false;
  return true;
}

void tm_fleet_tick(struct tm_fleet *f, int64_t mono_ns)
{
  for (uint32_t id = 0; id < f->places.len; id++) {
    struct tm_fleet_place *p = f->places.at[id];
    tm_node_tick(tm_fleet_node(f, id), mono_ns);
    if (p && p->left && mono_ns - p->left_ns >= LATE_NS)
      close_left(p);
  }
}

static void close_place(struct tm_fleet_place *p)
{
  close_left(p);
  if (!p || !p->node)
    return;
  tm_require(!p->closing);
  p->closing = p->node;
  p->node = NULL;
  p->is_ready = false;
  tm_node_close(p->closing, on_gone);
}

void tm_fleet_close_stream(struct tm_fleet *f, uint32_t id)
{
  tm_require(tm_fleet_node(f, id) && f->places.at[id]->is_stream);
  close_place(f->places.at[id]);
}

void tm_fleet_close_streams(struct tm_fleet *f)
{
  for (size_t i = 0; i < f->places.len; i++)
    if (f->places.at[i] && f->places.at[i]->is_stream)
      close_place(f->places.at[i]);
}

bool tm_fleet_has_streams(const struct tm_fleet *f)
{
  for (size_t i = 0; i < f->places.len; i++)
    if (lives(f->places.at[i]) && f->places.at[i]->is_stream)
      return true;
  return false;
}

void tm_fleet_close(struct tm_fleet *f)
{
  for (size_t i = 0; i < f->places.len; i++)
    close_place(f->places.at[i]);
}

void tm_fleet_end_kept(const struct tm_fleet *f, const char *job_dir)
{
  tm_require(!tm_fleet_lives(f, TM_LOCAL_NODE));
  (void)tm_session_kill_kept(job_dir, f->o.epoch, TM_LOCAL_NODE);
}

/* The keeper of this machine, which comes last, waits for the commands of the streams, and those
 * for the ends of their streams. */
void tm_fleet_close_now(struct tm_fleet *f)
{
  for (size_t i = f->places.len; i-- > 0;) {
    struct tm_fleet_place *p = f->places.at[i];
    if (!p)
      continue;
    tm_late_remove(&p->gone);
    if (p->left != p->closing)
      tm_node_close_now(p->left);
    tm_node_close_now(p->node ? p->node : p->closing);
    p->node = p->closing = p->left = NULL;
  }
}

void tm_fleet_release(struct tm_fleet *f)
{
  tm_require(tm_fleet_is_empty(f));
  for (size_t i = 0; i < f->places.len; i++)
    free(f->places.at[i]);
  TM_ARRAY_RELEASE(&f->places);
}
