/* frame_ffi.h - a column in Lua: a userdata with this struct. The compiler reads it, and ffi.cdef
 * after core/data/frame/column.h and column_ops.h.
 *
 * The environment table of the userdata has the owner of the column's memory, so that the collector
 * frees both together. *ended is 0 while that memory may be read: a frame that was given to run()
 * ends when run() has returned.
 */
#ifndef TM_ENTRY_FRAME_FFI_H
#define TM_ENTRY_FRAME_FFI_H

#include "data/frame/column.h"

struct tm_column_handle {
  struct tm_column column;
  const int32_t *ended;
};

#endif
