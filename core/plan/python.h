/* python.h - what Lua has for names of Python that scripts use out of habit: len(x), os.makedirs(),
 * pd.read_csv().
 *
 * Lua takes such a name for nil, and its error says no more. Whoever reports the error adds these
 * words.
 */
#ifndef TM_PLAN_PYTHON_H
#define TM_PLAN_PYTHON_H

#include <stddef.h>

/* What to write in Lua for a function, a method or a module of Python's; NULL: it is not a known
 * one. Static memory. */
const char *tm_python_find(const char *name, size_t len);

#endif
