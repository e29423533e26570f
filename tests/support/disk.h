/* disk.h - a simulated disk in memory, used through the table of sys/fs.h. A test can cut its
 * power.
 *
 * The disk keeps two versions of every file: what programs see (written) and what the platters hold
 * (fsynced). Between the two is a list of writes and cuts that may or may not have reached the
 * platters. The same holds for names: creating, renaming or removing a name reaches the platters
 * only when its folder is fsynced. After a power cut, a random part of the operations that were not
 * fsynced has happened: a write is complete, torn, missing, or only its length has changed; a cut
 * or a change of a name has happened or not. Changes to one name keep their order. On purpose, this
 * is worse than any real file system. A node's modification time is a serial number, which reaches
 * the platters with an fsync of the node; its inode number never changes.
 *
 * Calls are numbered from 1. A test can choose a call at which the power fails or an error occurs,
 * and can skip an fsync. For one thread only. mkdir creates folders, and a renamed folder takes its
 * contents along. "/" always exists.
 */
#ifndef TM_TESTS_DISK_H
#define TM_TESTS_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/fs.h"

struct tm_disk;

enum tm_disk_fault { TM_DISK_NO_FAULT, TM_DISK_FAIL, TM_DISK_SHORT };

struct tm_disk_plan {
  uint64_t cut_at;   /* call at which the power fails, which may or may not happen; 0: never */
  uint64_t fault_at; /* number of the call; 0: never */
  enum tm_disk_fault fault; /* SHORT: pread and pwrite of more than one byte transfer half of it */
  int code;                 /* negated errno, of FAIL */
};

struct tm_disk *tm_disk_new(uint64_t seed);
void tm_disk_free(struct tm_disk *d);
const struct tm_fs *tm_disk_fs(struct tm_disk *d);

void tm_disk_plan(struct tm_disk *d,
                  const struct tm_disk_plan *plan); /* restarts the count of calls at 1 */
uint64_t tm_disk_calls(const struct tm_disk *d);
bool tm_disk_is_cut(const struct tm_disk *d);     /* every call returns -EIO */
bool tm_disk_has_failed(const struct tm_disk *d); /* the planned fault has occurred */
/* From now on, the fsyncs number `from` to `to` of paths that end in this suffix return 0 and do
 * nothing; NULL: skip none. */
void tm_disk_leave_out(struct tm_disk *d, const char *path_end, uint64_t from, uint64_t to);
/* From now on the file system does not support exchange(). */
void tm_disk_cannot_exchange(struct tm_disk *d);
/* Called for every fsync that is not refused, including skipped ones; NULL: no callback. */
void tm_disk_watch(struct tm_disk *d, void (*on_fsync)(void *data, const char *path), void *data);
/* Completes an fsync that began when `mark` was taken. It does not cover changes made after the
 * mark. It is not counted as a call, and is never skipped. */
uint64_t tm_disk_mark(const struct tm_disk *d);
void tm_disk_sync(struct tm_disk *d, int fd, uint64_t mark);
/* Cuts the power, unless it is already off, and restarts the disk. All descriptors become invalid.
 */
void tm_disk_restart(struct tm_disk *d);
/* Simulates the end of the program, not of the machine: closes all descriptors and loses nothing.
 */
void tm_disk_kill(struct tm_disk *d);
/* Like tm_fs_read_file(), but without faults, plans or counts: returns what programs see, or
 * -ENOENT. */
int tm_disk_read(struct tm_disk *d, const char *path, struct tm_buf *out);

/* Calls back for everything that programs see, a folder before its contents; `mode` is st_mode; the
 * bytes of a link are its target. */
typedef void (*tm_disk_on_node)(void *data, const char *path, uint32_t mode, const char *bytes,
                                size_t len);
void tm_disk_walk(struct tm_disk *d, tm_disk_on_node on_node, void *data);

/* A small random generator that gives the same numbers on every machine. */
uint64_t tm_disk_random(uint64_t *state, uint64_t below);

#endif
