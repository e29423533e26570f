/* background.c - see background.h.
 *
 *  (1) The lock is a flag under a mutex, and Lua's thread gets it first: otherwise a busy loop
 *      would never let it in.
 *  (2) The number of kept events is limited (tm_ear): at the limit the jobs' thread waits, or drops
 *      events that are only messages.
 *  (3) The mutex is held only for moments, never during a turn or a call, so taking events waits
 *      for nothing.
 *  (4) Signals are blocked on the jobs' thread, so that Ctrl-C interrupts none of its system calls.
 */
#include "prompt/background.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api/lua_host.h"
#include "base/check.h"
#include "base/mem.h"
#include "sys/wakeup.h"
#include "sys/threads.h"

#define KEPT_MAX   10000 /* events */
#define HELD_UP_MS 20    /* between two checks for room */

struct tm_background {
  struct tidemill_runtime *rt;
  struct tm_thread thread;
  struct tm_mutex mutex; /* for the following fields */
  struct tm_cond freed;  /* the lock was released */
  bool is_locked, is_ending;
  int wanted; /* keeps (1): waiting calls of Lua's thread */
  struct tm_kept *first, **end;
  size_t len;
  struct tm_wakeup wakeup; /* an event was kept, or somebody woke Lua */
  int depth;               /* of locks; for Lua's thread */
  bool is_telling;         /* likewise */
  atomic_bool is_full;     /* keeps (2): a listener to all events has not taken them */
  atomic_bool is_woken, wants_cancel, wants_now;
  atomic_int running;
};

/* ---- the lock ---- */

void tm_background_lock(struct tm_background *b)
{
  if (!b || b->depth++ > 0)
    return;
  tm_mutex_lock(&b->mutex);
  b->wanted++;
  while (b->is_locked)
    tm_cond_wait(&b->freed, &b->mutex);
  b->wanted--;
  b->is_locked = true;
  tm_mutex_unlock(&b->mutex);
}

static void unlock(struct tm_background *b)
{
  tm_mutex_lock(&b->mutex);
  tm_require(b->is_locked);
  b->is_locked = false;
  tm_cond_signal(&b->freed);
  tm_mutex_unlock(&b->mutex);
}

bool tm_background_set_telling(struct tm_background *b, bool is_telling)
{
  bool was = b->is_telling;
  b->is_telling = is_telling;
  return was;
}

void tm_background_unlock(struct tm_background *b, bool has_changed)
{
  if (!b)
    return;
  if (has_changed)
    tidemill_runtime_wake(b->rt);
  tm_require(b->depth > 0);
  if (--b->depth == 0)
    unlock(b);
}

/* On the jobs' thread. False: the thread must end. */
static bool lock_for_turn(struct tm_background *b)
{
  tm_mutex_lock(&b->mutex);
  while (!b->is_ending && (b->is_locked || b->wanted > 0))
    tm_cond_wait(&b->freed, &b->mutex);
  bool goes_on = !b->is_ending;
  b->is_locked = b->is_locked || goes_on;
  tm_mutex_unlock(&b->mutex);
  return goes_on;
}

/* ---- events ---- */

/* Whether to keep the event: keeps (2). */
static bool is_wanted(struct tm_background *b, const struct tm_ear *ear,
                      const struct tidemill_event *e)
{
  bool is_state = e->kind == TIDEMILL_EVENT_STATE;
  if (ear->hears_all) {
    if (b->len >= KEPT_MAX)
      atomic_store(&b->is_full, true);
    return true;
  }
  if (e->kind == TIDEMILL_EVENT_MINI_BATCH && e->outcome != TIDEMILL_OUTCOME_GIVEN_UP)
    return false;
  return is_state || b->len < KEPT_MAX;
}

static const char **texts_of(struct tidemill_event *e, size_t i)
{
  const char **const all[] = { &e->step,   &e->worker,     &e->text,    &e->stack,        &e->where,
                               &e->status, &e->first_item, &e->node_id, &e->node_address, NULL };
  return all[i];
}

static struct tm_kept *copy(const struct tidemill_event *e, struct tm_ear *ear)
{
  struct tidemill_event event = *e;
  size_t size = sizeof(struct tm_kept);
  const char **text;
  for (size_t i = 0; (text = texts_of(&event, i)) != NULL; i++)
    size += *text ? strlen(*text) + 1 : 0;
  struct tm_kept *k = tm_xmalloc(size);
  char *at = (char *)(k + 1);
  *k = (struct tm_kept) { .ear = ear, .event = event };
  if (e->counts)
    k->counts = *e->counts;
  k->event.counts = &k->counts;
  for (size_t i = 0; (text = texts_of(&k->event, i)) != NULL; i++) {
    size_t len = *text ? strlen(*text) + 1 : 0;
    if (*text)
      *text = memcpy(at, *text, len);
    at += len;
  }
  tm_require(at == (char *)k + size);
  return k;
}

void tm_background_keep(struct tm_background *b, struct tm_ear *ear, const struct tidemill_event *e)
{
  bool is_progress = e->kind == TIDEMILL_EVENT_PROGRESS;
  tm_mutex_lock(&b->mutex);
  tm_require(!ear->progress || ear->progress->ear == ear);
  if (is_progress && ear->progress) {
    ear->progress->counts = *e->counts;
    ear->progress->event.wall_ns = e->wall_ns;
  } else if (is_wanted(b, ear, e)) {
    struct tm_kept *k = copy(e, ear);
    *b->end = k;
    b->end = &k->next;
    b->len++;
    if (is_progress)
      ear->progress = k;
    if (b->len == 1)
      tm_wakeup_send(&b->wakeup);
  }
  tm_mutex_unlock(&b->mutex);
}

