/* frame.h - data frames between C and Lua: one is given to run(), one may come back.
 *
 * A data frame in Lua is a userdata (stdlib/tidemill/frame.lua). One whose memory is C's is given for a while:
 *
 *   tm_lua_frame_push(L, &frame, &ended);   a frame over `frame`, on the stack; its lease below it
 *   ...                                     the script uses it
 *   tm_lua_frame_end(L, at);                from now on each use of it, and of its columns, raises
 */
#ifndef TM_LUA_FRAME_H
#define TM_LUA_FRAME_H

#include <lua.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/frame.h"

/* Pushes a lease (a userdata) and the frame; the memory of `frame` is the caller's and outlives the lease, the struct
 * itself need not. May raise. */
void tm_lua_frame_push(lua_State *L, const struct tm_data_frame *frame);
/* Ends the lease at `at`; again is a no-op. Does not raise. */
void tm_lua_frame_end(lua_State *L, int at);

/* Whether the value at `at` is a data frame. */
bool tm_lua_is_frame(lua_State *L, int at);

struct tm_lua_frame_rows {
  char separator;
  bool escapes;           /* line breaks; else they stay, in quotes */
  struct tm_buf *rows;    /* NULL: only the count is wanted */
  struct tm_buf *columns; /* names, bytes32 each; NULL: not wanted */
};
/* What the frame at `at` is as rows of the output: appended to `to`, counted in `returned`. TM_ESCRIPT when the frame has
 * ended. May raise (memory). */
int tm_lua_frame_rows(lua_State *L, int at, const struct tm_lua_frame_rows *to, uint32_t *returned,
                      struct tm_err *err);

int tm_lua_open_frame_c(lua_State *L); /* tidemill.frame_c, beneath tidemill.frame */

#endif
