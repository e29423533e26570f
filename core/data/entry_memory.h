/* entry_memory.h - whether the entries of a mini-batch are extracted to memory: making, writing and removing a small file costs five
 * times as much on a disk's file system as on a tmpfs.
 *
 * What a job has there at once is bounded by this, times its workers; it is the most that is left when all of the job is killed,
 * until the job is resumed or removed.
 */
#ifndef TM_DATA_ENTRY_MEMORY_H
#define TM_DATA_ENTRY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/fs.h"

#define TM_ENTRY_MEMORY_MAX   ((int64_t)16 << 20) /* bytes, of one mini-batch */
#define TM_ENTRY_MEMORY_SHARE 8 /* one part in so many of what is free may be taken */

/* Bytes that those entries of a mini-batch take which are to be files: whole pages of their contents, and what the kernel has of a
 * file beside. 0: none is. The sizes are those of the listing, more than which is never given. */
int64_t tm_entry_memory_need(const char *bytes, size_t len);
/* Whether `dir` may be made: its need is small, and the folder that it would be in is on a tmpfs which is writable, not mounted
 * noexec, and has enough room. Nobody else can rename it there, nor that folder in the one above. */
bool tm_entry_memory_suits(const struct tm_fs *fs, const char *dir, int64_t need);

#endif
