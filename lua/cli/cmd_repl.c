/* cmd_repl.c - see cmd_repl.h; and `tidemill repl`.
 *
 *   a line -> appended to the piece -> tidemill_console_feed(): complete? -> run -> its values, or
 *   the error with its stack
 *
 * Ctrl-C interrupts running Lua, also in compiled loops and waits, and repeats this until Lua
 * stops. At the prompt it drops the line. The next Ctrl-C, while jobs are running, cancels them,
 * and the one after that kills their running mini-batches. A C function that reads or waits ends
 * with EINTR. If a C function computes endlessly, the third Ctrl-C ends the program. The handler
 * itself only interrupts, wakes and writes.
 *
 * Meanwhile, jobs run on a thread of the console. Their messages appear while a line is read, and
 * while a piece waits for a job.
 */
#include "cli/cmd_repl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tidemill.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/help/cmd_help.h"
#include "cli/help/cmd_manual.h"
#include "cli/terminal/line_history.h"
#include "cli/terminal/prompt.h"
#include "cli/terminal/signals.h"

#define AGAIN_NS (50 * TM_MS) /* between two interruptions of a piece */
#define PATIENCE_NS                                                                                \
  (500 * TM_MS) /* a Ctrl-C this long after one without effect is meant for what holds Lua up */
#define INIT_VARIABLE "TIDEMILL_INIT"

struct repl {
  const struct tm_cli *cli;
  struct tidemill_console *console;
  struct tm_prompt *prompt; /* NULL: plain lines */
  char *history;
  bool has_color; /* on standard output, and on standard error */
  bool has_failed;
  /* presses of Ctrl-C since the last line, while jobs run: the next one cancels the jobs, then
   * kills them */
  int presses;
  int vain;                         /* the same for a running piece of Lua */
  int64_t pressed_ns;               /* the last Ctrl-C, monotonic */
  volatile sig_atomic_t is_hearing; /* Lua gets events of jobs at the prompt */
  struct tidemill_runtime *runtime;
  int pieces, lines; /* so far */
  struct tm_buf piece, help;
};

/* ---- messages ---- */

static int width(void *data)
{
  const struct repl *r = data;
  return r->prompt ? tm_prompt_width(r->prompt) : 80;
}

/* A message may have names of files, or lines of other programs. */
static void say_error(const struct repl *r, const char *message)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, r->has_color ? "\033[31m" : "");
  tm_cli_add_shown(&text, message, strlen(message));
  tm_buf_add_str(&text, r->has_color ? "\033[0m\n" : "\n");
  fwrite(text.data, 1, text.len, stderr);
  fflush(stderr);
  tm_buf_release(&text);
}

/* `fed`: the result of tidemill_console_feed(). Values are shown in a form of their own. */
static void say(struct repl *r, int fed, const char *out)
{
  fflush(stdout);
  r->has_failed = r->has_failed || fed < 0;
  if (*out && fed < 0)
    say_error(r, out);
  else if (*out)
    printf("%s\n", out);
  fflush(stdout);
}

/* ---- Ctrl-C ---- */

static void on_late(int signal, void *data) /* in a signal handler */
{
  struct repl *r = data;
  if (!tidemill_console_interrupt(r->console))
    tm_signals_alarm(0, 0);
}

/* Restores the terminal before a signal ends the program. In a signal handler. */
static void end_by(int signal, void *data)
{
  const struct repl *r = data;
  tm_prompt_leave(r->prompt);
  tm_signals_surrender(signal);
}

static void say_at_once(const char *words) /* in a signal handler */
{
  (void)!write(STDERR_FILENO, words, strlen(words));
}

/* A C function still holds up Lua, and nothing can interrupt it. In a signal handler. */
static void on_vain(struct repl *r)
{
  int64_t now = tm_cli_now_ns();
  if (r->vain > 0 && now - r->pressed_ns < PATIENCE_NS)
    return;
  r->pressed_ns = now;
  r->vain++;
  if (r->vain == 2)
    say_at_once(
        "\nLua is in a C function, such as a long string.find(), and stops when that returns; "
        "Ctrl-C again ends this program\n");
  if (r->vain == 2 && tidemill_console_cancel(r->console, false) > 0)
    say_at_once("jobs are canceled: running mini-batches may end\n");
  if (r->vain < 3)
    return;
  say_at_once("\nended in a C function; running jobs can be resumed\n");
  end_by(SIGINT, r);
}

