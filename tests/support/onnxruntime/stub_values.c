/* stub_values.c - the values of the stub, and its run(). */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "onnxruntime/stub_own.h"

/* ---- values ---- */

static size_t count_of(const struct tm_ort_shape *s)
{
  size_t n = 1;
  for (size_t i = 0; i < s->rank; i++)
    n *= (size_t)s->at[i];
  return n;
}

static struct tm_ort_value *make_value(int kind, const int64_t *shape, size_t rank, int type)
{
  struct tm_ort_value *v = stub_make(sizeof *v);
  v->kind = kind;
  v->shape.type = type;
  v->shape.rank = rank;
  for (size_t i = 0; i < rank && i < 2; i++)
    v->shape.at[i] = shape[i];
  if (kind == TM_ORT_TENSOR && type == STRING)
    v->strings = calloc(count_of(&v->shape) + 1, sizeof *v->strings);
  return v;
}

static struct tm_ort_value *make_numbers(const int64_t *shape, size_t rank)
{
  struct tm_ort_value *v = make_value(TM_ORT_TENSOR, shape, rank, FLOAT32);
  v->data = calloc(count_of(&v->shape) + 1, sizeof(float));
  v->is_owner = true;
  return v;
}

void stub_release_value(struct tm_ort_value *v)
{
  if (!v)
    return;
  for (size_t i = 0; v->strings && i < count_of(&v->shape); i++)
    free(v->strings[i]);
  for (size_t i = 0; i < v->len; i++)
    stub_release_value(v->items[i]);
  free(v->strings);
  free(v->items);
  if (v->is_owner)
    free(v->data);
  stub_drop(v);
}

static struct tm_ort_value *copy_value(const struct tm_ort_value *v)
{
  struct tm_ort_value *copy = make_value(v->kind, v->shape.at, v->shape.rank, v->shape.type);
  size_t n = count_of(&v->shape);
  for (size_t i = 0; v->strings && i < n; i++)
    copy->strings[i] = strdup(v->strings[i] ? v->strings[i] : "");
  if (v->data) {
    copy->is_owner = true;
    copy->data = calloc(n + 1, sizeof(float));
    memcpy(copy->data, v->data, n * sizeof(float));
  }
  copy->items = calloc(v->len + 1, sizeof(struct tm_ort_value *));
  for (; copy->len < v->len; copy->len++)
    copy->items[copy->len] = copy_value(v->items[copy->len]);
  return copy;
}

struct tm_ort_status *stub_make_tensor(struct tm_ort_allocator *a, const int64_t *shape,
                                       size_t rank, int type, struct tm_ort_value **out)
{
  MAY_FAIL("make_tensor");
  *out = make_value(TM_ORT_TENSOR, shape, rank, type);
  return NULL;
}

struct tm_ort_status *stub_make_tensor_over(const struct tm_ort_memory *m, void *data, size_t bytes,
                                            const int64_t *shape, size_t rank, int type,
                                            struct tm_ort_value **out)
{
  MAY_FAIL("make_tensor_over");
  *out = make_value(TM_ORT_TENSOR, shape, rank, type);
  (*out)->data = data;
  return NULL;
}

struct tm_ort_status *stub_string_slot(struct tm_ort_value *v, size_t i, size_t bytes, char **out)
{
  MAY_FAIL("string_slot");
  free(v->strings[i]);
  *out = v->strings[i] = calloc(bytes + 1, 1);
  return NULL;
}

struct tm_ort_status *stub_tensor_data(struct tm_ort_value *v, void **out)
{
  MAY_FAIL("tensor_data");
  *out = v->data;
  return NULL;
}

static size_t bytes_of(const struct tm_ort_value *v)
{
  size_t sum = 0;
  for (size_t i = 0; i < count_of(&v->shape); i++)
    sum += strlen(v->strings[i]);
  return sum;
}

struct tm_ort_status *stub_string_bytes(const struct tm_ort_value *v, size_t *out)
{
  MAY_FAIL("string_bytes");
  *out = bytes_of(v);
  return NULL;
}

struct tm_ort_status *stub_read_strings(const struct tm_ort_value *v, void *to, size_t bytes,
                                        size_t *offsets, size_t n)
{
  MAY_FAIL("read_strings");
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    offsets[i] = at;
    memcpy((char *)to + at, v->strings[i], strlen(v->strings[i]));
    at += strlen(v->strings[i]);
  }
  return NULL;
}

