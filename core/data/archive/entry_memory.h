/* entry_memory.h - whether the entries of a mini-batch are extracted to memory: making, writing and
 * removing a small file costs five times as much on a disk's file system as on a tmpfs.
 *
 * A job uses at most this limit times its workers at once. If all of the job is killed, at most
 * that much remains until the job is resumed or removed.
 */
#ifndef TM_DATA_ARCHIVE_ENTRY_MEMORY_H
#define TM_DATA_ARCHIVE_ENTRY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/fs.h"

#define TM_ENTRY_MEMORY_MAX   ((int64_t)16 << 20) /* bytes, of one mini-batch */
#define TM_ENTRY_MEMORY_SHARE 8 /* at most one part in so many of the free space is used */

/* The bytes that the extracted entries of a mini-batch need: whole pages of their contents, and the
 * kernel's data for each file. 0: there are none. The sizes are those of the listing; reading never
 * gives more. */
int64_t tm_entry_memory_need(const char *bytes, size_t len);
/* Whether `dir` may be made: the need is small, and its parent folder is on a tmpfs that is
 * writable, not mounted noexec, and has enough room. Nobody else can rename `dir`, nor its parent.
 */
bool tm_entry_memory_suits(const struct tm_fs *fs, const char *dir, int64_t need);

#endif
