/* prefetch.c - the script's prefetch(), before run().
 *
 *   if b has arrived behind a:   begin a --> prefetch(b) --> run(a) --> begin b --> run(b)
 *   else:                        begin b --> prefetch(b) --> run(b)
 *
 *  (1) A script that has prefetch() gets one call of it before each run(), early or just before.
 *  (2) It is called early for files only: rows and entries are loaded one mini-batch at a time.
 *  (3) It is called early only if both mini-batches are whole, and neither has failed before. What
 *      takes a worker down, by what prefetch() has started, can thus cost the one in front of it a
 *      single try, and isolation finds the right items.
 *  (4) If an early call fails, only its own mini-batch fails, when it comes. The error waits.
 *  (5) What was started for a mini-batch that does not run here is dropped: one that was taken
 *      back, or cannot be loaded, or that comes to a worker that stops or retires.
 *
 * The page says PREFETCH, and names the mini-batch that has begun: that one counts a try if the
 * worker dies. task_overhead_timeout is the limit of each call.
 */
#include "agent/agent_own.h"
#include "base/check.h"
#include "sys/clock.h"

static void forget(struct tm_agent *a)
{
  a->ahead.seq = 0;
  a->ahead.code = 0;
  tm_script_error_clear(&a->ahead.error);
}

/* Whatever it says, it must name the hook: whoever reads it thinks of run(). */
static void name_hook(struct tm_script_error *e)
{
  struct tm_buf said = e->message;
  if (e->status == TM_LOAD_TIMEOUT) /* it names it */
    return;
  e->message = (struct tm_buf)TM_BUF_NONE;
  tm_buf_add_str(&e->message, "prefetch() failed: ");
  tm_buf_add(&e->message, tm_buf_str(&said), said.len);
  tm_buf_release(&said);
}

/* `in`, `seq`: the mini-batch that has begun. */
static int call_hook(struct tm_agent *a, const struct tm_msg *in, uint64_t seq,
                     const struct tm_run_call *call)
{
  tm_page_set(a->page, TM_PHASE_PREFETCH, tm_clock_mono_ns(), seq, in->index, in->try);
  tm_agent_begin_call(a, TM_PAGE_PREFETCH(seq));
  int code = tm_trial_prefetch(&a->trial, call);
  a->call = 0;
  tm_agent_end_forked(a);
  if (code < 0)
    name_hook(&a->trial.error);
  return code;
}

static void swap_error(struct tm_agent *a)
{
  struct tm_script_error e = a->trial.error;
  a->trial.error = a->ahead.error;
  a->ahead.error = e;
}

int tm_agent_prefetch(struct tm_agent *a, const struct tm_msg *in, struct tm_run_call *call)
{
  int code;
  if (!tm_trial_has_prefetch(&a->trial))
    return 0;
  if (a->ahead.seq == call->seq) {
    code = a->ahead.code;
    if (code < 0)
      swap_error(a); /* keeps (4) */
    forget(a);
  } else {
    tm_agent_drop_ahead(a);
    code = call_hook(a, in, call->seq, call);
  }
  call->is_prefetched = code >= 0;
  return code;
}

static bool is_first_try(const struct tm_run_call *call)
{
  return call->try == 1 && call->part == 0;
}

void tm_agent_prefetch_next(struct tm_agent *a, const struct tm_msg *in,
                            const struct tm_run_call *call, const struct tm_msg *next)
{
  struct tm_run_call ahead;
  bool has_rows, has_entries;
  if (next->type != TM_MSG_MINI_BATCH || !tm_agent_read_call(a, next, &ahead) ||
      !is_first_try(call) || !is_first_try(&ahead) || /* keeps (3) */
      !tm_items_check(&ahead, &has_rows, &has_entries) || has_rows || has_entries)
    return; /* keeps (2) */
  tm_require(a->ahead.seq == 0);
  a->ahead.seq = ahead.seq;
  a->ahead.code = call_hook(a, in, call->seq, &ahead);
  if (a->ahead.code < 0)
    swap_error(a);
}

void tm_agent_drop_prefetched(struct tm_agent *a, uint64_t seq)
{
  if (!tm_trial_has_prefetch(&a->trial))
    return;
  a->trial.script.drop(a->trial.script.data, seq);
  if (a->ahead.seq == seq)
    forget(a);
}

void tm_agent_drop_ahead(struct tm_agent *a)
{
  if (a->ahead.seq != 0)
    tm_agent_drop_prefetched(a, a->ahead.seq);
}
