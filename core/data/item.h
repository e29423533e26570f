/* item.h - the contents of a mini-batch as bytes: in the manifest and, unchanged, on the way to a
 * worker.
 *
 * Records, one after the other. The top byte of the first u32 is the type, the rest a length:
 *
 *   TM_ITEM_FILE   0 path length u32   4 size i64 (-1: not known)
 *                  12 mtime i64 (ns since the epoch; 0: not known)   20 path
 *   TM_ITEM_ROWS   the same, then   20 begin i64   28 end i64   36 first row i64 (-1: not known)
 *                  44 rows i64 (-1: not known)   52 number of the file in its dataset u32
 *                  56 number of the first row in the dataset i64 (-1: not known)
 *                  64 rows to skip i64   72 path
 *   TM_ITEM_GROUP  as TM_ITEM_ROWS: rows with the same keys, in a file of the job (table_groups.h)
 *   TM_ITEM_ENTRY  the fields of a file, for the archive; then
 *                  20 length of the archive's path u32   24 how it is read u8, flags u8,
 *                  method of a zip u16   28 CRC-32 u32   32 length of the fault u32
 *                  36 place i64   44 bytes in a zip i64   52 bytes of contents i64
 *                  60 path, fault
 *   TM_KEYS_RECORD at most one, and the first: key.h
 *
 * A file is one item. A range of a table's file is as many items as it has rows. An entry of an
 * archive is one item; its path is the archive's, '/', and its name. An archive that cannot be
 * listed completely is also one item: an entry with a fault, whose path is the archive's. So is a
 * damaged compressed file of a table. The bytes are hostile when they are read: they come from a
 * file.
 */
#ifndef TM_DATA_ITEM_H
#define TM_DATA_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
  TM_ITEM_FILE = 0,
  TM_ITEM_ROWS = 2,
  TM_ITEM_GROUP = 3,
  TM_ITEM_ENTRY = 4,
};

/* How the contents of an entry are read (files/entry.h), which defines `place`. */
enum tm_entry_how {
  TM_ENTRY_IN_TAR, /* offset of the contents in the decompressed archive */
  TM_ENTRY_IN_ZIP, /* offset of the entry's local header in the archive */
  TM_ENTRY_WALKED, /* number of the entry, from 0: those before it are skipped */
};

struct tm_entry_place {
  enum tm_entry_how how;
  uint32_t method; /* of a zip */
  uint32_t crc;    /* of a zip */
  int64_t place;
  int64_t packed; /* its bytes in the zip */
  int64_t size;   /* bytes of its contents */
};

struct tm_item {
  const char *path; /* absolute; not NUL-ended; any byte except NUL */
  size_t path_len;
  int64_t size;     /* bytes, or -1: not known when it was listed */
  int64_t mtime_ns; /* since the epoch; 0 when size is -1 */
  bool is_rows;     /* a range of a table's file; the fields from here on are valid */
  bool is_group;    /* also, the file is one of table_groups.h */
  const char *keys; /* of a group: its keys, to read with tm_key_next() */
  size_t keys_len;
  int64_t begin, end; /* bytes, in the decompressed contents */
  int64_t first_row;  /* number of its first row in the file, from 0; or -1 */
  int64_t rows;       /* or -1: only known to the reader of the rows */
  uint32_t file;      /* its number in the dataset, from 0: perhaps only the first has a header */
  int64_t number;     /* of its first used row, in the whole dataset, from 0; or -1 */
  int64_t from;       /* unused rows at its beginning; `rows` counts those after them */
  /* an entry of an archive, whose size and mtime are above; the fields from here on are valid */
  bool is_entry;
  bool is_extracted;    /* run() gets a file with its contents, else its name */
  uint32_t archive_len; /* bytes of `path` that are the archive's path */
  struct tm_entry_place entry;
  const char *fault; /* the message why it cannot be read; not NUL-ended */
  size_t fault_len;  /* 0: no fault */
};

/* Whether it is an archive itself, which has a fault. */
static inline bool tm_item_is_archive(const struct tm_item *item)
{
  return item->is_entry && item->archive_len == item->path_len;
}

/* Bytes of its path that name a real file. */
static inline size_t tm_item_file_len(const struct tm_item *item)
{
  return item->is_entry ? item->archive_len : item->path_len;
}

/* The number in its file, from 1, of row `n` of a range, from 0; 0: unknown. */
static inline int64_t tm_item_row(const struct tm_item *item, int64_t n)
{
  return item->is_rows && item->first_row >= 0 ? item->first_row + item->from + n + 1 : 0;
}

void tm_item_add(struct tm_buf *out, const struct tm_item *item);
/* The next file or range; skips keys. False at the end and on bad bytes (see r->bad). The path and
 * the fault point into the bytes. */
bool tm_item_next(struct tm_reader *r, struct tm_item *out);
/* Adds what identifies a mini-batch in a log: the path of its first item, if `bytes` are good. The
 * rows of a group are in a file of the job, so their keys identify it: "store=north, n=3". Returns
 * whether it added keys. */
bool tm_item_describe_first(struct tm_buf *out, const char *bytes, size_t len);
/* The same for an item. */
bool tm_item_describe(struct tm_buf *out, const struct tm_item *item);

#endif
