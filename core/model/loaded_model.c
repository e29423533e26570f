/* loaded_model.c - see loaded_model.h.
 *
 * The session is made on a thread with signals blocked, so that the library's threads inherit that;
 * this thread waits, and a signal can still stop the loading.
 */
#include "model/loaded_model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "model/failure_words.h"
#include "model/onnx_data.h"
#include "model/onnx_support.h"
#include "sys/large_blocks.h"
#include "sys/library.h"

/* ---- options ---- */

static const char *flag(bool is_on)
{
  return is_on ? "1" : "0";
}

static int add_config(const struct tm_runtime *r, struct tm_ort_options *o, const char *key,
                      const char *value, struct tm_err *err)
{
  return tm_runtime_check(r, tm_ort_add_config(&r->api)(o, key, value), err);
}

/* CUDA has functions of its own in all versions. */
static struct tm_ort_status *append_cuda(const struct tm_ort *api, struct tm_ort_options *o,
                                         const char *const *keys, const char *const *values,
                                         size_t n)
{
  struct tm_ort_cuda *cuda = NULL;
  struct tm_ort_status *status = tm_ort_make_cuda(api)(&cuda);

  if (!status && n > 0)
    status = tm_ort_update_cuda(api)(cuda, keys, values, n);
  if (!status)
    status = tm_ort_append_cuda(api)(o, cuda);
  if (cuda)
    tm_ort_release_cuda(api)(cuda);
  return status;
}

/* Without Vulkan, WebGPU finds no GPU, and writes a warning to the terminal. */
static int need_vulkan(struct tm_err *err)
{
  void *handle;
  int rc = tm_library_open(&handle, "libvulkan.so.1", err);

  if (rc < 0)
    return tm_err_wrap(err, "it needs Vulkan (Debian: libvulkan1, and the driver of the GPU)");
  tm_library_close(handle);
  return 0;
}

static int append_provider(const struct tm_runtime *r, struct tm_ort_options *o,
                           const struct tm_provider *p, struct tm_err *err)
{
  size_t n = p->settings.len;
  const char **keys = tm_xcalloc(n + 1, sizeof *keys), **values = tm_xcalloc(n + 1, sizeof *values);

  for (size_t i = 0; i < n; i++) {
    keys[i] = p->settings.at[i].name;
    values[i] = p->settings.at[i].value;
  }
  int rc = strncasecmp(p->name, "WebGPU", 6) == 0 ? need_vulkan(err) : 0;
  if (rc == 0)
    rc = tm_runtime_check(r,
                          strcmp(p->name, "CUDA") == 0
                              ? append_cuda(&r->api, o, keys, values, n)
                              : tm_ort_append_provider(&r->api)(o, p->name, keys, values, n),
                          err);
  free(keys);
  free(values);
  return rc < 0 ? tm_err_wrap(err, "provider '%s' cannot be used", p->name) : 0;
}

static int set_numbers(const struct tm_runtime *r, struct tm_ort_options *o,
                       const struct tm_model_options *from, struct tm_err *err)
{
  const struct tm_ort *api = &r->api;
  struct tm_ort_status *(*const setters[])(struct tm_ort_options *, int) = {
    tm_ort_set_log_level(api), tm_ort_set_intra_threads(api), tm_ort_set_inter_threads(api),
    tm_ort_set_parallel(api), tm_ort_set_optimization(api)
  };
  const int values[] = { TM_ORT_VERBOSE, from->intra_threads, from->inter_threads,
                         from->is_parallel, (int)from->optimization };
  int rc = 0;

  for (size_t i = 0; i < TM_COUNT_OF(setters) && rc == 0; i++)
    rc = tm_runtime_check(r, setters[i](o, values[i]), err);
  return rc;
}

/* The library aligns only what has more than 1 MB; kernels for AVX-512 crash where the rest lies.
 * So what is smaller stays in the model's file. */
#define SAVED_WEIGHTS_MIN "1048577"

