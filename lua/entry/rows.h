/* rows.h - converts the result of run() to rows of the output.
 *
 * Reads the array without metamethods. Each row ends in '\n', and contains no other '\n'.
 *
 *   a string       unchanged; a line break in it is an error. With `escapes`: a backslash, a line
 *                  feed and a carriage return are written as \\, \n and \r, so that it can be read
 *                  back
 *   a number       integers below 2^53 in digits, else the first of %.15g %.16g %.17g that reads
 *                  back; nan, inf, -inf
 *   int64, uint64  in digits
 *   a boolean      true, false
 *   a table        one line of compact JSON, keys sorted by bytes; a number that is not finite
 *                  becomes null, and is counted
 */
#ifndef TM_ENTRY_ROWS_H
#define TM_ENTRY_ROWS_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Where rows go. */
struct tm_lua_rows {
  struct tm_buf *rows; /* NULL: only counts; the elements may have any type */
  bool escapes;
  bool are_fields;       /* the file has delimited fields: a table among its rows is counted */
  struct tm_buf *faults; /* gets a warning (data/frame/fault_list.h) about lost values; or NULL */
};

/* Appends a row for each element of the table at `at` (from the bottom), and counts them in
 * `returned`. TM_ESCRIPT, with a message that names the element or says why the table is not an
 * array: then `rows` is as before. May raise (memory): then the caller must cut `rows`. Leaves what
 * it pushed on the stack. */
int tm_lua_rows_add(lua_State *L, int at, const struct tm_lua_rows *to, uint32_t *returned,
                    struct tm_err *err);

/* TM_ESCRIPT and "run() returned <what>; expected ..." for the `n` values from `first` up, none of
 * which is an array. */
int tm_lua_rows_refuse(lua_State *L, int first, int n, struct tm_err *err);

#endif
