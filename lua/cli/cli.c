/* cli.c - see cli.h.
 *
 * Each command is a row of a table. Dispatch, help (help.c), suggestions, the manual page and
 * completion read this table. Two internal commands run this program as a keeper or as a worker;
 * the help does not list them.
 */
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/disk.h"
#include "api/own.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/script.h"
#include "node/keeper.h"
#include "job/job.h"
#include "modules.h"
#include "runtime.h"
#include "store/db.h"
#include "sys/loop.h"
#include "sys/process.h"

void tm_cli_add_version(struct tm_buf *out)
{
  tm_buf_printf(out, "tidemill %s, ", tm_version());
  tm_lua_version(out);
}

static int version(const struct tm_cli *cli, int argc, char **argv)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc;
  tm_buf_printf(&text, "tidemill %s\n", tm_version());
  tm_lua_version(&text);
  tm_buf_printf(&text, ", libuv %s, ", tm_loop_library());
  tm_json_library(&text);
  tm_buf_add_str(&text, ", ");
  tm_hash_library(&text);
  tm_buf_add_str(&text, ", ");
  tm_db_library(&text);
  tm_buf_add_char(&text, '\n');
  rc = tm_cli_write(&text);
  tm_buf_release(&text);
  return rc;
}

static int keeper(const struct tm_cli *cli, int argc, char **argv)
{
  return tm_keeper_run();
}

static int worker(const struct tm_cli *cli, int argc, char **argv)
{
  return tm_lua_run_worker(tm_lua_modules());
}

/* clang-format off */
static const struct tm_command command_version = { .name = "version", .run = version, .usage = "", .summary = "prints the versions of tidemill and its libraries" };
static const struct tm_command command_node = { .name = "node", .run = keeper, .usage = "" };
static const struct tm_command command_worker = { .name = "worker", .run = worker, .usage = "" };

static const struct tm_command *const commands[] = {
  &tm_command_run,
  &tm_command_map,
  &tm_command_try,
  &tm_command_head,
  &tm_command_replay,
  &tm_command_resume,
  &tm_command_status,
  &tm_command_cancel,
  &tm_command_logs,
  &tm_command_jobs,
  &tm_command_clean,
  &tm_command_verify,
  &tm_command_graph,
  &tm_command_dataset,
  &tm_command_repl,
  &tm_command_lua,
  &command_version,
  &tm_command_help,
  &command_node,
  &command_worker,
  NULL,
};
/* clang-format on */

const struct tm_command *tm_command_at(size_t i)
{
  return commands[i];
}

const struct tm_command *tm_command_find(const char *name)
{
  for (size_t i = 0; commands[i]; i++)
    if (strcmp(commands[i]->name, name) == 0)
      return commands[i];
  return NULL;
}

/* ---- job names ---- */

int tm_cli_one_job(struct tm_words *rest, struct tm_err *err)
{
  if (rest->len == 0)
    *TM_ARRAY_ADD(rest) = "latest";
  if (rest->len > 1)
    return tm_err_set(err, TM_EUSAGE, "only one job at a time; '%s' is too many", rest->at[1]);
  return 0;
}

static void on_log(void *data, enum tidemill_level level, const char *text)
{
  tm_cli_say("%s", text);
}

int tm_cli_open_workspace(const struct tm_cli *cli, struct tidemill_workspace **out,
                          enum tm_cli_use use, struct tm_err *err)
{
  struct tidemill_workspace_options o = TIDEMILL_WORKSPACE_OPTIONS_INIT;
  o.make = use == TM_CLI_MAKES;
  o.on_log = on_log;
  return tm_workspace_open_on(out, cli->fs, &o, use == TM_CLI_READS ? TM_TO_READ : TM_TO_USE, err);
}

struct tidemill_workspace *tm_cli_nearest_workspace(const struct tm_cli *cli)
{
  struct tidemill_workspace *ws = tm_workspace_nearest(cli->fs);
  ws->o.on_log = on_log;
  return ws;
}

int tm_cli_open_record(const struct tm_cli *cli, struct tidemill_record **out, const char *job,
                       struct tm_err *err)
{
  struct tidemill_workspace *ws = tm_cli_nearest_workspace(cli);
  int rc = tidemill_record_open(out, ws, job, err);
  tidemill_workspace_close(ws);
  return rc;
}

static void on_note(void *data, enum tidemill_level level, const char *text)
{
  tm_cli_say("%s: %s", level == TIDEMILL_WARNING ? "warning" : "note", text);
}

char *tm_cli_program(struct tm_err *err)
{
  char *program = tm_process_program();
  if (!program)
    tm_err_set(err, -ENOENT,
               "cannot find the file of this program: /proc is not mounted; mount it");
  return program;
}

int tm_cli_open_runtime(const struct tm_cli *cli, struct tidemill_runtime **out, struct tm_err *err)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  char *program = tm_cli_program(err);
  o.program = program;
  o.on_log = on_note;
  o.is_command = true;
  int rc = program ? tidemill_runtime_new(out, &o, err) : err->code;
  free(program);
  if (rc < 0)
    return rc;
  (*out)->fs = cli->fs;
  return 0;
}