/* The file of weights is named relative to the model. */
static int set_saving(const struct tm_runtime *r, struct tm_ort_options *o, const char *path,
                      struct tm_err *err)
{
  int rc = tm_runtime_check(r, tm_ort_set_optimized_path(&r->api)(o, path), err);

  if (rc == 0)
    rc = add_config(r, o, "session.optimized_model_external_initializers_file_name",
                    TM_MODEL_SAVED_WEIGHTS, err);
  if (rc == 0)
    rc = add_config(r, o, "session.optimized_model_external_initializers_min_size_in_bytes",
                    SAVED_WEIGHTS_MIN, err);
  if (rc == 0)
    rc = add_config(r, o, "session.save_external_prepacked_constant_initializers", "1", err);
  return rc;
}

static int set_options(const struct tm_runtime *r, struct tm_ort_options *o,
                       const struct tm_model_options *from, struct tm_err *err)
{
  const char *spins = flag(from->allows_spinning);
  int rc = set_numbers(r, o, from, err);

  if (rc == 0 && from->arena == TM_ARENA_OFF)
    rc = tm_runtime_check(r, tm_ort_disable_arena(&r->api)(o), err);
  if (rc == 0)
    rc = add_config(r, o, "session.intra_op.allow_spinning", spins, err);
  if (rc == 0)
    rc = add_config(r, o, "session.inter_op.allow_spinning", spins, err);
  if (rc == 0 && from->providers_len > 0)
    rc = add_config(r, o, "session.disable_cpu_ep_fallback", flag(!from->falls_back), err);
  for (size_t i = 0; i < from->config.len && rc == 0; i++)
    rc = add_config(r, o, from->config.at[i].name, from->config.at[i].value, err);
  return rc < 0 || !from->save_to ? rc : set_saving(r, o, from->save_to, err);
}

static bool is_on_device(const struct tm_model_options *o)
{
  static const char *const devices[] = { "CUDA",   "TensorRT", "NvTensorRtRtx",
                                         "WebGPU", "ROCM",     "MIGraphX" };

  for (size_t i = 0; i < o->providers_len; i++)
    for (size_t k = 0; k < TM_COUNT_OF(devices); k++)
      if (strncasecmp(o->providers[i].name, devices[k], strlen(devices[k])) == 0)
        return true;
  return false;
}

/* ---- loading ---- */

struct loading {
  struct tm_loaded_model *model;
  struct tm_ort_options *options;
  const struct tm_model_options *given;
  const char *path;
  bool lacks_provider;
  struct tm_err *err;
  int rc;
};

/* Providers may start threads of their own when they are appended. */
static void load(void *data)
{
  struct loading *l = data;
  struct tm_loaded_model *m = l->model;
  const struct tm_runtime *r = m->runtime;

  l->rc = 0;
  for (size_t i = 0; i < l->given->providers_len && l->rc == 0; i++)
    l->rc = append_provider(r, l->options, &l->given->providers[i], l->err);
  l->lacks_provider = l->rc < 0;
  if (l->rc < 0)
    return;
  l->rc = tm_runtime_check(r, tm_ort_make_session(&r->api)(r->env, l->path, l->options, &m->ort),
                           l->err);
  l->lacks_provider = l->rc < 0 && tm_failure_is_of_gpu(l->err->text);
}

void tm_model_loading_stop(void *loading)
{
  struct tm_model_loading *l = loading;
  struct tm_ort_options *options = atomic_load(&l->options);

  atomic_store(&l->is_stopped, true);
  if (options && l->api->minor >= TM_ORT_CANCELS_LOADING)
    (void)tm_ort_cancel_loading(l->api)(options, true);
}

/* A stop sets its flag before it looks for options; here they are shown before the flag is read. So
 * none is lost. */
