/* confine.h - takes from this process what it does not need.
 *
 * Where the kernel has Landlock, the process can neither write, make, remove nor execute anything
 * afterwards: what it has open stays open. Its own files are removed by another process, the
 * janitor, which also does so when this one is killed.
 */
#ifndef TM_PORTAL_CONFINE_H
#define TM_PORTAL_CONFINE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* Whether the kernel does it. */
bool tm_confine(void);

struct tm_janitor {
  pid_t pid;
  int end; /* closing it, by us or by the kernel, lets the janitor work */
};

/* Starts a process that waits until this one ends, calls work(data), and ends. There must be no
 * other thread. */
int tm_janitor_start(struct tm_janitor *j, void (*work)(void *data), void *data,
                     struct tm_err *err);
/* Lets it work, and waits for its end. A no-op if it was not started. */
void tm_janitor_end(struct tm_janitor *j);

#endif
