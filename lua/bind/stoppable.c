/* stoppable.c - see stoppable.h.
 *
 * A poke sets its flag, then asks the call in the slot to stop (bind/interrupt.c). Here the slot is
 * armed first, and then the flag is read. So no poke is lost between them.
 */
#include "bind/stoppable.h"

#include <errno.h>

#include "bind/interrupt.h"

int tm_lua_try_stoppable(lua_State *L, const struct tm_lua_stoppable *call, bool *is_interrupted)
{
  struct tm_lua_interrupt *i = tm_lua_interrupt_of(L);
  *is_interrupted = false;
  if (!i)
    return call->body(call->data);
  int rc = -ECANCELED;
  tm_running_call_arm(&i->running, call->stop, call->data);
  if (!tm_lua_interrupt_is_due(L))
    rc = call->body(call->data);
  tm_running_call_disarm(&i->running);
  *is_interrupted = tm_lua_interrupt_is_due(L);
  return rc;
}

int tm_lua_call_stoppable(lua_State *L, const struct tm_lua_stoppable *call)
{
  bool is_interrupted;
  int rc = tm_lua_try_stoppable(L, call, &is_interrupted);
  if (is_interrupted)
    tm_lua_interrupt_raise_if_due(L);
  return rc;
}
