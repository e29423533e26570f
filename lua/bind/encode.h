/* encode.h - writes a Lua value as JSON, for rows and for tidemill.json.
 *
 *   nil, json.null (a NULL light userdata)   null
 *   a table with the keys 1..n, also {}      [...]
 *   a table whose keys are all strings,      {...}, keys sorted by bytes
 *     and one that json.object() has marked  {...}, also when it is empty
 *   a number                                 as base/json.h writes it; not finite: null
 *   int64, uint64                            in digits
 *   a string                                 must be UTF-8
 *
 * A mark is a metatable with __jsontype = "object". Other metatables are ignored, and no metamethod
 * runs except those of 64-bit integers.
 */
#ifndef TM_BIND_ENCODE_H
#define TM_BIND_ENCODE_H

#include <lua.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/rows/fault.h"

/* Adds the value at `at` to `out`. `indent` > 0: one member per line, indented by that many blanks.
 * TM_ESCRIPT, with a message that begins with the place, "'a.b[3]' is a function"; `out` then has
 * what was written before. May raise (memory), so the caller must protect `out`. */
int tm_lua_encode(lua_State *L, int at, int indent, struct tm_buf *out, struct tm_err *err);
/* The same on one line. Notes numbers that are not finite in `counts` as TM_FAULT_NUMBER, with the
 * place of the first. */
int tm_lua_encode_row(lua_State *L, int at, struct tm_buf *out, struct tm_row_counts *counts,
                      struct tm_err *err);

/* The type of the value at `at` for messages: "tensor", "function". The value keeps it. */
const char *tm_lua_kind_of(lua_State *L, int at);
/* What the script can write to have a value of this kind as a table or a list: "; t:to_table() has
 * ..."; "" for other kinds. */
const char *tm_lua_kind_instead(const char *kind);

/* Adds the digits of a 64-bit integer at `at`, an FFI value. False: it is another FFI value. */
bool tm_lua_encode_int64(lua_State *L, int at, struct tm_buf *out);

#endif
