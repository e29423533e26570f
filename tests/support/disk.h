/* disk.h - a disk in memory behind the table of sys/fs.h, whose power can be cut.
 *
 * Every file is there twice: as programs see it (what was written), and as the platters hold it
 * (what was fsynced). What lies between is a list of writes and cuts that may or may not have
 * reached the platters. Names are the same: making, renaming and removing one is on the platters
 * only when its folder has been fsynced. After a power cut a random part of what was not fsynced is
 * there: writes whole, torn, missing, or with their length alone; cuts done or not; names changed
 * or not (what was done to one name stays in order). This is more than a real file system does, on
 * purpose. The time of a node's last change is a serial number, which is on the platters when the
 * node has been fsynced; its number stays.
 *
 * Calls are numbered from 1. At one of them the power can be cut, or a fault can happen; an fsync
 * can be left out. One thread. Folders are made with mkdir and take along what is in them when they
 * are renamed; "/" is there.
 */
#ifndef TM_TESTS_DISK_H
#define TM_TESTS_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/fs.h"

struct tm_disk;

enum tm_disk_fault { TM_DISK_NO_FAULT, TM_DISK_FAIL, TM_DISK_SHORT };

struct tm_disk_plan {
  uint64_t cut_at;   /* call at which the power goes: it may have happened or not; 0: never */
  uint64_t fault_at; /* call; 0: never */
  enum tm_disk_fault
      fault; /* SHORT: half of what was asked, for pread and pwrite of more than a byte */
  int code;  /* negated errno, of FAIL */
};

struct tm_disk *tm_disk_new(uint64_t seed);
void tm_disk_free(struct tm_disk *d);
const struct tm_fs *tm_disk_fs(struct tm_disk *d);

void tm_disk_plan(struct tm_disk *d,
                  const struct tm_disk_plan *plan); /* counts calls from 1 again */
uint64_t tm_disk_calls(const struct tm_disk *d);
bool tm_disk_is_cut(const struct tm_disk *d);     /* every call answers -EIO */
bool tm_disk_has_failed(const struct tm_disk *d); /* the planned fault has happened */
/* The from-th to to-th fsync, from now on, of a path that ends so answer 0 and do nothing; NULL:
 * none. */
void tm_disk_leave_out(struct tm_disk *d, const char *path_end, uint64_t from, uint64_t to);
/* From now on it is a file system without exchange(). */
void tm_disk_cannot_exchange(struct tm_disk *d);
/* Told of every fsync that is not refused, those that are left out among them; NULL: nobody. */
void tm_disk_watch(struct tm_disk *d, void (*on_fsync)(void *data, const char *path), void *data);
/* An fsync that began when `mark` was taken and has now ended well: what came after the mark may
 * not be covered. It counts as no call, and happens whatever is left out. */
uint64_t tm_disk_mark(const struct tm_disk *d);
void tm_disk_sync(struct tm_disk *d, int fd, uint64_t mark);
/* Cuts the power now, unless it is, and brings the disk up again. Descriptors are gone. */
void tm_disk_restart(struct tm_disk *d);
/* The program is gone, the machine is not: descriptors are closed, nothing is lost. */
void tm_disk_kill(struct tm_disk *d);
/* As tm_fs_read_file() without faults, plans or counts: what programs see. -ENOENT. */
int tm_disk_read(struct tm_disk *d, const char *path, struct tm_buf *out);

/* Everything that programs see, a folder before what is in it; mode as st_mode; bytes of a link:
 * what it leads to. */
typedef void (*tm_disk_on_node)(void *data, const char *path, uint32_t mode, const char *bytes,
                                size_t len);
void tm_disk_walk(struct tm_disk *d, tm_disk_on_node on_node, void *data);

/* A small generator, the same everywhere. */
uint64_t tm_disk_random(uint64_t *state, uint64_t below);

#endif
