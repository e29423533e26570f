/* interruption.c - calls of the script that the keeper interrupts, and what follows.
 *
 *   keeper: page.interrupt = call, SIGALRM
 *     --> on_alarm(): is it the current call? --> script->interrupt()
 *
 *  (1) A late alarm has no effect: the handler compares the call that the keeper has named with the
 *      current one.
 *  (2) The page says that this worker can be interrupted only once the handler is installed:
 *      before, the signal would end the process. It is installed from the beginning, so that a
 *      hanging init() can report where it is, although only interpreted code does while the script
 *      is not armed. run() of an unarmed script is interrupted only if it makes calls in C that
 *      can be stopped: those cost nothing while nothing is late, and in between the next one ends
 *      it.
 *  (3) The try is answered before recover() is called: recover() is not part of the mini-batch.
 *  (4) If recover() has failed, after two consecutive interruptions without recover(), or if the
 *      script asks for it, the worker begins nothing more. It reports this and is killed: its
 *      mini-batches go back, without counting a try.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_own.h"
#include "base/mem.h"
#include "sys/alarm.h"
#include "sys/clock.h"

#define UNRECOVERED_MAX 2 /* consecutive interruptions without a recover() */

static void on_alarm(void *data)
{
  struct tm_agent *a = data;
  uint64_t call = a->call;
  if (call != 0 && atomic_load(&a->page->interrupt) == call) /* keeps (1) */
    a->trial.script.interrupt(a->trial.script.data);
}

void tm_agent_begin_call(struct tm_agent *a, uint64_t call)
{
  atomic_store(&a->page->has_stoppable, 0);
  atomic_store(&a->page->waits, 0);
  a->call = call;
}

void tm_agent_arm(struct tm_agent *a)
{
  if (a->is_armed || !a->trial.script.arm)
    return;
  a->is_armed = true;
  a->trial.script.arm(a->trial.script.data);
  atomic_store(&a->page->can_interrupt, 1);
}

void tm_agent_listen(struct tm_agent *a)
{
  if (a->trial.script.waits)
    *a->trial.script.waits = &a->page->waits;
  if (!a->trial.script.interrupt)
    return;
  tm_alarm_catch(SIGALRM, on_alarm, a);
  if (a->trial.script.shown)
    *a->trial.script.shown = &a->page->has_stoppable;
  atomic_store(&a->page->can_interrupt, 1); /* keeps (2) */
}

void tm_agent_end_init(struct tm_agent *a)
{
  a->call = 0;
  if (!a->is_armed)
    atomic_store(&a->page->can_interrupt, 0);
}

/* Keeps (4). */
static void retire(struct tm_agent *a, const char *why)
{
  struct tm_msg f = {
    .type = TM_MSG_RETIRED, .payload = why, .length = (uint32_t)strlen(why), .fd = -1
  };
  a->is_retired = true;
  tm_agent_drop_ahead(a);
  tm_link_send(&a->link, &f);
}

static void recover(struct tm_agent *a, const char *reason)
{
  struct tm_buf why = TM_BUF_NONE;
  int code = tm_trial_recover(&a->trial, reason);
  tm_agent_end_forked(a);
  a->unrecovered = code > 0 ? a->unrecovered + 1 : 0;
  if (code < 0) {
    tm_failure_log(a, "recover() failed");
    tm_buf_printf(&why, "its recover() failed: %s%s%s", tm_buf_str(&a->trial.error.where),
                  a->trial.error.where.len > 0 ? ": " : "", tm_buf_str(&a->trial.error.message));
  } else if (a->unrecovered >= UNRECOVERED_MAX) {
    tm_buf_printf(&why, "it was interrupted %u times in a row, and its script has no recover()",
                  a->unrecovered);
  }
  if (why.len > 0)
    retire(a, why.data);
  tm_buf_release(&why);
}

void tm_agent_settle_call(struct tm_agent *a, const struct tm_msg *in, uint64_t seq, int code)
{
  struct tm_err err = TM_ERR_NONE;
  const struct tm_buf *why = a->trial.script.retires;
  if (why && why->len > 0) {
    retire(a, tm_buf_str(why));
    return;
  }
  enum tm_status status = a->trial.error.status;
  if (code >= 0 || (status != TM_RUN_TIMEOUT && status != TM_LOAD_TIMEOUT)) {
    a->unrecovered = 0;
    return;
  }
  int64_t now_ns = tm_clock_mono_ns();
  /* keeps (3); the next read notices an end of the channel */
  tm_agent_flush(a, now_ns, &err);
  tm_page_set(a->page, TM_PHASE_RECOVER, now_ns, seq, in->index, in->try);
  char *reason = tm_xstrdup(tm_buf_str(&a->trial.error.message));
  recover(a, reason);
  free(reason);
}
