/* marks.h - the items of a mini-batch that failed while run() continued.
 *
 * The script marks items by context:fail(i, message), and a reader marks an item that is damaged
 * (item_reader.h). A marked item never counts as succeeded, whatever run() returns. The first
 * message of an item is kept. A try that fails drops all marks.
 */
#ifndef TM_ENTRY_MARKS_H
#define TM_ENTRY_MARKS_H

#include "agent/script.h"

struct tm_lua_marks {
  const struct tm_run_call *call; /* the running run(); NULL: none */
  struct tm_buf marked;           /* a bit for each item */
};

/* `call` must stay until the next _begin() or _end(). */
void tm_lua_marks_begin(struct tm_lua_marks *m, const struct tm_run_call *call);
void tm_lua_marks_end(struct tm_lua_marks *m);
void tm_lua_marks_release(struct tm_lua_marks *m);
/* `at`: the item's number, from 0. Cuts long messages. Never raises. */
void tm_lua_marks_add(struct tm_lua_marks *m, uint32_t at, const char *message, size_t len);

#endif
