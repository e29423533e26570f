/* ort_values.c - see ort_values.h.
 *
 * A map is a pair of tensors; a sequence has tensors or maps. The library has no deeper ones, so
 * that reading them needs no limit of its own.
 */
#include "model/ort_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/tensor/tensor_types.h"

void tm_value_release(struct tm_value *v, const struct tm_runtime *r)
{
  for (size_t i = 0; i < v->len; i++)
    tm_value_release(&v->items[i], r);
  free(v->items);
  free(v->strings);
  free(v->bytes);
  if (v->ort)
    tm_ort_release_value (&r->api)(v->ort);
  *v = (struct tm_value) { 0 };
}

/* Reads type and shape, and releases `shape`. */
static int read_shape(struct tm_tensor *t, const struct tm_runtime *r, struct tm_ort_shape *shape,
                      struct tm_err *err)
{
  const struct tm_ort *o = &r->api;
  size_t rank = 0;
  int type = 0;
  int rc = tm_runtime_check(r, tm_ort_element_type(o)(shape, &type), err);

  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_rank(o)(shape, &rank), err);
  if (rc == 0 && rank > TM_TENSOR_MAX_RANK)
    rc = tm_err_set(err, TM_EINPUT, "a result has %zu axes; accepted: at most %d", rank,
                    TM_TENSOR_MAX_RANK);
  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_dimensions(o)(shape, t->shape, rank), err);
  if (rc == 0 && !tm_tensor_type_name(type))
    rc = tm_err_set(err, TM_EINPUT,
                    "a result has elements of the ONNX type %d, which tensors do not have", type);
  tm_ort_release_shape(o)(shape);
  t->rank = (int32_t)rank;
  t->type = type;
  return rc;
}

static int read_strings(struct tm_value *v, const struct tm_runtime *r, struct tm_err *err)
{
  const struct tm_ort *o = &r->api;
  size_t n = (size_t)tm_tensor_count(&v->tensor), bytes = 0;
  size_t *offsets = tm_xcalloc(n + 1, sizeof *offsets);
  int rc = tm_runtime_check(r, tm_ort_string_bytes(o)(v->ort, &bytes), err);

  if (rc == 0) {
    v->bytes = tm_xmalloc(bytes + 1);
    v->strings = tm_xcalloc(n + 1, sizeof *v->strings);
    v->tensor.data = v->strings;
    if (n > 0)
      rc = tm_runtime_check(r, tm_ort_read_strings(o)(v->ort, v->bytes, bytes, offsets, n), err);
  }
  offsets[n] = bytes;
  for (size_t i = 0; i < n && rc == 0; i++)
    v->strings[i] =
        (struct tm_tensor_string) { v->bytes + offsets[i], (int64_t)(offsets[i + 1] - offsets[i]) };
  free(offsets);
  return rc;
}

static int read_tensor(struct tm_value *v, const struct tm_runtime *r, struct tm_err *err)
{
  struct tm_ort_shape *shape = NULL;
  int rc = tm_runtime_check(r, tm_ort_value_shape(&r->api)(v->ort, &shape), err);

  rc = rc < 0 ? rc : read_shape(&v->tensor, r, shape, err);
  if (rc < 0)
    return rc;
  if (v->tensor.type == TM_TENSOR_STRING)
    return read_strings(v, r, err);
  return tm_runtime_check(r, tm_ort_tensor_data(&r->api)(v->ort, &v->tensor.data), err);
}

static int read_items(struct tm_value *v, const struct tm_runtime *r, struct tm_err *err)
{
  const struct tm_ort *o = &r->api;
  size_t n = 2; /* keys and values */
  int rc = v->kind == TM_VALUE_MAP ? 0 : tm_runtime_check(r, tm_ort_item_count(o)(v->ort, &n), err);

  if (rc < 0)
    return rc;
  v->items = tm_xcalloc(n + 1, sizeof *v->items);
  for (; v->len < n && rc == 0; v->len++) {
    struct tm_ort_value *item = NULL;
    rc = tm_runtime_check(r, tm_ort_item(o)(v->ort, (int)v->len, r->allocator, &item), err);
    rc = rc < 0 ? rc : tm_value_read(&v->items[v->len], r, item, err);
  }
  return rc;
}

int tm_value_read(struct tm_value *v, const struct tm_runtime *r, struct tm_ort_value *ort,
                  struct tm_err *err)
{
  int kind = 0;

  *v = (struct tm_value) { .ort = ort };
  int rc = tm_runtime_check(r, tm_ort_value_kind(&r->api)(ort, &kind), err);
  if (rc < 0)
    return rc;
  switch (kind) {
  case TM_ORT_TENSOR: return read_tensor(v, r, err);
  case TM_ORT_SEQUENCE: v->kind = TM_VALUE_SEQUENCE; return read_items(v, r, err);
  case TM_ORT_MAP: v->kind = TM_VALUE_MAP; return read_items(v, r, err);
  default:
    return tm_err_set(err, TM_EINPUT, "a result is neither a tensor nor a sequence nor a map");
  }
}

static int write_strings(struct tm_ort_value *value, const struct tm_runtime *r,
                         const struct tm_tensor *t, struct tm_err *err)
{
  const struct tm_tensor_string *strings = t->data;
  int64_t n = tm_tensor_count(t);
  int rc = 0;

  for (int64_t i = 0; i < n && rc == 0; i++) {
    char *slot = NULL;
    rc = tm_runtime_check(
        r, tm_ort_string_slot(&r->api)(value, (size_t)i, (size_t)strings[i].len, &slot), err);
    if (rc == 0 && strings[i].len > 0)
      memcpy(slot, strings[i].bytes, (size_t)strings[i].len);
  }
  return rc;
}

int tm_value_make(struct tm_ort_value **out, const struct tm_runtime *r, const struct tm_tensor *t,
                  struct tm_err *err)
{
  const struct tm_ort *o = &r->api;
  static char none[64]; /* of a tensor without elements; never written */
  size_t rank = (size_t)t->rank;

  if (t->type != TM_TENSOR_STRING)
    return tm_runtime_check(r,
                            tm_ort_make_tensor_over(o)(r->cpu, t->data ? t->data : none,
                                                       (size_t)tm_tensor_bytes(t), t->shape, rank,
                                                       t->type, out),
                            err);
  int rc =
      tm_runtime_check(r, tm_ort_make_tensor(o)(r->allocator, t->shape, rank, t->type, out), err);
  return rc < 0 ? rc : write_strings(*out, r, t, err);
}