static int load_stoppably(struct loading *l, struct tm_model_loading *stop)
{
  stop->api = &l->model->runtime->api;
  atomic_store(&stop->options, l->options);
  if (l->given->owns_process)
    tm_large_blocks_begin(); /* what loading frees can be more than the weights */
  int rc = atomic_load(&stop->is_stopped) ? -ECANCELED : tm_runtime_quietly(load, l, l->err);
  if (l->given->owns_process)
    tm_large_blocks_end();
  atomic_store(&stop->options, NULL);
  rc = rc < 0 ? rc : l->rc;
  stop->lacks_provider = l->lacks_provider;
  return rc < 0 && atomic_load(&stop->is_stopped) ? tm_err_set(l->err, -ECANCELED, "interrupted")
                                                  : rc;
}

static int make(struct tm_loaded_model *m, const char *path, const struct tm_model_options *options,
                struct tm_model_loading *loading, struct tm_err *err)
{
  struct tm_model_loading own = { .is_stopped = false };
  struct tm_runtime *r = m->runtime;
  struct loading l = { .model = m, .given = options, .path = path, .err = err };
  int rc = tm_runtime_check(r, tm_ort_make_options(&r->api)(&l.options), err);

  if (rc == 0)
    rc = set_options(r, l.options, options, err);
  if (rc == 0) {
    tm_ort_log_begin_session(&r->log);
    rc = load_stoppably(&l, loading ? loading : &own);
  }
  if (l.options)
    tm_ort_release_options (&r->api)(l.options);
  return rc;
}

/* ---- what it says about the model ---- */

/* Copies a text that the library has allocated, and frees that. */
static char *take_text(const struct tm_runtime *r, char *text)
{
  char *copy = tm_xstrdup(text ? text : "");

  if (text)
    (void)tm_runtime_check(r, tm_ort_free(&r->api)(r->allocator, text), NULL);
  return copy;
}

static enum tm_value_kind kind_of(int kind)
{
  switch (kind) {
  case TM_ORT_TENSOR: return TM_VALUE_TENSOR;
  case TM_ORT_SEQUENCE: return TM_VALUE_SEQUENCE;
  case TM_ORT_MAP: return TM_VALUE_MAP;
  default: return TM_VALUE_OTHER;
  }
}

static int read_axes(struct tm_model_value *v, const struct tm_runtime *r,
                     const struct tm_ort_shape *shape, struct tm_err *err)
{
  const struct tm_ort *o = &r->api;
  const char *names[TM_TENSOR_MAX_RANK] = { NULL };
  size_t rank = 0;
  int type = 0;
  int rc = tm_runtime_check(r, tm_ort_element_type(o)(shape, &type), err);

  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_rank(o)(shape, &rank), err);
  if (rc == 0 && rank > TM_TENSOR_MAX_RANK)
    rc = tm_err_set(err, TM_EINPUT, "'%s' has %zu axes; accepted: at most %d", v->name, rank,
                    TM_TENSOR_MAX_RANK);
  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_dimensions(o)(shape, v->shape, rank), err);
  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_symbols(o)(shape, names, rank), err);
  if (rc < 0)
    return rc;
  v->type = type;
  v->rank = (int32_t)rank;
  for (size_t i = 0; i < rank; i++)
    v->axes[i] = v->shape[i] < 0 && names[i] && *names[i] ? tm_xstrdup(names[i]) : NULL;
  return 0;
}

static int read_type(struct tm_model_value *v, const struct tm_runtime *r, struct tm_ort_type *type,
                     struct tm_err *err)
{
  const struct tm_ort_shape *shape = NULL;
  int kind = 0;
  int rc = tm_runtime_check(r, tm_ort_type_kind(&r->api)(type, &kind), err);

  v->kind = kind_of(kind);
  if (rc == 0 && v->kind == TM_VALUE_TENSOR)
    rc = tm_runtime_check(r, tm_ort_cast_tensor_type(&r->api)(type, &shape), err);
  if (rc == 0 && shape) /* it belongs to `type` */
    rc = read_axes(v, r, shape, err);
  tm_ort_release_type (&r->api)(type);
  return rc;
}

