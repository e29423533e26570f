/* signature.c - see signature.h. */
#include "model/signature.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/tensor/tensor_types.h"

static void release_values(struct tm_model_values *v)
{
  for (size_t i = 0; i < v->len; i++) {
    free(v->at[i].name);
    for (int32_t axis = 0; axis < TM_TENSOR_MAX_RANK; axis++)
      free(v->at[i].axes[axis]);
  }
  free(v->at);
  *v = (struct tm_model_values) { 0 };
}

void tm_signature_release(struct tm_signature *s)
{
  release_values(&s->inputs);
  release_values(&s->outputs);
}

static int refuse_name(const struct tm_model_values *v, const char *what, const char *name,
                       struct tm_err *err)
{
  const char **names = tm_xcalloc(v->len + 1, sizeof *names);
  struct tm_buf text = TM_BUF_NONE;

  for (size_t i = 0; i < v->len; i++) {
    names[i] = v->at[i].name;
    tm_buf_printf(&text, "%s'%s'", i > 0 ? ", " : "", names[i]);
  }
  const char *nearest = tm_text_nearest(name, names, v->len);
  if (nearest)
    tm_buf_printf(&text, "; did you mean '%s'?", nearest);
  free(names);
  tm_err_set(err, TM_EUSAGE, "the model has no %s '%s'; it has %s", what, name, tm_buf_str(&text));
  tm_buf_release(&text);
  return -1;
}

int tm_model_values_find(const struct tm_model_values *v, const char *what, const char *name,
                         struct tm_err *err)
{
  for (size_t i = 0; i < v->len; i++)
    if (strcmp(v->at[i].name, name) == 0)
      return (int)i;
  return refuse_name(v, what, name, err);
}

const char *tm_model_type_name(int32_t type)
{
  const char *name = tm_tensor_type_name(type);

  return name ? name : "a type that tensors do not have";
}

void tm_model_value_add_shape(struct tm_buf *out, const struct tm_model_value *v)
{
  tm_buf_add_char(out, '[');
  for (int32_t i = 0; i < v->rank; i++) {
    tm_buf_add_str(out, i > 0 ? ", " : "");
    if (v->shape[i] >= 0)
      tm_buf_add_int(out, v->shape[i]);
    else
      tm_buf_add_str(out, v->axes[i] ? v->axes[i] : "?");
  }
  tm_buf_add_char(out, ']');
}

static bool fits(const struct tm_model_value *v, int32_t axis, int64_t size)
{
  return v->shape[axis] < 0 || v->shape[axis] == size;
}

static bool shape_fits(const struct tm_model_value *v, const struct tm_tensor *t)
{
  if (v->rank == 0) /* the library does not tell a number from a tensor of unknown rank */
    return true;
  bool is_fit = v->rank == t->rank;
  for (int32_t i = 0; i < v->rank && is_fit; i++)
    is_fit = fits(v, i, t->shape[i]);
  return is_fit;
}

/* Whether the axes fit in another order: order[i] is the given axis that would become axis i. */
static bool fits_as(const struct tm_model_value *v, const struct tm_tensor *t, const int order[4])
{
  bool is_fit = v->rank == 4 && t->rank == 4;

  for (int32_t i = 0; i < 4 && is_fit; i++)
    is_fit = fits(v, i, t->shape[order[i]]);
  return is_fit;
}

/* What the caller probably has to do about the shape. */
static void add_advice(struct tm_buf *out, const struct tm_model_value *v,
                       const struct tm_tensor *t)
{
  static const int channels_first[] = { 0, 3, 1, 2 }, channels_last[] = { 0, 2, 3, 1 };
  struct tm_tensor one = *t;

  if (fits_as(v, t, channels_first))
    tm_buf_add_str(out, "; the channels are its last axis: make the images with layout = \"NCHW\"");
  else if (fits_as(v, t, channels_last))
    tm_buf_add_str(out, "; the channels are its second axis: make the images with "
                        "layout = \"NHWC\"");
  if (t->rank + 1 != v->rank || t->rank >= TM_TENSOR_MAX_RANK)
    return;
  one.rank++;
  one.shape[0] = 1;
  for (int32_t i = 0; i < t->rank; i++)
    one.shape[i + 1] = t->shape[i];
  if (!shape_fits(v, &one))
    return;
  tm_buf_add_str(out, "; for a batch of one: tensor:reshape { 1");
  for (int32_t i = 0; i < t->rank; i++)
    tm_buf_printf(out, ", %lld", (long long)t->shape[i]);
  tm_buf_add_str(out, " }");
}

