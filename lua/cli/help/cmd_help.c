/* cmd_help.c - see cmd_help.h; and `tidemill help`.
 *
 * A topic is a command, a page of the manual, a parameter of a definition (with dashes or
 * underscores), `parameters`, or a name of the library, whose doc comments the prompt's help reads.
 * If several constructors have a parameter (`name`, `description`), help shows each meaning once.
 * If a command and a page have the same name (`map`), help shows the command; --manual selects the
 * page.
 */
#include "cli/help/cmd_help.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tidemill.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/help/cmd_manual.h"
#include "cli/parameter_options.h"

#define SUMMARY_COLUMN   13 /* of `tidemill help` */
#define PARAMETER_COLUMN 27 /* of `tidemill help parameters` */
#define FACT_COLUMN      14 /* of `tidemill help PARAMETER` */

struct help_options {
  bool man, manual;
  const char *completion;
};

static const char *const shells[] = { "bash", "zsh", NULL };

/* clang-format off */
static const struct tm_option options[] = {
  { "manual", TM_OPTION_FLAG, offsetof(struct help_options, manual), NULL, NULL, "shows the page of the manual, if a command has the same name" },
  { "man", TM_OPTION_FLAG, offsetof(struct help_options, man), NULL, NULL, "prints the manual page as roff: tidemill.1, or tidemill-TOPIC.7" },
  { "completion", TM_OPTION_VALUE, offsetof(struct help_options, completion), "SHELL", shells, "prints the completion for bash or zsh" },
};

static const char *const statuses[] = {
  "0 Completed", "1 Failed", "2 wrong usage or definition", "3 system error, or a damaged job", "130 Canceled", "141 Canceled, because the reader of the rows of map has gone", NULL,
};

static const struct tm_help_variable variables[] = {
  { "TIDEMILL_WORKSPACE", "the workspace; by default the nearest folder .tidemill, upwards from the pipeline file (for map and JOB: from the current directory). A workspace that belongs to another user, or that others can write to, is only used if it is named here" },
  { "TMPDIR", "where workers have their temporary folders, those of a job in a folder tidemill-<uid>-...; by default /tmp" },
  { "TIDEMILL_MEMORY_DIR", "a tmpfs (absolute path) for up to 16 MB of extracted archive entries per mini-batch; by default /dev/shm unless TMPDIR is set; if empty, none" },
  { "CUDA_VISIBLE_DEVICES", "the GPUs for workers; each worker gets one entry; \"\" and -1: no GPUs" },
  { "AZ_BATCHAI_GPU_COUNT_FOUND", "the number of GPUs, if CUDA_VISIBLE_DEVICES is not set; by default the number of files /dev/nvidia<N>" },
  { "TIDEMILL_INIT", "the Lua file that the prompt runs first; by default ~/.config/tidemill/repl.lua; if empty, none" },
  { "TIDEMILL_HISTORY", "the file where the prompt keeps the lines that you type; by default ~/.local/state/tidemill/history; if empty, none" },
  { "NO_COLOR", "if set, no colors on the terminal" },
};
/* clang-format on */