static int read_values(struct tm_loaded_model *m, struct tm_model_values *values, bool is_input,
                       struct tm_err *err)
{
  const struct tm_ort *o = &m->runtime->api;
  size_t n = 0;
  int rc = tm_runtime_check(
      m->runtime, is_input ? tm_ort_input_count(o)(m->ort, &n) : tm_ort_output_count(o)(m->ort, &n),
      err);

  values->at = tm_xcalloc(n + 1, sizeof *values->at);
  for (size_t i = 0; i < n && rc == 0; i++) {
    struct tm_model_value *v = &values->at[values->len++];
    struct tm_ort_type *type = NULL;
    char *name = NULL;
    struct tm_ort_allocator *a = m->runtime->allocator;
    rc = tm_runtime_check(m->runtime,
                          is_input ? tm_ort_input_name(o)(m->ort, i, a, &name)
                                   : tm_ort_output_name(o)(m->ort, i, a, &name),
                          err);
    v->name = take_text(m->runtime, name);
    if (rc == 0)
      rc = tm_runtime_check(m->runtime,
                            is_input ? tm_ort_input_type(o)(m->ort, i, &type)
                                     : tm_ort_output_type(o)(m->ort, i, &type),
                            err);
    if (rc == 0)
      rc = read_type(v, m->runtime, type, err);
  }
  return rc;
}

typedef struct tm_ort_status *(*text_of)(const struct tm_ort_metadata *, struct tm_ort_allocator *,
                                         char **);

static int read_text(char **out, const struct tm_runtime *r, const struct tm_ort_metadata *m,
                     text_of get, struct tm_err *err)
{
  char *text = NULL;
  int rc = tm_runtime_check(r, get(m, r->allocator, &text), err);

  *out = take_text(r, text);
  return rc;
}

static int read_custom(struct tm_settings *out, const struct tm_runtime *r,
                       const struct tm_ort_metadata *m, struct tm_err *err)
{
  const struct tm_ort *o = &r->api;
  char **keys = NULL, *value;
  int64_t n = 0;
  int rc = tm_runtime_check(r, tm_ort_custom_keys(o)(m, r->allocator, &keys, &n), err);

  out->at = tm_xcalloc((size_t)n + 1, sizeof *out->at);
  for (int64_t i = 0; i < n; i++) {
    value = NULL;
    if (rc == 0)
      rc = tm_runtime_check(r, tm_ort_custom(o)(m, r->allocator, keys[i], &value), err);
    out->at[out->len++] = (struct tm_setting) { take_text(r, keys[i]), take_text(r, value) };
  }
  if (keys)
    (void)tm_runtime_check(r, tm_ort_free(o)(r->allocator, keys), NULL);
  return rc;
}

static int read_metadata(struct tm_loaded_model *m, struct tm_err *err)
{
  struct tm_runtime *r = m->runtime;
  const struct tm_ort *o = &r->api;
  struct tm_model_metadata *to = &m->metadata;
  struct tm_ort_metadata *from = NULL;
  int rc = tm_runtime_check(r, tm_ort_metadata(o)(m->ort, &from), err);

  if (rc < 0)
    return rc;
  rc = read_text(&to->producer, r, from, tm_ort_producer(o), err);
  if (rc == 0)
    rc = read_text(&to->graph_name, r, from, tm_ort_graph_name(o), err);
  if (rc == 0)
    rc = read_text(&to->domain, r, from, tm_ort_domain(o), err);
  if (rc == 0)
    rc = read_text(&to->description, r, from, tm_ort_description(o), err);
  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_model_version(o)(from, &to->version), err);
  if (rc == 0)
    rc = read_custom(&to->custom, r, from, err);
  tm_ort_release_metadata(o)(from);
  return rc;
}

static void read_placed(struct tm_loaded_model *m)
{
  m->placed_len = tm_ort_log_placed(&m->runtime->log, m->placed);
  if (m->placed_len == 0) { /* a model without nodes */
    strcpy(m->placed[0].provider, "CPUExecutionProvider");
    m->placed_len = 1;
  }
}

