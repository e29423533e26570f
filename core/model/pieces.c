/* pieces.c - see pieces.h. */
#include "model/pieces.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/tensor/tensor_types.h"

/* Whether all axes but the first fit. */
static bool fits_behind(const struct tm_model_value *v, const struct tm_tensor *t)
{
  bool is_fit = v->kind == TM_VALUE_TENSOR && v->rank > 0 && v->rank == t->rank;

  for (int32_t i = 1; i < v->rank && is_fit; i++)
    is_fit = v->shape[i] < 0 || v->shape[i] == t->shape[i];
  return is_fit;
}

/* The first output whose pieces cannot be joined; NULL: none. `size`: of the first axis where it is
 * fixed. */
static const struct tm_model_value *unjoinable(const struct tm_signature *s, int64_t size)
{
  for (size_t i = 0; i < s->outputs.len; i++) {
    const struct tm_model_value *v = &s->outputs.at[i];
    bool is_rows =
        v->kind == TM_VALUE_TENSOR && (v->rank == 0 || v->shape[0] < 0 || v->shape[0] == size);
    if (!is_rows && v->kind != TM_VALUE_SEQUENCE)
      return v;
  }
  return NULL;
}

static void cut(struct tm_pieces *b, int64_t rows, int64_t size)
{
  b->rows = rows;
  b->size = size;
  b->pieces = rows == 0 ? 1 : (rows + size - 1) / size;
}

/* A model with a fixed first axis, and more or fewer rows than that. */
static void plan_fixed(struct tm_pieces *b, const struct tm_signature *s,
                       const struct tm_tensor *const *inputs)
{
  for (size_t i = 0; i < s->inputs.len; i++) {
    const struct tm_model_value *v = &s->inputs.at[i];
    bool is_other =
        fits_behind(v, inputs[i]) && v->shape[0] > 0 && v->shape[0] != inputs[i]->shape[0];
    if (!is_other || (b->size > 0 && (v->shape[0] != b->size || inputs[i]->shape[0] != b->rows)))
      continue;
    if (b->size == 0 && unjoinable(s, v->shape[0]))
      return;
    cut(b, inputs[i]->shape[0], v->shape[0]);
    b->is_cut[i] = b->is_fixed = true;
  }
}

static void plan_free(struct tm_pieces *b, const struct tm_signature *s,
                      const struct tm_tensor *const *inputs, int64_t rows_max)
{
  for (size_t i = 0; i < s->inputs.len; i++) {
    const struct tm_model_value *v = &s->inputs.at[i];
    if (!fits_behind(v, inputs[i]) || v->shape[0] >= 0 ||
        (b->size > 0 ? inputs[i]->shape[0] != b->rows : inputs[i]->shape[0] <= rows_max))
      continue;
    cut(b, inputs[i]->shape[0], rows_max);
    b->is_cut[i] = true;
  }
}

int tm_pieces_plan(struct tm_pieces *b, const struct tm_signature *s,
                   const struct tm_tensor *const *inputs, int64_t rows_max, struct tm_err *err)
{
  *b = (struct tm_pieces) { .pieces = 1, .is_cut = tm_xcalloc(s->inputs.len + 1, sizeof(bool)) };
  plan_fixed(b, s, inputs);
  if (b->size == 0 && rows_max > 0)
    plan_free(b, s, inputs, rows_max);
  const struct tm_model_value *v = b->size > 0 && !b->is_fixed ? unjoinable(s, -1) : NULL;
  if (!v)
    return 0;
  struct tm_buf shape = TM_BUF_NONE;
  tm_model_value_add_shape(&shape, v);
  tm_err_set(err, TM_EUSAGE,
             "output '%s' %s has no free first axis, so that the outputs of several pieces cannot "
             "be joined; leave out 'max_batch'",
             v->name, tm_buf_str(&shape));
  tm_buf_release(&shape);
  return TM_EUSAGE;
}

void tm_pieces_release(struct tm_pieces *b)
{
  free(b->is_cut);
  *b = (struct tm_pieces) { 0 };
}

int64_t tm_pieces_rows(const struct tm_pieces *b, int64_t piece)
{
  int64_t left = b->rows - piece * b->size;

  return left < b->size ? left : b->size;
}

struct tm_tensor tm_pieces_part(const struct tm_pieces *b, size_t input, const struct tm_tensor *t,
                                int64_t piece, int64_t *fill)
{
  struct tm_tensor part = *t;

  *fill = 0;
  if (b->size == 0 || !b->is_cut[input])
    return part;
  int64_t row = tm_tensor_shape_bytes(t->type, t->rank - 1, t->shape + 1);
  part.shape[0] = tm_pieces_rows(b, piece);
  part.data = (char *)t->data + piece * b->size * row;
  *fill = b->is_fixed ? b->size - part.shape[0] : 0;
  return part;
}