static int help(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_help = {
  .name = "help",
  .run = help,
  .usage = "[COMMAND | TOPIC | PARAMETER | NAME | parameters] [--manual] [--man] [--completion "
           "bash|zsh]",
  .summary = "describes a command, a parameter or a name of Lua, or shows a page of the manual",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

const char *tm_help_exit_status_at(size_t i)
{
  return statuses[i];
}

const struct tm_help_variable *tm_help_variable_at(size_t i)
{
  return i < TM_COUNT_OF(variables) ? &variables[i] : NULL;
}

/* ---- commands ---- */

static void add_topics(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(out, "\nTopics of the manual, for tidemill help TOPIC:\n\n");
  for (const struct tm_manual_page *p = tm_manual_pages; p->name; p++) {
    char *name = tm_xprintf("%s%s", p->name, tm_command_find(cli, p->name) ? " --manual" : "");
    tm_buf_printf(out, "  %-16s ", name);
    tm_manual_add_about(out, p);
    tm_buf_add_char(out, '\n');
    free(name);
  }
}

void tm_help_add_overview(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(out,
                 "tidemill runs a Lua function over many files in supervised worker processes.\n\n"
                 "usage: tidemill COMMAND ...\n"
                 "       tidemill                    opens a prompt, on a terminal\n"
                 "       tidemill FILE.lua ARGS...   runs Lua; also -e CODE and -\n\n");
  for (size_t i = 0; cli->commands[i]; i++)
    if (cli->commands[i]->summary) {
      tm_buf_printf(out, "  %-10s ", cli->commands[i]->name);
      tm_text_wrap(out, cli->commands[i]->summary, SUMMARY_COLUMN, TM_HELP_WIDTH);
    }
  add_topics(out, cli);
  tm_buf_add_str(
      out, "\n'tidemill help COMMAND' describes a command, 'tidemill help parameters' lists\n"
           "the parameters of a definition. 'tidemill help --completion bash' prints what\n"
           "completes commands in the shell.\n\n"
           "Exit status: 0 Completed, 1 Failed, 2 wrong usage or definition, 3 system error,\n"
           "130 Canceled.\n");
}

void tm_help_add_command(struct tm_buf *out, const struct tm_command *c)
{
  tm_command_add_usage(out, c);
  if (c->summary || !c->help)
    tm_buf_printf(out, "\n%s\n",
                  c->summary ? c->summary
                             : "internal: the program starts itself with this command");
  if (strncmp(c->usage, "[JOB]", 5) == 0 && strncmp(c->usage, "[JOB].", 6) != 0)
    tm_buf_add_str(out, "\nJOB is the directory of a job, its name in the workspace, or 'latest',\n"
                        "which is the default.\n");
  if (c->help)
    tm_buf_printf(out, "\n%s", c->help);
  if (c->options_len > 0) {
    struct tm_parameter_options all;
    tm_parameter_options_init(&all, c->options, c->options_len, c->parameters, 0);
    tm_buf_add_char(out, '\n');
    tm_parameter_options_add_help(out, &all);
    tm_parameter_options_release(&all);
  }
  if (tm_manual_find(c->name))
    tm_buf_printf(out, "\nThe page of the manual: tidemill help %s --manual\n", c->name);
}

/* ---- parameters ---- */

static void add_constructor(struct tm_buf *out, const char *name)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  bool is_argument = strcmp(name, "arguments") == 0;
  tm_buf_printf(out, "%s%s\n", name,
                is_argument ? " of a step that the runner takes, as \"--NAME\", \"VALUE\"" : "");
  for (size_t i = 0; tidemill_parameter(name, i, &p); i++) {
    struct tm_buf help = TM_BUF_NONE;
    tm_buf_add_str(&help, p.help);
    if (p.required)
      tm_buf_add_str(&help, " (required)");
    else if (p.default_value)
      tm_buf_printf(&help, " (default: %s)", p.default_value);
    tm_buf_printf(out, "  %-24s ", p.name);
    tm_text_wrap(out, tm_buf_str(&help), PARAMETER_COLUMN, TM_HELP_WIDTH);
    tm_buf_release(&help);
  }
}

static void add_parameters(struct tm_buf *out)
{
  for (size_t i = 0; tidemill_constructor(i); i++) {
    if (i > 0)
      tm_buf_add_char(out, '\n');
    add_constructor(out, tidemill_constructor(i));
  }
  tm_buf_add_str(out, "\n'tidemill help PARAMETER' shows what a parameter accepts.\n");
}

static void add_parameter(struct tm_buf *out, const char *constructor,
                          const struct tidemill_parameter *p)
{
  tm_buf_add_str(out, "\n  ");
  tm_text_wrap(out, p->help, 2, TM_HELP_WIDTH);
  tm_buf_add_str(out, "\n  accepted:   ");
  tm_text_wrap(out, p->accepted, FACT_COLUMN, TM_HELP_WIDTH);
  tm_buf_printf(out, "  default:    %s\n",
                p->required        ? "none, it is required"
                : p->default_value ? p->default_value
                                   : "not set");
  if (p->may_be_parameter)
    tm_buf_add_str(out, "  parameter:  a PipelineParameter may set it for each submission\n");
  if (strcmp(constructor, "arguments") == 0)
    tm_buf_printf(out, "  given as:   arguments = { \"--%s\", ... }; with map, after --\n",
                  p->name);
  if (strcmp(constructor, "ParallelRunConfig") == 0)
    tm_buf_printf(out, "  on resume:  %s\n",
                  p->changeable ? "it may have changed"
                                : "it must not have changed, except with --accept-changes");
}

static bool is_name(const char *given, const char *name)
{
  for (; *given && *name; given++, name++)
    if (*given != *name && !(*given == '-' && *name == '_'))
      return false;
  return *given == *name;
}

/* A parameter, and the constructors in which it means the same. */
struct described {
  const char *name;
  char *text;       /* owned */
  struct tm_buf of; /* "name, of A, B" */
};
struct descriptions TM_ARRAY(struct described);

static void describe(struct descriptions *all, const char *constructor,
                     const struct tidemill_parameter *p)
{
  struct tm_buf text = TM_BUF_NONE;
  add_parameter(&text, constructor, p);
  for (size_t i = 0; i < all->len; i++)
    if (strcmp(all->at[i].text, tm_buf_str(&text)) == 0) {
      tm_buf_printf(&all->at[i].of, ", %s", constructor);
      tm_buf_release(&text);
      return;
    }
  struct described *d = TM_ARRAY_ADD(all);
  *d = (struct described) { .name = p->name, .text = tm_buf_take(&text) };
  tm_buf_printf(&d->of, "%s, of %s", p->name, constructor);
}

static bool add_named(struct tm_buf *out, const char *given)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  struct descriptions all = { 0 };
  const char *constructor;
  for (size_t i = 0; (constructor = tidemill_constructor(i)) != NULL; i++)
    for (size_t k = 0; tidemill_parameter(constructor, k, &p); k++)
      if (is_name(given, p.name))
        describe(&all, constructor, &p);
  bool found = all.len > 0;
  for (size_t i = 0; i < all.len; i++) {
    tm_buf_add_str(out, i > 0 ? "\n" : "");
    tm_text_wrap(out, tm_buf_str(&all.at[i].of), (int)strlen(all.at[i].name) + 2, TM_HELP_WIDTH);
    tm_buf_add_str(out, all.at[i].text);
    free(all.at[i].text);
    tm_buf_release(&all.at[i].of);
  }
  TM_ARRAY_RELEASE(&all);
  return found;
}

