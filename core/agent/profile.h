/* profile.h - a file of collapsed stacks, the input of flame graphs: a line for each stack, outermost frame first,
 *
 *   score.lua:12;score.lua:4;lib/resize.lua:31 0000000017
 *
 * and how many samples found it. A sample is in the file when tm_profile_add() has returned: whatever kills the process later,
 * nothing is lost.
 */
#ifndef TM_AGENT_PROFILE_H
#define TM_AGENT_PROFILE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"

struct tm_profile {
  int fd; /* -1: not open, or it could not be written */
  char *path;
  int64_t size;
  struct tm_map places; /* stack -> where its line ends, bytes */
  struct tm_map counts; /* stack -> samples */
  struct tm_buf line;
};

/* Opens the file, and makes its folder; what stands in it stays. */
int tm_profile_open(struct tm_profile *p, const char *path, struct tm_err *err);
/* A stack without line breaks was found `samples` times. Once it cannot be written it is not any more: negative, once. */
int tm_profile_add(struct tm_profile *p, const char *stack, size_t len, uint64_t samples,
                   struct tm_err *err);
void tm_profile_close(struct tm_profile *p); /* a zeroed one is none that was opened: fd -1 first */

#endif
