/* manifest_file.h - the manifest's file, and the state of its writer and its reader. Only for
 * manifest*.c and commit.c.
 *
 * The file, little-endian: a head, entries and, when the list is complete, an end record.
 *
 *   head     0 "tm-list" NUL   8 version u32   12 check u32 (low half of xxh3-64 of bytes 0 .. 11)
 *   entry    0 kind u32   4 dataset u32   8 items u32   12 length u32   16 index u64
 *            24 check u64   32 chain u64   40 bytes
 *   end      an entry of kind TM_MANIFEST_END, index = number of entries, 8 bytes: number of
 *            items u64
 *
 *   check = xxh3-64 of the bytes, seeded with xxh3-64 of bytes 0 .. 23
 *   chain = xxh3-64 of {chain before, check}
 */
#ifndef TM_COMMIT_MANIFEST_FILE_H
#define TM_COMMIT_MANIFEST_FILE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/fs.h"

enum {
  TM_MANIFEST_ENTRY = 0x69626d74, /* "tmbi" */
  TM_MANIFEST_END = 0x65626d74,   /* "tmbe" */
  TM_MANIFEST_VERSION = 2,        /* 2: items have types */
  TM_MANIFEST_FILE_HEAD = 16,     /* bytes */
  TM_MANIFEST_HEAD = 40,          /* bytes, of an entry */
  TM_MANIFEST_BLOCK = 1024,       /* entries per stored offset */
  TM_MANIFEST_LEAF = 1024,        /* offsets */
  TM_MANIFEST_LEAVES = 16384,     /* 17e9 entries */
};

struct tm_manifest_head {
  uint32_t kind, dataset, items, length;
  uint64_t index, check, chain;
};

/* A window on the file: reads ahead, so that a walk makes one call for many entries. */
struct tm_manifest_cursor {
  char *bytes;
  size_t have, cap;
  size_t piece; /* bytes to read ahead */
  int64_t base; /* offset of bytes[0] in the file */
};

struct tm_manifest {
  const struct tm_fs *fs;
  char *path;
  int fd;             /* -1: not open */
  int64_t size_found; /* size of the file when it was opened */
  bool has_head;      /* the file has its head */

  /* The writer's fields. */
  struct tm_buf pending;
  uint64_t added, items_added;      /* entries, including those in `pending` */
  uint64_t link;                    /* chain of the last of them */
  int64_t end;                      /* offset after the last of them */
  bool is_compared;                 /* the next entries are compared, not added */
  bool accepts;                     /* files with another size or time count as equal */
  bool had_end;                     /* the list was complete when it was opened */
  uint64_t compared, compare_count; /* entries */
  int64_t compare_at;
  struct tm_manifest_cursor compare;

  /* Shared. The writer stores count last (release), the reader loads it first (acquire): entries
   * below it may be read. */
  _Atomic uint64_t count, items, chain;
  _Atomic int64_t length; /* bytes */
  _Atomic bool has_end;
  int64_t *leaves[TM_MANIFEST_LEAVES]; /* offsets of entries 0, 1024, 2048, ... */

  /* The reader's fields: a walk forward, and a block for earlier entries. */
  struct tm_manifest_cursor forward, back;
  uint64_t forward_next;
  int64_t forward_at;
  uint64_t back_block; /* the block of back_places */
  size_t back_len;
  int64_t back_places[TM_MANIFEST_BLOCK + 1];
};

/* Opens the file, and finds its valid part: at least the `stated` bytes, else TM_EDAMAGE with the
 * place; TM_EVERSION. A missing file is an empty list. Writes nothing: call tm_manifest_cut()
 * before the first add. Close `out` also after a failure. */
int tm_manifest_open(struct tm_manifest **out, const struct tm_fs *fs, const char *path,
                     int64_t stated, struct tm_err *err);
/* The same, read-only: the file must exist, else TM_EDAMAGE. */
int tm_manifest_open_read(struct tm_manifest **out, const struct tm_fs *fs, const char *path,
                          int64_t stated, struct tm_err *err);
/* Makes a missing file, cuts the invalid rest, and writes the head of a new file. */
int tm_manifest_cut(struct tm_manifest *m, struct tm_err *err);
/* Bytes written; any thread. */
int64_t tm_manifest_length(const struct tm_manifest *m);
void tm_manifest_close(struct tm_manifest *m); /* NULL is a no-op */

void tm_manifest_head_encode(const struct tm_manifest_head *h, void *out40);
void tm_manifest_head_decode(struct tm_manifest_head *h, const void *in40);
uint64_t tm_manifest_check(const void *head40, const void *bytes, size_t len);
uint64_t tm_manifest_link(uint64_t before, uint64_t check);

/* The head at `at`. 1; 0: no valid head that ends before `limit`; or a negative code. */
int tm_manifest_head_at(const struct tm_manifest *m, struct tm_manifest_cursor *c, int64_t at,
                        int64_t limit, struct tm_manifest_head *h, struct tm_err *err);
/* The same with the bytes, verified. They belong to the cursor. */
int tm_manifest_entry_at(const struct tm_manifest *m, struct tm_manifest_cursor *c, int64_t at,
                         int64_t limit, struct tm_manifest_head *h, const char **bytes,
                         struct tm_err *err);

/* The offset of an entry with index % TM_MANIFEST_BLOCK == 0. */
void tm_manifest_put_place(struct tm_manifest *m, uint64_t index, int64_t at);
int64_t tm_manifest_place(const struct tm_manifest *m, uint64_t index);

#endif
