/* lua_frame.h - data frames between C and Lua: run() gets one, and may return one.
 *
 * A data frame in Lua is a userdata (stdlib/tidemill/frame.lua). A frame over C memory is lent for
 * a while:
 *
 *   tm_lua_frame_push(L, &frame, &ended);   pushes a lease, and a frame over `frame`
 *   ...                                     the script uses it
 *   tm_lua_frame_end(L, at);                any later use of it or of its columns raises
 */
#ifndef TM_ENTRY_LUA_FRAME_H
#define TM_ENTRY_LUA_FRAME_H

#include <lua.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/frame/frame.h"

/* Pushes a lease (a userdata) and the frame. The caller's memory of `frame` must outlive the lease;
 * the struct itself need not. May raise. */
void tm_lua_frame_push(lua_State *L, const struct tm_data_frame *frame);
/* Ends the lease at `at`; a second call does nothing. Does not raise. */
void tm_lua_frame_end(lua_State *L, int at);

/* Whether the value at `at` is a data frame. */
bool tm_lua_is_frame(lua_State *L, int at);

struct tm_lua_frame_rows {
  char separator;
  bool escapes;           /* escapes line breaks; otherwise they stay, in quotes */
  struct tm_buf *rows;    /* NULL: only counts the rows */
  struct tm_buf *columns; /* names, bytes32 each; NULL: not wanted */
};
/* Appends the rows of the frame at `at` to `to`, and counts them in `returned`. TM_ESCRIPT: the
 * frame has ended. May raise (memory). */
int tm_lua_frame_rows(lua_State *L, int at, const struct tm_lua_frame_rows *to, uint32_t *returned,
                      struct tm_err *err);

int tm_lua_open_frame_c(lua_State *L); /* the C half of tidemill.frame */

#endif
