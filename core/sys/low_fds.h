/* low_fds.h - descriptors 0, 1 and 2 are the host's, also while it has them closed: what is opened in its process must not come to
 * be one of them, or whatever prints would write to it, and who gives itself a new standard output would close it.
 *
 * What is opened here one by one is lifted; while a library opens descriptors of its own, the low ones are held.
 */
#ifndef TM_SYS_LOW_FDS_H
#define TM_SYS_LOW_FDS_H

/* The same above 2, close-on-exec; the low one is closed. A negative one is given back. Negated errno: none is left, and `fd` is
 * closed. */
int tm_fd_lift(int fd);
/* Both of a pair. 0 or a negated errno; then both are closed, and -1. */
int tm_fd_lift_pair(int fds[2]);

/* What holds a low one cannot be read or written: to who prints meanwhile it is as closed as before. */
struct tm_low_fds {
  int at[3], len;
};
void tm_low_fds_hold(struct tm_low_fds *low);
void tm_low_fds_release(struct tm_low_fds *low);

#endif
