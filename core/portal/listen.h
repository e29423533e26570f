/* listen.h - the sockets that the portal listens on. */
#ifndef TM_PORTAL_LISTEN_H
#define TM_PORTAL_LISTEN_H

#include <stddef.h>

#include "base/err.h"

#define TM_LISTEN_SOCKETS 2

struct tm_listen {
  int fds[TM_LISTEN_SOCKETS];
  size_t len;
  int port;         /* 0: it is a socket in the file system */
  const char *path; /* of that; NULL: there is none */
};

struct tm_listen_options {
  const char *address; /* NULL: 127.0.0.1, and ::1 if there is one */
  int port;            /* 0: a free one */
  int preferred_port;  /* used if `port` is 0 and it is free; 0: none */
  const char *path;    /* a unix socket instead; NULL: none */
};

/* Binds and listens. TM_EINUSE: the port is taken, or a portal that lives has the socket. Close it
 * in every case. */
int tm_listen_open(struct tm_listen *l, const struct tm_listen_options *o, struct tm_err *err);
/* Removes the unix socket, too. */
void tm_listen_close(struct tm_listen *l);

#endif