static void on_ctrl_c(int signal, void *data) /* in a signal handler */
{
  struct repl *r = data;
  if (r->is_hearing && !tm_prompt_is_interrupted(r->prompt)) {
    /* It is for the prompt, unless a listener of the user never ends. */
    tm_prompt_interrupt(r->prompt);
    tm_signals_alarm(PATIENCE_NS, AGAIN_NS);
    return;
  }
  if (!tidemill_console_interrupt(r->console)) {
    tm_prompt_interrupt(r->prompt);
    return;
  }
  tm_signals_alarm(AGAIN_NS, AGAIN_NS);
  on_vain(r);
}

static void catch_ends(struct repl *r)
{
  static const int numbers[] = { SIGHUP, SIGQUIT, SIGTERM };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++)
    if (!tm_signals_is_ignored(numbers[i]))
      tm_signals_catch(numbers[i], end_by, r);
}

/* After a Ctrl-C on an empty line, or in a piece, while jobs continue. */
static void hear_ctrl_c(struct repl *r, bool was_running)
{
  int running = tidemill_console_running(r->console);
  char words[128];
  if (running == 0)
    return;
  if (r->presses++ == 0 || was_running) {
    r->presses = 1;
    snprintf(words, sizeof(words), "%d %s running; Ctrl-C again cancels", running,
             tm_text_counted(running, "job is", "jobs are"));
    tm_prompt_say(r->prompt, words);
    return;
  }
  tm_prompt_say(r->prompt, r->presses == 2
                               ? "canceling: running mini-batches may end; Ctrl-C again kills them"
                               : "canceling: what still runs is killed");
  tidemill_console_cancel(r->console, r->presses > 2);
}

/* ---- pieces ---- */

/* Makes Ctrl-C end a read or a wait of Lua too, with EINTR. */
static void begin_lua(struct repl *r)
{
  r->vain = 0;
  tm_signals_break_calls(true);
}

static void end_lua(const struct repl *r)
{
  tm_signals_alarm(0, 0); /* a pending repetition is not meant for the next piece */
  tm_signals_break_calls(false);
  if (!r->prompt)
    return;
  clearerr(stdin);  /* the end of input for io.read() is not the end of the lines, */
  clearerr(stdout); /* and an interrupted write to the terminal is not a failure of the next one */
}

/* Messages name the piece. In plain input they name its line: line breaks before the piece make the
 * number right. */
static int feed(struct repl *r, const char **out)
{
  struct tm_buf text = TM_BUF_NONE;
  char name[32] = "stdin";
  if (r->prompt)
    snprintf(name, sizeof(name), "prompt %d", r->pieces + 1);
  for (int i = 1; !r->prompt && i < r->lines; i++)
    tm_buf_add_char(&text, '\n');
  tm_buf_add(&text, tm_buf_str(&r->piece), r->piece.len);
  begin_lua(r);
  int fed = tidemill_console_feed(r->console, tm_buf_str(&text), text.len, name, out);
  end_lua(r);
  tm_buf_release(&text);
  return fed;
}

/* Makes one entry of the history of a piece of several lines, whose line breaks become blanks. That
 * would change a comment, a long string and a string with an escaped line break. */
static void join_lines(struct repl *r)
{
  const char *piece = tm_buf_str(&r->piece);
  struct tm_buf text = TM_BUF_NONE;
  if (strstr(piece, "--") || strstr(piece, "[[") || strstr(piece, "[=") || strstr(piece, "\\\n"))
    return;
  for (const char *at = piece; *at; at += strspn(at, " \t\n")) {
    size_t n = strcspn(at, "\n");
    tm_buf_add_str(&text, text.len > 0 ? " " : "");
    tm_buf_add(&text, at, n);
    at += n;
  }
  if (strchr(piece, '\n') < piece + r->piece.len - 1)
    tm_prompt_join(r->prompt, tm_buf_str(&text));
  tm_buf_release(&text);
}

