/* check.h - checks for our own faults. They stay in the release build.
 *
 * tm_require(condition): for conditions without which the program cannot continue. A failure is
 * reported as fatal, then abort().
 *
 * tm_check(condition): true if it holds. Otherwise it is reported as not fatal and false is
 * returned, so that the caller can take the safe way: `if (!tm_check(n > 0)) return TM_EPROTOCOL;`
 */
#ifndef TM_BASE_CHECK_H
#define TM_BASE_CHECK_H

#include <stdbool.h>

/* Called with the text of a fault; `fatal` when abort() follows. The host sets it once per process,
 * before any other call; NULL (the default) writes nothing. It is the only process-wide setting. */
typedef void (*tm_on_fault)(const char *text, bool fatal, void *data);
void tm_set_on_fault(tm_on_fault on_fault, void *data);

_Noreturn void tm_require_failed(const char *condition, const char *file, int line);
bool tm_check_failed(const char *condition, const char *file, int line); /* false */

#define tm_require(c) ((c) ? (void)0 : tm_require_failed(#c, __FILE__, __LINE__))
#define tm_check(c)   ((c) ? true : tm_check_failed(#c, __FILE__, __LINE__))

#endif
