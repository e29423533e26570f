/* cmd_script.c - `tidemill lua`: runs Lua files, pieces of Lua and standard input, as luajit does.
 * Also without the command: `tidemill x.lua`, `tidemill -e CODE`, `tidemill -`, `tidemill <x.lua`.
 *
 * Everything runs in one state, in the order of the command line. The first word that is not an
 * option is the file; the words after it are its arguments.
 *
 * The first Ctrl-C is an error of the script, with its stack. The second one ends the program by
 * the signal, and so does the first one if the script does not notice it because it is compiled or
 * in a C function.
 */
#include "cli/cmd_script.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/lua_host.h"
#include "base/time.h"
#include "cli/cmd_repl.h"
#include "cli/terminal/signals.h"
#include "cli/unfinished.h"
#include "modules.h"
#include "plan/names.h"
#include "prompt/session.h"

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_lua = {
  .name = "lua",
  .run = run,
  .usage = "[-e CODE]... [-l NAME]... [-i] [FILE.lua | -] [ARGS...]",
  .summary = "runs Lua files and code with the modules of tidemill",
  .help = "  -e CODE    runs this code; may be repeated\n"
          "  -l NAME    sets the global NAME to the result of require NAME\n"
          "  -i         opens a prompt afterwards\n"
          "  FILE.lua   runs this file; `...` and `arg` are the words after it\n"
          "  -          runs standard input; this is the default\n"
          "\n"
          "A file that returns a pipeline does not run it; 'tidemill run' does. You may\n"
          "leave out 'lua': tidemill x.lua, tidemill -e 'print(1)', tidemill < x.lua.\n"
          "\n"
          "Jobs that the script has submitted and not waited for go on: the program shows\n"
          "their progress and waits for them; Ctrl-C then cancels them. After os.exit() or\n"
          "Ctrl-C in the script, they end, and can be resumed.\n"
          "\n"
          "Exit status: 0; 1 after an error or Ctrl-C; the argument of os.exit(); or that\n"
          "of a job for which the program has waited. A second Ctrl-C, or one while the\n"
          "script is in a C function, ends the program by the signal.\n",
  .takes_all = true,
};

#define PATIENCE_NS (300 * TM_MS) /* the time for a Ctrl-C to take effect */

struct script {
  struct tm_lua_session *session;
  bool wants_prompt, has_run;
  int at;                        /* the file's place in argv */
  volatile sig_atomic_t presses; /* of Ctrl-C */
  struct tm_unfinished unfinished;
};

/* ---- Ctrl-C, in signal handlers ---- */

static void on_ctrl_c(int signal, void *data)
{
  struct script *s = data;
  if (s->presses++ > 0 || !tm_lua_session_stop(s->session))
    tm_signals_surrender(SIGINT);
  tm_signals_alarm(PATIENCE_NS, 0);
}

static void on_late(int signal, void *data)
{
  const struct script *s = data;
  if (tm_lua_session_is_stopping(s->session))
    tm_signals_surrender(SIGINT);
}

static void catch_ctrl_c(struct script *s)
{
  if (tm_signals_is_ignored(SIGINT))
    return;
  tm_signals_catch(SIGALRM, on_late, s);
  tm_signals_catch(SIGINT, on_ctrl_c, s);
}

/* ---- pieces ---- */

bool tm_script_is_meant(const char *word)
{
  size_t len = strlen(word);
  return strcmp(word, "-") == 0 || strncmp(word, "-e", 2) == 0 || strncmp(word, "-l", 2) == 0 ||
         strcmp(word, "-i") == 0 || (len > 4 && strcmp(word + len - 4, ".lua") == 0) ||
         (tm_names_of_file(word) &&
          access(word, F_OK) == 0); /* for a message that says what to do */
}

static int say_failure(struct tm_buf *failure)
{
  tm_cli_say("%s", tm_buf_str(failure));
  tm_buf_release(failure);
  return 1;
}

static int refuse(const char *before, const char *word, const char *behind)
{
  struct tm_err err = TM_ERR_NONE;
  tm_err_set(&err, TM_EUSAGE, "%s%s%s", before, word, behind);
  return tm_cli_fail_usage(&tm_command_lua, &err);
}

/* Runs one -e or -l. */
static int run_option(struct script *s, char option, const char *value)
{
  struct tm_buf failure = TM_BUF_NONE;
  s->has_run = s->has_run || option == 'e';
  int rc = option == 'e'
               ? tm_lua_session_run(s->session, value, strlen(value), "-e", NULL, 0, &failure)
               : tm_lua_session_require(s->session, value, &failure);
  return rc < 0 ? say_failure(&failure) : 0;
}

