/* libarchive.h - the functions of libarchive that we use, loaded when the first of them is needed.
 *
 * libarchive needs 13 further libraries, among them libxml2 and ICU. If the program were linked
 * with it, two thirds of the start of a worker would be the linking of these. So each function is
 * called through a table: la->read_data(a, p, n) is archive_read_data(a, p, n).
 */
#ifndef TM_DATA_STREAM_LIBARCHIVE_H
#define TM_DATA_STREAM_LIBARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/err.h"

/* Without "archive_". */
#define TM_LIBARCHIVE_FUNCTIONS(X)                                                                 \
  X(entry_clear)                                                                                   \
  X(entry_copy_pathname)                                                                           \
  X(entry_copy_symlink)                                                                            \
  X(entry_filetype)                                                                                \
  X(entry_free)                                                                                    \
  X(entry_hardlink)                                                                                \
  X(entry_is_encrypted)                                                                            \
  X(entry_new)                                                                                     \
  X(entry_nlink)                                                                                   \
  X(entry_pathname)                                                                                \
  X(entry_perm)                                                                                    \
  X(entry_set_filetype)                                                                            \
  X(entry_set_mtime)                                                                               \
  X(entry_set_perm)                                                                                \
  X(entry_set_size)                                                                                \
  X(entry_size)                                                                                    \
  X(entry_size_is_set)                                                                             \
  X(entry_sparse_count)                                                                            \
  X(entry_symlink)                                                                                 \
  X(error_string)                                                                                  \
  X(filter_bytes)                                                                                  \
  X(filter_count)                                                                                  \
  X(format)                                                                                        \
  X(read_data)                                                                                     \
  X(read_data_block)                                                                               \
  X(read_data_skip)                                                                                \
  X(read_free)                                                                                     \
  X(read_header_position)                                                                          \
  X(read_new)                                                                                      \
  X(read_next_header)                                                                              \
  X(read_open)                                                                                     \
  X(read_open1)                                                                                    \
  X(read_set_callback_data)                                                                        \
  X(read_set_read_callback)                                                                        \
  X(read_set_seek_callback)                                                                        \
  X(read_set_skip_callback)                                                                        \
  X(read_support_filter_bzip2)                                                                     \
  X(read_support_filter_lz4)                                                                       \
  X(read_support_filter_xz)                                                                        \
  X(read_support_filter_zstd)                                                                      \
  X(read_support_format_7zip)                                                                      \
  X(read_support_format_cpio)                                                                      \
  X(read_support_format_empty)                                                                     \
  X(read_support_format_raw)                                                                       \
  X(read_support_format_tar)                                                                       \
  X(read_support_format_zip_streamable)                                                            \
  X(set_error)                                                                                     \
  X(write_add_filter_gzip)                                                                         \
  X(write_add_filter_zstd)                                                                         \
  X(write_close)                                                                                   \
  X(write_data)                                                                                    \
  X(write_free)                                                                                    \
  X(write_header)                                                                                  \
  X(write_new)                                                                                     \
  X(write_open)                                                                                    \
  X(write_set_bytes_in_last_block)                                                                 \
  X(write_set_format_pax_restricted)                                                               \
  X(write_set_format_zip)                                                                          \
  X(write_set_options)

struct tm_libarchive {
#define TM_LIBARCHIVE_FUNCTION(name) __typeof__(archive_##name) *name;
  TM_LIBARCHIVE_FUNCTIONS(TM_LIBARCHIVE_FUNCTION)
#undef TM_LIBARCHIVE_FUNCTION
};

/* Static; NULL with a message if libarchive cannot be loaded. On any thread. */
const struct tm_libarchive *tm_libarchive(struct tm_err *err);

#endif
