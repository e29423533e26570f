/* listen.c - see listen.h. */
#include "portal/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 512
#define FLAGS   (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

union address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un file;
};

static bool read_address(const char *text, int port, union address *out, socklen_t *len)
{
  memset(out, 0, sizeof *out);
  if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons((uint16_t)port);
    *len = sizeof out->v4;
    return true;
  }
  if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1) {
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons((uint16_t)port);
    *len = sizeof out->v6;
    return true;
  }
  return false;
}

/* A socket that listens; or a negated errno. */
static int open_at(const union address *a, socklen_t len)
{
  int one = 1, code, fd = socket(a->any.sa_family, FLAGS, 0);
  if (fd < 0)
    return -errno;
  if (a->any.sa_family != AF_UNIX)
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (a->any.sa_family == AF_INET6)
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (bind(fd, &a->any, len) == 0 && listen(fd, BACKLOG) == 0)
    return fd;
  code = errno;
  close(fd);
  return -code;
}

static int port_of(int fd)
{
  union address a;
  socklen_t len = sizeof a;
  if (getsockname(fd, &a.any, &len) < 0)
    return 0;
  return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

static int fail_port(int code, const struct tm_listen_options *o, struct tm_err *err)
{
  const char *address = o->address ? o->address : "127.0.0.1";
  if (code == -EADDRINUSE)
    return tm_err_set(err, TM_EINUSE,
                      "port %d of %s is taken by another program; leave out --port for a free one",
                      o->port, address);
  if (code == -EACCES)
    return tm_err_set(
        err, TM_EUSAGE,
        "port %d of %s needs root; choose one from 1024 to 65535, or leave out --port", o->port,
        address);
  if (code == -EADDRNOTAVAIL)
    return tm_err_set(err, TM_EUSAGE, "%s is not an address of this machine", address);
  return tm_err_system(err, code, "cannot listen on port %d of %s", o->port, address);
}

static int add_port(struct tm_listen *l, const char *address, int port)
{
  union address a;
  socklen_t len = 0;
  int fd = read_address(address, port, &a, &len) ? open_at(&a, len) : -EINVAL;
  if (fd >= 0)
    l->fds[l->len++] = fd;
  return fd;
}

static int open_port(struct tm_listen *l, const struct tm_listen_options *o, struct tm_err *err)
{
  const char *address = o->address ? o->address : "127.0.0.1";
  int fd = -1;
  if (o->port == 0 && o->preferred_port > 0)
    fd = add_port(l, address, o->preferred_port);
  if (fd < 0)
    fd = add_port(l, address, o->port);
  if (fd == -EINVAL)
    return tm_err_set(err, TM_EUSAGE,
                      "--listen needs the number of an address, such as 192.0.2.7, not '%s'",
                      address);
  if (fd < 0)
    return fail_port(fd, o, err);
  l->port = port_of(fd);
  if (!o->address) /* a machine may have no IPv6, or another program this port of it */
    (void)add_port(l, "::1", l->port);
  return 0;
}

/* Whether somebody answers there. */
static bool is_live(const union address *a, socklen_t len)
{
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool is = fd >= 0 && (connect(fd, &a->any, len) == 0 || errno == EAGAIN);
  if (fd >= 0)
    close(fd);
  return is;
}

/* Removes a socket that a portal left when it was killed. */
static int make_room(const char *path, const union address *a, socklen_t len, struct tm_err *err)
{
  struct stat st;
  if (lstat(path, &st) < 0)
    return 0;
  if (!S_ISSOCK(st.st_mode))
    return tm_err_set(err, TM_EUSAGE, "'%s' exists, and is not a socket; name another path", path);
  if (is_live(a, len))
    return tm_err_set(err, TM_EINUSE, "a program listens on the socket '%s'; name another path",
                      path);
  if (unlink(path) < 0)
    return tm_err_system(err, -errno, "cannot remove the old socket '%s'", path);
  return 0;
}

static int open_path(struct tm_listen *l, const char *path, struct tm_err *err)
{
  union address a = { .file = { .sun_family = AF_UNIX } };
  if (strlen(path) >= sizeof a.file.sun_path)
    return tm_err_set(err, TM_EUSAGE, "the path of a socket has at most %zu bytes; '%s' has %zu",
                      sizeof a.file.sun_path - 1, path, strlen(path));
  strcpy(a.file.sun_path, path);
  int rc = make_room(path, &a, sizeof a.file, err);
  if (rc < 0)
    return rc;
  mode_t before = umask(0177);
  int fd = open_at(&a, sizeof a.file);
  umask(before);
  if (fd < 0)
    return tm_err_system(err, fd, "cannot make the socket '%s'", path);
  l->fds[l->len++] = fd;
  l->path = path;
  return 0;
}

int tm_listen_open(struct tm_listen *l, const struct tm_listen_options *o, struct tm_err *err)
{
  *l = (struct tm_listen) { .len = 0 };
  return o->path ? open_path(l, o->path, err) : open_port(l, o, err);
}

void tm_listen_close(struct tm_listen *l)
{
  for (size_t i = 0; i < l->len; i++)
    close(l->fds[i]);
  if (l->path)
    (void)unlink(l->path);
  *l = (struct tm_listen) { .len = 0 };
}
