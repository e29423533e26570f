/* cmd_portal.c - `tidemill portal`: runs the program tidemill-portal, which is beside this one, or
 * where cmake --install puts it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/cli.h"

struct portal_options {
  bool open, control;
  const char *port, *socket, *listen;
  struct tm_words names;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "open", TM_OPTION_FLAG, offsetof(struct portal_options, open), NULL, NULL, "opens a browser" },
  { "port", TM_OPTION_VALUE, offsetof(struct portal_options, port), "PORT", NULL, "listens on this port; without it on that of last time, or a free one" },
  { "socket", TM_OPTION_VALUE, offsetof(struct portal_options, socket), "PATH", NULL, "listens on a unix socket instead, for ssh -L 8080:PATH HOST" },
  { "listen", TM_OPTION_VALUE, offsetof(struct portal_options, listen), "ADDRESS", NULL, "listens on this address of the machine instead of 127.0.0.1 and ::1; needs --allow-host" },
  { "allow-control", TM_OPTION_FLAG, offsetof(struct portal_options, control), NULL, NULL, "pages can cancel and resume jobs, run failed items again, and replay mini-batches; without it they show the command to type" },
  { "allow-host", TM_OPTION_LIST, offsetof(struct portal_options, names), "NAME", NULL, "also answers requests for this host; may be given several times" },
};
/* clang-format on */

static int portal(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_portal = {
  .name = "portal",
  .run = portal,
  .usage = "[--open] [--port PORT | --socket PATH] [options]",
  .summary = "shows the jobs of the workspace in a browser, live",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "Prints the URL to open, and runs until Ctrl-C. No job waits for it, and\n"
          "without --allow-control it changes nothing. More: tidemill help portal --manual\n"
          "\n"
          "Exit status: 0 a signal has ended it; 1 a portal of the workspace is running,\n"
          "or somebody has the port; 2 wrong usage, or no workspace; 3 system error.\n",
};

/* To free(); NULL: it is in neither place. */
static char *find_program(const char *beside)
{
  static const char *const places[] = { "tidemill-portal", "../libexec/tidemill/tidemill-portal" };
  char *dir = tm_path_dir(beside);
  char *found = NULL;
  for (size_t i = 0; i < TM_COUNT_OF(places) && !found; i++) {
    found = tm_path_join(dir, places[i]);
    if (access(found, X_OK) < 0) {
      free(found);
      found = NULL;
    }
  }
  free(dir);
  return found;
}

static int run(char **argv, struct tm_err *err)
{
  char *beside = tm_cli_program(err);
  if (!beside)
    return err->code;
  char *program = find_program(beside);
  int rc;
  if (program) {
    argv[0] = "tidemill-portal"; /* so that ps names it */
    execv(program, argv);
    rc = tm_err_system(err, -errno, "cannot run '%s'", program);
  } else {
    rc = tm_err_set(err, -ENOENT,
                    "this tidemill has no portal: 'tidemill-portal' is neither beside '%s' nor in "
                    "../libexec/tidemill; it was built with -DTM_PORTAL=OFF, or is not installed",
                    beside);
  }
  free(program);
  free(beside);
  return rc;
}

static int portal(const struct tm_cli *cli, int argc, char **argv)
{
  struct portal_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &rest, &err);
  if (rc >= 0 && rest.len > 0)
    rc = tm_err_set(&err, TM_EUSAGE,
                    "tidemill portal shows all jobs of the workspace, and takes only options; '%s' "
                    "is too many",
                    rest.at[0]);
  TM_ARRAY_RELEASE(&rest);
  TM_ARRAY_RELEASE(&o.names);
  if (rc < 0)
    return tm_cli_fail_usage(&tm_command_portal, &err);
  return tm_cli_end(run(argv, &err), &err);
}
