/* running_call.c - see running_call.h.
 *
 * The handler interrupts the thread that arms, between any two instructions. So `stop` is set last
 * and cleared first: where it is set, `data` belongs to it.
 */
#include "sys/running_call.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/check.h"

void tm_running_call_arm(struct tm_running_call *slot, tm_running_call_fn stop, void *data)
{
  tm_require(stop && !atomic_load_explicit(&slot->stop, memory_order_relaxed));
  atomic_store_explicit(&slot->data, data, memory_order_relaxed);
  atomic_store_explicit(&slot->stop, stop, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
  if (slot->shown)
    atomic_store_explicit(slot->shown, 1, memory_order_release);
}

void tm_running_call_disarm(struct tm_running_call *slot)
{
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&slot->stop, (tm_running_call_fn)NULL, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
}

void tm_running_call_stop(struct tm_running_call *slot)
{
  tm_running_call_fn stop = atomic_load_explicit(&slot->stop, memory_order_acquire);
  if (stop)
    stop(atomic_load_explicit(&slot->data, memory_order_relaxed));
}

void tm_running_call_set_flag(void *flag)
{
  atomic_store((atomic_bool *)flag, true);
}
