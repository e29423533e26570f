/* worker_memory.c - the memory of a node's workers: the limit of each, and whether another one
 * fits.
 *
 *  (1) Lua itself enforces a worker's limit (lua/bind/script_memory.h). Memory outside of Lua (C
 *      modules, buffers) is checked here: a worker's own memory is read every LOOK_NS, and a worker
 *      above its limit is killed. Pages of mapped files, such as the weights of a model that all
 *      workers share, do not count: the kernel can drop them.
 *  (2) While memory is short, requested workers wait. If no worker lives, one is started all the
 *      same: otherwise no memory would ever be freed.
 *
 * The timer runs only while there is something to check.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "base/check.h"
#include "node/node_own.h"
#include "sys/machine/memory.h"
#include "sys/process.h"

#define LOOK_NS     (100 * TM_MS)
#define RESERVE_MIN (INT64_C(64) << 20)
#define RESERVE_MAX (INT64_C(1) << 30)

bool tm_keeper_is_short(bool was_short, const struct tm_memory *m)
{
  int64_t reserve = m->total / 20;
  reserve = reserve < RESERVE_MIN ? RESERVE_MIN : reserve > RESERVE_MAX ? RESERVE_MAX : reserve;
  return m->available < (was_short ? reserve + reserve / 2 : reserve);
}

/* ---- limits ---- */

void tm_keeper_memory_watch(struct tm_keeper *k, const struct tm_keeper_worker *w)
{
  if (w->step->s.memory_limit > 0)
    tm_timer_start(&k->memory_timer, LOOK_NS, LOOK_NS);
}

/* Keeps (1). Returns whether a worker has a limit. */
static bool look_at_workers(struct tm_keeper *k)
{
  bool has_limit = false;
  for (size_t i = 0; i < k->workers.len; i++) {
    struct tm_keeper_worker *w = k->workers.at[i];
    int64_t limit = w->step->s.memory_limit;
    if (limit <= 0 || w->state == TM_KEEPER_KILLED)
      continue;
    has_limit = true;
    struct tm_process_memory memory;
    if (!tm_process_memory(w->pid, &memory) || memory.own_kb <= w->memory.own_kb)
      continue;
    w->memory = memory;
    if (memory.own_kb <= limit / 1024)
      continue;
    tm_keeper_step(k, w, TM_KEEPER_ON_MEMORY);
  }
  return has_limit;
}

/* ---- shortage ---- */

static void note_memory(struct tm_keeper *k, const struct tm_memory *m, const char *what)
{
  char *text = tm_xprintf("%s: %" PRId64 " MB of %" PRId64 " MB of memory are available", what,
                          m->available >> 20, m->total >> 20);
  tm_keeper_note(k, text);
  if (k->steps.len > 0)
    tm_keeper_log(k->steps.at[0], TM_WARNING, "%s", text);
  free(text);
}

static void look_at_memory(struct tm_keeper *k)
{
  struct tm_memory m;
  bool was_short = k->is_short;
  if (k->readings == NULL || !k->readings->memory(&m)) {
    k->is_short = false;
    return;
  }
  k->is_short = tm_keeper_is_short(was_short, &m);
  if (k->is_short && !was_short)
    note_memory(k, &m, "no further worker is started until there is more memory");
  else if (was_short && !k->is_short)
    note_memory(k, &m, "there is memory again, and workers are started");
}

bool tm_keeper_memory_hold(struct tm_keeper *k, uint64_t step, uint32_t number, const char *name)
{
  look_at_memory(k);
  if (!k->is_short || (k->workers.len == 0 && k->waiting.len == 0)) /* keeps (2) */
    return false;
  *TM_ARRAY_ADD(&k->waiting) =
      (struct tm_keeper_waiting) { .step = step, .number = number, .name = tm_xstrdup(name) };
  tm_timer_start(&k->memory_timer, LOOK_NS, LOOK_NS);
  return true;
}

static struct tm_keeper_waiting take_waiting(struct tm_keeper *k, size_t at)
{
  tm_require(at < k->waiting.len);
  struct tm_keeper_waiting taken = k->waiting.at[at];
  k->waiting.len--;
  memmove(k->waiting.at + at, k->waiting.at + at + 1,
          (k->waiting.len - at) * sizeof *k->waiting.at);
  return taken;
}

bool tm_keeper_memory_drop(struct tm_keeper *k, uint32_t number)
{
  static const char text[] = "it was not started: it had waited for memory, and is not wanted now";
  for (size_t i = 0; i < k->waiting.len; i++) {
    if (k->waiting.at[i].number != number)
      continue;
    free(take_waiting(k, i).name);
    tm_keeper_send(k, TM_MSG_START_FAILED, number, text, sizeof text - 1);
    return true;
  }
  return false;
}

void tm_keeper_memory_on_time(struct tm_timer *t)
{
  struct tm_keeper *k = t->data;
  bool has_limit = look_at_workers(k);
  if (k->waiting.len > 0)
    look_at_memory(k);
  while (k->waiting.len > 0 && (!k->is_short || k->workers.len == 0)) { /* keeps (2) */
    struct tm_keeper_waiting w = take_waiting(k, 0);
    tm_keeper_start(k, w.step, w.number, w.name);
    free(w.name);
  }
  if (!has_limit && k->waiting.len == 0 && !k->is_closing)
    tm_timer_stop(&k->memory_timer);
}

void tm_keeper_memory_release(struct tm_keeper *k)
{
  for (size_t i = 0; i < k->waiting.len; i++)
    free(k->waiting.at[i].name);
  TM_ARRAY_RELEASE(&k->waiting);
}
