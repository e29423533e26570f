/* onnx_tensor.c - tensors in an ONNX file: how large they are, and which have their data in another
 * file. Their numbers are not read. */
#include <string.h>

#include "base/text.h"
#include "model/onnx_own.h"

#define NAME_MAX 65536 /* bytes of the name of a tensor, or of the place of its data */

struct type {
  const char *name;
  int bits;
};

/* By their numbers in TensorProto.DataType. */
static const struct type types[] = {
  [1] = { "float32", 32 },    [2] = { "uint8", 8 },           [3] = { "int8", 8 },
  [4] = { "uint16", 16 },     [5] = { "int16", 16 },          [6] = { "int32", 32 },
  [7] = { "int64", 64 },      [8] = { "string", 0 },          [9] = { "bool", 8 },
  [10] = { "float16", 16 },   [11] = { "float64", 64 },       [12] = { "uint32", 32 },
  [13] = { "uint64", 64 },    [14] = { "complex64", 64 },     [15] = { "complex128", 128 },
  [16] = { "bfloat16", 16 },  [17] = { "float8e4m3fn", 8 },   [18] = { "float8e4m3fnuz", 8 },
  [19] = { "float8e5m2", 8 }, [20] = { "float8e5m2fnuz", 8 }, [21] = { "uint4", 4 },
  [22] = { "int4", 4 },       [23] = { "float4e2m1", 4 },     [24] = { "float8e8m0", 8 },
  [25] = { "uint2", 2 },      [26] = { "int2", 2 },
};

const char *tm_onnx_type_name(int32_t type)
{
  return type > 0 && type < (int32_t)TM_COUNT_OF(types) ? types[type].name : NULL;
}

int tm_onnx_type_bits(int32_t type)
{
  return tm_onnx_type_name(type) ? types[type].bits : 0;
}

/* ---- sizes ---- */

struct tensor {
  struct tm_buf name;
  int32_t type;
  bool is_elsewhere;
  int64_t elements;       /* the product of its axes */
  int64_t stored;         /* bytes in this file */
  struct tm_buf location; /* of data in another file */
  bool has_location;
  int64_t offset, length; /* there; -1: not stated */
};

static int64_t product(int64_t a, int64_t b)
{
  return a > 0 && b > INT64_MAX / a ? INT64_MAX : a * b;
}

static int64_t sum(int64_t a, int64_t b)
{
  return b > INT64_MAX - a ? INT64_MAX : a + b;
}

/* Bytes of the elements: INT64_MAX if they are too many. */
static int64_t bytes_of(const struct tensor *t)
{
  int64_t bits = product(t->elements, tm_onnx_type_bits(t->type));
  return bits == INT64_MAX ? bits : bits / 8 + (bits % 8 > 0);
}

static int add_axis(struct tensor *t, uint64_t size, struct tm_err *err)
{
  if (size > INT64_MAX)
    return tm_err_set(err, TM_EDAMAGE, "a tensor has %lld elements along an axis",
                      (long long)(int64_t)size);
  t->elements = product(t->elements, (int64_t)size);
  return 0;
}

static int add_axes(struct tm_onnx_walk *w, const struct tm_protobuf_field *field, struct tensor *t,
                    struct tm_err *err)
{
  uint64_t size = field->value;
  if (field->kind == TM_PROTOBUF_VARINT)
    return add_axis(t, size, err);
  if (field->kind != TM_PROTOBUF_BYTES)
    return 0;
  struct tm_protobuf m = tm_onnx_inner(w, field);
  int rc;
  while ((rc = tm_protobuf_next_number(&m, &size, err)) > 0)
    if ((rc = add_axis(t, size, err)) < 0)
      return rc;
  return rc;
}

/* ---- data in another file ---- */

static int read_number(const struct tm_buf *text, const char *key, int64_t *out, struct tm_err *err)
{
  const char *s = tm_buf_str(text);
  if (*out >= 0)
    return tm_err_set(err, TM_EDAMAGE, "the data of a tensor have two fields '%s'", key);
  if (strlen(s) != text->len || !tm_text_int(s, out) || *out < 0)
    return tm_err_set(err, TM_EDAMAGE,
                      "the data of a tensor have the %s \"%.40s\"; accepted: an integer from 0 on",
                      key, s);
  return 0;
}

static int take_entry(struct tensor *t, const struct tm_buf *key, struct tm_buf *value,
                      struct tm_err *err)
{
  const char *k = tm_buf_str(key);
  if (strcmp(k, "offset") == 0)
    return read_number(value, k, &t->offset, err);
  if (strcmp(k, "length") == 0)
    return read_number(value, k, &t->length, err);
  if (strcmp(k, "location") != 0)
    return 0;
  if (t->has_location)
    return tm_err_set(err, TM_EDAMAGE, "the data of a tensor have two fields 'location'");
  t->has_location = true;
  tm_buf_add(&t->location, tm_buf_str(value), value->len);
  return 0;
}

