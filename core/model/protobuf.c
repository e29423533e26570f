/* protobuf.c - see protobuf.h.
 *
 *  (1) 0 <= at <= end <= size for each message that tm_protobuf_of() makes of a field.
 *  (2) Each call of tm_protobuf_next() moves `at` on, so that a walk ends.
 */
#include "model/protobuf.h"

#include <string.h>

#include "base/check.h"

void tm_protobuf_init(struct tm_protobuf_reader *r, struct tm_stream *stream, int64_t size)
{
  r->stream = stream;
  r->size = size;
  r->start = 0;
  r->len = 0;
}

struct tm_protobuf tm_protobuf_of(struct tm_protobuf_reader *r, int64_t at, int64_t len)
{
  tm_require(at >= 0 && len >= 0 && len <= r->size - at);
  return (struct tm_protobuf) { r, at, at + len };
}

static int is_cut(const struct tm_protobuf_reader *r, int64_t end, struct tm_err *err)
{
  return tm_err_set(err, TM_ENOINPUT, "a part of it ends at byte %lld, and the file has %lld",
                    (long long)end, (long long)r->size);
}

/* The bytes from `at` on, as many of n as the window can have. NULL: an error. */
static const unsigned char *bytes_at(struct tm_protobuf_reader *r, int64_t at, struct tm_err *err)
{
  if (at >= r->start && at < r->start + (int64_t)r->len)
    return r->window + (at - r->start);
  int64_t left = r->size - at;
  size_t n = left < TM_PROTOBUF_WINDOW ? (size_t)left : TM_PROTOBUF_WINDOW;
  r->len = 0;
  int64_t got = tm_stream_read(r->stream, r->window, n, at, err);
  if (got < 0)
    return NULL;
  if (got < (int64_t)n) { /* the file became shorter */
    is_cut(r, at + (int64_t)n, err);
    return NULL;
  }
  r->start = at;
  r->len = n;
  return r->window;
}

/* ---- numbers ---- */

static int outside(const struct tm_protobuf *m, int64_t end, struct tm_err *err)
{
  if (m->end == m->reader->size)
    return is_cut(m->reader, end, err);
  return tm_err_set(err, TM_EDAMAGE, "at byte %lld is a field that is longer than what contains it",
                    (long long)m->at);
}

static int read_varint(struct tm_protobuf *m, uint64_t *out, struct tm_err *err)
{
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (m->at >= m->end)
      return outside(m, m->at + 1, err);
    const unsigned char *p = bytes_at(m->reader, m->at, err);
    if (!p)
      return err->code;
    m->at++;
    v |= (uint64_t)(*p & 127) << shift;
    if (shift == 63 && *p > 1)
      break;
    if (*p < 128) {
      *out = v;
      return 0;
    }
  }
  return tm_err_set(err, TM_EDAMAGE, "at byte %lld is a number of more than 64 bits",
                    (long long)m->at - 1);
}

static int read_fixed(struct tm_protobuf *m, int n, uint64_t *out, struct tm_err *err)
{
  *out = 0;
  if (n > m->end - m->at)
    return outside(m, m->at + n, err);
  for (int i = 0; i < n; i++, m->at++) {
    const unsigned char *p = bytes_at(m->reader, m->at, err);
    if (!p)
      return err->code;
    *out |= (uint64_t)*p << (8 * i);
  }
  return 0;
}

static int read_bytes(struct tm_protobuf *m, struct tm_protobuf_field *out, struct tm_err *err)
{
  uint64_t len;
  int rc = read_varint(m, &len, err);
  if (rc < 0)
    return rc;
  if (len > (uint64_t)(m->end - m->at))
    return outside(m, len > (uint64_t)(INT64_MAX - m->at) ? INT64_MAX : m->at + (int64_t)len, err);
  out->at = m->at;
  out->len = (int64_t)len;
  m->at += out->len;
  return 0;
}

/* ---- fields ---- */

int tm_protobuf_next(struct tm_protobuf *m, struct tm_protobuf_field *out, struct tm_err *err)
{
  uint64_t key;
  int64_t at = m->at;
  err = TM_ERR_OWN(err);
  *out = (struct tm_protobuf_field) { 0 };
  if (m->at >= m->end)
    return 0;
  int rc = read_varint(m, &key, err);
  if (rc < 0)
    return rc;
  out->number = (uint32_t)(key >> 3);
  out->kind = (enum tm_protobuf_kind)(key & 7);
  if (key >> 32 || out->number == 0)
    return tm_err_set(err, TM_EDAMAGE, "at byte %lld is a field without a number", (long long)at);
  switch (key & 7) {
  case TM_PROTOBUF_VARINT: rc = read_varint(m, &out->value, err); break;
  case TM_PROTOBUF_FIXED64: rc = read_fixed(m, 8, &out->value, err); break;
  case TM_PROTOBUF_BYTES: rc = read_bytes(m, out, err); break;
  case TM_PROTOBUF_FIXED32: rc = read_fixed(m, 4, &out->value, err); break;
  default:
    rc = tm_err_set(err, TM_EDAMAGE, "at byte %lld is a field of kind %d, which no model has",
                    (long long)at, (int)(key & 7));
  }
  return rc < 0 ? rc : 1;
}

int tm_protobuf_next_number(struct tm_protobuf *m, uint64_t *out, struct tm_err *err)
{
  if (m->at >= m->end)
    return 0;
  int rc = read_varint(m, out, TM_ERR_OWN(err));
  return rc < 0 ? rc : 1;
}

int tm_protobuf_text(struct tm_protobuf_reader *r, const struct tm_protobuf_field *f, size_t max,
                     struct tm_buf *out, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  tm_require(f->kind == TM_PROTOBUF_BYTES);
  if ((uint64_t)f->len > max)
    return tm_err_set(err, TM_ELIMIT, "at byte %lld is a text of %lld bytes; at most %zu",
                      (long long)f->at, (long long)f->len, max);
  for (int64_t done = 0; done < f->len;) {
    const unsigned char *p = bytes_at(r, f->at + done, err);
    if (!p)
      return err->code;
    int64_t n = r->start + (int64_t)r->len - (f->at + done);
    n = n < f->len - done ? n : f->len - done;
    tm_buf_add(out, p, (size_t)n);
    done += n;
  }
  return 0;
}
