/* protobuf.h - the fields of a protobuf message in a stream, one after another. Knows no schema;
 * the bytes are hostile.
 *
 * Only what is looked at is read: the bytes of a field are stated as a place in the stream, which
 * the caller reads as a text, as numbers or as a message of its own, or skips. So a file of any
 * size takes one window of memory.
 *
 *   struct tm_protobuf m = tm_protobuf_of(reader, 0, reader->size);
 *   while ((rc = tm_protobuf_next(&m, &field, err)) > 0)
 *     ...
 *
 * Messages of errors say what is wrong at which byte, without the name of the file. TM_EDAMAGE: the
 * bytes are not protobuf; TM_ENOINPUT: they are, but the file ends within a field.
 */
#ifndef TM_MODEL_PROTOBUF_H
#define TM_MODEL_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/stream/stream.h"

#define TM_PROTOBUF_WINDOW 16384 /* bytes that are read at once */

struct tm_protobuf_reader {
  struct tm_stream *stream; /* the caller's */
  int64_t size;             /* bytes of the stream */
  int64_t start;            /* of the window */
  size_t len;
  unsigned char window[TM_PROTOBUF_WINDOW];
};

/* A message: the bytes from `at` to `end` of the stream. */
struct tm_protobuf {
  struct tm_protobuf_reader *reader;
  int64_t at, end;
};

enum tm_protobuf_kind {
  TM_PROTOBUF_VARINT = 0,
  TM_PROTOBUF_FIXED64 = 1,
  TM_PROTOBUF_BYTES = 2,
  TM_PROTOBUF_FIXED32 = 5
};

struct tm_protobuf_field {
  uint32_t number;
  enum tm_protobuf_kind kind;
  uint64_t value;  /* of a number */
  int64_t at, len; /* of the bytes of a TM_PROTOBUF_BYTES */
};

void tm_protobuf_init(struct tm_protobuf_reader *r, struct tm_stream *stream, int64_t size);
struct tm_protobuf tm_protobuf_of(struct tm_protobuf_reader *r, int64_t at, int64_t len);
/* 1: a field, which may be of any number and kind; 0: the end; negative, with a message. */
int tm_protobuf_next(struct tm_protobuf *m, struct tm_protobuf_field *out, struct tm_err *err);
/* The next of the numbers that make up the bytes of a packed field: as above. */
int tm_protobuf_next_number(struct tm_protobuf *m, uint64_t *out, struct tm_err *err);
/* Appends the bytes of a field. TM_ELIMIT: there are more than `max`. */
int tm_protobuf_text(struct tm_protobuf_reader *r, const struct tm_protobuf_field *f, size_t max,
                     struct tm_buf *out, struct tm_err *err);

static inline bool tm_protobuf_is(const struct tm_protobuf_field *f, uint32_t number,
                                  enum tm_protobuf_kind kind)
{
  return f->number == number && f->kind == kind;
}

#endif
