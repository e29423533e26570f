/* ort_api.h - ONNX Runtime's C interface, as far as it is used here.
 *
 * The interface is one table of functions to which new versions append, so that a function keeps
 * its index. A function that is newer than the library lies beyond the end of that library's
 * table: each accessor checks the version before it reads.
 *
 *   struct tm_ort_status *s = tm_ort_make_env(o)(...);     NULL: it worked
 *
 * A status, and whatever a function makes, is released by the function of that name. Objects are
 * opaque.
 */
#ifndef TM_MODEL_ORT_API_H
#define TM_MODEL_ORT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"

enum { TM_ORT_OLDEST = 17, TM_ORT_CANCELS_LOADING = 22 }; /* 1.17, 1.22 */

struct tm_ort_env;
struct tm_ort_status;
struct tm_ort_session;
struct tm_ort_options; /* of a session */
struct tm_ort_run_options;
struct tm_ort_value;
struct tm_ort_type; /* of an input or output */
struct tm_ort_shape;
struct tm_ort_memory;
struct tm_ort_allocator;
struct tm_ort_metadata;
struct tm_ort_cuda; /* options of that provider */

/* What the library's only symbol, OrtGetApiBase, returns. */
typedef void (*tm_ort_function)(void);
struct tm_ort_base {
  const tm_ort_function *(*table)(uint32_t version); /* NULL: the library is older */
  const char *(*version)(void);                      /* "1.30.0" */
};

struct tm_ort {
  const tm_ort_function *table;
  int minor; /* 17 for 1.17 */
};

enum tm_ort_level { TM_ORT_VERBOSE, TM_ORT_INFO, TM_ORT_WARNING, TM_ORT_ERROR, TM_ORT_FATAL };
enum tm_ort_code { TM_ORT_FAIL = 1, TM_ORT_NO_SUCH_FILE = 3 };
enum tm_ort_kind { TM_ORT_TENSOR = 1, TM_ORT_SEQUENCE = 2, TM_ORT_MAP = 3 };
enum { TM_ORT_DEVICE_ALLOCATOR = 0, TM_ORT_MEMORY_DEFAULT = 0 };

typedef void (*tm_ort_on_log)(void *data, int level, const char *category, const char *id,
                              const char *place, const char *message);

