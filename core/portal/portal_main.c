/* portal_main.c - the command line of tidemill-portal. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidemill.h>

#include "base/mem.h"
#include "base/text.h"
#include "portal/server.h"

#define WRONG_USAGE 2
#define PORT_MAX    65535

static const char help[] =
    "usage: tidemill portal [--port PORT] [--socket PATH] [--open] [--allow-control]\n"
    "                       [--listen ADDRESS --allow-host NAME]...\n"
    "\n"
    "Shows the jobs of the workspace in a browser, live, until Ctrl-C ends it. No\n"
    "job waits for it. Without --allow-control, it changes nothing. It prints the\n"
    "URL to open.\n"
    "\n"
    "  --port PORT        on this port; without it, the one of last time, or a free one\n"
    "  --socket PATH      on a unix socket instead, for ssh -L 8080:PATH HOST\n"
    "  --open             opens a browser\n"
    "  --allow-control    its pages can cancel and resume jobs, run failed items\n"
    "                     again, and replay mini-batches\n"
    "  --listen ADDRESS   on this address of the machine instead of 127.0.0.1 and ::1\n"
    "  --allow-host NAME  answers requests for this host, too; needed with --listen;\n"
    "                     may be given several times\n"
    "\n"
    "Exit status: 0 a signal has ended it; 1 a portal of the workspace is running, or\n"
    "somebody has the port; 2 wrong usage, or no workspace; 3 system error.\n"
    "More: tidemill help portal --manual\n";

enum {
  OPTION_PORT = 1,
  OPTION_SOCKET,
  OPTION_OPEN,
  OPTION_LISTEN,
  OPTION_ALLOW,
  OPTION_CONTROL,
  OPTION_HELP
};

static const struct option options[] = {
  { "port", required_argument, NULL, OPTION_PORT },
  { "socket", required_argument, NULL, OPTION_SOCKET },
  { "open", no_argument, NULL, OPTION_OPEN },
  { "listen", required_argument, NULL, OPTION_LISTEN },
  { "allow-host", required_argument, NULL, OPTION_ALLOW },
  { "allow-control", no_argument, NULL, OPTION_CONTROL },
  { "help", no_argument, NULL, OPTION_HELP },
  { NULL, 0, NULL, 0 },
};

struct names TM_ARRAY(const char *);

static int fail(const char *words, const char *given)
{
  fprintf(stderr, "tidemill: %s%s%s%s; see tidemill help portal\n", words, given ? " '" : "",
          given ? given : "", given ? "'" : "");
  return WRONG_USAGE;
}

static int check(const struct tm_serve_options *o, const struct names *names)
{
  const struct tm_listen_options *l = &o->listen;
  if (l->path && (l->address || l->port))
    return fail("--socket excludes --port and --listen", NULL);
  if (l->address && names->len == 0)
    return fail("--listen needs --allow-host NAME: the name of this machine as browsers will have "
                "it in the URL",
                NULL);
  return 0;
}

static int take(struct tm_serve_options *o, struct names *names, int option, const char *value)
{
  int64_t port = 0;
  switch (option) {
  case OPTION_PORT:
    if (!tm_text_int(value, &port) || port < 1 || port > PORT_MAX)
      return fail("--port needs a number from 1 to 65535, not", value);
    o->listen.port = (int)port;
    return 0;
  case OPTION_SOCKET:
    o->listen.path = value;
    return *value ? 0 : fail("--socket needs a path", NULL);
  case OPTION_OPEN: o->opens = true; return 0;
  case OPTION_CONTROL: o->allows_control = true; return 0;
  case OPTION_LISTEN: o->listen.address = value; return 0;
  case OPTION_ALLOW: *TM_ARRAY_ADD(names) = value; return 0;
  default: return WRONG_USAGE; /* getopt has said why */
  }
}

int main(int argc, char **argv)
{
  struct tm_serve_options o = { .workspace = NULL };
  struct names names = { .len = 0 };
  int option, status = 0;
  argv[0] = "tidemill portal";
  while (status == 0 && (option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
    if (option == OPTION_HELP) {
      fputs(help, stdout);
      TM_ARRAY_RELEASE(&names);
      return fflush(stdout) == 0 ? 0 : 3;
    }
    status = take(&o, &names, option, optarg);
  }
  if (status == 0 && optind < argc)
    status = fail("tidemill portal takes only options, not", argv[optind]);
  if (status == 0)
    status = check(&o, &names);
  *TM_ARRAY_ADD(&names) = NULL;
  o.names = names.len > 1 ? names.at : NULL;
  if (status == 0)
    status = tm_serve(&o);
  TM_ARRAY_RELEASE(&names);
  return status;
}
