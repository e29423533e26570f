/* stub.h - a stand-in for ONNX Runtime: a small library with the same table, which records calls,
 * says that it is any version, and fails the call that a test chooses.
 *
 * A test loads it by TIDEMILL_ONNXRUNTIME, as a user loads the real one. Every file is to it the
 * same model:
 *
 *   x      float32 [n, 2]          y        float32 [n, 2], x doubled
 *   words  string [n]              labels   string [n], the words
 *                                  scores   a sequence of n maps: the word -> the first x
 *
 * With CUDA, that has its three nodes, but for those that are left to the CPU. A failure to append
 * CUDA is also logged, as the real library logs why it cannot load a file.
 *
 * A unit test reaches the struct by dlsym(handle, "ort_stub"). For a program, variables in its
 * environment set it when the library is loaded: TM_STUB_VERSION; TM_STUB_FAIL, the number of a
 * call or the name of a function in model/ort_api.h, such as "make_session"; TM_STUB_MESSAGE;
 * TM_STUB_WAITS; TM_STUB_WAITS_TO_LOAD; TM_STUB_LEFT, the nodes that CUDA leaves; and TM_STUB_LOG,
 * a file to which calls that take settings are appended.
 */
#ifndef TM_TESTS_ONNXRUNTIME_STUB_H
#define TM_TESTS_ONNXRUNTIME_STUB_H

#include <stdbool.h>

struct ort_stub {
  int fail_at;           /* the number of the call that fails, from 1; 0: none */
  const char *fail_name; /* or all calls of this function; NULL: none */
  const char *message;   /* of the failure; NULL: "the stub fails in NAME" */
  int calls;             /* so far, of functions that can fail */
  char last[32];         /* the function of the newest of them */
  int live;              /* objects that were made and not released */
  bool waits;            /* a run ends only when it is asked to stop */
  bool waits_to_load;    /* loading ends only when it is cancelled */
  int left_to_cpu;       /* nodes, where CUDA runs the others */
  long long rows;        /* that a result of rows and columns says it has; 0: the truth */
  const char *version;   /* when it is loaded: "1.30.0" by default */
};

#endif