/* XX(name, index, the first minor version with it, type of the result, arguments) */
#define TM_ORT_MAP(XX)                                                                             \
  XX(make_status, 0, 17, struct tm_ort_status *, (int code, const char *message))                  \
  XX(error_code, 1, 17, int, (const struct tm_ort_status *s))                                      \
  XX(error_message, 2, 17, const char *, (const struct tm_ort_status *s))                          \
  XX(make_env, 4, 17, struct tm_ort_status *,                                                      \
     (tm_ort_on_log on_log, void *data, int level, const char *id, struct tm_ort_env **out))       \
  XX(disable_telemetry, 6, 17, struct tm_ort_status *, (const struct tm_ort_env *env))             \
  XX(make_session, 7, 17, struct tm_ort_status *,                                                  \
     (const struct tm_ort_env *env, const char *path, const struct tm_ort_options *options,        \
      struct tm_ort_session **out))                                                                \
  XX(run, 9, 17, struct tm_ort_status *,                                                           \
     (struct tm_ort_session * s, const struct tm_ort_run_options *options,                         \
      const char *const *input_names, const struct tm_ort_value *const *inputs, size_t inputs_len, \
      const char *const *output_names, size_t outputs_len, struct tm_ort_value **outputs))         \
  XX(make_options, 10, 17, struct tm_ort_status *, (struct tm_ort_options * *out))                 \
  XX(set_optimized_path, 11, 17, struct tm_ort_status *,                                           \
     (struct tm_ort_options * o, const char *path))                                                \
  XX(set_parallel, 13, 17, struct tm_ort_status *, (struct tm_ort_options * o, int is_parallel))   \
  XX(disable_arena, 19, 17, struct tm_ort_status *, (struct tm_ort_options * o))                   \
  XX(set_log_level, 22, 17, struct tm_ort_status *, (struct tm_ort_options * o, int level))        \
  XX(set_optimization, 23, 17, struct tm_ort_status *, (struct tm_ort_options * o, int level))     \
  XX(set_intra_threads, 24, 17, struct tm_ort_status *, (struct tm_ort_options * o, int n))        \
  XX(set_inter_threads, 25, 17, struct tm_ort_status *, (struct tm_ort_options * o, int n))        \
  XX(input_count, 30, 17, struct tm_ort_status *, (const struct tm_ort_session *s, size_t *out))   \
  XX(output_count, 31, 17, struct tm_ort_status *, (const struct tm_ort_session *s, size_t *out))  \
  XX(input_type, 33, 17, struct tm_ort_status *,                                                   \
     (const struct tm_ort_session *s, size_t i, struct tm_ort_type **out))                         \
  XX(output_type, 34, 17, struct tm_ort_status *,                                                  \
     (const struct tm_ort_session *s, size_t i, struct tm_ort_type **out))                         \
  XX(input_name, 36, 17, struct tm_ort_status *,                                                   \
     (const struct tm_ort_session *s, size_t i, struct tm_ort_allocator *a, char **out))           \
  XX(output_name, 37, 17, struct tm_ort_status *,                                                  \
     (const struct tm_ort_session *s, size_t i, struct tm_ort_allocator *a, char **out))           \
  XX(make_run_options, 39, 17, struct tm_ort_status *, (struct tm_ort_run_options * *out))         \
  XX(set_run_log_level, 41, 17, struct tm_ort_status *,                                            \
     (struct tm_ort_run_options * o, int level))                                                   \
  XX(set_terminate, 46, 17, struct tm_ort_status *, (struct tm_ort_run_options * o))               \
  XX(unset_terminate, 47, 17, struct tm_ort_status *, (struct tm_ort_run_options * o))             \
  XX(make_tensor, 48, 17, struct tm_ort_status *,                                                  \
     (struct tm_ort_allocator * a, const int64_t *shape, size_t rank, int type,                    \
      struct tm_ort_value **out))                                                                  \
  XX(make_tensor_over, 49, 17, struct tm_ort_status *,                                             \
     (const struct tm_ort_memory *m, void *data, size_t bytes, const int64_t *shape, size_t rank,  \
      int type, struct tm_ort_value **out))                                                        \
  XX(tensor_data, 51, 17, struct tm_ort_status *, (struct tm_ort_value * v, void **out))           \
  XX(string_bytes, 53, 17, struct tm_ort_status *, (const struct tm_ort_value *v, size_t *out))    \
  XX(read_strings, 54, 17, struct tm_ort_status *,                                                 \
     (const struct tm_ort_value *v, void *to, size_t bytes, size_t *offsets, size_t n))            \
  XX(cast_tensor_type, 55, 17, struct tm_ort_status *,                                             \
     (const struct tm_ort_type *t, const struct tm_ort_shape **out))                               \
  XX(type_kind, 56, 17, struct tm_ort_status *, (const struct tm_ort_type *t, int *out))           \
  XX(element_type, 60, 17, struct tm_ort_status *, (const struct tm_ort_shape *s, int *out))       \
  XX(rank, 61, 17, struct tm_ort_status *, (const struct tm_ort_shape *s, size_t *out))            \
  XX(dimensions, 62, 17, struct tm_ort_status *,                                                   \
     (const struct tm_ort_shape *s, int64_t *out, size_t n))                                       \
  XX(symbols, 63, 17, struct tm_ort_status *,                                                      \
     (const struct tm_ort_shape *s, const char **out, size_t n))                                   \
  XX(value_shape, 65, 17, struct tm_ort_status *,                                                  \
     (const struct tm_ort_value *v, struct tm_ort_shape **out))                                    \
  XX(value_kind, 67, 17, struct tm_ort_status *, (const struct tm_ort_value *v, int *out))         \
  XX(cpu_memory, 69, 17, struct tm_ort_status *,                                                   \
     (int allocator, int kind, struct tm_ort_memory **out))                                        \
  XX(free, 76, 17, struct tm_ort_status *, (struct tm_ort_allocator * a, void *p))                 \
  XX(allocator, 78, 17, struct tm_ort_status *, (struct tm_ort_allocator * *out))                  \
  XX(item, 80, 17, struct tm_ort_status *,                                                         \
     (const struct tm_ort_value *v, int i, struct tm_ort_allocator *a, struct tm_ort_value **out)) \
  XX(item_count, 81, 17, struct tm_ort_status *, (const struct tm_ort_value *v, size_t *out))      \
  XX(release_env, 92, 17, void, (struct tm_ort_env * p))                                           \
  XX(release_status, 93, 17, void, (struct tm_ort_status * p))                                     \
  XX(release_memory, 94, 17, void, (struct tm_ort_memory * p))                                     \
  XX(release_session, 95, 17, void, (struct tm_ort_session * p))                                   \
  XX(release_value, 96, 17, void, (struct tm_ort_value * p))                                       \
  XX(release_run_options, 97, 17, void, (struct tm_ort_run_options * p))                           \
  XX(release_type, 98, 17, void, (struct tm_ort_type * p))                                         \
  XX(release_shape, 99, 17, void, (struct tm_ort_shape * p))                                       \
  XX(release_options, 100, 17, void, (struct tm_ort_options * p))                                  \
  XX(metadata, 111, 17, struct tm_ort_status *,                                                    \
     (const struct tm_ort_session *s, struct tm_ort_metadata **out))                               \
  XX(producer, 112, 17, struct tm_ort_status *,                                                    \
     (const struct tm_ort_metadata *m, struct tm_ort_allocator *a, char **out))                    \
  XX(graph_name, 113, 17, struct tm_ort_status *,                                                  \
     (const struct tm_ort_metadata *m, struct tm_ort_allocator *a, char **out))                    \
  XX(domain, 114, 17, struct tm_ort_status *,                                                      \
     (const struct tm_ort_metadata *m, struct tm_ort_allocator *a, char **out))                    \
  XX(description, 115, 17, struct tm_ort_status *,                                                 \
     (const struct tm_ort_metadata *m, struct tm_ort_allocator *a, char **out))                    \
  XX(custom, 116, 17, struct tm_ort_status *,                                                      \
     (const struct tm_ort_metadata *m, struct tm_ort_allocator *a, const char *key, char **out))   \
  XX(model_version, 117, 17, struct tm_ort_status *,                                               \
     (const struct tm_ort_metadata *m, int64_t *out))                                              \
  XX(release_metadata, 118, 17, void, (struct tm_ort_metadata * p))                                \
  XX(custom_keys, 123, 17, struct tm_ort_status *,                                                 \
     (const struct tm_ort_metadata *m, struct tm_ort_allocator *a, char ***out, int64_t *n))       \
  XX(providers, 125, 17, struct tm_ort_status *, (char ***out, int *n))                            \
  XX(release_providers, 126, 17, struct tm_ort_status *, (char **p, int n))                        \
  XX(add_config, 130, 17, struct tm_ort_status *,                                                  \
     (struct tm_ort_options * o, const char *key, const char *value))                              \
  XX(append_cuda, 204, 17, struct tm_ort_status *,                                                 \
     (struct tm_ort_options * o, const struct tm_ort_cuda *cuda))                                  \
  XX(make_cuda, 205, 17, struct tm_ort_status *, (struct tm_ort_cuda * *out))                      \
  XX(update_cuda, 206, 17, struct tm_ort_status *,                                                 \
     (struct tm_ort_cuda * cuda, const char *const *keys, const char *const *values, size_t n))    \
  XX(release_cuda, 208, 17, void, (struct tm_ort_cuda * p))                                        \
  XX(append_provider, 216, 17, struct tm_ort_status *,                                             \
     (struct tm_ort_options * o, const char *name, const char *const *keys,                        \
      const char *const *values, size_t n))                                                        \
  XX(string_slot, 252, 17, struct tm_ort_status *,                                                 \
     (struct tm_ort_value * v, size_t i, size_t bytes, char **out))                                \
  XX(cancel_loading, 293, 22, struct tm_ort_status *, (struct tm_ort_options * o, bool is_set))

#define TM_XX(name, index, since, result, arguments)                                               \
  typedef result(*tm_ort_##name##_function) arguments;                                             \
  static inline tm_ort_##name##_function tm_ort_##name(const struct tm_ort *o)                     \
  {                                                                                                \
    tm_require(o->minor >= since);                                                                 \
    return (tm_ort_##name##_function)o->table[index];                                              \
  }
TM_ORT_MAP(TM_XX)
#undef TM_XX

#endif
