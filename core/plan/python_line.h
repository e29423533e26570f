/* python_line.h - what to write in Lua instead of a line in Python's grammar, by its words.
 *
 * A message of LuaJIT's compiler names the next token alone, "'=' expected near 'os'". The line has
 * the word that matters: import.
 */
#ifndef TM_PLAN_PYTHON_LINE_H
#define TM_PLAN_PYTHON_LINE_H

#include <stddef.h>

/* What to write in Lua; `message` is what the compiler said about line `number`, counted from 1, of
 * `text`. If the line does not begin with a word of Python, the first word of the line before
 * counts: the compiler may notice its error only here. NULL: the lines have no such word, or the
 * message itself shows what is wrong. Static memory. */
const char *tm_python_explain_line(const char *text, size_t len, unsigned long number,
                                   const char *message);

/* The same for a line that imports a module that is known: `import os`, `from pandas import x`.
 * Also the module's first word, a part of `text`. NULL: another line, or another module. */
const char *tm_python_find_import(const char *text, size_t len, unsigned long number,
                                  const char **name, size_t *name_len);

#endif