/* Takes the event at `at` out of the list. */
static struct tm_kept *unlink_kept(struct tm_background *b, struct tm_kept **at)
{
  struct tm_kept *k = *at;
  tm_require(k && b->len > 0);
  *at = k->next;
  if (b->end == &k->next)
    b->end = at;
  if (k->ear->progress == k)
    k->ear->progress = NULL;
  b->len--;
  if (b->len < KEPT_MAX / 2)
    atomic_store(&b->is_full, false);
  return k;
}

struct tm_kept *tm_background_take(struct tm_background *b)
{
  tm_mutex_lock(&b->mutex);
  tm_require((b->first == NULL) == (b->len == 0));
  struct tm_kept *k = b->first ? unlink_kept(b, &b->first) : NULL;
  if (!k)
    tm_wakeup_wait(&b->wakeup, 0); /* consumes the wake-up */
  tm_mutex_unlock(&b->mutex);
  return k;
}

bool tm_background_is_full(const struct tm_background *b)
{
  return atomic_load(&b->is_full);
}

void tm_background_forget(struct tm_background *b, struct tm_ear *ear)
{
  tm_mutex_lock(&b->mutex);
  for (struct tm_kept **at = &b->first; *at;) {
    if ((*at)->ear == ear)
      free(unlink_kept(b, at));
    else
      at = &(*at)->next;
  }
  tm_mutex_unlock(&b->mutex);
}

/* ---- the jobs' thread ---- */

/* Turns the loop with the lock; returns how long the thread may wait afterwards, in ms. */
static int turn(struct tm_background *b)
{
  if (atomic_exchange(&b->wants_cancel, false))
    tm_runtime_cancel_jobs(b->rt, atomic_exchange(&b->wants_now, false));
  int running = tidemill_runtime_turn(b->rt, NULL);
  atomic_store(&b->running, running > 0 ? running : 0);
  return tidemill_runtime_timeout_ms(b->rt);
}

/* Checks for requests made during the turn: the turn may have consumed their wake after its own
 * check. */
static bool is_asked(struct tm_background *b)
{
  tm_mutex_lock(&b->mutex);
  bool is_ending = b->is_ending;
  tm_mutex_unlock(&b->mutex);
  return is_ending || atomic_load(&b->wants_cancel);
}

static void run(void *data)
{
  struct tm_background *b = data;
  struct pollfd fd = { .fd = tidemill_runtime_fd(b->rt), .events = POLLIN };
  while (lock_for_turn(b)) {
    bool is_held_up = atomic_load(&b->is_full) && !atomic_load(&b->wants_cancel);
    int ms = is_held_up ? HELD_UP_MS : turn(b);
    unlock(b);
    if (!is_asked(b))
      poll(&fd, is_held_up ? 0 : 1, ms);
  }
}

/* ---- life ---- */

static void release(struct tm_background *b)
{
  struct tm_kept *k;
  tm_require(!b->is_locked && b->depth == 0 && b->wanted == 0);
  while ((k = b->first) != NULL) {
    b->first = k->next;
    free(k);
  }
  tm_wakeup_close(&b->wakeup);
  tm_cond_release(&b->freed);
  tm_mutex_release(&b->mutex);
  free(b);
}

struct tm_background *tm_background_new(struct tidemill_runtime *rt, struct tm_err *err)
{
  struct tm_background *b = TM_NEW(struct tm_background);
  b->rt = rt;
  b->end = &b->first;
  tm_mutex_init(&b->mutex);
  tm_cond_init(&b->freed);
  if (tm_wakeup_open(&b->wakeup, err) == 0 && tm_thread_start(&b->thread, run, b, err) == 0)
    return b;
  release(b);
  return NULL;
}

void tm_background_free(struct tm_background *b)
{
  if (!b)
    return;
  tm_mutex_lock(&b->mutex);
  tm_require(!b->is_ending);
  b->is_ending = true;
  tm_cond_signal(&b->freed);
  tm_mutex_unlock(&b->mutex);
  tidemill_runtime_wake(b->rt);
  tm_thread_join(&b->thread);
  release(b);
}

/* ---- waiting ---- */

int tm_background_fd(const struct tm_background *b)
{
  return b->wakeup.fd;
}

bool tm_background_wait(struct tm_background *b, int timeout_ms)
{
  if (!atomic_load(&b->is_woken))
    tm_wakeup_wait(&b->wakeup, timeout_ms);
  if (!atomic_exchange(&b->is_woken, false))
    return true;
  tm_wakeup_send(
      &b->wakeup); /* an event may have rung it, too, and nobody would take that event now */
  return false;
}

void tm_background_wake(struct tm_background *b)
{
  atomic_store(&b->is_woken, true);
  tm_wakeup_send(&b->wakeup);
}

void tm_background_forget_wake(struct tm_background *b)
{
  atomic_store(&b->is_woken, false);
}

void tm_background_cancel(struct tm_background *b, bool now)
{
  if (now)
    atomic_store(&b->wants_now, true);
  atomic_store(&b->wants_cancel, true);
  tidemill_runtime_wake(b->rt);
}

int tm_background_running(const struct tm_background *b)
{
  return atomic_load(&b->running);
}
