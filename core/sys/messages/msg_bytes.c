/* msg_bytes.c - the wire: one system call per run of bytes, and where messages begin in it.
 *
 *  (1) A peer may send anything. Lengths are checked before they are added; a descriptor that does
 *      not fit is closed; memory grows with the bytes received, not with the announced length.
 *  (2) A peer that dies raises no SIGPIPE (sockets), and its last bytes are read before its end is
 *      seen: the kernel reports ECONNRESET only after them.
 *  (3) Bytes are not moved per message. The inbox is read to its end and restarts when it is used
 *      up. Its rest, less than a message, is moved to the front when less than ROOM_LEAST is free.
 */
#include "sys/messages/msg_bytes.h"

#include "sys/standard_fds.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"

#define ROOM       ((256u << 10) - 1) /* bytes of a fresh inbox; the buffer adds a NUL */
#define ROOM_LEAST (64u << 10)        /* bytes; less is not worth a read */
#define ROOM_KEPT  (1u << 20) /* bytes; an inbox that grew beyond this is freed when it is empty */
#define PASS_MAX   8          /* descriptors in one message */

bool tm_wire_is_socket(int fd)
{
  int type;
  socklen_t len = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0;
}

/* Polls if the mode of the descriptor is not the wanted one: a blocking pipe in a call that must
 * not block, or a non-blocking socket in a call that waits. */
static int wait_for(int fd, short events, bool wait)
{
  struct pollfd p = { .fd = fd, .events = events };
  int rc = poll(&p, 1, wait ? -1 : 0);
  if (rc < 0)
    return errno == EINTR ? 0 : -errno;
  return rc == 0 ? -EAGAIN : 0;
}

/* Takes the descriptors out of a message. */
static void take_fds(struct msghdr *m, struct tm_wire_fds *fds)
{
  for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
      continue;
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < n; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      if (fds->len == fds->max)
        close(fd); /* keeps (1) */
      else if ((fd = tm_fd_lift(fd)) >= 0)
        fds->at[fds->len++] = fd;
      else
        fds->is_cut = true;
    }
  }
}

static ssize_t read_socket(int fd, void *p, size_t n, bool wait, struct tm_wire_fds *fds)
{
  union {
    char bytes[CMSG_SPACE(PASS_MAX * sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec v = { p, n };
  struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
  int flags = MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT);
  if (fds == NULL)
    return recv(fd, p, n, flags);
  m.msg_control = control.bytes;
  m.msg_controllen = sizeof control.bytes;
  ssize_t got = recvmsg(fd, &m, flags);
  if (got >= 0)
    take_fds(&m, fds);
  if (got >= 0 && fds != NULL && (m.msg_flags & MSG_CTRUNC))
    fds->is_cut = true;
  return got;
}

ssize_t tm_wire_read(int fd, bool is_socket, void *p, size_t n, bool wait, struct tm_wire_fds *fds)
{
  for (;;) {
    int rc = !is_socket && !wait ? wait_for(fd, POLLIN, false) : 0;
    if (rc < 0)
      return rc;
    ssize_t got = is_socket ? read_socket(fd, p, n, wait, fds) : read(fd, p, n);
    if (got >= 0)
      return got;
    if (errno == ECONNRESET)
      return 0;
    if (errno == EAGAIN && wait)
      rc = wait_for(fd, POLLIN, true);
    else if (errno != EINTR)
      rc = -errno;
    if (rc < 0)
      return rc;
  }
}

static ssize_t write_socket(int fd, const void *p, size_t n, bool wait, int pass)
{
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  struct iovec v = { (void *)(uintptr_t)p, n };
  struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
  int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT); /* keeps (2) */
  if (pass >= 0) {
    memset(&control, 0, sizeof control);
    m.msg_control = control.bytes;
    m.msg_controllen = sizeof control.bytes;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof pass);
    memcpy(CMSG_DATA(c), &pass, sizeof pass);
  }
  return sendmsg(fd, &m, flags);
}

ssize_t tm_wire_write(int fd, bool is_socket, const void *p, size_t n, bool wait, int pass)
{
  for (;;) {
    ssize_t put = is_socket ? write_socket(fd, p, n, wait, pass) : write(fd, p, n);
    int rc = 0;
    if (put >= 0)
      return put;
    if (errno == EAGAIN && wait)
      rc = wait_for(fd, POLLOUT, true);
    else if (errno != EINTR)
      rc = -errno;
    if (rc < 0)
      return rc;
  }
}

char *tm_wire_room(struct tm_buf *in, size_t *at, size_t *room)
{
  tm_require(*at <= in->len);
  if (*at == in->len) {
    *at = in->len = 0;
    if (in->cap > ROOM_KEPT)
      tm_buf_release(in);
  }
  if (in->data == NULL)
    tm_buf_reserve(in, ROOM);
  if (in->cap - in->len <= ROOM_LEAST && *at > 0) {
    tm_buf_remove_front(in, *at);
    *at = 0;
  }
  /* a longer message: grows with the bytes received, keeps (1) */
  if (in->cap - in->len <= ROOM_LEAST)
    tm_buf_reserve(in, in->len);
  *room = in->cap - in->len - 1; /* for the NUL */
  return in->data + in->len;
}

int tm_wire_next(const struct tm_buf *in, size_t *at, struct tm_msg *f)
{
  size_t have = in->len - *at;
  if (have < TM_MSG_HEADER)
    return 0;
  const char *header = in->data + *at;
  if (!tm_msg_decode(f, header))
    return TM_EPROTOCOL;
  if (have - TM_MSG_HEADER < f->length)
    return 0;
  f->payload = header + TM_MSG_HEADER;
  *at += TM_MSG_HEADER + (size_t)f->length;
  return 1;
}

void tm_wire_add(struct tm_buf *out, const struct tm_msg *f, uint32_t flags)
{
  tm_require(f->length <= TM_MSG_MAX);
  struct tm_msg g = *f;
  g.type = (f->type & ~TM_MSG_FD) | flags;
  char *p = tm_buf_extend(out, TM_MSG_HEADER + (size_t)f->length);
  tm_msg_encode(&g, p);
  if (f->length > 0)
    memcpy(p + TM_MSG_HEADER, f->payload, f->length);
}
