/* profile.h - a file of collapsed stacks, the input of flame graphs: a line for each stack,
 * outermost frame first,
 *
 *   score.lua:12;score.lua:4;lib/resize.lua:31 0000000017
 *
 * and its number of samples. A sample is in the file when tm_profile_add() returns, so it is not
 * lost if the process is killed later.
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
  struct tm_map places; /* stack -> offset of the end of its line */
  struct tm_map counts; /* stack -> samples */
  struct tm_buf line;
};

/* Opens the file, and makes its folder; existing contents stay. */
int tm_profile_open(struct tm_profile *p, const char *path, struct tm_err *err);
/* Adds `samples` of a stack without line breaks. Negative, once: a write failed; from then on
 * nothing is written. */
int tm_profile_add(struct tm_profile *p, const char *stack, size_t len, uint64_t samples,
                   struct tm_err *err);
void tm_profile_close(struct tm_profile *p); /* set fd to -1 first: a zeroed struct is not closed */

#endif