/* ---- unknown names ---- */

struct names TM_ARRAY(const char *);

static void add_command_names(const struct tm_cli *cli, struct names *names)
{
  for (size_t i = 0; cli->commands[i]; i++)
    if (cli->commands[i]->summary)
      *TM_ARRAY_ADD(names) = cli->commands[i]->name;
}

int tm_help_refuse(const struct tm_cli *cli, const char *name)
{
  struct names names = { 0 };
  struct tm_buf all = TM_BUF_NONE;
  const char *nearest;
  add_command_names(cli, &names);
  for (size_t i = 0; i < names.len; i++)
    tm_buf_printf(&all, "%s%s", i > 0 ? ", " : "", names.at[i]);
  nearest = tm_text_nearest(name, names.at, names.len);
  if (nearest)
    tm_cli_say("unknown command '%s'; did you mean '%s'? There are: %s", name, nearest, all.data);
  else
    tm_cli_say("unknown command '%s'; there are: %s", name, all.data);
  tm_buf_release(&all);
  TM_ARRAY_RELEASE(&names);
  return 2;
}

/* ---- tidemill help ---- */

bool tm_help_find(struct tm_buf *out, const struct tm_cli *cli, const char *topic,
                  const struct tm_manual_look *look)
{
  const struct tm_command *c = tm_command_find(cli, topic);
  const struct tm_manual_page *page = tm_manual_find(topic);
  if (c)
    tm_help_add_command(out, c);
  else if (page)
    tm_manual_write(out, page, look);
  else if (strcmp(topic, "parameters") == 0)
    add_parameters(out);
  else
    return add_named(out, topic);
  return true;
}

/* ---- names of the library ---- */

/* A string of Lua, in quotes. */
static void add_quoted(struct tm_buf *out, const char *s)
{
  tm_buf_add_char(out, '"');
  for (; *s; s++)
    if (isalnum((unsigned char)*s))
      tm_buf_add_char(out, *s);
    else
      tm_buf_printf(out, "\\%03d", (unsigned char)*s);
  tm_buf_add_char(out, '"');
}

static struct names known_names(const struct tm_cli *cli)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  struct names names = { 0 };
  add_command_names(cli, &names);
  *TM_ARRAY_ADD(&names) = "parameters";
  for (const struct tm_manual_page *page = tm_manual_pages; page->name; page++)
    *TM_ARRAY_ADD(&names) = page->name;
  for (size_t i = 0; tidemill_constructor(i); i++)
    for (size_t k = 0; tidemill_parameter(tidemill_constructor(i), k, &p); k++)
      *TM_ARRAY_ADD(&names) = p.name;
  return names;
}

/* Adds "require("tidemill.repl.help").FUNCTION(name, known names)". */
static void add_call(struct tm_buf *out, const struct tm_cli *cli, const char *function,
                     const char *name)
{
  struct names names = known_names(cli);
  tm_buf_printf(out, "require(\"tidemill.repl.help\").%s(", function);
  add_quoted(out, name);
  tm_buf_add_str(out, ", {");
  for (size_t i = 0; i < names.len; i++) {
    add_quoted(out, names.at[i]);
    tm_buf_add_char(out, ',');
  }
  tm_buf_add_str(out, "})");
  TM_ARRAY_RELEASE(&names);
}

