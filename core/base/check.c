/* check.c - what happens when a condition of our own does not hold.
 *
 * The listener is the one process-wide setting of the library: a fault cannot be reported to a job,
 * because the job's own memory may be broken. It is set once, before any other call, and only read
 * afterwards, so threads need no lock for it. The text is built in a fixed buffer, because the
 * fault may be that there is no memory.
 */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { FAULT_TEXT_MAX = 512 }; /* bytes */

static tm_on_fault fault_listener;
static void *fault_data;

static void report(const char *condition, const char *file, int line, bool fatal)
{
  char text[FAULT_TEXT_MAX];
  if (!fault_listener)
    return;
  snprintf(text, sizeof text, "%s:%d: '%s' does not hold", file, line, condition);
  fault_listener(text, fatal, fault_data);
}

void tm_set_on_fault(tm_on_fault on_fault, void *data)
{
  fault_listener = on_fault;
  fault_data = data;
}

void tm_require_failed(const char *condition, const char *file, int line)
{
  report(condition, file, line, true);
  abort();
}

bool tm_check_failed(const char *condition, const char *file, int line)
{
  report(condition, file, line, false);
  return false;
}
