/* tensor_order.c - see tensor_order.h.
 *
 * Values of all types are compared as keys of 64 bits. The k largest of a row are kept in a heap,
 * in the memory of the result: its first place is the smallest of them, of equal ones the last. In
 * the end the heap is sorted.
 */
#include "data/tensor/tensor_order.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "data/tensor/tensor_cast.h"
#include "data/tensor/tensor_types.h"

/* ---- keys ---- */

static uint64_t key_of_int(int64_t x)
{
  return (uint64_t)x ^ UINT64_C(1) << 63;
}

static uint64_t key_of_real(double x)
{
  if (x != x)
    return 0;
  uint64_t u;
  x += 0.0; /* -0 becomes 0 */
  memcpy(&u, &x, sizeof u);
  return u >> 63 != 0 ? ~u : u | UINT64_C(1) << 63;
}

static uint64_t key_at(const struct tm_tensor *t, int64_t i)
{
  switch (t->type) {
  case TM_TENSOR_FLOAT32: return key_of_real((double)((const float *)t->data)[i]);
  case TM_TENSOR_FLOAT64: return key_of_real(((const double *)t->data)[i]);
  case TM_TENSOR_FLOAT16: return key_of_real(tm_tensor_of_half(((const uint16_t *)t->data)[i]));
  case TM_TENSOR_INT8: return key_of_int(((const int8_t *)t->data)[i]);
  case TM_TENSOR_INT16: return key_of_int(((const int16_t *)t->data)[i]);
  case TM_TENSOR_INT32: return key_of_int(((const int32_t *)t->data)[i]);
  case TM_TENSOR_INT64: return key_of_int(((const int64_t *)t->data)[i]);
  case TM_TENSOR_BOOL:
  case TM_TENSOR_UINT8: return ((const uint8_t *)t->data)[i];
  case TM_TENSOR_UINT16: return ((const uint16_t *)t->data)[i];
  case TM_TENSOR_UINT32: return ((const uint32_t *)t->data)[i];
  default: return ((const uint64_t *)t->data)[i];
  }
}

/* ---- the k largest ---- */

struct row {
  const struct tm_tensor *t;
  int64_t first; /* its first element */
};

/* Whether element a comes before element b in descending order. */
static bool is_before(const struct row *row, int64_t a, int64_t b)
{
  uint64_t key_a = key_at(row->t, row->first + a), key_b = key_at(row->t, row->first + b);
  return key_a != key_b ? key_a > key_b : a < b;
}

/* Lets `place` sink from the top of a heap of k places, whose top is free. */
static void sink(const struct row *row, int64_t *heap, int64_t k, int64_t place)
{
  int64_t at = 0;
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= k)
      break;
    if (child + 1 < k && is_before(row, heap[child], heap[child + 1]))
      child++;
    if (!is_before(row, place, heap[child]))
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = place;
}

static void rise(const struct row *row, int64_t *heap, int64_t at, int64_t place)
{
  while (at > 0 && is_before(row, heap[(at - 1) / 2], place)) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = place;
}

static int64_t largest(const struct row *row, int64_t n)
{
  int64_t best = 0;
  uint64_t best_key = key_at(row->t, row->first);
  for (int64_t i = 1; i < n; i++) {
    uint64_t key = key_at(row->t, row->first + i);
    if (key > best_key) {
      best = i;
      best_key = key;
    }
  }
  return best;
}

static void top_of_row(const struct row *row, int64_t n, int64_t k, int64_t *heap)
{
  if (k == 1) {
    heap[0] = largest(row, n);
    return;
  }
  for (int64_t i = 0; i < k; i++)
    rise(row, heap, i, i);
  for (int64_t i = k; i < n; i++)
    if (is_before(row, i, heap[0]))
      sink(row, heap, k, i);
  for (int64_t left = k - 1; left > 0; left--) {
    int64_t last = heap[left];
    heap[left] = heap[0];
    sink(row, heap, left, last);
  }
}

/* The elements of a row, and how many rows there are. */
static int64_t rows_of(const struct tm_tensor *t, int64_t *n)
{
  tm_require(t->rank > 0);
  *n = t->shape[t->rank - 1];
  return tm_tensor_shape_count(t->rank - 1, t->shape);
}

void tm_tensor_top(const struct tm_tensor *t, int64_t k, int64_t *places)
{
  int64_t n, rows = rows_of(t, &n);
  tm_require(t->type != TM_TENSOR_STRING && k >= 0 && k <= n);
  for (int64_t i = 0; i < rows && k > 0; i++) {
    struct row row = { t, i * n };
    top_of_row(&row, n, k, places + i * k);
  }
}

void tm_tensor_pick(const struct tm_tensor *t, int64_t k, const int64_t *places, void *to)
{
  int64_t n, rows = rows_of(t, &n), size = tm_tensor_element_size(t->type);
  const char *from = t->data;
  char *out = to;
  for (int64_t i = 0; i < rows * k; i++)
    memcpy(out + i * size, from + (i / k * n + places[i]) * size, (size_t)size);
}

/* ---- softmax ---- */

static double real_at(const struct tm_tensor *t, int64_t i)
{
  switch (t->type) {
  case TM_TENSOR_FLOAT32: return (double)((const float *)t->data)[i];
  case TM_TENSOR_FLOAT64: return ((const double *)t->data)[i];
  default: return tm_tensor_of_half(((const uint16_t *)t->data)[i]);
  }
}

static void set_real(int32_t type, void *to, int64_t i, double x)
{
  switch (type) {
  case TM_TENSOR_FLOAT32: ((float *)to)[i] = (float)x; break;
  case TM_TENSOR_FLOAT64: ((double *)to)[i] = x; break;
  default: ((uint16_t *)to)[i] = tm_tensor_half_of(x); break;
  }
}

void tm_tensor_softmax(const struct tm_tensor *t, void *to)
{
  int64_t n, rows = rows_of(t, &n);
  for (int64_t first = 0; first < rows * n; first += n) {
    struct row row = { t, first };
    double max = real_at(t, first + largest(&row, n)), sum = 0;
    for (int64_t i = first; i < first + n; i++)
      sum += exp(real_at(t, i) - max);
    for (int64_t i = first; i < first + n; i++)
      set_real(t->type, to, i, exp(real_at(t, i) - max) / sum);
  }
}