static void end_piece(struct repl *r, int fed, const char *out)
{
  if (r->prompt) {
    join_lines(r);
    tm_prompt_forget_interrupt(r->prompt);
    tm_prompt_clear_status(r->prompt);
  }
  say(r, fed, out);
  r->presses = 0;
  if (fed == -EINTR)
    hear_ctrl_c(r, true);
  for (size_t i = 0; i < r->piece.len; i++)
    r->lines += r->piece.data[i] == '\n';
  tm_buf_clear(&r->piece);
  r->pieces++;
  if (!r->prompt)
    tidemill_console_hear(r->console); /* at a prompt, waiting does this */
}

static void take_line(struct repl *r, const struct tm_buf *line)
{
  const char *out;
  tm_buf_add(&r->piece, tm_buf_str(line), line->len);
  tm_buf_add_char(&r->piece, '\n');
  int fed = feed(r, &out);
  if (fed != TIDEMILL_PIECE_INCOMPLETE) /* the piece is complete */
    end_piece(r, fed, out);
}

/* Reads a plain line. Negative: the end of input. */
static int read_plain(struct tm_buf *line)
{
  char *text = NULL;
  size_t cap = 0;
  ssize_t n = getline(&text, &cap, stdin);
  if (n > 0)
    tm_buf_add(line, text, (size_t)n - (text[n - 1] == '\n'));
  free(text);
  return n < 0 ? -1 : 0;
}

static void run_plain(struct repl *r)
{
  struct tm_buf line = TM_BUF_NONE, words = TM_BUF_NONE;
  r->lines = 1;
  for (; read_plain(&line) == 0; tm_buf_clear(&line))
    take_line(r, &line);
  if (r->piece.len > 0) {
    tm_buf_printf(&words, "stdin:%d: the input ends within what begins here", r->lines);
    end_piece(r, TM_ESCRIPT, tm_buf_str(&words));
  }
  tm_buf_release(&line);
  tm_buf_release(&words);
}

/* Ctrl-D: true ends the prompt. Running jobs end with it; warns about that once. */
static bool may_end(struct repl *r, bool was_said)
{
  int running = tidemill_console_running(r->console);
  char words[192];
  if (running == 0 || was_said)
    return true;
  snprintf(words, sizeof(words),
           "%d %s running; job:wait() waits. Ctrl-D again leaves, and stops the %s; 'tidemill "
           "jobs' then shows how to resume",
           running, tm_text_counted(running, "job is", "jobs are"),
           tm_text_counted(running, "job", "jobs"));
  tm_prompt_say(r->prompt, words);
  return false;
}

static void run_prompt(struct repl *r)
{
  struct tm_buf line = TM_BUF_NONE;
  bool had_text, wants_end = false;
  for (;;) {
    bool had_piece = r->piece.len > 0;
    tm_buf_clear(&line);
    if (!had_piece)
      tm_prompt_begin(r->prompt);
    int rc = tm_prompt_read(r->prompt, had_piece ? ">> " : "> ", &line, &had_text);
    if (rc == TM_PROMPT_LINE) {
      take_line(r, &line);
    } else if (rc == TM_PROMPT_END && !had_piece) {
      if (may_end(r, wants_end))
        break;
    } else {
      tm_buf_clear(&r->piece);
      if (rc == TM_PROMPT_INTERRUPTED && !had_text && !had_piece)
        hear_ctrl_c(r, false);
    }
    wants_end = rc == TM_PROMPT_END && !had_piece;
  }
  tm_buf_release(&line);
}

/* ---- start ---- */

