/* child.h - starts the program `tidemill` for the helper (control.h). */
#ifndef TM_PORTAL_CHILD_H
#define TM_PORTAL_CHILD_H

#include <sys/types.h>

/* In a session of its own, with the signals of a program that a shell starts. It reads nothing,
 * writes to `out`, and has no other descriptor. `directory`: where it runs; NULL: here. Returns
 * errno. */
int tm_child_start(const char *program, const char *const *argv, const char *directory, int out,
                   pid_t *pid);

#endif
