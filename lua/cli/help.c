/* help.c - see help.h; and `tidemill help`.
 *
 * A topic is a command, a page of the manual, a parameter of a definition (with dashes or underscores), or `parameters`. A name
 * that several constructors know (`name`, `description`) is shown for each. Where a command and a page have the same name (`map`),
 * the command goes first, and --manual asks for the page.
 */
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

#include <tidemill.h>

#include "base/text.h"
#include "cli/manual.h"

struct help_options {
  bool man, manual;
  const char *completion;
};

static const char *const shells[] = { "bash", "zsh", NULL };

/* clang-format off */
static const struct tm_option options[] = {
  { "manual", TM_OPTION_FLAG, offsetof(struct help_options, manual), NULL, NULL, "shows the page of the manual, where a command has the same name" },
  { "man", TM_OPTION_FLAG, offsetof(struct help_options, man), NULL, NULL, "writes the manual page as roff: tidemill.1, or tidemill-TOPIC.7" },
  { "completion", TM_OPTION_VALUE, offsetof(struct help_options, completion), "SHELL", shells, "writes the completion for bash or zsh" },
};

static const char *const statuses[] = {
  "0 Completed", "1 Failed", "2 wrong usage or definition", "3 system error, or a damaged job", "130 Canceled", "141 nobody read the rows of map any more: canceled", NULL,
};

static const struct tm_help_variable variables[] = {
  { "TIDEMILL_WORKSPACE", "the workspace; without it the nearest folder .tidemill, upwards from the pipeline file (for map and JOB: from the current directory). One that belongs to another user, or that others can write to, is used only when it is named here" },
  { "TMPDIR", "where the temporary folders of workers are made, each job's in a folder tidemill-<uid>-... of its own; without it /tmp" },
  { "TIDEMILL_MEMORY_DIR", "a tmpfs (absolute path), on which up to 16 MB of a mini-batch's entries of archives are extracted; without it /dev/shm where TMPDIR is not set, set and empty: none" },
  { "CUDA_VISIBLE_DEVICES", "the GPUs of this machine for workers, each gets one entry; \"\" and -1: none" },
  { "AZ_BATCHAI_GPU_COUNT_FOUND", "how many GPUs there are, without the variable above; without both as many as there are /dev/nvidia<N>" },
  { "TIDEMILL_INIT", "the Lua file that a prompt runs first; without it ~/.config/tidemill/repl.lua, set and empty: none" },
  { "TIDEMILL_HISTORY", "where a prompt keeps its lines; without it ~/.local/state/tidemill/history, set and empty: nowhere" },
  { "NO_COLOR", "when it is set, no colors on the terminal" },
};
/* clang-format on */

