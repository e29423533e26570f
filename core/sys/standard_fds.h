/* standard_fds.h - descriptors 0, 1 and 2 belong to the host, also while it has them closed. None
 * that we open may get these numbers: any code that prints would write to it, and a host that sets
 * a new standard output would close it.
 *
 * Descriptors that we open ourselves are moved up; while a library opens its own, the low ones are
 * held.
 */
#ifndef TM_SYS_STANDARD_FDS_H
#define TM_SYS_STANDARD_FDS_H

/* Returns a close-on-exec duplicate above 2 and closes a low `fd`. A negative `fd` is returned as
 * is. Negated errno: no descriptor is left, and `fd` is closed. */
int tm_fd_lift(int fd);
/* Both of a pair. 0 or a negated errno; then both are closed and set to -1. */
int tm_fd_lift_pair(int fds[2]);

/* The placeholders can be neither read nor written: to other code the descriptors look closed. */
struct tm_standard_fds {
  int at[3], len;
};
void tm_standard_fds_hold(struct tm_standard_fds *low);
void tm_standard_fds_release(struct tm_standard_fds *low);

#endif
