/* key.h - the values that the items of a mini-batch have in common: partition keys, by name.
 *
 * A mini-batch with keys begins with a record of them (item.h lists the types of records):
 *
 *   0 length of the record after these 4 bytes, with TM_KEYS_RECORD in the top byte u32
 *   4 for each key: bytes32 name   type u32   bytes32 value
 *
 * The value of a STRING is its bytes, of a BOOL one byte 0 or 1, of the others 8 bytes,
 * little-endian: LONG as it is, DATETIME microseconds since the epoch, DOUBLE its bits. A NULL has
 * no value.
 */
#ifndef TM_DATA_KEY_H
#define TM_DATA_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define TM_KEYS_RECORD 1u /* the type of the record; item.h has the other types */

/* the numbers are part of the format, and define the order of the mini-batches */
enum tm_key_type {
  TM_KEY_NULL = 0,
  TM_KEY_BOOL = 1,
  TM_KEY_LONG = 2,
  TM_KEY_DOUBLE = 3,
  TM_KEY_DATETIME = 4,
  TM_KEY_STRING = 5,
};

struct tm_key {
  const char *name; /* any bytes; not NUL-ended if it was read */
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

/* Adds the record. More than 16 MB is a fault. */
void tm_keys_add(struct tm_buf *out, const struct tm_key *keys, size_t n);
/* Returns a reader for the keys at the beginning of a mini-batch; false if there are none. */
bool tm_keys_find(const char *bytes, size_t len, struct tm_reader *out);
/* False at the end and on bad bytes (see r->bad). Name and string point into the bytes. */
bool tm_key_next(struct tm_reader *r, struct tm_key *out);

/* Adds bytes that order (by memcmp) like the values, also like lists of values when added one after
 * the other: null first, then false, true; numbers by size, NaN last; strings by their bytes. Equal
 * values have equal bytes. */
void tm_key_add_order(struct tm_buf *out, const struct tm_key *key);

/* Human-readable: store=north, date=2026-01-31. Numbers that are not finite as nan, inf, -inf; null
 * as null. */
void tm_keys_describe(struct tm_buf *out, struct tm_reader r);
/* Only the value: a datetime as 2026-01-31, 2026-01-31T12:00:00 or with its fraction; outside of
 * the years 1678 to 2261 as its number. */
void tm_key_describe(struct tm_buf *out, const struct tm_key *key);

#endif