/* { 1: key, 2: value } */
static int read_entry(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                      struct tensor *t, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct tm_buf key = TM_BUF_NONE, value = TM_BUF_NONE;
  int rc = 1;
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0) {
    struct tm_buf *to = tm_protobuf_is(&f, 1, TM_PROTOBUF_BYTES)   ? &key
                        : tm_protobuf_is(&f, 2, TM_PROTOBUF_BYTES) ? &value
                                                                   : NULL;
    if (!to)
      continue;
    tm_buf_clear(to);
    rc = tm_protobuf_text(w->reader, &f, NAME_MAX, to, err);
  }
  if (rc == 0)
    rc = take_entry(t, &key, &value, err);
  tm_buf_release(&key);
  tm_buf_release(&value);
  return rc;
}

/* Of the tensors in a file the one that ends last is kept: if that one is within, all are. */
static int add_to_file(struct tm_onnx_walk *w, const struct tensor *t, struct tm_err *err)
{
  bool is_new;
  const char *location = tm_buf_str(&t->location);
  int64_t offset = t->offset < 0 ? 0 : t->offset, length = bytes_of(t);
  length = t->length > length ? t->length : length;
  if (t->location.len == 0 || strlen(location) != t->location.len)
    return tm_err_set(err, TM_EDAMAGE, "tensor '%.200s' does not name the file of its data",
                      tm_buf_str(&t->name));
  uint64_t *index = tm_map_add(&w->data_files, location, t->location.len, &is_new);
  if (is_new) {
    *index = w->out->data_files.len;
    *TM_ARRAY_ADD(&w->out->data_files) =
        (struct tm_onnx_data_file) { .location = tm_xstrdup(location) };
    if (tm_onnx_hold(w, 2 * t->location.len, err) < 0)
      return err->code;
  }
  struct tm_onnx_data_file *f = &w->out->data_files.at[*index];
  f->tensors++;
  f->bytes = sum(f->bytes, length);
  if (!f->tensor || sum(offset, length) > sum(f->offset, f->length)) {
    free(f->tensor);
    f->tensor = tm_xstrdup(tm_buf_str(&t->name));
    f->offset = offset;
    f->length = length;
    return tm_onnx_hold(w, t->name.len, err);
  }
  return 0;
}

/* ---- a tensor ---- */

static int read_name(struct tm_onnx_walk *w, const struct tm_protobuf_field *f, struct tensor *t,
                     struct tm_err *err)
{
  tm_buf_clear(&t->name);
  return tm_protobuf_text(w->reader, f, NAME_MAX, &t->name, err);
}

static int read_field(struct tm_onnx_walk *w, const struct tm_protobuf_field *f, struct tensor *t,
                      struct tm_err *err)
{
  if (f->number == 1)
    return add_axes(w, f, t, err);
  if (tm_protobuf_is(f, 2, TM_PROTOBUF_VARINT))
    t->type = (int32_t)f->value;
  /* another value is unknown: it changes nothing */
  if (tm_protobuf_is(f, 14, TM_PROTOBUF_VARINT) && (uint32_t)f->value <= 1)
    t->is_elsewhere = (uint32_t)f->value == 1;
  if (f->kind != TM_PROTOBUF_BYTES)
    return 0;
  switch (f->number) {
  case 6: /* texts */
  case 9: t->stored = sum(t->stored, f->len); return 0;
  case 8: return read_name(w, f, t, err);
  case 13: return read_entry(w, f, t, err);
  default: return 0;
  }
}

static int take_tensor(struct tm_onnx_walk *w, const struct tensor *t, bool keeps_name,
                       struct tm_err *err)
{
  int64_t bytes = bytes_of(t);
  int rc = t->is_elsewhere ? add_to_file(w, t, err) : 0;
  if (!t->is_elsewhere && t->stored > 0)
    bytes = t->stored;
  w->out->weights = sum(w->out->weights, bytes);
  if (rc == 0 && keeps_name) {
    rc = tm_onnx_hold(w, t->name.len, err);
    tm_map_add(&w->initializers, tm_buf_str(&t->name), t->name.len, NULL);
  }
  return rc;
}

int tm_onnx_read_tensor(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                        bool keeps_name, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct tensor t = { .elements = 1, .offset = -1, .length = -1 };
  int rc = 1;
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0)
    rc = read_field(w, &f, &t, err);
  if (rc == 0)
    rc = take_tensor(w, &t, keeps_name, err);
  tm_buf_release(&t.name);
  tm_buf_release(&t.location);
  return rc;
}
