/* python.h - what to write in Lua instead of Python that scripts use out of habit: names such as
 * len(x), os.makedirs() and pd.read_csv(), and the grammar.
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

/* The same for the first word of a module's name alone, "azureml" of "azureml.core". A function or
 * a class that has this name does not count. */
const char *tm_python_find_module(const char *name, size_t len);

/* What to write in Lua, for a message of LuaJIT that Python's grammar and habits cause: f(a=1),
 * [1, 2], x != y, for x in list. NULL: it is another message. Static memory. */
const char *tm_python_explain(const char *message);

#endif
