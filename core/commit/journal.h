/* journal.h - the record of finished mini-batches: fixed records of 64 bytes, appended, never
 * changed (core/README.md: invariant 3).
 *
 * Every record, little-endian:
 *
 *   0 kind u8   1 version u8   2 .. 55 by kind   56 check u64 (xxh3-64 of bytes 0 .. 55)
 *
 *   committed, failed
 *     2 try u16 (65535: that or more)   4 returned u32   8 index u64   16 items u32
 *     20 succeeded u32   24 end in the output i64   32 end in the failures log i64
 *     40 hash of its output bytes u64   48 hash of its failure bytes u64
 *     items 0, of a failed one: rows that could not be counted; they count as one item
 *   session
 *     8 number u64 (from 1)   16 epoch u64   24 wall clock i64 (ns)   32 "tidemill"
 *   sync
 *     8 length of the journal i64   16 of the manifest   24 of the output
 *     32 of the failures log   40 of the files log
 *   files, directly before the committed record of its mini-batch
 *     8 index u64   16 end in the files log i64   24 hash of its lines u64
 *
 * The first record of a file is a session record. All future versions keep "tidemill" at 32, the
 * version at 1 and the check sum at 56; another version is refused.
 *
 * A file is opened, walked, cut, and then added to; by one thread.
 */
#ifndef TM_COMMIT_JOURNAL_H
#define TM_COMMIT_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/fs.h"

#define TM_RECORD_SIZE    64 /* bytes */
#define TM_RECORD_VERSION 1

enum tm_record_kind {
  TM_RECORD_SESSION = 1,
  TM_RECORD_COMMITTED = 2,
  TM_RECORD_FAILED = 3,
  TM_RECORD_SYNC = 4,
  TM_RECORD_FILES = 5,
};

struct tm_record {
  enum tm_record_kind kind;
  union {
    struct { /* committed, failed */
      uint64_t index;
      uint32_t try, items, succeeded, returned;
      int64_t output_end, failures_end; /* its bytes begin at the end of those before */
      uint64_t output_hash, failures_hash;
    };
    struct { /* session */
      uint64_t number, epoch;
      int64_t wall_ns;
    };
    struct { /* sync: bytes of each file that are on the disk */
      int64_t journal_len, manifest_len, output_len, failures_len, files_len;
    };
    struct { /* files */
      uint64_t files_index;
      int64_t files_end;
      uint64_t files_hash;
    };
  };
};

void tm_record_encode(const struct tm_record *r, void *out64);
/* 0, TM_EDAMAGE, or TM_EVERSION: a complete record of another version. */
int tm_record_decode(struct tm_record *r, const void *in64);

/* The number of items of a committed or failed record. */
static inline uint32_t tm_record_items(const struct tm_record *r)
{
  return r->kind == TM_RECORD_FAILED && r->items == 0 ? 1 : r->items;
}

struct tm_journal {
  const struct tm_fs *fs;
  char *path;
  int fd;                /* -1: not open, or missing */
  int64_t len;           /* bytes written */
  struct tm_buf pending; /* whole records that follow */
};

/* Opens the file; `len` is its length. A missing file is empty, and is written after
 * tm_journal_make(). Zero the struct before; close it also after a failure. */
int tm_journal_open(struct tm_journal *j, const struct tm_fs *fs, const char *path,
                    struct tm_err *err);
/* Makes the file if it is missing; call it before the first write. */
int tm_journal_make(struct tm_journal *j, struct tm_err *err);
/* Opens the file read-only; it must exist. For readers that do not own the job; while it runs,
 * `len` is that of one moment. */
int tm_journal_open_read(struct tm_journal *j, const struct tm_fs *fs, const char *path,
                         struct tm_err *err);
void tm_journal_close(struct tm_journal *j);
void tm_journal_add(struct tm_journal *j, const struct tm_record *r);
int tm_journal_flush(struct tm_journal *j, struct tm_err *err);
/* Writes one record now, before the pending ones. */
int tm_journal_write(struct tm_journal *j, const struct tm_record *r, struct tm_err *err);
/* Removes what follows `len`. */
int tm_journal_cut(struct tm_journal *j, int64_t len, struct tm_err *err);

/* From `at` (0 is the beginning) to the end, in pieces: init, next until it returns 0, release. */
struct tm_journal_walk {
  const struct tm_journal *journal;
  int64_t at; /* of the record that the last call returned */
  int64_t next;
  char *bytes;
  size_t have, used;
};
void tm_journal_walk_init(struct tm_journal_walk *w, const struct tm_journal *j, int64_t at);
/* 1: a record. 0: the end. TM_EDAMAGE without a message: a bad record, or an incomplete one at the
 * end; the next call continues after it. Another negative code, with a message: it could not be
 * read, or TM_EVERSION. */
int tm_journal_walk_next(struct tm_journal_walk *w, struct tm_record *out, struct tm_err *err);
void tm_journal_walk_release(struct tm_journal_walk *w);

/* The outcomes in the journal: records that are committed, failed or files. Two sessions have the
 * same sum if and only if no mini-batch ended in between, so that the step's output is the same. */
struct tm_journal_sum {
  int64_t outcomes; /* records */
  uint64_t hash;    /* of these, in order */
};
/* Reads the journal at `path` up to its first bad record. A missing journal has no outcomes. */
int tm_journal_sum_read(struct tm_journal_sum *out, const struct tm_fs *fs, const char *path,
                        struct tm_err *err);

#endif