/* The nodes that the CPU has in the session that is being made. */
static int64_t count_on_cpu(struct tm_runtime *r, int64_t *all)
{
  struct tm_ort_placed placed[TM_ORT_PLACED_MAX];
  size_t len = tm_ort_log_placed(&r->log, placed);
  int64_t n = 0;

  *all = 0;
  for (size_t i = 0; i < len; i++) {
    *all += placed[i].nodes;
    if (strcmp(placed[i].provider, "CPUExecutionProvider") == 0)
      n += placed[i].nodes;
  }
  return n;
}

/* "... nodes that are assigned to the default CPU EP, but fallback to CPU EP has been explicitly
 * disabled by the user" */
static int explain_fallback(struct tm_runtime *r, const struct tm_model_options *o,
                            struct tm_err *err)
{
  const char *name = o->providers[0].name;
  int64_t all, n = count_on_cpu(r, &all);

  return tm_err_set(err, TM_EINPUT,
                    "%s cannot run %" PRId64 " of the model's %" PRId64
                    " nodes; with providers = { \"%s\", \"CPU\" } the CPU runs them",
                    name, n, all, name);
}

/* In better words than the library's, if ours know the reason. */
static int explain(int rc, const struct tm_onnx_file *f, const struct tm_model_options *o,
                   struct tm_runtime *r, struct tm_err *err)
{
  struct tm_err ours = TM_ERR_NONE;

  if (rc == TM_ELIMIT)
    tm_failure_explain_memory(err, is_on_device(o), true);
  if (rc < 0 && o->providers_len > 0 && strstr(err->text, "fallback to CPU EP"))
    return explain_fallback(r, o, err);
  if (rc != TM_EINPUT || (tm_onnx_check_versions(f, r->version, &ours) == 0 &&
                          tm_onnx_check_operators(f, r->version, err->text, &ours) == 0))
    return rc;
  *err = ours;
  return ours.code;
}

static int make_of_file(struct tm_loaded_model *m, const char *path,
                        const struct tm_model_options *given, struct tm_model_loading *loading,
                        struct tm_err *err)
{
  struct tm_model_options options = *given;
  struct tm_onnx_file f;
  int rc = tm_onnx_file_read(&f, tm_fs_real(), path, err);

  if (rc == 0)
    rc = tm_onnx_check_data(&f, tm_fs_real(), path, err);
  if (rc == 0) {
    if (options.arena == TM_ARENA_AUTO)
      options.arena = tm_model_varies_in_rows(&f) ? TM_ARENA_ON : TM_ARENA_OFF;
    m->is_on_device = is_on_device(&options);
    rc = explain(make(m, path, &options, loading, err), &f, &options, m->runtime, err);
  }
  tm_onnx_file_release(&f);
  return rc;
}

int tm_loaded_model_open(struct tm_loaded_model *m, struct tm_runtime *r, const char *path,
                         const struct tm_model_options *options, struct tm_model_loading *loading,
                         struct tm_err *err)
{
  *m = (struct tm_loaded_model) { .runtime = r };
  int rc = make_of_file(m, path, options, loading, err);

  if (rc < 0)
    return rc;
  read_placed(m);
  rc = read_values(m, &m->signature.inputs, true, err);
  if (rc == 0)
    rc = read_values(m, &m->signature.outputs, false, err);
  return rc < 0 ? rc : read_metadata(m, err);
}

static void release_settings(struct tm_settings *s)
{
  for (size_t i = 0; i < s->len; i++) {
    free(s->at[i].name);
    free(s->at[i].value);
  }
  free(s->at);
}

void tm_loaded_model_release(struct tm_loaded_model *m)
{
  if (m->ort)
    tm_ort_release_session (&m->runtime->api)(m->ort);
  tm_signature_release(&m->signature);
  free(m->metadata.producer);
  free(m->metadata.graph_name);
  free(m->metadata.domain);
  free(m->metadata.description);
  release_settings(&m->metadata.custom);
  *m = (struct tm_loaded_model) { 0 };
}
