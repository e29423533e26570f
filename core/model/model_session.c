/* model_session.c - see model_session.h. */
#include "model/model_session.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/tensor/tensor_types.h"
#include "model/failure_words.h"
#include "model/pieces.h"
#include "model/result_size.h"

struct tm_model_session {
  struct tm_loaded_model model;
  char *shown;
  int64_t rows_max;
  struct tm_ort_run_options *run_options;
  const char **input_names, **output_names; /* for a call; the latter of the wanted outputs */
  struct tm_ort_value **input_values;       /* for a call */
  atomic_bool is_stopped;
};

static int make_run_options(struct tm_model_session *s, struct tm_err *err)
{
  const struct tm_runtime *r = s->model.runtime;
  int rc = tm_runtime_check(r, tm_ort_make_run_options(&r->api)(&s->run_options), err);

  return rc < 0 ? rc
                : tm_runtime_check(
                      r, tm_ort_set_run_log_level(&r->api)(s->run_options, TM_ORT_WARNING), err);
}

static void make_lists(struct tm_model_session *s)
{
  const struct tm_model_values *inputs = &s->model.signature.inputs;

  s->input_names = tm_xcalloc(inputs->len + 1, sizeof *s->input_names);
  s->input_values = tm_xcalloc(inputs->len + 1, sizeof(struct tm_ort_value *));
  s->output_names = tm_xcalloc(s->model.signature.outputs.len + 1, sizeof *s->output_names);
  for (size_t i = 0; i < inputs->len; i++)
    s->input_names[i] = inputs->at[i].name;
}

struct tm_model_session *tm_model_session_open(struct tm_runtime *r, const char *path,
                                               const struct tm_model_options *options,
                                               struct tm_model_loading *loading, struct tm_err *err)
{
  struct tm_model_session *s = TM_NEW(struct tm_model_session);

  err = TM_ERR_OWN(err);
  s->shown = tm_xstrdup(options->shown);
  s->rows_max = options->rows_max;
  int rc = tm_loaded_model_open(&s->model, r, path, options, loading, err);
  if (rc == 0)
    rc = make_run_options(s, err);
  make_lists(s);
  if (rc == 0)
    return s;
  tm_err_wrap(err, "cannot load '%s'", options->shown);
  tm_model_session_close(s);
  return NULL;
}

void tm_model_session_close(struct tm_model_session *s)
{
  if (!s)
    return;
  if (s->run_options)
    tm_ort_release_run_options (&s->model.runtime->api)(s->run_options);
  tm_loaded_model_release(&s->model);
  free(s->input_names);
  free(s->input_values);
  free(s->output_names);
  free(s->shown);
  free(s);
}

const struct tm_loaded_model *tm_model_session_model(const struct tm_model_session *s)
{
  return &s->model;
}

/* ---- stopping ---- */

void tm_model_session_stop(void *session)
{
  struct tm_model_session *s = session;

  atomic_store(&s->is_stopped, true);
  (void)tm_ort_set_terminate (&s->model.runtime->api)(s->run_options);
}

/* Makes the session usable again. */
static int take_stop(struct tm_model_session *s, int rc, struct tm_err *err)
{
  if (!atomic_exchange(&s->is_stopped, false))
    return rc;
  (void)tm_runtime_check(s->model.runtime,
                         tm_ort_unset_terminate(&s->model.runtime->api)(s->run_options), NULL);
  return rc < 0 ? tm_err_set(err, -ECANCELED, "cannot run '%s': interrupted", s->shown) : rc;
}

void tm_model_session_forget_stop(struct tm_model_session *s)
{
  (void)take_stop(s, 0, NULL);
}

/* ---- a call ---- */

static int check_inputs(const struct tm_model_session *s, const struct tm_tensor *const *inputs,
                        const struct tm_pieces *b, struct tm_err *err)
{
  const struct tm_model_values *v = &s->model.signature.inputs;
  int rc = 0;

  for (size_t i = 0; i < v->len && rc == 0; i++) {
    int64_t fill;
    struct tm_tensor part = tm_pieces_part(b, i, inputs[i], 0, &fill);
    part.shape[0] += fill;
    rc = tm_model_value_check(&v->at[i], b->is_cut[i] ? &part : inputs[i], err);
  }
  return rc;
}

