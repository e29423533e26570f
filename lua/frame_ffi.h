/* frame_ffi.h - what a column is to Lua: a userdata that holds this. The compiler and ffi.cdef both read it, behind
 * core/data/column.h and column_ops.h.
 *
 * The userdata's environment table holds what owns the memory of the column, so that the collector frees both together.
 * *ended is 0 while that memory may be read: a frame that was given to run() ends when run() has returned.
 */
#ifndef TM_LUA_FRAME_FFI_H
#define TM_LUA_FRAME_FFI_H

#include "data/column.h"

struct tm_column_handle {
  struct tm_column column;
  const int32_t *ended;
};

#endif
