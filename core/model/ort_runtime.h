/* ort_runtime.h - finds and loads ONNX Runtime, once in a process.
 *
 * tm_runtime_open() loads it when a model is first wanted. From then on it stays loaded, and later
 * calls return the same one. It searches as sys/plugin.h does, under the variable
 * TIDEMILL_ONNXRUNTIME.
 *
 *  (1) The library's telemetry is off before any of its code runs: ORT_DISABLE_TELEMETRY is 1
 *      unless the user has set it.
 *  (2) Threads that the library starts have all signals blocked, because what may start one runs
 *      on a thread of ours with signals blocked (tm_runtime_quietly).
 *  (3) A library whose table differs from ours is refused before a model is loaded.
 */
#ifndef TM_MODEL_ORT_RUNTIME_H
#define TM_MODEL_ORT_RUNTIME_H

#include "base/buf.h"
#include "base/err.h"
#include "model/ort_api.h"
#include "model/ort_log.h"

struct tm_runtime {
  struct tm_ort api;
  const char *path;    /* of the library's file */
  const char *version; /* "1.30.0" */
  char *record;        /* which library this is (sys/plugin_record.h), as JSON */
  struct tm_ort_env *env;
  struct tm_ort_log log;
  struct tm_ort_allocator *allocator;
  struct tm_ort_memory *cpu;
};

/* `folders`: where to look first, absolute, NULL-ended. NULL and an error: -ENOENT: it is nowhere;
 * TM_EUSAGE, TM_EVERSION: it was found, but cannot be used. Any thread. */
struct tm_runtime *tm_runtime_open(const char *const *folders, struct tm_err *err);

/* What was opened; NULL: nothing yet. Any thread. */
struct tm_runtime *tm_runtime_opened(void);

/* Adds the names of the providers that the library was built with, each with "\n" behind it. One
 * that is among them need not be loadable. */
void tm_runtime_add_providers(const struct tm_runtime *r, struct tm_buf *out);

/* Takes a status: NULL is 0. Otherwise releases it, and returns a code with the library's message;
 * TM_ELIMIT: there is not enough memory. */
int tm_runtime_check(const struct tm_runtime *r, struct tm_ort_status *status, struct tm_err *err);

/* Calls `f` on a thread with signals blocked, and waits for it; this thread can still be
 * interrupted. Negative: no thread could be started. */
int tm_runtime_quietly(void (*f)(void *data), void *data, struct tm_err *err);

/* 17 for "1.17.0"; -1: it is not a version of 1. */
int tm_runtime_minor(const char *version);

#endif