static int check_given(const struct tm_model_session *s, const struct tm_tensor *const *inputs,
                       struct tm_err *err)
{
  const struct tm_model_values *v = &s->model.signature.inputs;

  for (size_t i = 0; i < v->len; i++)
    if (!inputs[i]) {
      struct tm_buf shape = TM_BUF_NONE;
      tm_model_value_add_shape(&shape, &v->at[i]);
      tm_err_set(err, TM_EUSAGE, "input '%s' is missing; the model takes %s %s", v->at[i].name,
                 tm_model_type_name(v->at[i].type), tm_buf_str(&shape));
      tm_buf_release(&shape);
      return TM_EUSAGE;
    }
  return 0;
}

/* A copy of a part with rows of zeros behind it; `*copy` to be freed. Strings become empty. */
static void fill_up(struct tm_tensor *part, int64_t fill, void **copy)
{
  int64_t bytes = tm_tensor_bytes(part);

  part->shape[0] += fill;
  *copy = tm_xcalloc((size_t)tm_tensor_bytes(part) + 1, 1);
  if (bytes > 0)
    memcpy(*copy, part->data, (size_t)bytes);
  part->data = *copy;
}

static int make_inputs(struct tm_model_session *s, const struct tm_tensor *const *inputs,
                       const struct tm_pieces *b, int64_t piece, void **copies, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < s->model.signature.inputs.len && rc == 0; i++) {
    int64_t fill;
    struct tm_tensor part = tm_pieces_part(b, i, inputs[i], piece, &fill);
    if (fill > 0)
      fill_up(&part, fill, &copies[i]);
    rc = tm_value_make(&s->input_values[i], s->model.runtime, &part, err);
  }
  return rc;
}

static void release_inputs(struct tm_model_session *s, void **copies)
{
  for (size_t i = 0; i < s->model.signature.inputs.len; i++) {
    if (s->input_values[i])
      tm_ort_release_value (&s->model.runtime->api)(s->input_values[i]);
    s->input_values[i] = NULL;
    if (copies)
      free(copies[i]);
  }
}

/* Reads all outputs of a piece; each is released in any case. */
static int read_outputs(struct tm_results *to, const struct tm_runtime *r, struct tm_value *values,
                        struct tm_ort_value **given, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < to->outputs; i++)
    if (rc == 0)
      rc = tm_value_read(&values[i], r, given[i], err);
    else if (given[i])
      tm_ort_release_value (&r->api)(given[i]);
  return rc;
}

static int run_piece(struct tm_model_session *s, struct tm_results *to, int64_t piece,
                     struct tm_ort_value **outputs, struct tm_err *err)
{
  const struct tm_runtime *r = s->model.runtime;

  memset(outputs, 0, to->outputs * sizeof *outputs);
  int rc = tm_runtime_check(r,
                            tm_ort_run(&r->api)(s->model.ort, s->run_options, s->input_names,
                                                (const struct tm_ort_value *const *)s->input_values,
                                                s->model.signature.inputs.len, s->output_names,
                                                to->outputs, outputs),
                            err);
  return rc < 0 ? rc : read_outputs(to, r, &to->at[(size_t)piece * to->outputs], outputs, err);
}

/* In better words than the library's, if ours know the reason. */
static int explain(const struct tm_model_session *s, int rc, const struct tm_tensor *const *inputs,
                   struct tm_err *err)
{
  struct tm_err ours = TM_ERR_NONE;

  if (rc == TM_ELIMIT)
    tm_failure_explain_memory(err, s->model.is_on_device, false);
  if (rc == TM_EINPUT && tm_signature_check_axes(&s->model.signature, inputs, &ours) < 0)
    *err = ours;
  return tm_err_wrap(err, "cannot run '%s'", s->shown);
}

