/* stub.c - see stub.h. The table is made of the same list as the declarations, so that the compiler
 * compares each function with them. An entry that the version does not have ends the process. */
#include "onnxruntime/stub_own.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT      __attribute__((visibility("default")))
#define INDEXES_MAX 512
struct ort_stub stub;
static struct tm_ort_allocator the_allocator;
static struct tm_ort_env the_env; /* a copy of the last */
static FILE *calls;

EXPORT struct ort_stub *ort_stub(void);
EXPORT const struct tm_ort_base *OrtGetApiBase(void);

struct ort_stub *ort_stub(void)
{
  return &stub;
}

/* ---- objects, failures, records ---- */

void *stub_make(size_t size)
{
  stub.live++;
  return calloc(1, size);
}

void stub_drop(void *p)
{
  stub.live -= p != NULL;
  free(p);
}

static char *make_text(const char *text)
{
  return strcpy(stub_make(strlen(text) + 1), text);
}

struct tm_ort_status *stub_status(int code, const char *message)
{
  struct tm_ort_status *s = stub_make(sizeof *s);
  s->code = code;
  snprintf(s->message, sizeof s->message, "%s", message);
  return s;
}

struct tm_ort_status *stub_fails(const char *name)
{
  char words[100];
  snprintf(stub.last, sizeof stub.last, "%s", name);
  stub.calls++;
  bool is_named = stub.fail_name && strcmp(stub.fail_name, name) == 0;
  if (!is_named && stub.calls != stub.fail_at)
    return NULL;
  snprintf(words, sizeof words, "the stub fails in %s", name);
  return stub_status(TM_ORT_FAIL, stub.message ? stub.message : words);
}

void stub_record(const char *format, ...)
{
  va_list args;
  if (!calls)
    return;
  va_start(args, format);
  vfprintf(calls, format, args);
  va_end(args);
  fputc('\n', calls);
  fflush(calls);
}

/* ---- status, environment, memory ---- */

struct tm_ort_status *stub_make_status(int code, const char *message)
{
  return stub_status(code, message);
}

int stub_error_code(const struct tm_ort_status *s)
{
  return s->code;
}

const char *stub_error_message(const struct tm_ort_status *s)
{
  return s->message;
}

struct tm_ort_status *stub_make_env(tm_ort_on_log on_log, void *data, int level, const char *id,
                                    struct tm_ort_env **out)
{
  MAY_FAIL("make_env");
  stub_record("make_env %d %s", level, getenv("ORT_DISABLE_TELEMETRY") ? "quiet" : "telemetry");
  *out = stub_make(sizeof **out);
  **out = the_env = (struct tm_ort_env) { on_log, data };
  return NULL;
}

struct tm_ort_status *stub_disable_telemetry(const struct tm_ort_env *env)
{
  MAY_FAIL("disable_telemetry");
  stub_record("disable_telemetry");
  return NULL;
}

struct tm_ort_status *stub_cpu_memory(int allocator, int kind, struct tm_ort_memory **out)
{
  MAY_FAIL("cpu_memory");
  *out = stub_make(sizeof **out);
  return NULL;
}

struct tm_ort_status *stub_allocator(struct tm_ort_allocator **out)
{
  MAY_FAIL("allocator");
  *out = &the_allocator;
  return NULL;
}

struct tm_ort_status *stub_free(struct tm_ort_allocator *a, void *p)
{
  stub_drop(p); /* as in the real one, which never fails here */
  return NULL;
}

struct tm_ort_status *stub_providers(char ***out, int *n)
{
  MAY_FAIL("providers");
  *n = 2;
  *out = stub_make(2 * sizeof **out);
  (*out)[0] = make_text("CUDAExecutionProvider");
  (*out)[1] = make_text("CPUExecutionProvider");
  return NULL;
}

struct tm_ort_status *stub_release_providers(char **p, int n)
{
  for (int i = 0; i < n; i++)
    stub_drop(p[i]);
  stub_drop(p);
  return NULL;
}

/* ---- options ---- */

