/* loop.c - the loop itself: running, ending, and the calls at the end of a turn. The things on it:
 * watch.c.
 *
 * One turn of the loop, as libuv runs it:
 *
 *   timers -> tm_turns -> tm_lates -> wait for descriptors, wakes, signals -> their callbacks
 *          -> on_closed of closed handles -> timers -> ...
 *
 *  (1) uv_run() is never entered while it runs: a callback that ran the loop would see half-done
 *      callers above it.
 *  (2) The loop's own handle (turn_end) does not count: it is not in `open`, and does not keep the
 *      loop alive. It is started first, and libuv runs the last started first, so that the lates
 *      run after the tm_turns.
 *  (3) tm_loop_release() closes every handle, including those that callers forgot; a forgotten one
 *      is reported as a fault.
 *  (4) A host's loop has handles and `data` of the host's: we touch only what we opened, and the
 *      host alone runs it.
 *  (5) A descriptor that a callback asks libuv to watch is watched from the next round on, and the
 *      loop's own descriptor does not show it before. So a turn ends with a round in which nothing
 *      happened, or reports that there is more to do.
 */
#include "sys/loop.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "sys/standard_fds.h"

#define ROUNDS_MAX 8 /* of one turn; then other users of the thread get theirs */

static void run_late(struct tm_loop *loop)
{
  struct tm_late *l;
  while ((l = loop->late) != NULL) {
    tm_late_remove(l);
    l->on_late(l);
  }
}

static void on_turn_end(uv_prepare_t *uv)
{
  run_late(uv->data);
}

const char *tm_loop_library(void)
{
  return uv_version_string();
}

static void open_turn_end(struct tm_loop *loop)
{
  uv_prepare_init(loop->uv, &loop->turn_end);
  loop->turn_end.data = loop;
  uv_prepare_start(&loop->turn_end, on_turn_end);
  uv_unref((uv_handle_t *)&loop->turn_end); /* keeps (2) */
}

int tm_loop_init(struct tm_loop *loop, struct tm_err *err)
{
  struct tm_standard_fds low;
  memset(loop, 0, sizeof *loop);
  tm_standard_fds_hold(&low);
  int rc = uv_loop_init(&loop->own); /* opens every descriptor that libuv ever opens for a loop */
  tm_standard_fds_release(&low);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot make an event loop");
  loop->uv = &loop->own;
  open_turn_end(loop);
  return 0;
}

void tm_loop_join(struct tm_loop *loop, uv_loop_t *uv)
{
  memset(loop, 0, sizeof *loop);
  loop->uv = uv;
  open_turn_end(loop);
}

bool tm_loop_is_joined(const struct tm_loop *loop)
{
  return loop->uv != &loop->own;
}

static void run(struct tm_loop *loop, uv_run_mode mode)
{
  tm_require(!loop->is_running && !tm_loop_is_joined(loop)); /* keeps (1), (4) */
  loop->is_running = true;
  uv_run(loop->uv, mode);
  run_late(loop); /* those added in the last turn, in which libuv stops halfway */
  loop->is_running = false;
}

void tm_loop_run(struct tm_loop *loop)
{
  run(loop, UV_RUN_DEFAULT);
}

void tm_loop_stop(struct tm_loop *loop)
{
  uv_stop(loop->uv);
}

/* Keeps (5). */
void tm_loop_turn(struct tm_loop *loop)
{
  int rounds = 0;
  do {
    loop->has_happened = false;
    run(loop, UV_RUN_NOWAIT);
  } while (loop->has_happened && ++rounds < ROUNDS_MAX);
}

int tm_loop_fd(const struct tm_loop *loop)
{
  return uv_backend_fd(loop->uv);
}

int tm_loop_timeout_ms(struct tm_loop *loop)
{
  uv_update_time(loop->uv); /* otherwise libuv uses the time of the last turn */
  return loop->late || loop->has_happened ? 0 : uv_backend_timeout(loop->uv);
}

static void count_closing(uv_handle_t *handle, void *data)
{
  if (uv_is_closing(handle))
    ++*(int *)data;
}

/* on_closed may close more handles: repeat until no handle is closing. */
static void run_closing(struct tm_loop *loop)
{
  for (;;) {
    int closing = 0;
    uv_walk(loop->uv, count_closing, &closing);
    if (closing == 0)
      return;
    run(loop, UV_RUN_NOWAIT);
  }
}

static void close_forgotten(uv_handle_t *handle, void *data)
{
  char text[80];
  if (uv_is_closing(handle))
    return;
  if (handle->data != data) { /* all except our own */
    snprintf(text, sizeof text, "every handle is closed: a %s handle is not",
             uv_handle_type_name(uv_handle_get_type(handle)));
    tm_check_failed(text, __FILE__, __LINE__);
  }
  uv_close(handle, NULL);
}

void tm_loop_release(struct tm_loop *loop)
{
  tm_require(!loop->is_running && !tm_loop_is_joined(loop));
  run_closing(loop);
  uv_walk(loop->uv, close_forgotten, loop);
  run_closing(loop);
  tm_require(uv_loop_close(loop->uv) == 0); /* keeps (3) */
  loop->open = 0;
}

static void on_turn_end_closed(uv_handle_t *handle)
{
  struct tm_loop *loop = handle->data;
  tm_require(loop->is_leaving && loop->open == 0);
  if (loop->on_left)
    loop->on_left(loop->data);
}

static void leave_when_closed(struct tm_loop *loop)
{
  if (loop->is_leaving && loop->open == 0)
    uv_close((uv_handle_t *)&loop->turn_end, on_turn_end_closed);
}

void tm_loop_leave(struct tm_loop *loop, void (*on_left)(void *data), void *data)
{
  tm_require(tm_loop_is_joined(loop) && !loop->is_leaving);
  loop->is_leaving = true;
  loop->on_left = on_left;
  loop->data = data;
  leave_when_closed(loop);
}

void tm_loop_closed_one(struct tm_loop *loop)
{
  tm_require(loop->open > 0);
  loop->open--;
  leave_when_closed(loop);
}

void tm_late_add(struct tm_loop *loop, struct tm_late *l)
{
  if (l->at != NULL)
    return;
  l->next = loop->late;
  l->at = &loop->late;
  if (l->next != NULL)
    l->next->at = &l->next;
  loop->late = l;
}

void tm_late_remove(struct tm_late *l)
{
  if (l->at == NULL)
    return;
  *l->at = l->next;
  if (l->next != NULL)
    l->next->at = l->at;
  l->next = NULL;
  l->at = NULL;
}