static int run_pieces(struct tm_model_session *s, const struct tm_tensor *const *inputs,
                      const struct tm_pieces *b, struct tm_results *to, struct tm_err *err)
{
  size_t n = s->model.signature.inputs.len;
  void **copies = b->is_fixed ? tm_xcalloc(n + 1, sizeof *copies) : NULL;
  struct tm_ort_value **outputs = tm_xcalloc(to->outputs + 1, sizeof *outputs);
  int rc = 0;

  for (int64_t k = 0; k < b->pieces && rc == 0; k++) {
    rc = make_inputs(s, inputs, b, k, copies, err);
    rc = rc < 0 ? rc : run_piece(s, to, k, outputs, err);
    release_inputs(s, copies);
    if (copies)
      memset(copies, 0, n * sizeof *copies);
  }
  free(copies);
  free(outputs);
  if (rc < 0)
    rc = explain(s, rc, inputs, err);
  return take_stop(s, rc, err);
}

/* What can be known before a call: keeps (1), (3). */
static int check_call(const struct tm_model_session *s, const struct tm_tensor *const *inputs,
                      const struct tm_pieces *b, const size_t *outputs, size_t outputs_len,
                      struct tm_err *err)
{
  const struct tm_signature *signature = &s->model.signature;
  int rc = 0;

  if (b->size > 0) /* pieces of one size would be combined with a whole of another */
    rc = tm_signature_check_axes(signature, inputs, err);
  if (rc == 0)
    rc = check_inputs(s, inputs, b, err);
  for (size_t i = 0; i < outputs_len && rc == 0; i++) {
    const struct tm_model_value *v = &signature->outputs.at[outputs[i]];
    bool is_piece = b->is_fixed && v->rank > 0 && v->shape[0] == b->size;
    rc = tm_result_check_ahead(v, signature, inputs, is_piece ? b->rows : -1, err);
  }
  return rc;
}

/* Keeps (3). */
static int check_results(const struct tm_model_session *s, const struct tm_results *results,
                         const size_t *outputs, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < results->outputs && rc == 0; i++) {
    struct tm_tensor shape;
    int64_t bytes;
    if (results->at[i].kind != TM_VALUE_TENSOR)
      continue;
    rc = tm_results_shape(results, i, &shape, &bytes, err);
    if (rc == 0)
      rc = tm_result_check(&s->model.signature.outputs.at[outputs[i]], &shape, bytes, err);
  }
  return rc < 0 ? tm_err_wrap(err, "cannot run '%s'", s->shown) : 0;
}

int tm_model_session_run(struct tm_model_session *s, const struct tm_tensor *const *inputs,
                         const size_t *outputs, size_t outputs_len, struct tm_results *results,
                         struct tm_err *err)
{
  struct tm_pieces b = { 0 };

  err = TM_ERR_OWN(err);
  *results = (struct tm_results) { .runtime = s->model.runtime, .outputs = outputs_len };
  int rc = check_given(s, inputs, err);
  if (rc == 0)
    rc = tm_pieces_plan(&b, &s->model.signature, inputs, s->rows_max, err);
  if (rc == 0)
    rc = check_call(s, inputs, &b, outputs, outputs_len, err);
  if (rc < 0) {
    tm_err_wrap(err, "cannot run '%s'", s->shown);
  } else {
    for (size_t i = 0; i < outputs_len; i++)
      s->output_names[i] = s->model.signature.outputs.at[outputs[i]].name;
    results->pieces = (size_t)b.pieces;
    results->size = b.size;
    results->fill = b.is_fixed ? b.size - tm_pieces_rows(&b, b.pieces - 1) : 0;
    results->at = tm_xcalloc(results->pieces * outputs_len + 1, sizeof *results->at);
    rc = run_pieces(s, inputs, &b, results, err);
    rc = rc < 0 ? rc : check_results(s, results, outputs, err);
  }
  tm_pieces_release(&b);
  return rc;
}
