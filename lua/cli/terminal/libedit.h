/* libedit.h - the functions of libedit that the prompt uses, loaded when a prompt opens: the start
 * of a worker does not pay for them. edit->el_set(...) is el_set(...). */
#ifndef TM_CLI_TERMINAL_LIBEDIT_H
#define TM_CLI_TERMINAL_LIBEDIT_H

#include <histedit.h>

#include "base/err.h"

#define TM_LIBEDIT_FUNCTIONS(X)                                                                    \
  X(el_end)                                                                                        \
  X(el_get)                                                                                        \
  X(el_gets)                                                                                       \
  X(el_init)                                                                                       \
  X(el_insertstr)                                                                                  \
  X(el_line)                                                                                       \
  X(el_resize)                                                                                     \
  X(el_set)                                                                                        \
  X(el_source)                                                                                     \
  X(el_wline)                                                                                      \
  X(el_wset)                                                                                       \
  X(history)                                                                                       \
  X(history_end)                                                                                   \
  X(history_init)

struct tm_libedit {
#define TM_LIBEDIT_FUNCTION(name) __typeof__(name) *name;
  TM_LIBEDIT_FUNCTIONS(TM_LIBEDIT_FUNCTION)
#undef TM_LIBEDIT_FUNCTION
};

/* Static; NULL with a message if libedit cannot be loaded. */
const struct tm_libedit *tm_libedit(struct tm_err *err);

#endif
