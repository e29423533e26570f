/* commands.c - see commands.h.
 *
 * Each command is a row of a table. Dispatch, help (cmd_help.c), suggestions, the manual page and
 * completion read this table. Internal commands run this program as a keeper, a relay or a worker;
 * the help does not list them.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/cmd_script.h"
#include "cli/help/cmd_help.h"
#include "modules.h"
#include "node/keeper.h"
#include "node/node_msg.h"
#include "relay/relay.h"
#include "runtime.h"
#include "store/db.h"
#include "sys/loop.h"
#include "sys/process.h"

static int keeper(const struct tm_cli *cli, int argc, char **argv)
{
  return tm_keeper_run();
}

/* On another machine than the supervisor's. */
static int node(const struct tm_cli *cli, int argc, char **argv)
{
  struct tm_err err = TM_ERR_NONE;
  char *program;
  int status;

  if (isatty(STDIN_FILENO)) {
    tm_cli_say("'tidemill node' is not for a terminal: a job that uses several machines starts it "
               "on each of them, by srun, ssh or another command, to run its workers there");
    return 2;
  }
  program = tm_cli_program(&err);
  if (!program)
    return tm_cli_end(err.code, &err);
  status = tm_relay_run(program);
  free(program);
  return status;
}

static int worker(const struct tm_cli *cli, int argc, char **argv)
{
  return tm_lua_run_worker(tm_lua_modules());
}

/* clang-format off */
static const struct tm_command command_keeper = { .name = "keeper", .run = keeper, .usage = "" };
static const struct tm_command command_node = { .name = "node", .run = node, .usage = "", .help = "A job that uses several machines starts it on each of them, by node_command:\n'tidemill help nodes'.\n" };
static const struct tm_command command_worker = { .name = "worker", .run = worker, .usage = "" };

static const struct tm_command *const commands[] = {
  &tm_command_run,
  &tm_command_map,
  &tm_command_try,
  &tm_command_head,
  &tm_command_replay,
  &tm_command_resume,
  &tm_command_status,
  &tm_command_report,
  &tm_command_cancel,
  &tm_command_logs,
  &tm_command_portal,
  &tm_command_jobs,
  &tm_command_clean,
  &tm_command_verify,
  &tm_command_graph,
  &tm_command_dataset,
  &tm_command_repl,
  &tm_command_lua,
  &tm_command_version,
  &tm_command_help,
  &command_keeper,
  &command_node,
  &command_worker,
  NULL,
};
/* clang-format on */

/* Runs only after os.exit(). */
static void at_exit(void)
{
  int status = tm_cli_flush();
  if (status != 0)
    _exit(status);
}

/* Runs a command of users, and checks its output however the command ends. */
static int run_command(const struct tm_command *command, const struct tm_cli *cli, int argc,
                       char **argv)
{
  if (command->summary)
    atexit(at_exit);
  int status = command->run(cli, argc, argv);
  int written = command->summary ? tm_cli_flush() : 0;
  return status ? status : written;
}

static void on_fault(const char *text, bool fatal, void *data)
{
  fprintf(stderr, "tidemill: fault%s: %s\n", fatal ? "" : " (going on)", text);
}

static bool asks_for_help(int argc, char **argv)
{
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
      return true;
  return false;
}

/* Fewer descriptors are not enough for the event loop and the files that a command reads. */
#define FDS_LEAST 16

int tm_cli_main(int argc, char **argv, const struct tm_fs *fs)
{
  struct tm_cli cli = { .fs = fs, .commands = commands };
  const struct tm_command *command;
  struct tm_buf text = TM_BUF_NONE;
  const char *name = argc > 1 ? argv[1] : "";
  cli.has_no_stdout = (tm_process_open_standard() & 1u << STDOUT_FILENO) != 0;
  tm_process_raise_fd_limit();
  if (tm_process_fd_limit() < FDS_LEAST) {
    tm_cli_say("this process may open %d files (ulimit -n), which is too few for any command: "
               "raise the limit",
               (int)tm_process_fd_limit());
    return 3;
  }
  tm_set_on_fault(on_fault, NULL);
  if (argc < 2)
    return run_command(isatty(STDIN_FILENO) ? &tm_command_repl : &tm_command_lua, &cli, argc, argv);
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
    name = "help";
  if (strcmp(name, "--version") == 0)
    name = "version";
  if (!(command = tm_command_find(&cli, name)) && tm_script_is_meant(name))
    return run_command(&tm_command_lua, &cli, argc, argv);
  if (!command)
    return tm_help_refuse(&cli, name);
  if (!command->takes_all && asks_for_help(argc - 1, argv + 1)) {
    tm_help_add_command(&text, command);
    return tm_cli_write_and_release(&text);
  }
  return run_command(command, &cli, argc - 1, argv + 1);
}
