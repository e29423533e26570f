/* versions.h - the versions of ONNX Runtime that versions.sh has found, for unit tests.
 *
 * A test that needs a missing version is skipped, and tests/run.sh lists it with the reason.
 */
#ifndef TM_TESTS_ONNXRUNTIME_VERSIONS_H
#define TM_TESTS_ONNXRUNTIME_VERSIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes a line for the end of tests/run.sh. */
static inline void note_skipped_case(const char *file, const char *reason)
{
  const char *list = getenv("TM_SKIPPED_CASES"), *name = strrchr(file, '/');
  FILE *out = list ? fopen(list, "a") : NULL;
  if (out) {
    fprintf(out, "%s: %s\n", name ? name + 1 : file, reason);
    fclose(out);
  }
  print_message("skipped: %s\n", reason);
}

/* The library of a version, which is "1_17" or "1_30"; NULL if it is missing. */
static inline const char *find_onnxruntime(const char *version, const char *file)
{
  char name[64];
  snprintf(name, sizeof name, "TM_TEST_ONNXRUNTIME_%s", version);
  const char *library = getenv(name), *missing = getenv("TM_TEST_ONNXRUNTIME_MISSING");
  if (!library)
    note_skipped_case(file, missing ? missing
                                    : "run it by ctest, or set TM_TEST_ONNXRUNTIME_1_17 and _1_30");
  return library;
}

/* Sets `library`, or skips the test. */
#define NEED_ONNXRUNTIME(library, version)                                                         \
  do {                                                                                             \
    (library) = find_onnxruntime(version, __FILE__);                                               \
    if (!(library))                                                                                \
      skip();                                                                                      \
  } while (0)

/* Runs cases in a process of their own, because a process loads one version (ort_runtime.h). */
static inline void run_in_child(void (*cases)(const char *library), const char *library)
{
  int status;
  pid_t child = fork();
  if (child == 0) {
    cases(library);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

#endif
