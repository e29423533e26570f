/* seven_zip_header.h - the header of a 7z archive, unpacked: what it claims, and its entries. Pure;
 * the bytes are hostile.
 *
 * The header is a sequence of columns: folders (runs of packed contents), sizes, then names and
 * attributes of all files. Nothing is copied from it and nothing is allocated, whatever it claims.
 * A cursor in each column gives one entry after the other.
 *
 * tm_seven_zip_parse() reads all of it, to the last entry. It refuses what other readers accept
 * (counts without contents, a column that appears twice, a length that does not fit), so that
 * libarchive, which reads the same bytes in a worker, finds the same numbers in them.
 */
#ifndef TM_DATA_ARCHIVE_SEVEN_ZIP_HEADER_H
#define TM_DATA_ARCHIVE_SEVEN_ZIP_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Where contents are packed. A packed header has this part outside, too. */
struct tm_seven_zip_streams {
  uint64_t packs, folders, files; /* counts; files: those with contents */
  uint64_t unpacked;              /* total bytes of the coders' outputs, including inner ones */
  struct tm_reader definitions, sizes, counts, file_sizes; /* columns */
  bool has_counts;                                         /* else each folder holds one file */
  bool has_crcs;                                           /* some folders have check sums */
  const char *crcs_known; /* a bit for each folder: which; NULL: all */
  uint32_t first_crc;     /* of the first folder, if is_first_known */
  bool is_first_known;
  bool is_encrypted;   /* some folder is */
  const char *end;     /* after the folders */
  uint64_t first_size; /* size of the first folder's output; of a packed header */
};

struct tm_seven_zip_entry {
  const char *name; /* UTF-16, little-endian */
  size_t name_len;  /* bytes */
  bool has_stream;  /* it has contents */
  bool is_file;     /* without contents: a file, not a folder */
  bool is_encrypted;
  uint32_t mode; /* of Unix; 0: unknown */
  uint64_t size;
};

struct tm_seven_zip_header {
  struct tm_seven_zip_streams streams;
  uint64_t files;
  const char *empty, *empty_files; /* bits; NULL: none */
  struct tm_reader names, attributes;
  bool has_some_attributes;
  /* The current entry. */
  uint64_t number, empty_number;
  uint64_t folder, left; /* folders begun; files left in the last one */
  uint64_t rest;         /* bytes left of its contents */
  bool is_encrypted;
};

/* The outside of a packed header: where its one folder is packed. `room`: bytes of the file between
 * its first 32 and the header. NULL, or static text why not. */
const char *tm_seven_zip_parse_packed(struct tm_seven_zip_streams *out, const char *p, size_t n,
                                      uint64_t room);

/* An unpacked header, which must outlive `out`. NULL, with the cursors at the first entry; or
 * static text why not. */
const char *tm_seven_zip_parse(struct tm_seven_zip_header *out, const char *p, size_t n,
                               uint64_t room);

/* False: no more entries. */
bool tm_seven_zip_next(struct tm_seven_zip_header *h, struct tm_seven_zip_entry *out);

#endif