static int help(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_help = {
  .name = "help",
  .run = help,
  .usage = "[COMMAND | TOPIC | PARAMETER | parameters] [--manual] [--man] [--completion bash|zsh]",
  .summary = "shows what a command accepts, a page of the manual, or what a parameter means",
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

/* Commands. */

void tm_help_add_usage(struct tm_buf *out, const struct tm_command *c)
{
  tm_buf_printf(out, "usage: tidemill %s%s%s\n", c->name, *c->usage ? " " : "", c->usage);
}

static void add_topics(struct tm_buf *out)
{
  tm_buf_add_str(out, "\nTopics of the manual, for tidemill help TOPIC:\n\n");
  for (const struct tm_manual_page *p = tm_manual_pages; p->name; p++) {
    char *name = tm_xprintf("%s%s", p->name, tm_command_find(p->name) ? " --manual" : "");
    tm_buf_printf(out, "  %-16s ", name);
    tm_manual_add_about(out, p);
    tm_buf_add_char(out, '\n');
    free(name);
  }
}

void tm_help_add_overview(struct tm_buf *out)
{
  tm_buf_add_str(out,
                 "tidemill runs a Lua function over many files in supervised worker processes.\n\n"
                 "usage: tidemill COMMAND ...\n"
                 "       tidemill                    a prompt, on a terminal\n"
                 "       tidemill FILE.lua ARGS...   and -e CODE, -, as luajit\n\n");
  for (size_t i = 0; tm_command_at(i); i++)
    if (tm_command_at(i)->summary)
      tm_buf_printf(out, "  %-10s %s\n", tm_command_at(i)->name, tm_command_at(i)->summary);
  add_topics(out);
  tm_buf_add_str(
      out, "\ntidemill help COMMAND says more; tidemill help parameters lists what a definition "
           "accepts.\n"
           "Exit status: 0 Completed, 1 Failed, 2 wrong usage or definition, 3 system error, 130 "
           "Canceled.\n");
}

void tm_help_add_command(struct tm_buf *out, const struct tm_command *c)
{
  tm_help_add_usage(out, c);
  tm_buf_printf(out, "\n%s\n",
                c->summary ? c->summary : "internal: the program starts itself with it");
  if (strncmp(c->usage, "[JOB]", 5) == 0 && strncmp(c->usage, "[JOB].", 6) != 0)
    tm_buf_add_str(out, "\nJOB is the directory of a job, its name in the workspace, or 'latest'. "
                        "Without it, the command takes the latest job.\n");
  if (c->add_help) {
    tm_buf_add_char(out, '\n');
    c->add_help(out);
  } else if (c->options_len > 0) {
    tm_buf_add_char(out, '\n');
    tm_options_add_help(out, c->options, c->options_len);
  }
  if (tm_manual_find(c->name))
    tm_buf_printf(out, "\nThe page of the manual: tidemill help %s --manual\n", c->name);
}

/* Parameters. */

static void add_constructor(struct tm_buf *out, const char *name)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  bool is_argument = strcmp(name, "arguments") == 0;
  tm_buf_printf(out, "%s%s\n", name,
                is_argument ? " of a step that are the runner's own, as \"--NAME\", \"VALUE\""
                            : "");
  for (size_t i = 0; tidemill_parameter(name, i, &p); i++) {
    tm_buf_printf(out, "  %-24s %s", p.name, p.help);
    if (p.required)
      tm_buf_add_str(out, " (required)");
    else if (p.default_value)
      tm_buf_printf(out, " (default: %s)", p.default_value);
    tm_buf_add_char(out, '\n');
  }
}

static void add_parameters(struct tm_buf *out)
{
  for (size_t i = 0; tidemill_constructor(i); i++) {
    if (i > 0)
      tm_buf_add_char(out, '\n');
    add_constructor(out, tidemill_constructor(i));
  }
  tm_buf_add_str(out, "\ntidemill help PARAMETER says what one accepts.\n");
}

static void add_parameter(struct tm_buf *out, const char *constructor,
                          const struct tidemill_parameter *p)
{
  tm_buf_printf(out, "%s, of %s\n\n  %s\n\n  accepted:   %s", p->name, constructor, p->help,
                p->accepted);
  tm_buf_printf(out, "\n  default:    %s\n",
                p->required        ? "none, it is required"
                : p->default_value ? p->default_value
                                   : "none");
  if (p->may_be_parameter)
    tm_buf_add_str(out, "  it may be a PipelineParameter, given anew at every submission\n");
  if (strcmp(constructor, "arguments") == 0)
    tm_buf_printf(out, "  given as:   arguments = { \"--%s\", ... }; behind -- for map\n", p->name);
  if (strcmp(constructor, "ParallelRunConfig") == 0)
    tm_buf_printf(out, "  on resume:  %s\n",
                  p->changeable ? "it may have changed"
                                : "as it was when the job began, or --accept-changes");
}

static bool is_name(const char *given, const char *name)
{
  for (; *given && *name; given++, name++)
    if (*given != *name && !(*given == '-' && *name == '_'))
      return false;
  return *given == *name;
}

static bool add_named(struct tm_buf *out, const char *given)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  const char *constructor;
  bool found = false;
  for (size_t i = 0; (constructor = tidemill_constructor(i)) != NULL; i++)
    for (size_t k = 0; tidemill_parameter(constructor, k, &p); k++) {
      if (!is_name(given, p.name))
        continue;
      if (found)
        tm_buf_add_char(out, '\n');
      found = true;
      add_parameter(out, constructor, &p);
    }
  return found;
}

/* Refusals. */

struct names TM_ARRAY(const char *);