struct tm_ort_status *stub_make_options(struct tm_ort_options **out)
{
  MAY_FAIL("make_options");
  *out = stub_make(sizeof **out);
  return NULL;
}

#define NUMBER_SETTER(name)                                                                        \
  struct tm_ort_status *stub_##name(struct tm_ort_options *o, int n)                               \
  {                                                                                                \
    MAY_FAIL(#name);                                                                               \
    stub_record("%s %d", #name, n);                                                                \
    return NULL;                                                                                   \
  }
NUMBER_SETTER(set_parallel)
NUMBER_SETTER(set_log_level)
NUMBER_SETTER(set_optimization)
NUMBER_SETTER(set_intra_threads)
NUMBER_SETTER(set_inter_threads)

struct tm_ort_status *stub_set_optimized_path(struct tm_ort_options *o, const char *path)
{
  MAY_FAIL("set_optimized_path");
  stub_record("set_optimized_path %s", path);
  return NULL;
}

struct tm_ort_status *stub_disable_arena(struct tm_ort_options *o)
{
  MAY_FAIL("disable_arena");
  stub_record("disable_arena");
  return NULL;
}

struct tm_ort_status *stub_add_config(struct tm_ort_options *o, const char *key, const char *value)
{
  MAY_FAIL("add_config");
  stub_record("add_config %s %s", key, value);
  if (strcmp(key, "session.disable_cpu_ep_fallback") == 0)
    o->has_no_fallback = strcmp(value, "1") == 0;
  return NULL;
}

static void record_settings(const char *const *keys, const char *const *values, size_t n)
{
  for (size_t i = 0; i < n; i++)
    stub_record("  %s=%s", keys[i], values[i]);
}

struct tm_ort_status *stub_make_cuda(struct tm_ort_cuda **out)
{
  MAY_FAIL("make_cuda");
  *out = stub_make(sizeof **out);
  return NULL;
}

struct tm_ort_status *stub_update_cuda(struct tm_ort_cuda *cuda, const char *const *keys,
                                       const char *const *values, size_t n)
{
  MAY_FAIL("update_cuda");
  stub_record("update_cuda");
  record_settings(keys, values, n);
  return NULL;
}

struct tm_ort_status *stub_append_cuda(struct tm_ort_options *o, const struct tm_ort_cuda *cuda)
{
  struct tm_ort_status *failure = stub_fails("append_cuda");
  if (failure) {
    the_env.on_log(the_env.data, TM_ORT_ERROR, "stub", "", "stub.c",
                   "[ONNXRuntimeError] : 1 : FAIL : Failed to load library libstub_cuda.so with "
                   "error: libcudart.so.12: cannot open shared object file");
    return failure;
  }
  stub_record("append_cuda");
  o->has_cuda = true;
  return NULL;
}

void stub_release_cuda(struct tm_ort_cuda *p)
{
  stub_drop(p);
}

struct tm_ort_status *stub_append_provider(struct tm_ort_options *o, const char *name,
                                           const char *const *keys, const char *const *values,
                                           size_t n)
{
  MAY_FAIL("append_provider");
  stub_record("append_provider %s", name);
  record_settings(keys, values, n);
  return NULL;
}

struct tm_ort_status *stub_cancel_loading(struct tm_ort_options *o, bool is_set)
{
  atomic_store(&o->is_cancelled, is_set);
  return NULL;
}

/* ---- sessions ---- */

static const char *const names[2][3] = { { "y", "labels", "scores" }, { "x", "words", NULL } };
static const struct tm_ort_type types[2][3] = {
  { { TM_ORT_TENSOR, { FLOAT32, 2, { -1, 2 } } },
    { TM_ORT_TENSOR, { STRING, 1, { -1, 0 } } },
    { TM_ORT_SEQUENCE, { 0, 0, { 0, 0 } } } },
  { { TM_ORT_TENSOR, { FLOAT32, 2, { -1, 2 } } }, { TM_ORT_TENSOR, { STRING, 1, { -1, 0 } } } },
};

static void log_placed(const struct tm_ort_env *env, const char *name, int nodes)
{
  char line[120];
  snprintf(line, sizeof line, " Node(s) placed on [%s]. Number of nodes: %d", name, nodes);
  if (nodes > 0)
    env->on_log(env->data, TM_ORT_VERBOSE, "stub", "", "stub.c", line);
}

struct tm_ort_status *stub_make_session(const struct tm_ort_env *env, const char *path,
                                        const struct tm_ort_options *options,
                                        struct tm_ort_session **out)
{
  MAY_FAIL("make_session");
  stub_record("make_session %s", path);
  while (stub.waits_to_load && !atomic_load(&options->is_cancelled))
    sched_yield();
  if (stub.waits_to_load)
    return stub_status(TM_ORT_FAIL, "Session initialization canceled due to user request.");
  env->on_log(env->data, TM_ORT_WARNING, "stub", "", "stub.c", "a warning of the stub");
  int left = options->has_cuda ? stub.left_to_cpu : 3;
  log_placed(env, "CUDAExecutionProvider", 3 - left);
  log_placed(env, "CPUExecutionProvider", left);
  if (options->has_cuda && options->has_no_fallback && left > 0)
    return stub_status(TM_ORT_FAIL, "This session contains graph nodes that are assigned to the "
                                    "default CPU EP, but fallback to CPU EP has been explicitly "
                                    "disabled by the user.");
  *out = stub_make(sizeof **out);
  (*out)->env = env;
  return NULL;
}

struct tm_ort_status *stub_input_count(const struct tm_ort_session *s, size_t *out)
{
  MAY_FAIL("input_count");
  *out = 2;
  return NULL;
}

struct tm_ort_status *stub_output_count(const struct tm_ort_session *s, size_t *out)
{
  MAY_FAIL("output_count");
  *out = 3;
  return NULL;
}

struct tm_ort_status *stub_input_name(const struct tm_ort_session *s, size_t i,
                                      struct tm_ort_allocator *a, char **out)
{
  MAY_FAIL("input_name");
  *out = make_text(names[1][i]);
  return NULL;
}

struct tm_ort_status *stub_output_name(const struct tm_ort_session *s, size_t i,
                                       struct tm_ort_allocator *a, char **out)
{
  MAY_FAIL("output_name");
  *out = make_text(names[0][i]);
  return NULL;
}

static struct tm_ort_type *copy_of(const struct tm_ort_type *type)
{
  struct tm_ort_type *copy = stub_make(sizeof *copy);
  *copy = *type;
  return copy;
}

struct tm_ort_status *stub_input_type(const struct tm_ort_session *s, size_t i,
                                      struct tm_ort_type **out)
{
  MAY_FAIL("input_type");
  *out = copy_of(&types[1][i]);
  return NULL;
}

struct tm_ort_status *stub_output_type(const struct tm_ort_session *s, size_t i,
                                       struct tm_ort_type **out)
{
  MAY_FAIL("output_type");
  *out = copy_of(&types[0][i]);
  return NULL;
}

struct tm_ort_status *stub_type_kind(const struct tm_ort_type *t, int *out)
{
  MAY_FAIL("type_kind");
  *out = t->kind;
  return NULL;
}

struct tm_ort_status *stub_cast_tensor_type(const struct tm_ort_type *t,
                                            const struct tm_ort_shape **out)
{
  MAY_FAIL("cast_tensor_type");
  *out = &t->shape;
  return NULL;
}

struct tm_ort_status *stub_element_type(const struct tm_ort_shape *s, int *out)
{
  MAY_FAIL("element_type");
  *out = s->type;
  return NULL;
}

struct tm_ort_status *stub_rank(const struct tm_ort_shape *s, size_t *out)
{
  MAY_FAIL("rank");
  *out = s->rank;
  return NULL;
}

struct tm_ort_status *stub_dimensions(const struct tm_ort_shape *s, int64_t *out, size_t n)
{
  MAY_FAIL("dimensions");
  memcpy(out, s->at, n * sizeof *out);
  return NULL;
}

struct tm_ort_status *stub_symbols(const struct tm_ort_shape *s, const char **out, size_t n)
{
  MAY_FAIL("symbols");
  for (size_t i = 0; i < n; i++)
    out[i] = s->at[i] < 0 ? "n" : "";
  return NULL;
}

/* ---- metadata ---- */

struct tm_ort_status *stub_metadata(const struct tm_ort_session *s, struct tm_ort_metadata **out)
{
  MAY_FAIL("metadata");
  *out = stub_make(sizeof **out);
  return NULL;
}

#define TEXT_GETTER(name)                                                                          \
  struct tm_ort_status *stub_##name(const struct tm_ort_metadata *m, struct tm_ort_allocator *a,   \
                                    char **out)                                                    \
  {                                                                                                \
    MAY_FAIL(#name);                                                                               \
    *out = make_text(#name);                                                                       \
    return NULL;                                                                                   \
  }
TEXT_GETTER(producer)
TEXT_GETTER(graph_name)
TEXT_GETTER(domain)
TEXT_GETTER(description)

struct tm_ort_status *stub_custom_keys(const struct tm_ort_metadata *m, struct tm_ort_allocator *a,
                                       char ***out, int64_t *n)
{
  MAY_FAIL("custom_keys");
  *n = 2;
  *out = stub_make(2 * sizeof **out);
  (*out)[0] = make_text("author");
  (*out)[1] = make_text("trained on");
  return NULL;
}

struct tm_ort_status *stub_custom(const struct tm_ort_metadata *m, struct tm_ort_allocator *a,
                                  const char *key, char **out)
{
  MAY_FAIL("custom");
  *out = make_text(key);
  return NULL;
}

struct tm_ort_status *stub_model_version(const struct tm_ort_metadata *m, int64_t *out)
{
  MAY_FAIL("model_version");
  *out = 7;
  return NULL;
}

/* ---- release ---- */

#define RELEASER(name, type)                                                                       \
  void stub_release_##name(struct type *p)                                                         \
  {                                                                                                \
    stub_drop(p);                                                                                  \
  }
RELEASER(env, tm_ort_env)
RELEASER(status, tm_ort_status)
RELEASER(memory, tm_ort_memory)
RELEASER(session, tm_ort_session)
RELEASER(run_options, tm_ort_run_options)
RELEASER(type, tm_ort_type)
RELEASER(shape, tm_ort_shape)
RELEASER(options, tm_ort_options)
RELEASER(metadata, tm_ort_metadata)

/* ---- the table ---- */

static void beyond_the_end(void)
{
  fputs("stub: a function was called that this version does not have\n", stderr);
  abort();
}

static int minor_of(const char *version)
{
  int minor = 0;
  sscanf(version, "1.%d.", &minor);
  return minor;
}

static const tm_ort_function *table(uint32_t version)
{
  static tm_ort_function functions[INDEXES_MAX];
  int minor = minor_of(stub.version);
  if ((int)version > minor)
    return NULL;
  for (size_t i = 0; i < INDEXES_MAX; i++)
    functions[i] = beyond_the_end;
#define TM_XX(name, index, since, result, arguments)                                               \
  if (minor >= since)                                                                              \
    functions[index] = (tm_ort_function)stub_##name;
  TM_ORT_MAP(TM_XX)
#undef TM_XX
  return functions;
}

static const char *version(void)
{
  return stub.version;
}

const struct tm_ort_base *OrtGetApiBase(void)
{
  static const struct tm_ort_base base = { table, version };
  const char *log = getenv("TM_STUB_LOG"), *given = getenv("TM_STUB_VERSION");
  stub.version = given ? given : "1.30.0";
  const char *fail = getenv("TM_STUB_FAIL");
  stub.fail_at = fail ? atoi(fail) : 0;
  stub.fail_name = fail && stub.fail_at == 0 ? fail : NULL;
  stub.message = getenv("TM_STUB_MESSAGE");
  stub.waits = getenv("TM_STUB_WAITS") != NULL;
  stub.waits_to_load = getenv("TM_STUB_WAITS_TO_LOAD") != NULL;
  const char *left = getenv("TM_STUB_LEFT");
  stub.left_to_cpu = left ? atoi(left) : 0;
  if (log && !calls)
    calls = fopen(log, "ae");
  return &base;
}
