/* server.h - the portal as a program that runs until a signal ends it. */
#ifndef TM_PORTAL_SERVER_H
#define TM_PORTAL_SERVER_H

#include <stdbool.h>

#include "portal/listen.h"

struct tm_serve_options {
  const char *workspace; /* NULL: the nearest one */
  struct tm_listen_options listen;
  const char *const *names; /* hosts that are allowed; NULL-ended, or NULL */
  bool opens;               /* a browser */
  bool allows_control;      /* of pages (control_rules.h) */
};

/* Prints the URL. Returns the exit status: 0 a signal has ended it, 1 a portal runs already, or
 * somebody has the port, 2 wrong usage, or no workspace, 3 system error. */
int tm_serve(const struct tm_serve_options *o);

#endif