char *tm_cli_find_job(const struct tm_cli *cli, const char *given, struct tm_err *err)
{
  struct tidemill_workspace *ws = tm_cli_nearest_workspace(cli);
  char *dir = tm_workspace_job_dir(ws, given, TM_TO_USE, err);
  tidemill_workspace_close(ws);
  return dir;
}

/* ---- text ---- */

void tm_cli_add_shown(struct tm_buf *out, const char *s, size_t n)
{
  for (size_t i = 0; i < n;) {
    size_t len = 0;
    while (i + len < n && s[i + len] != '\n' && s[i + len] != '\t')
      len++;
    tm_text_one_line(out, s + i, len, 0);
    if (i + len < n)
      tm_buf_add_char(out, s[i + len]);
    i += len + 1;
  }
}

void tm_cli_say(const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE, words = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&words, fmt, ap);
  va_end(ap);
  tm_buf_add_str(&text, "tidemill: ");
  tm_cli_add_shown(&text, tm_buf_str(&words), words.len);
  tm_buf_release(&words);
  tm_buf_add_char(&text, '\n');
  (void)fwrite(text.data, 1, text.len,
               stderr); /* one write, so that lines of several processes do not mix */
  tm_buf_release(&text);
}

int tm_cli_fail_usage(const struct tm_command *command, const struct tm_err *err)
{
  struct tm_buf usage = TM_BUF_NONE;
  tm_help_add_usage(&usage, command);
  tm_cli_say("%s", err->text);
  fputs(usage.data, stderr);
  tm_buf_release(&usage);
  return 2;
}

int tm_cli_end(int rc, const struct tm_err *err)
{
  if (rc >= 0)
    return rc;
  tm_cli_say("%s", err->text);
  return tm_exit_status_of(rc);
}

int tm_cli_fail_thread(int code, struct tm_err *err)
{
  return tm_process_blame_limits(tm_err_system(err, -code, "cannot start a thread"), err);
}

/* Whether the reader of standard output has gone, even if another writer got the EPIPE. */
static bool has_no_reader(void)
{
  struct pollfd fd = { .fd = STDOUT_FILENO };
  return poll(&fd, 1, 0) > 0 && (fd.revents & POLLERR);
}

/* Returns why standard output accepts no more when only Lua's io.write() saw the error. 0:
 * unknown. */
static int ask_why(void)
{
  struct statvfs disk;
  if (write(STDOUT_FILENO, "", 0) < 0) /* the device reports it */
    return errno;
  return fstatvfs(STDOUT_FILENO, &disk) == 0 && disk.f_blocks > 0 && disk.f_bavail == 0 ? ENOSPC
                                                                                        : 0;
}

/* Flushes the output; returns the same values as tm_cli_write(). `code`: an earlier error, or 0.
 * Reports the error once and clears it. */
static int flush(int code)
{
  errno = 0;
  bool is_out = fflush(stdout) == 0 && !ferror(stdout);
  if (is_out)
    return 0;
  if (errno)
    code = errno;
  else if (code == 0)
    code = has_no_reader() ? EPIPE : ask_why();
  __fpurge(stdout);
  clearerr(stdout);
  if (code == EPIPE)
    return TM_CLI_NO_READER;
  tm_cli_say("cannot write to standard output%s%s", code ? ": " : "", code ? strerror(code) : "");
  return 3;
}

int tm_cli_write(const struct tm_buf *text)
{
  if (!isatty(STDOUT_FILENO))
    return tm_cli_write_styled(text);
  struct tm_buf shown = TM_BUF_NONE;
  tm_cli_add_shown(&shown, tm_buf_str(text), text->len);
  int rc = tm_cli_write_styled(&shown);
  tm_buf_release(&shown);
  return rc;
}

int tm_cli_write_styled(const struct tm_buf *text)
{
  bool is_out = fwrite(tm_buf_str(text), 1, text->len, stdout) == text->len;
  return flush(is_out ? 0 : errno);
}

/* Runs only after os.exit(). */
static void at_exit(void)
{
  int status = flush(0);
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
  int written = command->summary ? flush(0) : 0;
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
  struct tm_cli cli = { .fs = fs };
  const struct tm_command *command;
  struct tm_buf text = TM_BUF_NONE;
  const char *name = argc > 1 ? argv[1] : "";
  int status;
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
  if (!(command = tm_command_find(name)) && tm_script_is_meant(name))
    return run_command(&tm_command_lua, &cli, argc, argv);
  if (!command)
    return tm_help_refuse(name);
  if (!command->takes_all && asks_for_help(argc - 1, argv + 1)) {
    tm_help_add_command(&text, command);
    status = tm_cli_write(&text);
    tm_buf_release(&text);
    return status;
  }
  return run_command(command, &cli, argc - 1, argv + 1);
}
