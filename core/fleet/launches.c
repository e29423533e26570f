/* launches.c - see launches.h.
 *
 *  (1) A user hears only what can happen: LAUNCHED or LAUNCH_FAILED once, after LAUNCHED
 *      LAUNCH_ENDED once; after ADOPT, ADOPTED at most once, and LAUNCH_ENDED once. The caller
 *      gives up a keeper that sends anything else.
 *  (2) A callback may do anything: nothing of a launch is looked at after it.
 */
#include "fleet/launches.h"

#include <stdlib.h>

#include "base/check.h"
#include "fleet/node_connection.h"
#include "sys/clock.h"

static void send_launch(struct tm_node_connection *c, struct tm_msg *f, const struct tm_launch *l,
                        int64_t end_ns)
{
  struct tm_buf bytes = TM_BUF_NONE;

  tm_require(l->argv && l->argv[0] && l->stderr_path && l->cwd);
  tm_node_launch_encode(&bytes, l, end_ns);
  f->payload = bytes.data;
  f->length = (uint32_t)bytes.len;
  tm_node_connection_send(c, f);
  tm_buf_release(&bytes);
}

uint32_t tm_launches_add(struct tm_launches *all, struct tm_node_connection *c, uint32_t keeper,
                         const struct tm_launch *l, const struct tm_launch_user *user)
{
  struct tm_msg f = { .type = TM_MSG_LAUNCH, .worker = (uint32_t)all->list.len, .fd = -1 };

  tm_require(user->on_launched && user->on_launch_failed && user->on_launch_ended);
  tm_require(l->is_kept == (user->on_adopted != NULL));
  *TM_ARRAY_ADD(&all->list) =
      (struct tm_known_launch) { .user = *user,
                                 .process = { .keeper = keeper, .launch = f.worker } };
  send_launch(c, &f, l, l->is_never_late ? INT64_MAX : TM_LAUNCH_END_NS);
  return f.worker;
}

uint32_t tm_launches_adopt(struct tm_launches *all, struct tm_node_connection *c,
                           const struct tm_launched_process *p, const char *stderr_path,
                           const struct tm_launch_user *user)
{
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_msg f = { .type = TM_MSG_ADOPT, .worker = (uint32_t)all->list.len, .fd = -1 };

  tm_require(user->on_adopted && user->on_launch_ended);
  *TM_ARRAY_ADD(&all->list) =
      (struct tm_known_launch) { .user = *user, .process = *p, .phase = TM_LAUNCH_NAMED };
  tm_launched_process_encode(&bytes, p, stderr_path, TM_LAUNCH_END_NS);
  f.payload = bytes.data;
  f.length = (uint32_t)bytes.len;
  tm_node_connection_send(c, &f);
  tm_buf_release(&bytes);
  return f.worker;
}

void tm_launches_at_end(struct tm_node_connection *c, const struct tm_launch *l)
{
  struct tm_msg f = { .type = TM_MSG_AT_END, .fd = -1 };

  send_launch(c, &f, l, TM_LAUNCH_END_NS);
}

static void send_end(struct tm_node_connection *c, enum tm_node_msg type, uint32_t launch)
{
  struct tm_msg f = { .type = type, .worker = launch, .fd = -1 };

  tm_node_connection_wake(c); /* a stopped keeper ends nothing */
  tm_node_connection_send(c, &f);
}

void tm_launches_end(struct tm_launches *all, struct tm_node_connection *c, uint32_t launch)
{
  tm_require(launch < all->list.len);
  if (all->list.at[launch].is_ending || all->list.at[launch].phase == TM_LAUNCH_GONE)
    return;
  all->list.at[launch].is_ending = true;
  send_end(c, TM_MSG_END_LAUNCH, launch);
}

void tm_launches_kill(struct tm_launches *all, struct tm_node_connection *c, uint32_t launch)
{
  tm_require(launch < all->list.len);
  if (all->list.at[launch].phase != TM_LAUNCH_GONE)
    send_end(c, TM_MSG_KILL_LAUNCH, launch);
}

static bool on_launched(struct tm_known_launch *known, struct tm_node_connection *c,
                        const struct tm_msg *f)
{
  struct tm_launch_user user = known->user;
  int fd;

  if (f->length != 12 || (fd = tm_node_connection_take_fd(c, f)) < 0)
    return false;
  known->phase = TM_LAUNCH_LIVES;
  known->process.pid = tm_get_u32(f->payload);
  known->process.born = tm_get_u64(f->payload + 4);
  known->process.started_ns = tm_clock_mono_ns();
  user.on_launched(user.data, f->worker, tm_get_u32(f->payload), fd); /* keeps (2) */
  return true;
}

static bool on_failed(struct tm_known_launch *known, const struct tm_msg *f)
{
  struct tm_launch_user user = known->user;
  char *text = tm_xstrndup(f->length ? f->payload : "", f->length);

  known->phase = TM_LAUNCH_GONE;
  user.on_launch_failed(user.data, f->worker, text); /* keeps (2) */
  free(text);
  return true;
}

static bool on_ended(struct tm_known_launch *known, const struct tm_msg *f)
{
  struct tm_launch_user user = known->user;
  struct tm_launch_ended ended;

  if (tm_launch_ended_decode(&ended, f->payload, f->length, NULL) < 0)
    return false;
  known->phase = TM_LAUNCH_GONE;
  user.on_launch_ended(user.data, f->worker, &ended); /* keeps (2) */
  return true;
}

static bool on_adopted(struct tm_known_launch *known, const struct tm_msg *f)
{
  struct tm_launch_user user = known->user;

  known->phase = TM_LAUNCH_LIVES;
  user.on_adopted(user.data, f->worker); /* keeps (2) */
  return true;
}

/* Keeps (1). */
static bool may_happen(const struct tm_known_launch *known, uint32_t type)
{
  switch (type) {
  case TM_MSG_LAUNCH_ENDED:
    return known->phase == TM_LAUNCH_LIVES || known->phase == TM_LAUNCH_NAMED;
  case TM_MSG_ADOPTED: return known->phase == TM_LAUNCH_NAMED;
  default: return known->phase == TM_LAUNCH_ASKED;
  }
}

bool tm_launches_deliver(struct tm_launches *all, struct tm_node_connection *c,
                         const struct tm_msg *f)
{
  struct tm_known_launch *known;

  if (f->worker >= all->list.len)
    return false;
  known = &all->list.at[f->worker];
  if (!may_happen(known, f->type))
    return false;
  switch (f->type) {
  case TM_MSG_LAUNCHED: return on_launched(known, c, f);
  case TM_MSG_LAUNCH_FAILED: return on_failed(known, f);
  case TM_MSG_ADOPTED: return on_adopted(known, f);
  default: return on_ended(known, f);
  }
}

void tm_launches_release(struct tm_launches *all)
{
  TM_ARRAY_RELEASE(&all->list);
}
