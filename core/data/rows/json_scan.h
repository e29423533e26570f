/* json_scan.h - JSON values as slices of their text: fully validated, but not converted.
 *
 * For many lines of objects, where base/json.h would build a tree of each to take ten values out of
 * it. Strict: RFC 8259 with valid UTF-8, at most 100 deep. Pure.
 */
#ifndef TM_DATA_ROWS_JSON_SCAN_H
#define TM_DATA_ROWS_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define TM_JSON_SCAN_DEPTH 100

enum tm_slice_kind {
  TM_SLICE_NONE,
  TM_SLICE_NULL,
  TM_SLICE_TRUE,
  TM_SLICE_FALSE,
  TM_SLICE_NUMBER,
  TM_SLICE_STRING, /* between its quotes */
  TM_SLICE_ARRAY,
  TM_SLICE_OBJECT
};

struct tm_slice {
  enum tm_slice_kind kind;
  bool has_escapes; /* of a string: it has a '\' */
  const char *p;
  size_t n;
};

/* Parses the value at `p`. Returns its end, or NULL: it is missing, cut off, or too deep. */
const char *tm_json_scan(const char *p, const char *end, struct tm_slice *out);
const char *tm_json_scan_blanks(const char *p, const char *end);
/* The next member of an object: the first from its '{', the others from the end of the last call.
 * NULL: not an object. At the end of the object key->kind is NONE. */
const char *tm_json_scan_member(const char *p, const char *end, bool is_first, struct tm_slice *key,
                                struct tm_slice *value);
/* The next item of an array, likewise; at its end item->kind is NONE. */
const char *tm_json_scan_item(const char *p, const char *end, bool is_first, struct tm_slice *item);
/* The value of the object's first member of this name, which has no escapes. False: there is none,
 * or the text is not exactly one object. */
bool tm_json_scan_find(const char *p, const char *end, const char *name, struct tm_slice *value);
/* Decodes the escapes of the string; half a surrogate pair becomes U+FFFD. */
void tm_json_unescape(struct tm_buf *out, const struct tm_slice *string);

#endif
