/* cli.c - see cli.h. */
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

#include "records/disk.h"
#include "api/command_host.h"
#include "base/mem.h"
#include "base/text.h"
#include "runtime.h"
#include "sys/clock.h"
#include "sys/process.h"

void tm_cli_add_version(struct tm_buf *out)
{
  tm_buf_printf(out, "tidemill %s, ", tidemill_version());
  tm_lua_version(out);
}

const struct tm_command *tm_command_find(const struct tm_cli *cli, const char *name)
{
  for (size_t i = 0; cli->commands[i]; i++)
    if (strcmp(cli->commands[i]->name, name) == 0)
      return cli->commands[i];
  return NULL;
}

int64_t tm_cli_now_ns(void)
{
  return tm_clock_mono_ns();
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

static void on_log(enum tidemill_level level, const char *text, void *data)
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

static void on_note(enum tidemill_level level, const char *text, void *data)
{
  tm_cli_say("%s: %s", level == TIDEMILL_LEVEL_WARNING ? "warning" : "note", text);
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
  int rc = program ? tidemill_runtime_new(out, &o, err) : err->code;
  free(program);
  if (rc < 0)
    return rc;
  tm_runtime_be_command(*out, cli->fs);
  return 0;
}

int tm_cli_head(const struct tidemill_head_options *options, struct tm_err *err)
{
  return tm_head_of_command(options, err);
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

/* ---- usage ---- */

#define USAGE_INDENT 9
#define JOINED       '\x01' /* a blank where a usage does not break */

/* Keeps "[--param NAME=VALUE]" on one line: a usage breaks only between brackets, or before one. */
static char *join_brackets(const char *usage)
{
  char *text = tm_xstrdup(usage);
  int depth = 0;
  for (char *c = text; *c; c++) {
    depth += (*c == '[') - (*c == ']');
    if (*c == ' ' && depth > 0 && c[1] != '[')
      *c = JOINED;
  }
  return text;
}

void tm_command_add_usage(struct tm_buf *out, const struct tm_command *c)
{
  char *usage = join_brackets(c->usage);
  tm_buf_printf(out, "usage: tidemill %s%s", c->name, *usage ? " " : "");
  size_t begin = out->len;
  tm_text_wrap(out, usage, USAGE_INDENT, TM_HELP_WIDTH);
  for (size_t i = begin; i < out->len; i++)
    if (out->data[i] == JOINED)
      out->data[i] = ' ';
  free(usage);
}

int tm_cli_fail_usage(const struct tm_command *command, const struct tm_err *err)
{
  struct tm_buf usage = TM_BUF_NONE;
  tm_command_add_usage(&usage, command);
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

int tm_cli_write_and_release(struct tm_buf *text)
{
  int rc = tm_cli_write(text);
  tm_buf_release(text);
  return rc;
}

int tm_cli_write_styled(const struct tm_buf *text)
{
  bool is_out = fwrite(tm_buf_str(text), 1, text->len, stdout) == text->len;
  return flush(is_out ? 0 : errno);
}

int tm_cli_flush(void)
{
  return flush(0);
}
