/* fault.h - checks that a call fails in tm_require(): the listener jumps back to the test before
 * abort().
 *
 *   expect_fault(tm_xmalloc(SIZE_MAX));
 *
 * fails the test if the call returns. The call's memory leaks, so use it on calls that own nothing
 * yet.
 */
#ifndef TM_TESTS_FAULT_H
#define TM_TESTS_FAULT_H

#include <setjmp.h>
#include <stdbool.h>

#include "base/check.h"

static jmp_buf fault_jump;

static void jump_on_fault(const char *text, bool fatal, void *data)
{
  if (fatal)
    longjmp(fault_jump, 1);
}

#define expect_fault(call)                                                                         \
  do {                                                                                             \
    tm_set_on_fault(jump_on_fault, NULL);                                                          \
    if (setjmp(fault_jump) == 0) {                                                                 \
      call;                                                                                        \
      fail_msg("no fault: %s", #call);                                                             \
    }                                                                                              \
    tm_set_on_fault(NULL, NULL);                                                                   \
  } while (0)

#endif