static bool call(struct tidemill_console *console, const struct tm_cli *cli, const char *function,
                 const char *name, const char **out)
{
  struct tm_buf piece = TM_BUF_NONE;
  add_call(&piece, cli, function, name);
  int rc = tidemill_console_feed(console, piece.data, piece.len, "help", out);
  tm_buf_release(&piece);
  return rc == TIDEMILL_PIECE_DONE;
}

/* Prints what help "NAME" shows at the prompt, from the doc comments of the library. False: the
 * name is unknown; `suggestion` has "did you mean '...'?" if another name is similar. */
static bool print_named(const struct tm_cli *cli, const char *name, struct tm_buf *suggestion)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tidemill_runtime *rt = NULL;
  struct tidemill_console *console = NULL;
  const char *out;
  char *program = tm_cli_program(NULL);
  bool found = false;
  o.program = program;
  if (program && tidemill_runtime_new(&rt, &o, NULL) >= 0 &&
      tidemill_console_new(&console, rt, NULL, NULL) >= 0) {
    found = call(console, cli, "print_named", name, &out);
    if (!found && call(console, cli, "suggestion", name, &out))
      tm_buf_add_str(suggestion, out);
  }
  tidemill_console_close(console);
  tidemill_runtime_close(rt, NULL);
  free(program);
  return found && fflush(stdout) == 0;
}

static int show_named_or_refuse(const struct tm_cli *cli, const char *name, struct tm_err *err)
{
  struct tm_buf suggestion = TM_BUF_NONE;
  bool found = print_named(cli, name, &suggestion);
  if (!found)
    tm_err_set(err, TM_EUSAGE,
               "there is no command, topic, parameter or function '%s'; %s%s'tidemill help' lists "
               "the commands and topics, 'tidemill help parameters' the parameters",
               name, tm_buf_str(&suggestion), suggestion.len > 0 ? " " : "");
  tm_buf_release(&suggestion);
  return found ? 0 : TM_EUSAGE;
}

/* Shows a page of the manual that the user requested by --manual or --man. */
static int add_page(struct tm_buf *out, const struct tm_cli *cli, const char *name, bool is_man,
                    struct tm_err *err)
{
  const struct tm_manual_page *page = tm_manual_find(name);
  struct tm_manual_look look = tm_manual_look_here(cli);
  if (!page)
    return tm_err_set(err, TM_EUSAGE,
                      "the manual has no page '%s'; 'tidemill help' lists its topics", name);
  if (is_man)
    tm_manual_write_man(out, page);
  else
    tm_manual_write(out, page, &look);
  return 0;
}

static int add_all(struct tm_buf *out, const struct tm_cli *cli, const struct help_options *o,
                   const struct tm_words *rest, struct tm_err *err)
{
  struct tm_manual_look look = tm_manual_look_here(cli);
  bool is_page = o->manual || (o->man && rest->len > 0);
  if (rest->len > 1 || o->man + o->manual + (o->completion != NULL) > 1 ||
      (o->completion && rest->len > 0))
    return tm_err_set(err, TM_EUSAGE, "help takes one topic at a time");
  if (o->manual && rest->len == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "--manual needs the name of a page; 'tidemill help' lists them");
  if (is_page)
    return add_page(out, cli, rest->at[0], o->man, err);
  if (o->man)
    tm_man_write(out, cli);
  else if (o->completion)
    tm_completion_write(out, cli, o->completion);
  else if (rest->len == 0)
    tm_help_add_overview(out, cli);
  else
    return tm_help_find(out, cli, rest->at[0], &look) ? 0
                                                      : show_named_or_refuse(cli, rest->at[0], err);
  return 0;
}

/* `tidemill help --run_max_try`: a parameter, as one types it. */
static bool add_dashed(struct tm_buf *out, int argc, char **argv)
{
  return argc == 2 && strncmp(argv[1], "--", 2) == 0 && add_named(out, argv[1] + 2);
}

static int help(const struct tm_cli *cli, int argc, char **argv)
{
  struct help_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  if (add_dashed(&text, argc, argv)) {
    int written = tm_cli_write_styled(&text);
    tm_buf_release(&text);
    return written;
  }
  int status, rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &rest, &err);
  if (rc >= 0)
    rc = add_all(&text, cli, &o, &rest, &err);
  status = rc < 0 ? tm_cli_fail_usage(&tm_command_help, &err) : tm_cli_write_styled(&text);
  tm_buf_release(&text);
  TM_ARRAY_RELEASE(&rest);
  return status;
}