static char *init_path(bool *is_named)
{
  const char *named = getenv(INIT_VARIABLE), *config = getenv("XDG_CONFIG_HOME");
  const char *home = getenv("HOME");
  *is_named = named && *named;
  if (named)
    return *named ? tm_xstrdup(named) : NULL;
  if (config && *config == '/')
    return tm_xprintf("%s/tidemill/repl.lua", config);
  return home && *home == '/' ? tm_xprintf("%s/.config/tidemill/repl.lua", home) : NULL;
}

static void run_file(struct repl *r, const char *path, char *const *words, size_t words_len)
{
  const char *out;
  begin_lua(r);
  int fed = tidemill_console_feed_file(r->console, path, words, words_len, &out);
  end_lua(r);
  say(r, fed, out);
}

static void run_init(struct repl *r)
{
  bool is_named;
  char *path = init_path(&is_named);
  if (path && (is_named || access(path, F_OK) == 0))
    run_file(r, path, NULL, 0);
  free(path);
}

static void greet(void)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_cli_add_version(&text);
  fprintf(stdout, "%s. help() says more; Ctrl-D ends.\n", tm_buf_str(&text));
  tm_buf_release(&text);
}

static void complete(void *data, const char *text, size_t len, struct tm_buf *insert,
                     struct tm_buf *list)
{
  struct repl *r = data;
  struct tm_buf all = TM_BUF_NONE;
  const char *more, *lines;
  tm_buf_add(&all, tm_buf_str(&r->piece), r->piece.len);
  tm_buf_add(&all, text, len);
  tidemill_console_complete(r->console, tm_buf_str(&all), all.len, &more, &lines);
  tm_buf_add_str(insert, more);
  tm_buf_add_str(list, lines);
  tm_buf_release(&all);
}

static bool is_dumb(void)
{
  const char *term = getenv("TERM");
  return !term || !*term || strcmp(term, "dumb") == 0;
}

static void on_happened(void *data)
{
  struct repl *r = data;
  r->vain = 0;
  r->is_hearing = 1;
  tidemill_console_hear(r->console);
  r->is_hearing = 0;
  if (tm_prompt_is_interrupted(r->prompt))
    tm_signals_alarm(0, 0);
}

static int open_prompt(struct repl *r, struct tm_err *err)
{
  r->history = tm_line_history_path(getenv(TM_LINE_HISTORY_VARIABLE), getenv("XDG_STATE_HOME"),
                                    getenv("HOME"));
  struct tm_prompt_options o = { .has_color = r->has_color,
                                 .history = r->history,
                                 .complete = complete,
                                 .fd = tidemill_console_fd(r->console),
                                 .on_happened = on_happened,
                                 .data = r };
  r->prompt = tm_prompt_open(&o, err);
  if (!r->prompt)
    return err->code;
  tm_signals_catch(SIGINT, on_ctrl_c, r);
  tm_signals_catch(SIGALRM, on_late, r);
  catch_ends(r);
  return 0;
}

static void on_say(const char *words, void *data)
{
  struct repl *r = data;
  if (r->prompt)
    tm_prompt_say(r->prompt, words);
  else
    tm_cli_say("%s", words);
}

static void on_status(const char *words, void *data)
{
  struct repl *r = data;
  if (r->prompt)
    tm_prompt_set_status(r->prompt, words);
}

static const char *on_help(const char *topic, void *data)
{
  struct repl *r = data;
  struct tm_manual_look look = tm_manual_look_here(r->cli);
  look.has_bold = false;
  tm_buf_clear(&r->help);
  return tm_help_find(&r->help, r->cli, topic, &look) ? tm_buf_str(&r->help) : NULL;
}

static int open_runtime(struct repl *r, struct tm_err *err)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  char *program = tm_cli_program(err);
  o.program = program;
  int rc = program ? tidemill_runtime_new(&r->runtime, &o, err) : err->code;
  free(program);
  return rc;
}

static int open_console(struct repl *r, const struct tm_repl_options *o, struct tm_err *err)
{
  struct tidemill_console_options c = TIDEMILL_CONSOLE_OPTIONS_INIT;
  c.has_color = r->has_color;
  c.width = width;
  c.on_say = on_say;
  c.on_status = on_status;
  c.help = on_help;
  c.data = r;
  return o->open ? o->open(o->data, &r->console, r->runtime, &c, err)
                 : tidemill_console_new(&r->console, r->runtime, &c, err);
}