struct tm_ort_status *stub_value_shape(const struct tm_ort_value *v, struct tm_ort_shape **out)
{
  MAY_FAIL("value_shape");
  *out = stub_make(sizeof **out);
  **out = v->shape;
  if (stub.rows > 0 && v->shape.rank == 2)
    (*out)->at[0] = stub.rows;
  return NULL;
}

struct tm_ort_status *stub_value_kind(const struct tm_ort_value *v, int *out)
{
  MAY_FAIL("value_kind");
  *out = v->kind;
  return NULL;
}

struct tm_ort_status *stub_item(const struct tm_ort_value *v, int i, struct tm_ort_allocator *a,
                                struct tm_ort_value **out)
{
  MAY_FAIL("item");
  *out = copy_value(v->items[i]);
  return NULL;
}

struct tm_ort_status *stub_item_count(const struct tm_ort_value *v, size_t *out)
{
  MAY_FAIL("item_count");
  *out = v->len;
  return NULL;
}

/* ---- run ---- */

struct tm_ort_status *stub_make_run_options(struct tm_ort_run_options **out)
{
  MAY_FAIL("make_run_options");
  *out = stub_make(sizeof **out);
  return NULL;
}

struct tm_ort_status *stub_set_run_log_level(struct tm_ort_run_options *o, int level)
{
  MAY_FAIL("set_run_log_level");
  return NULL;
}

struct tm_ort_status *stub_set_terminate(struct tm_ort_run_options *o)
{
  atomic_store(&o->is_asked_to_stop, true);
  return NULL;
}

struct tm_ort_status *stub_unset_terminate(struct tm_ort_run_options *o)
{
  atomic_store(&o->is_asked_to_stop, false);
  return NULL;
}

/* A map has its keys and its values, each a tensor. */
static struct tm_ort_value *make_scores(const struct tm_ort_value *x,
                                        const struct tm_ort_value *words)
{
  static const int64_t one = 1;
  struct tm_ort_value *scores = make_value(TM_ORT_SEQUENCE, NULL, 0, 0);
  scores->items = calloc((size_t)x->shape.at[0] + 1, sizeof(struct tm_ort_value *));
  for (; scores->len < (size_t)x->shape.at[0]; scores->len++) {
    struct tm_ort_value *map = scores->items[scores->len] = make_value(TM_ORT_MAP, NULL, 0, 0);
    map->len = 2;
    map->items = calloc(2, sizeof(struct tm_ort_value *));
    map->items[0] = make_value(TM_ORT_TENSOR, &one, 1, STRING);
    map->items[0]->strings[0] = strdup(words->strings[scores->len]);
    map->items[1] = make_numbers(&one, 1);
    *(float *)map->items[1]->data = ((const float *)x->data)[2 * scores->len];
  }
  return scores;
}

static struct tm_ort_value *make_output(const char *name, const struct tm_ort_value *x,
                                        const struct tm_ort_value *words)
{
  if (strcmp(name, "labels") == 0)
    return copy_value(words);
  if (strcmp(name, "scores") == 0)
    return make_scores(x, words);
  struct tm_ort_value *y = make_numbers(x->shape.at, x->shape.rank);
  for (size_t i = 0; i < count_of(&x->shape); i++)
    ((float *)y->data)[i] = 2 * ((const float *)x->data)[i];
  return y;
}

struct tm_ort_status *stub_run(struct tm_ort_session *s, const struct tm_ort_run_options *options,
                               const char *const *input_names,
                               const struct tm_ort_value *const *inputs, size_t inputs_len,
                               const char *const *output_names, size_t outputs_len,
                               struct tm_ort_value **outputs)
{
  MAY_FAIL("run");
  stub_record("run %zu %zu", inputs_len, outputs_len);
  while (stub.waits && !atomic_load(&options->is_asked_to_stop))
    sched_yield();
  if (atomic_load(&options->is_asked_to_stop))
    return stub_status(TM_ORT_FAIL, "Exiting due to terminate flag being set to true.");
  for (size_t i = 0; i < outputs_len; i++)
    outputs[i] = make_output(output_names[i], inputs[0], inputs[1]);
  return NULL;
}
