/* gzip_index.h - positions from which a gzip file can be read: its check points, in a file beside
 * the job's state.
 *
 * It also holds a check sum of each 64 KB of the gzip file, computed when the index was made. A
 * reader of one part of the file cannot use the check sum at the end of the file. These find later
 * damage before the damaged bytes are decoded.
 *
 * Public format, version 2, little-endian. A head of 64 bytes, then records that follow each other:
 *
 *   head     0 "TMGZIX1\n"   8 version u32   12 zero u32   16 size of the gzip file i64
 *            24 its mtime i64 (ns)   32 hash of its path u64   40 spacing i64   48 zero u64
 *            56 check u64, of bytes 0 to 55
 *   record   0 kind u32 (1 a point, 2 the end, 3 only blocks)   4 length of the packed window u32
 *            8 offset in the contents i64   16 offset in the gzip file i64   24 bits u32
 *            28 window u32   32 check of the packed window u64   40 check of the block hashes u64
 *            48 number of block hashes u32   52 zero u32
 *            56 check u64, of bytes 0 to 55, seeded by the record's offset in this file
 *   after    the window of a point, deflated: the contents before it (up to 32 KB); then the block
 *   it       hashes u64, of the blocks of the gzip file after those of the record before. The last
 *            block may be short
 *   end      the lengths of the contents and of the gzip file, whose check sums were right. All
 *            blocks have a hash
 *
 * Decoding continues at byte `in` of the gzip file with its bit `bits` bits before that byte's end
 * (0: at its beginning). An incomplete file is valid up to its last whole record.
 *
 * The bytes may be hostile. The worst result is a file that cannot be read, or wrong contents if
 * somebody forged the check sums.
 */
#ifndef TM_DATA_STREAM_GZIP_INDEX_H
#define TM_DATA_STREAM_GZIP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "sys/fs.h"

#define TM_GZIP_HEAD   64
#define TM_GZIP_RECORD 64
#define TM_GZIP_WINDOW 32768 /* maximum distance of a back reference, bytes of contents */
#define TM_GZIP_BLOCK  65536 /* bytes of the gzip file per hash */

enum tm_gzip_kind { TM_GZIP_POINT = 1, TM_GZIP_END = 2, TM_GZIP_BLOCKS = 3 };

struct tm_gzip_record {
  enum tm_gzip_kind kind;
  int64_t out, in; /* offsets in the contents and in the gzip file */
  uint32_t bits;   /* 0 to 7 */
  uint32_t window; /* bytes of the window */
  uint32_t packed; /* bytes of it that follow, deflated */
  uint64_t check;  /* of these */
  uint32_t blocks; /* hashes that follow them */
  uint64_t blocks_check;
  int64_t at; /* offset of the record in the index; not in its bytes */
};

/* Identifies an index. */
struct tm_gzip_key {
  const char *path;
  int64_t size, mtime_ns;
  int64_t spacing; /* that it was made with; 0 in a key to look for: any */
};

void tm_gzip_head_encode(char *out, const struct tm_gzip_key *key);
/* TM_EDAMAGE: not an index, or another version. *is_same is false if it belongs to another file, or
 * to an earlier state of this one. */
int tm_gzip_head_decode(const char *p, const struct tm_gzip_key *key, bool *is_same,
                        int64_t *spacing);
void tm_gzip_record_encode(char *out, const struct tm_gzip_record *r);
/* `at`: the record's offset. TM_EDAMAGE if it is invalid. */
int tm_gzip_record_decode(struct tm_gzip_record *r, const char *p, int64_t at);

/* Reading and writing -------------------------------------------------------------------------- */

struct tm_gzip_index;

/* The name of the index of a file, in `dir`; to free(). */
char *tm_gzip_index_path(const char *dir, const char *path);
/* Opens an existing index; records added later are found too. NULL without a message if there is
 * none for this file. */
struct tm_gzip_index *tm_gzip_index_open(const struct tm_fs *fs, const char *dir,
                                         const struct tm_gzip_key *key);
/* Makes a new one, under its final name; current readers of an older one keep it. */
struct tm_gzip_index *tm_gzip_index_make(const struct tm_fs *fs, const char *dir,
                                         const struct tm_gzip_key *key, struct tm_err *err);
void tm_gzip_index_close(struct tm_gzip_index *x); /* NULL is a no-op */

/* Appends a record. `window` has r->window bytes; fills the fields of `r` after `window`. */
int tm_gzip_index_add(struct tm_gzip_index *x, struct tm_gzip_record *r, const char *window,
                      struct tm_err *err);
/* The last point at or before this offset of the contents; false: there is none. */
bool tm_gzip_index_find(struct tm_gzip_index *x, int64_t out, struct tm_gzip_record *r);
/* The window of a point: TM_GZIP_WINDOW bytes of room. False: it is damaged. */
bool tm_gzip_index_window(struct tm_gzip_index *x, const struct tm_gzip_record *r, char *window);
/* Call it for each block of the gzip file: its hash (tm_gzip_block_hash) is written with the next
 * record, or with one of its own. */
int tm_gzip_index_add_block(struct tm_gzip_index *x, uint64_t hash, struct tm_err *err);
/* The hash of block n (from 0) when the index was made. False: unknown so far. */
bool tm_gzip_index_block(struct tm_gzip_index *x, uint64_t n, uint64_t *hash);
uint64_t tm_gzip_block_hash(const void *p, size_t n);
/* The length of the contents, or -1: the index has no end yet. */
int64_t tm_gzip_index_size(struct tm_gzip_index *x);

#endif