static int refuse_shape(const struct tm_model_value *v, const struct tm_tensor *t,
                        struct tm_err *err)
{
  struct tm_buf has = TM_BUF_NONE, wants = TM_BUF_NONE, advice = TM_BUF_NONE;

  tm_tensor_add_shape(&has, t->rank, t->shape);
  tm_model_value_add_shape(&wants, v);
  add_advice(&advice, v, t);
  tm_err_set(err, TM_EUSAGE, "input '%s' has the shape %s; the model takes %s%s", v->name,
             tm_buf_str(&has), tm_buf_str(&wants), tm_buf_str(&advice));
  tm_buf_release(&has);
  tm_buf_release(&wants);
  tm_buf_release(&advice);
  return TM_EUSAGE;
}

int tm_model_value_check(const struct tm_model_value *v, const struct tm_tensor *given,
                         struct tm_err *err)
{
  if (v->kind != TM_VALUE_TENSOR || !tm_tensor_type_name(v->type))
    return tm_err_set(err, TM_EUSAGE, "the model's input '%s' is %s, which cannot be given",
                      v->name,
                      v->kind == TM_VALUE_TENSOR     ? "a tensor of a type that tensors do not have"
                      : v->kind == TM_VALUE_SEQUENCE ? "a sequence"
                      : v->kind == TM_VALUE_MAP      ? "a map"
                                                     : "not a tensor");
  if (v->type != given->type) {
    const char *wants = tm_model_type_name(v->type), *has = tm_model_type_name(given->type);
    bool is_text = v->type == TM_TENSOR_STRING || given->type == TM_TENSOR_STRING;
    return is_text ? tm_err_set(err, TM_EUSAGE, "input '%s' is a tensor of %s; the model takes %s",
                                v->name, has, wants)
                   : tm_err_set(err, TM_EUSAGE,
                                "input '%s' is a tensor of %s; the model takes %s; convert it with "
                                "tensor:cast(\"%s\")",
                                v->name, has, wants, wants);
  }
  return shape_fits(v, given) ? 0 : refuse_shape(v, given, err);
}

/* ---- axes with names ---- */

/* An axis of one of the inputs. */
struct axis {
  size_t input;
  int32_t at;
};

static const char *name_of(const struct tm_signature *s, struct axis a)
{
  return s->inputs.at[a.input].axes[a.at];
}

/* Moves to the next free axis with a name of a tensor that fits, in the order of the inputs. */
static bool next_axis(struct axis *a, const struct tm_signature *s,
                      const struct tm_tensor *const *given)
{
  for (a->at++; a->input < s->inputs.len; a->input++, a->at = 0)
    for (; a->at < s->inputs.at[a->input].rank; a->at++)
      if (s->inputs.at[a->input].rank == given[a->input]->rank && name_of(s, *a))
        return true;
  return false;
}

static void add_size(struct tm_buf *out, const struct tm_signature *s, struct axis a,
                     const struct tm_tensor *const *given)
{
  const struct tm_tensor *t = given[a.input];

  tm_buf_printf(out, "%lld in input '%s' ", (long long)t->shape[a.at], s->inputs.at[a.input].name);
  tm_tensor_add_shape(out, t->rank, t->shape);
}

static int refuse_sizes(const struct tm_signature *s, struct axis a, struct axis b,
                        const struct tm_tensor *const *given, struct tm_err *err)
{
  struct tm_buf sizes = TM_BUF_NONE;

  add_size(&sizes, s, a, given);
  tm_buf_add_str(&sizes, " and ");
  add_size(&sizes, s, b, given);
  tm_err_set(err, TM_EUSAGE, "the model's axis '%s' is %s; give it one size", name_of(s, a),
             tm_buf_str(&sizes));
  tm_buf_release(&sizes);
  return TM_EUSAGE;
}

int tm_signature_check_axes(const struct tm_signature *s, const struct tm_tensor *const *given,
                            struct tm_err *err)
{
  for (struct axis a = { 0, -1 }; next_axis(&a, s, given);)
    for (struct axis b = a; next_axis(&b, s, given);) {
      int64_t size = given[a.input]->shape[a.at], other = given[b.input]->shape[b.at];
      if (size != other && size != 1 && other != 1 && strcmp(name_of(s, a), name_of(s, b)) == 0)
        return refuse_sizes(s, a, b, given, err);
    }
  return 0;
}

bool tm_model_varies_in_rows(const struct tm_onnx_file *f)
{
  for (size_t i = 0; i < f->inputs.len; i++) {
    const struct tm_onnx_value *v = &f->inputs.at[i];
    for (size_t axis = 1; axis < v->shape.len; axis++)
      if (v->shape.at[axis].size < 0)
        return false;
    if (!v->has_shape)
      return false;
  }
  return true;
}
