/* python.h - what to write in Lua instead of names of Python that scripts use out of habit: len(x),
 * os.makedirs(), pd.read_csv().
 *
 * In Lua such a name is nil, and the error says only that. The code that reports the error adds
 * this answer.
 */
#ifndef TM_PLAN_PYTHON_H
#define TM_PLAN_PYTHON_H

#include <stddef.h>

/* What to write in Lua for a function, a method or a module of Python; NULL: it is not in the
 * table. Static memory. */
const char *tm_python_find(const char *name, size_t len);

#endif
