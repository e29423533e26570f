/* key.h - the values that the items of a mini-batch have in common: partition keys, by name.
 *
 * A mini-batch with keys begins with one record of them (item.h says how records are told apart):
 *
 *   0 length of the record behind these 4 bytes, with TM_ITEM_KEYS in the top byte u32
 *   4 for each key: bytes32 name   type u32   bytes32 value
 *
 * The value of a STRING is its bytes, of a BOOL one byte 0 or 1, of the others 8 bytes, little-endian: LONG as it is,
 * DATETIME microseconds since the epoch, DOUBLE its bits. A NULL has none.
 */
#ifndef TM_DATA_KEY_H
#define TM_DATA_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum tm_key_type { /* numbers are part of the format, and their order that of the mini-batches */
                   TM_KEY_NULL = 0,
                   TM_KEY_BOOL = 1,
                   TM_KEY_LONG = 2,
                   TM_KEY_DOUBLE = 3,
                   TM_KEY_DATETIME = 4,
                   TM_KEY_STRING = 5,
};

struct tm_key {
  const char *name; /* any bytes; not NUL-ended where it was read */
  size_t name_len;
  enum tm_key_type type;
  union {
    int64_t integer; /* BOOL 0 or 1, LONG, DATETIME (us since the epoch, UTC) */
    double number;
    struct {
      const char *at;
      size_t len;
    } string;
  };
};

/* The record. At most 16 MB all in all: a fault. */
void tm_keys_add(struct tm_buf *out, const struct tm_key *keys, size_t n);
/* A reader over the keys that the bytes of a mini-batch begin with; false when there are none. */
bool tm_keys_find(const char *bytes, size_t len, struct tm_reader *out);
/* False at the end and on bad bytes (r->bad tells). Name and string point into the bytes. */
bool tm_key_next(struct tm_reader *r, struct tm_key *out);

/* Adds bytes whose order (memcmp) is that of the values, and of lists of values when they are added one after the other:
 * null before all, then false, true; numbers by size, NaN last; strings by their bytes. Equal values have equal bytes. */
void tm_key_add_order(struct tm_buf *out, const struct tm_key *key);

/* For people: store=north, date=2026-01-31. Not finite numbers as nan, inf, -inf; null as null. */
void tm_keys_describe(struct tm_buf *out, struct tm_reader r);
/* The value alone: a datetime as 2026-01-31, 2026-01-31T12:00:00 or with its fraction; beyond the
 * years 1678 to 2261 as its number. */
void tm_key_describe(struct tm_buf *out, const struct tm_key *key);

#endif
