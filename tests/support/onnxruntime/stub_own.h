/* stub_own.h - what the files of the stub share. */
#ifndef TM_TESTS_ONNXRUNTIME_STUB_OWN_H
#define TM_TESTS_ONNXRUNTIME_STUB_OWN_H

#include <stdatomic.h>

#include "model/ort_api.h"
#include "onnxruntime/stub.h"

enum { FLOAT32 = 1, STRING = 8 };

struct tm_ort_status {
  int code;
  char message[200];
};
struct tm_ort_env {
  tm_ort_on_log on_log;
  void *data;
};
struct tm_ort_session {
  const struct tm_ort_env *env;
};
struct tm_ort_options {
  atomic_bool is_cancelled;
  bool has_cuda, has_no_fallback;
};
struct tm_ort_run_options {
  atomic_bool is_asked_to_stop;
};
struct tm_ort_shape {
  int type;
  size_t rank;
  int64_t at[2];
};
struct tm_ort_type {
  int kind;
  struct tm_ort_shape shape;
};
struct tm_ort_value {
  int kind;
  struct tm_ort_shape shape;
  void *data; /* of a tensor of numbers; owned if `is_owner` */
  bool is_owner;
  char **strings;              /* of a tensor of strings */
  struct tm_ort_value **items; /* of a sequence or map; each `item` is a copy */
  size_t len;
};
struct tm_ort_memory {
  int unused;
};
struct tm_ort_allocator {
  int unused;
};
struct tm_ort_metadata {
  int unused;
};
struct tm_ort_cuda {
  int unused;
};

/* stub.c: the struct that ort_stub() returns. */
extern struct ort_stub stub;

/* An object, zeroed; drop() releases it. */
void *stub_make(size_t size);
void stub_drop(void *p);
struct tm_ort_status *stub_status(int code, const char *message);
/* Appends a line to the list of calls. */
__attribute__((format(printf, 1, 2))) void stub_record(const char *format, ...);

/* Counts a call; a failure if it is the one to fail. */
struct tm_ort_status *stub_fails(const char *name);
/* At the head of each function that can fail. */
#define MAY_FAIL(name)                                                                             \
  do {                                                                                             \
    struct tm_ort_status *failure_ = stub_fails(name);                                             \
    if (failure_)                                                                                  \
      return failure_;                                                                             \
  } while (0)

#define TM_XX(name, index, since, result, arguments) result stub_##name arguments;
TM_ORT_MAP(TM_XX)
#undef TM_XX

#endif
