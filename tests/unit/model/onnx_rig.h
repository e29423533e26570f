/* onnx_rig.h - for tests of ONNX files: the models of fuzz/corpus/onnx_file, which
 * fuzz/onnx_models.lua writes, and protobuf by hand. Include it after cmocka.h. */
#ifndef TM_TESTS_ONNX_RIG_H
#define TM_TESTS_ONNX_RIG_H

#include <string.h>

#include "base/buf.h"
#include "model/onnx_file.h"

#define MODELS TM_TESTS_DIR "/fuzz/corpus/onnx_file/"

static inline void put_number(struct tm_buf *b, unsigned field, uint64_t v)
{
  tm_buf_add_char(b, (char)(field << 3));
  for (; v >= 128; v >>= 7)
    tm_buf_add_char(b, (char)(v | 128));
  tm_buf_add_char(b, (char)v);
}

/* A field of fewer than 16 of n bytes; the length takes two bytes, or four from 16384 on. */
static inline void put_bytes(struct tm_buf *b, unsigned field, const char *p, size_t n)
{
  tm_buf_add_char(b, (char)(field << 3 | 2));
  tm_buf_add_char(b, (char)(n | 128));
  if (n >= 16384) {
    tm_buf_add_char(b, (char)(n >> 7 | 128));
    tm_buf_add_char(b, (char)(n >> 14 | 128));
  }
  tm_buf_add_char(b, (char)(n >> (n < 16384 ? 7 : 21)));
  tm_buf_add(b, p, n);
}

static inline void put_text(struct tm_buf *b, unsigned field, const char *text)
{
  put_bytes(b, field, text, strlen(text));
}

/* Moves `inner` into a field. */
static inline void put_inner(struct tm_buf *b, unsigned field, struct tm_buf *inner)
{
  put_bytes(b, field, tm_buf_str(inner), inner->len);
  tm_buf_release(inner);
}

static inline void model_begin(struct tm_buf *b)
{
  struct tm_buf opset = TM_BUF_NONE;
  put_number(b, 1, 8);
  put_number(&opset, 2, 13);
  put_inner(b, 8, &opset);
}

/* A pair of texts, as a file of data is described. */
static inline void put_pair(struct tm_buf *b, unsigned field, const char *key, const char *value)
{
  struct tm_buf pair = TM_BUF_NONE;
  put_text(&pair, 1, key);
  put_text(&pair, 2, value);
  put_inner(b, field, &pair);
}

static inline int model_read(struct tm_onnx_file *f, const char *p, size_t n, struct tm_err *err)
{
  struct tm_stream *s = tm_stream_of_bytes(p, n);
  *err = (struct tm_err)TM_ERR_NONE;
  int rc = tm_onnx_file_read_stream(f, s, (int64_t)n, err);
  tm_stream_close(s);
  return rc;
}

/* Refused, with `words` in the message. */
static inline void model_refused(const char *p, size_t n, const char *words)
{
  struct tm_onnx_file f;
  struct tm_err err;
  assert_true(model_read(&f, p, n, &err) < 0);
  if (!strstr(err.text, words))
    fail_msg("not '%s' in: %s", words, err.text);
  tm_onnx_file_release(&f);
}

#endif
