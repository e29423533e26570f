/* onnx_value.c - the inputs and outputs of an ONNX file: names, types, shapes. */
#include "model/onnx_own.h"

#include <string.h>

#define WORDS_MAX 1024 /* bytes of a type in words */

/* ---- shapes ---- */

/* { 1: size, 2: name } */
static int read_axis(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                     struct tm_onnx_axis *out, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  int rc = tm_onnx_hold(w, 0, err);
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (tm_protobuf_is(&f, 1, TM_PROTOBUF_VARINT)) /* one of the two: the last one counts */
      out->size = f.value > INT64_MAX ? -1 : (int64_t)f.value;
    else if (tm_protobuf_is(&f, 2, TM_PROTOBUF_BYTES))
      rc = tm_onnx_text(w, &f, &out->name, err);
    if (f.number == 1) {
      free(out->name);
      out->name = NULL;
    } else if (f.number == 2) {
      out->size = -1;
    }
  }
  if (out->name && !*out->name) {
    free(out->name);
    out->name = NULL;
  }
  return rc;
}

static int read_shape(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                      struct tm_onnx_value *out, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  int rc = 1;
  out->has_shape = true;
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0)
    if (tm_protobuf_is(&f, 1, TM_PROTOBUF_BYTES)) {
      struct tm_onnx_axis *axis = TM_ARRAY_ADD(&out->shape);
      *axis = (struct tm_onnx_axis) { .size = -1 };
      rc = read_axis(w, &f, axis, err);
    }
  return rc;
}

/* ---- types ---- */

static void add_element(struct tm_buf *words, uint64_t type)
{
  const char *name = tm_onnx_type_name(type > INT32_MAX ? 0 : (int32_t)type);
  if (name)
    tm_buf_add_str(words, name);
  else
    tm_buf_printf(words, "type %lld", (long long)type);
}

/* A tensor: { 1: type, 2: shape }. `out`: NULL within another type, whose elements have no shape of
 * interest. */
static int read_tensor_type(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                            struct tm_onnx_value *out, struct tm_buf *words, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct tm_onnx_once once = { 0 };
  uint64_t type = 0;
  int rc = 1;
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0)
    if (tm_protobuf_is(&f, 1, TM_PROTOBUF_VARINT)) {
      type = f.value;
    } else if (out && tm_protobuf_is(&f, 2, TM_PROTOBUF_BYTES)) {
      rc = tm_onnx_once(&once, &f, err);
      rc = rc < 0 ? rc : read_shape(w, &f, out, err);
    }
  add_element(words, type);
  if (out)
    out->element = type > INT32_MAX ? 0 : (int32_t)type;
  return rc;
}

static int read_type(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                     struct tm_onnx_value *out, struct tm_buf *words, struct tm_err *err);

/* { 1: type } of a sequence or an optional value; { 1: number of a type, 2: type } of a map. */
static int read_inner_type(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                           const char *name, struct tm_buf *words, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct tm_onnx_once once = { 0 };
  int rc = 1;
  tm_buf_printf(words, "%s<", name);
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (tm_protobuf_is(&f, 1, TM_PROTOBUF_VARINT)) {
      add_element(words, f.value);
      tm_buf_add_char(words, ',');
    } else if (f.kind == TM_PROTOBUF_BYTES && f.number <= 2) {
      rc = tm_onnx_once(&once, &f, err);
      rc = rc < 0 ? rc : read_type(w, &f, NULL, words, err);
    }
    if (words->len > WORDS_MAX)
      return tm_err_set(err, TM_ELIMIT, "at byte %lld is a type that is too long",
                        (long long)field->at);
  }
  tm_buf_add_char(words, '>');
  return rc;
}

static int read_type_field(struct tm_onnx_walk *w, const struct tm_protobuf_field *f,
                           struct tm_onnx_value *out, struct tm_buf *words, struct tm_err *err)
{
  switch (f->number) {
  case 1: return read_tensor_type(w, f, out, words, err);
  case 4: return read_inner_type(w, f, "sequence", words, err);
  case 5: return read_inner_type(w, f, "map", words, err);
  case 8: tm_buf_add_str(words, "sparse "); return read_tensor_type(w, f, NULL, words, err);
  case 9: return read_inner_type(w, f, "optional", words, err);
  default: return 0;
  }
}

/* A TypeProto: one of several kinds. */
static int read_type(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                     struct tm_onnx_value *out, struct tm_buf *words, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  bool has_kind = false;
  int rc = tm_onnx_deeper(w, err);
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (f.kind != TM_PROTOBUF_BYTES || f.number == 6) /* 6: words on what it means */
      continue;
    if (has_kind)
      rc = tm_err_set(err, TM_EDAMAGE, "at byte %lld is a type of two kinds", (long long)field->at);
    else
      rc = read_type_field(w, &f, out, words, err);
    has_kind = true;
  }
  w->depth--;
  return rc;
}

/* ---- a value ---- */

int tm_onnx_read_value(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                       struct tm_onnx_value *out, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct tm_onnx_once once = { 0 };
  struct tm_buf words = TM_BUF_NONE;
  int rc = tm_onnx_hold(w, WORDS_MAX, err);
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0)
    if (tm_protobuf_is(&f, 1, TM_PROTOBUF_BYTES)) {
      rc = tm_onnx_text(w, &f, &out->name, err);
    } else if (tm_protobuf_is(&f, 2, TM_PROTOBUF_BYTES)) {
      rc = tm_onnx_once(&once, &f, err);
      rc = rc < 0 ? rc : read_type(w, &f, out, &words, err);
    }
  out->name = out->name ? out->name : tm_xstrdup("");
  out->type = words.len > 0 ? tm_buf_take(&words) : tm_xstrdup("");
  tm_buf_release(&words);
  return rc;
}

void tm_onnx_value_release(struct tm_onnx_value *v)
{
  for (size_t i = 0; i < v->shape.len; i++)
    free(v->shape.at[i].name);
  free(v->shape.at);
  free(v->name);
  free(v->type);
  *v = (struct tm_onnx_value) { 0 };
}
