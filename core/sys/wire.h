/* wire.h - what channel.c and link.c share: bytes in and out of a descriptor, frames in a run of
 * bytes. Nobody else's. */
#ifndef TM_SYS_WIRE_H
#define TM_SYS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sys/channel.h"

bool tm_wire_is_socket(int fd);

/* Descriptors that came. A place that is too small is no error: what does not fit is closed. */
struct tm_wire_fds {
  int *at;
  int len, max;
  bool is_cut; /* one came that could not be opened: there are too many */
};
/* Bytes read, 0 at the end of file (also when the peer died with unread bytes), or a negated
 * errno; EINTR is retried. `fds` NULL: descriptors are refused by the kernel. `wait` false:
 * -EAGAIN when nothing is there. */
ssize_t tm_wire_read(int fd, bool is_socket, void *p, size_t n, bool wait, struct tm_wire_fds *fds);
/* Bytes written, or a negated errno; EINTR is retried. `pass`: a descriptor that goes with the
 * first byte, or -1. */
ssize_t tm_wire_write(int fd, bool is_socket, const void *p, size_t n, bool wait, int pass);

/* An inbox is a buffer whose first *at bytes are used up. Room for reading behind its end: moves
 * what is left to the front only when little room is left. */
char *tm_wire_room(struct tm_buf *in, size_t *at, size_t *room);
/* The next whole frame: 1, 0 when its last byte is not there, TM_EPROTOCOL when it is too long.
 * *at goes behind it. The payload points into the inbox. */
int tm_wire_next(const struct tm_buf *in, size_t *at, struct tm_frame *f);
/* Adds header and payload; `flags` is 0 or TM_FRAME_FD. */
void tm_wire_add(struct tm_buf *out, const struct tm_frame *f, uint32_t flags);

#endif
