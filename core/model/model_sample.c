/* model_sample.c - see model_sample.h. */
#include "model/model_sample.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/tensor/tensor_cast.h"
#include "data/tensor/tensor_types.h"

#define BYTES_MAX ((int64_t)256 << 20) /* of an input */
#define RAMP      16

/* ---- an input ---- */

static void fill(const struct tm_tensor *t, int whole)
{
  int64_t n = tm_tensor_count(t);
  double ramp[RAMP];
  struct tm_tensor_run from = { ramp, 1, TM_TENSOR_FLOAT64 }, to = { .step = 1, .type = t->type };
  bool is_float =
      t->type == TM_TENSOR_FLOAT16 || t->type == TM_TENSOR_FLOAT32 || t->type == TM_TENSOR_FLOAT64;

  if (t->type == TM_TENSOR_STRING)
    return;
  for (int i = 0; i < RAMP; i++)
    ramp[i] = is_float ? (double)i / (RAMP - 1) : whole;
  for (int64_t i = 0; i < n; i += RAMP) {
    to.data = (char *)t->data + i * tm_tensor_element_size(t->type);
    (void)tm_tensor_cast(&from, &to, n - i < RAMP ? n - i : RAMP);
  }
}

static int make_one(struct tm_tensor *t, const struct tm_model_value *v,
                    const struct tm_sample_numbers *numbers, struct tm_err *err)
{
  *t = (struct tm_tensor) { .rank = v->rank, .type = v->type };
  for (int32_t i = 0; i < v->rank; i++)
    t->shape[i] = v->shape[i] >= 0 ? v->shape[i] : i == 0 ? 1 : numbers->free;
  if (v->kind != TM_VALUE_TENSOR || tm_tensor_element_size(v->type) == 0)
    return tm_err_set(err, TM_EINPUT, "its input '%s' is not a tensor that can be made", v->name);
  int64_t bytes = tm_tensor_shape_bytes(t->type, t->rank, t->shape);
  if (bytes < 0 || bytes > BYTES_MAX)
    return tm_err_set(err, TM_EINPUT, "its input '%s' takes more than %lld MB", v->name,
                      (long long)(BYTES_MAX >> 20));
  t->data = tm_xcalloc((size_t)bytes + 1, 1);
  fill(t, numbers->whole);
  return 0;
}

bool tm_model_sample_is_free(const struct tm_model_values *inputs)
{
  for (size_t i = 0; i < inputs->len; i++)
    for (int32_t k = 1; k < inputs->at[i].rank; k++)
      if (inputs->at[i].shape[k] < 0)
        return true;
  return false;
}

int tm_model_sample_make(struct tm_model_sample *s, const struct tm_model_values *inputs,
                         const struct tm_sample_numbers *numbers, struct tm_err *err)
{
  int rc = 0;

  *s = (struct tm_model_sample) { .at = tm_xcalloc(inputs->len + 1, sizeof *s->at),
                                  .list = tm_xcalloc(inputs->len + 1, sizeof *s->list) };
  for (size_t i = 0; i < inputs->len && rc == 0; i++) {
    s->list[i] = &s->at[s->len++];
    rc = make_one(&s->at[i], &inputs->at[i], numbers, err);
  }
  return rc;
}

void tm_model_sample_release(struct tm_model_sample *s)
{
  for (size_t i = 0; i < s->len; i++)
    free(s->at[i].data);
  free(s->at);
  free(s->list);
  *s = (struct tm_model_sample) { 0 };
}

/* ---- two outputs ---- */

static double number_at(const struct tm_tensor *t, int64_t i)
{
  switch (t->type) {
  case TM_TENSOR_FLOAT16: return tm_tensor_of_half(((const uint16_t *)t->data)[i]);
  case TM_TENSOR_FLOAT32: return (double)((const float *)t->data)[i];
  default: return ((const double *)t->data)[i];
  }
}

static bool is_near(double a, double b)
{
  double most = TM_SAMPLE_DIFFERENCE * fmax(1, fabs(a));

  return a == b || (isnan(a) && isnan(b)) || (isfinite(a) && isfinite(b) && fabs(a - b) <= most);
}

static int compare_floats(const char *name, const struct tm_tensor *a, const struct tm_tensor *b,
                          struct tm_err *err)
{
  int64_t n = tm_tensor_count(a);

  for (int64_t i = 0; i < n; i++)
    if (!is_near(number_at(a, i), number_at(b, i)))
      return tm_err_set(err, TM_EINPUT, "output '%s' differs: %.9g, and %.9g in the copy", name,
                        number_at(a, i), number_at(b, i));
  return 0;
}

static bool are_texts_equal(const struct tm_tensor *a, const struct tm_tensor *b)
{
  const struct tm_tensor_string *p = a->data, *q = b->data;
  bool is_equal = true;

  for (int64_t i = 0; i < tm_tensor_count(a) && is_equal; i++)
    is_equal = p[i].len == q[i].len &&
               (p[i].len == 0 || memcmp(p[i].bytes, q[i].bytes, (size_t)p[i].len) == 0);
  return is_equal;
}

static int compare_tensors(const char *name, const struct tm_tensor *a, const struct tm_tensor *b,
                           struct tm_err *err)
{
  bool is_equal = a->type == b->type && a->rank == b->rank &&
                  memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
  int64_t bytes = tm_tensor_bytes(a);

  if (!is_equal)
    return tm_err_set(err, TM_EINPUT, "output '%s' has another type or shape in the copy", name);
  if (a->type == TM_TENSOR_FLOAT16 || a->type == TM_TENSOR_FLOAT32 || a->type == TM_TENSOR_FLOAT64)
    return compare_floats(name, a, b, err);
  is_equal = a->type == TM_TENSOR_STRING
                 ? are_texts_equal(a, b)
                 : bytes == 0 || memcmp(a->data, b->data, (size_t)bytes) == 0;
  return is_equal ? 0 : tm_err_set(err, TM_EINPUT, "output '%s' differs in the copy", name);
}

int tm_model_sample_compare(const char *name, const struct tm_value *expected,
                            const struct tm_value *given, struct tm_err *err)
{
  int rc = 0;

  if (expected->kind != given->kind || expected->len != given->len)
    return tm_err_set(err, TM_EINPUT, "output '%s' has another type in the copy", name);
  if (expected->kind == TM_VALUE_TENSOR)
    return compare_tensors(name, &expected->tensor, &given->tensor, err);
  for (size_t i = 0; i < expected->len && rc == 0; i++)
    rc = tm_model_sample_compare(name, &expected->items[i], &given->items[i], err);
  return rc;
}
