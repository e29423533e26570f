/* loaded_model.h - a model that the library has loaded, and what it says about it. */
#ifndef TM_MODEL_LOADED_MODEL_H
#define TM_MODEL_LOADED_MODEL_H

#include <stdatomic.h>

#include "model/ort_runtime.h"
#include "model/signature.h"

struct tm_setting {
  char *name, *value;
};
struct tm_settings {
  struct tm_setting *at;
  size_t len;
};
struct tm_provider {
  char *name; /* as the library spells it */
  struct tm_settings settings;
};

enum tm_optimization {
  TM_OPTIMIZE_NONE = 0,
  TM_OPTIMIZE_BASIC = 1,
  TM_OPTIMIZE_EXTENDED = 2,
  TM_OPTIMIZE_ALL = 99
};

/* By itself: where only the first axis of the inputs may vary. Else the arena would keep memory for
 * each new size. */
enum tm_arena { TM_ARENA_AUTO, TM_ARENA_OFF, TM_ARENA_ON };

struct tm_model_options {
  const char *shown; /* the model's name in messages */
  int intra_threads, inter_threads;
  bool is_parallel, allows_spinning;
  bool owns_process;   /* loading may change how the process keeps memory (sys/large_blocks.h) */
  enum tm_arena arena; /* of the CPU's memory */
  enum tm_optimization optimization;
  int64_t rows_max;              /* rows; 0: no limit */
  struct tm_provider *providers; /* before the CPU, in this order */
  size_t providers_len;
  bool falls_back;           /* to the CPU, for nodes that no other provider takes */
  struct tm_settings config; /* further entries, by the library's names */
  const char *save_to;       /* NULL, or where to write the model as it is loaded: optimised, and
                                its weights, as kernels want them, beside it (1.21 or newer) */
};
#define TM_MODEL_SAVED_WEIGHTS "weights.bin"

struct tm_model_metadata {
  char *producer, *graph_name, *domain, *description;
  int64_t version;
  struct tm_settings custom;
};

/* Zeroed: none. */
struct tm_loaded_model {
  struct tm_runtime *runtime;
  struct tm_ort_session *ort;
  struct tm_signature signature;
  struct tm_model_metadata metadata;
  struct tm_ort_placed placed[TM_ORT_PLACED_MAX]; /* how many nodes each provider has */
  size_t placed_len;                              /* at least 1 */
  bool is_on_device;                              /* a GPU was asked for, before the CPU */
};

/* The loading of a model: it can be stopped, and says what failed. Zero it before. */
struct tm_model_loading {
  _Atomic(struct tm_ort_options *) options; /* while the library loads */
  const struct tm_ort *api;
  atomic_bool is_stopped;
  bool lacks_provider; /* it failed because a provider cannot be used on this machine */
};
/* Async-signal-safe; `loading` is a struct tm_model_loading. Versions before 1.22 cannot stop while
 * they load. */
void tm_model_loading_stop(void *loading);

/* The file is read by our own code first (onnx_file.h), which also checks its files of data.
 * `options` and what it points to are the caller's, and needed only for this call. `loading`: NULL:
 * nothing stops it. Release `m` in every case. -ECANCELED: it was stopped. */
int tm_loaded_model_open(struct tm_loaded_model *m, struct tm_runtime *r, const char *path,
                         const struct tm_model_options *options, struct tm_model_loading *loading,
                         struct tm_err *err);
void tm_loaded_model_release(struct tm_loaded_model *m);

#endif
