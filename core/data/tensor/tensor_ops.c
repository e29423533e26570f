/* tensor_ops.c - see tensor_ops.h: the table, and what concerns strings. */
#include "data/tensor/tensor_ops.h"

#include <string.h>

#include "data/tensor/tensor_cast.h"
#include "data/tensor/tensor_order.h"

static int64_t string_bytes(const struct tm_tensor_string *strings, int64_t n)
{
  int64_t bytes = 0;
  for (int64_t i = 0; i < n; i++)
    bytes += strings[i].len;
  return bytes;
}

static char *copy_strings(const struct tm_tensor_string *from, int64_t n,
                          struct tm_tensor_string *to, char *room)
{
  for (int64_t i = 0; i < n; i++) {
    to[i] = (struct tm_tensor_string) { from[i].len > 0 ? room : NULL, from[i].len };
    if (from[i].len > 0)
      memcpy(room, from[i].bytes, (size_t)from[i].len);
    room += from[i].len;
  }
  return room;
}

static const struct tm_tensor_ops ops = {
  .size_of_tensor = sizeof(struct tm_tensor),
  .cast = tm_tensor_cast,
  .of_half = tm_tensor_of_half,
  .half_of = tm_tensor_half_of,
  .top = tm_tensor_top,
  .pick = tm_tensor_pick,
  .softmax = tm_tensor_softmax,
  .string_bytes = string_bytes,
  .copy_strings = copy_strings,
};

const struct tm_tensor_ops *tm_tensor_ops(void)
{
  return &ops;
}