static void add_command_names(struct names *names, struct tm_buf *all)
{
  for (size_t i = 0; tm_command_at(i); i++)
    if (tm_command_at(i)->summary) {
      tm_buf_printf(all, "%s%s", all->len > 0 ? ", " : "", tm_command_at(i)->name);
      *TM_ARRAY_ADD(names) = tm_command_at(i)->name;
    }
}

int tm_help_refuse(const char *name)
{
  struct names names = { 0 };
  struct tm_buf all = TM_BUF_NONE;
  const char *nearest;
  add_command_names(&names, &all);
  nearest = tm_text_nearest(name, names.at, names.len);
  if (nearest)
    tm_cli_say("unknown command '%s'; did you mean '%s'? There are: %s", name, nearest, all.data);
  else
    tm_cli_say("unknown command '%s'; there are: %s", name, all.data);
  tm_buf_release(&all);
  TM_ARRAY_RELEASE(&names);
  return 2;
}

static int refuse_topic(const char *given, struct tm_err *err)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  struct names names = { 0 };
  struct tm_buf all = TM_BUF_NONE;
  const char *nearest;
  add_command_names(&names, &all);
  *TM_ARRAY_ADD(&names) = "parameters";
  for (const struct tm_manual_page *page = tm_manual_pages; page->name; page++)
    *TM_ARRAY_ADD(&names) = page->name;
  for (size_t i = 0; tidemill_constructor(i); i++)
    for (size_t k = 0; tidemill_parameter(tidemill_constructor(i), k, &p); k++)
      *TM_ARRAY_ADD(&names) = p.name;
  nearest = tm_text_nearest(given, names.at, names.len);
  tm_err_set(
      err, TM_EUSAGE,
      "there is no command, topic or parameter '%s'%s%s%s commands: %s; 'tidemill help' lists "
      "the topics, 'tidemill help parameters' the parameters",
      given, nearest ? "; did you mean '" : "", nearest ? nearest : "",
      nearest ? "'? There are the" : "; there are the", all.data);
  tm_buf_release(&all);
  TM_ARRAY_RELEASE(&names);
  return TM_EUSAGE;
}

/* tidemill help */

bool tm_help_find(struct tm_buf *out, const char *topic, const struct tm_manual_look *look)
{
  const struct tm_command *c = tm_command_find(topic);
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

/* A page that is asked for as such. */
static int add_page(struct tm_buf *out, const char *name, bool is_man, struct tm_err *err)
{
  const struct tm_manual_page *page = tm_manual_find(name);
  struct tm_manual_look look = tm_manual_look_here();
  if (!page)
    return tm_err_set(err, TM_EUSAGE,
                      "the manual has no page '%s'; 'tidemill help' lists its topics", name);
  if (is_man)
    tm_manual_write_man(out, page);
  else
    tm_manual_write(out, page, &look);
  return 0;
}

static int add_all(struct tm_buf *out, const struct help_options *o, const struct tm_words *rest,
                   struct tm_err *err)
{
  struct tm_manual_look look = tm_manual_look_here();
  bool is_page = o->manual || (o->man && rest->len > 0);
  if (rest->len > 1 || o->man + o->manual + (o->completion != NULL) > 1 ||
      (o->completion && rest->len > 0))
    return tm_err_set(err, TM_EUSAGE, "help shows one topic at a time");
  if (o->manual && rest->len == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "--manual needs the name of a page; 'tidemill help' lists them");
  if (is_page)
    return add_page(out, rest->at[0], o->man, err);
  if (o->man)
    tm_man_write(out);
  else if (o->completion)
    tm_completion_write(out, o->completion);
  else if (rest->len == 0)
    tm_help_add_overview(out);
  else
    return tm_help_find(out, rest->at[0], &look) ? 0 : refuse_topic(rest->at[0], err);
  return 0;
}

static int help(const struct tm_cli *cli, int argc, char **argv)
{
  struct help_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  int status, rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &rest, &err);
  if (rc >= 0)
    rc = add_all(&text, &o, &rest, &err);
  status = rc < 0 ? tm_cli_fail_usage(&tm_command_help, &err) : tm_cli_write(&text);
  tm_buf_release(&text);
  TM_ARRAY_RELEASE(&rest);
  return status;
}
