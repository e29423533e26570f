/* joined_results.c - see joined_results.h. */
#include "model/joined_results.h"

#include <stdlib.h>
#include <string.h>

#include "data/tensor/tensor_types.h"

void tm_results_release(struct tm_results *results)
{
  for (size_t i = 0; results->at && i < results->pieces * results->outputs; i++)
    tm_value_release(&results->at[i], results->runtime);
  free(results->at);
  *results = (struct tm_results) { 0 };
}

static const struct tm_tensor *part_of(const struct tm_results *r, size_t i, size_t piece)
{
  return &r->at[piece * r->outputs + i].tensor;
}

/* The elements of a piece that count. */
static int64_t count_of(const struct tm_results *r, const struct tm_tensor *t, size_t piece)
{
  int64_t n = tm_tensor_count(t);

  return piece + 1 < r->pieces || r->fill == 0 ? n : n / t->shape[0] * (t->shape[0] - r->fill);
}

static bool joins(const struct tm_tensor *a, const struct tm_tensor *b)
{
  bool is_same = a->rank == b->rank && a->type == b->type && a->rank > 0;

  for (int32_t i = 1; i < a->rank && is_same; i++)
    is_same = a->shape[i] == b->shape[i];
  return is_same;
}

int tm_results_shape(const struct tm_results *r, size_t i, struct tm_tensor *shape,
                     int64_t *string_bytes, struct tm_err *err)
{
  *shape = *part_of(r, i, 0);
  *string_bytes = 0;
  for (size_t k = 0; k < r->pieces; k++) {
    const struct tm_tensor *t = part_of(r, i, k);
    bool is_joined = r->pieces > 1 || r->fill > 0;
    if (is_joined && (!joins(shape, t) || (r->fill > 0 && t->shape[0] != r->size)))
      return tm_err_set(err, TM_EINPUT,
                        "the pieces of output %zu differ in more than their first axis, so that "
                        "they cannot be joined; give the model inputs of its own size",
                        i + 1);
    shape->shape[0] += k > 0 ? t->shape[0] : 0;
    const struct tm_tensor_string *strings = t->data;
    for (int64_t e = 0; t->type == TM_TENSOR_STRING && e < count_of(r, t, k); e++)
      *string_bytes += strings[e].len;
  }
  if (r->fill > 0)
    shape->shape[0] -= r->fill;
  return 0;
}

static char *copy_strings(struct tm_tensor_string *to, const struct tm_tensor_string *from,
                          int64_t n, char *room)
{
  for (int64_t i = 0; i < n; i++) {
    to[i] = (struct tm_tensor_string) { room, from[i].len };
    memcpy(room, from[i].bytes, (size_t)from[i].len);
    room += from[i].len;
  }
  return room;
}

void tm_results_copy(const struct tm_results *r, size_t i, void *to, char *room)
{
  char *at = to;

  for (size_t k = 0; k < r->pieces; k++) {
    const struct tm_tensor *t = part_of(r, i, k);
    int64_t n = count_of(r, t, k), bytes = n * tm_tensor_element_size(t->type);
    if (t->type == TM_TENSOR_STRING)
      room = copy_strings((struct tm_tensor_string *)(void *)at, t->data, n, room);
    else if (bytes > 0)
      memcpy(at, t->data, (size_t)bytes);
    at += bytes;
  }
}