/* Runs the options in order, up to the file. Returns the exit status; `at` is after them. */
static int run_options(struct script *s, int argc, char **argv)
{
  for (s->at = 1; s->at < argc; s->at++) {
    const char *word = argv[s->at], *value = word + 2;
    if (word[0] != '-' || word[1] == '\0')
      return 0;
    if (strcmp(word, "--") == 0) {
      s->at++;
      return 0;
    }
    if (strcmp(word, "-i") == 0) {
      s->wants_prompt = true;
      continue;
    }
    if (word[1] != 'e' && word[1] != 'l')
      return refuse("there is no option '", word, "'; accepted: -e CODE, -l NAME, -i, -");
    if (*value == '\0' && ++s->at == argc)
      return refuse("'", word, "' is the last word; accepted: a word after it");
    int status = run_option(s, word[1], *value ? value : argv[s->at]);
    if (status != 0)
      return status;
  }
  return 0;
}

static int read_input(struct tm_buf *text, struct tm_buf *failure)
{
  char piece[16384];
  size_t n;
  while ((n = fread(piece, 1, sizeof(piece), stdin)) > 0)
    tm_buf_add(text, piece, n);
  if (!ferror(stdin))
    return 0;
  tm_buf_add_str(failure, "cannot read standard input");
  return TM_ESCRIPT;
}

static int run_input(struct tm_lua_session *session, char **words, size_t n)
{
  struct tm_buf text = TM_BUF_NONE, failure = TM_BUF_NONE;
  int rc = read_input(&text, &failure);
  if (rc == 0)
    rc = tm_lua_session_run(session, tm_buf_str(&text), text.len, "stdin", words, n, &failure);
  tm_buf_release(&text);
  return rc < 0 ? say_failure(&failure) : 0;
}

static int run_file(struct script *s, int argc, char **argv)
{
  struct tm_buf failure = TM_BUF_NONE;
  char *input[] = { (char *)"-" };
  size_t n = (size_t)(argc - s->at);
  if (n == 0 && (s->has_run || s->wants_prompt))
    return 0;
  if (n == 0)
    return run_input(s->session, input, 1);
  if (strcmp(argv[s->at], "-") == 0)
    return run_input(s->session, argv + s->at, n);
  int rc = tm_lua_session_run_file(s->session, argv[s->at], argv + s->at, n, &failure);
  if (failure.len > 0)
    say_failure(&failure);
  if (rc == 0)
    return 0;
  return rc == TM_EUSAGE ? 2 : 1;
}

/* Opens a console over the same state, so that the prompt has the globals of the pieces. */
static int open_console(void *data, struct tidemill_console **out, struct tidemill_runtime *rt,
                        const struct tidemill_console_options *o, struct tm_err *err)
{
  struct script *s = data;
  struct tm_lua_session *session = s->session;
  s->session = NULL; /* the console owns it now */
  return tm_console_of(out, session, rt, o, err);
}

static struct tidemill_job *job_at(void *data, size_t i)
{
  return tm_lua_session_unfinished_job(data, i);
}

/* Returns the exit status. */
static int wait_for_jobs(struct script *s)
{
  struct tm_unfinished *u = &s->unfinished;
  u->rt = tm_lua_session_unfinished(s->session, &u->len);
  u->job = job_at;
  u->data = s->session;
  return tm_unfinished_wait(u);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct tm_err err = TM_ERR_NONE;
  struct script s = { .session = NULL };
  if (argc < 2 && isatty(STDIN_FILENO))
    return refuse("a Lua file is missing", "", "");
  if (!(s.session = tm_lua_session_new(tm_lua_modules(), &err)))
    return tm_cli_end(err.code, &err);
  tm_unfinished_init(&s.unfinished);
  tm_lua_session_set_screen(s.session, &s.unfinished.screen);
  tm_lua_session_show_notes(s.session);
  catch_ctrl_c(&s);
  int status = run_options(&s, argc, argv);
  if (status == 0)
    status = run_file(&s, argc, argv);
  tm_signals_release();
  int waited = s.presses > 0 ? 0 : wait_for_jobs(&s);
  status = status ? status : waited;
  struct tm_repl_options o = { .cli = cli, .open = open_console, .data = &s };
  if (status != 2 && s.wants_prompt)
    status = tm_repl_run(&o);
  tm_lua_session_free(s.session);
  tm_unfinished_release(&s.unfinished);
  return status;
}
