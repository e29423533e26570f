/* seven_zip_header.h - the header of a 7z archive, unpacked: what it claims, and its entries. Pure; the bytes are hostile.
 *
 * The header is columns, one behind the other: folders (runs of packed contents), sizes, then names and
 * attributes of all files. Nothing is copied out of it and nothing is allocated, whatever it claims. A cursor in each
 * column gives one entry after the other.
 *
 * tm_seven_zip_parse() reads all of it, to the last entry. It refuses what other readers let pass (counts without
 * contents behind them, a column twice, a length that does not fit), so that libarchive, which reads the same bytes in a
 * worker, finds the same numbers in them.
 */
#ifndef TM_DATA_FILES_SEVEN_ZIP_HEADER_H
#define TM_DATA_FILES_SEVEN_ZIP_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Where contents are packed: the part of a header that a packed header has outside, too. */
struct tm_seven_zip_streams {
  uint64_t packs, folders, files; /* counts; files: those that have contents */
  uint64_t unpacked;              /* bytes of all that the coders give, inner ones included */
  struct tm_reader definitions, sizes, counts, file_sizes; /* columns */
  bool has_counts;                                         /* else each folder holds one file */
  bool has_crcs;                                           /* some folders have check sums */
  const char *crcs_known; /* which: a bit for each folder; NULL: all */
  uint32_t first_crc;     /* of the first folder, where is_first_known */
  bool is_first_known;
  bool is_encrypted;   /* some folder */
  const char *end;     /* behind the folders */
  uint64_t first_size; /* bytes that the first folder gives; of a packed header */
};

struct tm_seven_zip_entry {
  const char *name; /* UTF-16, little-endian */
  size_t name_len;  /* bytes */
  bool has_stream;  /* it has contents */
  bool is_file;     /* without contents: it is a file, and not a folder */
  bool is_encrypted;
  uint32_t mode; /* of Unix; 0: it does not say */
  uint64_t size;
};

struct tm_seven_zip_header {
  struct tm_seven_zip_streams streams;
  uint64_t files;
  const char *empty, *empty_files; /* bits; NULL: none */
  struct tm_reader names, attributes;
  bool has_some_attributes;
  /* The entry at hand. */
  uint64_t number, empty_number;
  uint64_t folder, left; /* folders begun; files left in the last one */
  uint64_t rest;         /* bytes left of its contents */
  bool is_encrypted;
};

/* The outside of a packed header: where its one folder is packed. `room`: bytes of the file between its first 32 and the
 * header. NULL, or why not (static words). */
const char *tm_seven_zip_parse_packed(struct tm_seven_zip_streams *out, const char *p, size_t n,
                                      uint64_t room);

/* An unpacked header, which must outlive `out`. NULL, and the cursors stand at the first entry; or why not (static
 * words). */
const char *tm_seven_zip_parse(struct tm_seven_zip_header *out, const char *p, size_t n,
                               uint64_t room);

/* False: that was the last one. */
bool tm_seven_zip_next(struct tm_seven_zip_header *h, struct tm_seven_zip_entry *out);

#endif
