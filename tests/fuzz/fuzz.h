/* fuzz.h - the entry of a fuzz target, called by libFuzzer or by driver.c: 0, or it does not
 * return. */
#ifndef TM_TESTS_FUZZ_H
#define TM_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that must hold for every input. */
#define fuzz_require(c)                                                                            \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #c);                       \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
