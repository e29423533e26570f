/* msg_bytes.h - what channel.c and link.c share: bytes in and out of a descriptor, messages in a
 * run of bytes. Only they include it. */
#ifndef TM_SYS_MESSAGES_MSG_BYTES_H
#define TM_SYS_MESSAGES_MSG_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "sys/messages/msg.h"

bool tm_wire_is_socket(int fd);

/* Descriptors that arrived. Those that do not fit are closed. */
struct tm_wire_fds {
  int *at;
  int len, max;
  bool is_cut; /* one arrived that could not be opened, because too many are open */
};
/* Returns the bytes read, 0 at end of file (also when the peer died with unread bytes), or a
 * negated errno; retries after EINTR. `fds` NULL: the kernel refuses descriptors. `wait` false:
 * -EAGAIN if there is nothing to read. */
ssize_t tm_wire_read(int fd, bool is_socket, void *p, size_t n, bool wait, struct tm_wire_fds *fds);
/* Returns the bytes written, or a negated errno; retries after EINTR. `pass`: a descriptor to send
 * with the first byte, or -1. */
ssize_t tm_wire_write(int fd, bool is_socket, const void *p, size_t n, bool wait, int pass);

/* An inbox is a buffer whose first *at bytes are used up. Returns the free space after its end;
 * moves the rest to the front only when little space is left. */
char *tm_wire_room(struct tm_buf *in, size_t *at, size_t *room);
/* The next whole message: 1; 0 if it is incomplete; TM_EPROTOCOL if it is too long. Advances *at.
 * The payload points into the inbox. */
int tm_wire_next(const struct tm_buf *in, size_t *at, struct tm_msg *f);
/* Adds header and payload; `flags` is 0 or TM_MSG_FD. */
void tm_wire_add(struct tm_buf *out, const struct tm_msg *f, uint32_t flags);

#endif