static int open_repl(struct repl *r, const struct tm_repl_options *o, struct tm_err *err)
{
  const char *no_color = getenv("NO_COLOR");
  bool has_prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !is_dumb();
  r->has_color = has_prompt && isatty(STDERR_FILENO) && !(no_color && *no_color);
  int rc = open_runtime(r, err);
  if (rc >= 0)
    rc = open_console(r, o, err);
  return rc >= 0 && has_prompt ? open_prompt(r, err) : rc;
}

/* Closes the console, which ends its jobs while we still get their events; then the runtime. */
static void close_repl(struct repl *r)
{
  if (r->prompt)
    tm_signals_release();
  tidemill_console_close(r->console);
  tidemill_runtime_close(r->runtime, NULL);
  tm_prompt_close(r->prompt);
  tm_buf_release(&r->piece);
  tm_buf_release(&r->help);
  free(r->history);
}

int tm_repl_run(const struct tm_repl_options *o)
{
  struct repl r = { .cli = o->cli };
  struct tm_err err = TM_ERR_NONE;
  int rc = open_repl(&r, o, &err);
  bool has_prompt = r.prompt != NULL;
  if (rc >= 0 && has_prompt && !o->has_no_init)
    run_init(&r);
  if (rc >= 0 && o->file)
    run_file(&r, o->file, o->words, o->words_len);
  if (rc >= 0 && has_prompt) {
    greet();
    run_prompt(&r);
  } else if (rc >= 0) {
    run_plain(&r);
  }
  close_repl(&r);
  return rc < 0 ? tm_cli_end(rc, &err) : r.has_failed && !has_prompt ? 1 : 0;
}

/* ---- the command ---- */

struct repl_options {
  bool no_init;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "no-init", TM_OPTION_FLAG, offsetof(struct repl_options, no_init), NULL, NULL, "does not run the start-up file" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_repl = {
  .name = "repl",
  .run = run,
  .usage = "[FILE.lua] [--no-init] [-- ARGS]",
  .summary = "opens a prompt for Lua and jobs; tidemill alone does the same",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "An expression shows its values; `_` is then the first of them. An incomplete\n"
          "piece continues on the next line. Tab completes globals, fields, methods,\n"
          "columns, paths and names of datasets. help(x) describes a function, an object or\n"
          "a parameter. Ctrl-C interrupts Lua, Ctrl-D ends the prompt. FILE.lua runs first,\n"
          "and its results are shown.\n"
          "\n"
          "job = pipeline:submit() returns at once. The job runs in the background, even\n"
          "while Lua computes; its progress is shown above the prompt, and a line tells how\n"
          "it ended. While you wait for a job, Ctrl-C returns to the prompt; Ctrl-C again\n"
          "cancels the running jobs. A third Ctrl-C, while a C function computes, ends the\n"
          "program.\n"
          "\n"
          "On a terminal, the prompt first runs the Lua file in " INIT_VARIABLE " (by default\n"
          "~/.config/tidemill/repl.lua). It keeps the lines that you type, except those\n"
          "that begin with a blank, in the file in " TM_LINE_HISTORY_VARIABLE " (by default\n"
          "~/.local/state/tidemill/history; if the variable is empty, nowhere). Input from\n"
          "elsewhere than a terminal runs piece by piece, without a prompt; if a piece\n"
          "fails, the exit status is 1.\n",
};

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct repl_options given = { .no_init = false };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &given, &rest, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_repl, &err);
  }
  struct tm_repl_options o = { .cli = cli,
                               .has_no_init = given.no_init,
                               .file = rest.len > 0 ? rest.at[0] : NULL,
                               .words = (char *const *)rest.at,
                               .words_len = rest.len };
  int status = tm_repl_run(&o);
  TM_ARRAY_RELEASE(&rest);
  return status;
}
