/* cmd_completion.c - the completion for bash and zsh, from the same tables as the help.
 *
 * Both shells get one function with the tables of commands as `case` branches. It completes the
 * value of an option that accepts only certain words; for JOB, the names of the workspace's jobs,
 * `latest` and folders; after `dataset`, the subcommands and the names of datasets; otherwise
 * files.
 */
#include <string.h>

#include <tidemill.h>

#include "cli/help/cmd_help.h"
#include "cli/help/cmd_manual.h"
#include "cli/parameter_options.h"

/* All options of a command. The caller releases them. */
static struct tm_parameter_options options_of(const struct tm_command *c)
{
  struct tm_parameter_options o;
  tm_parameter_options_init(&o, c->options, c->options_len, c->parameters, 0);
  return o;
}

static void add_option_words(struct tm_buf *out, const struct tm_command *c)
{
  struct tm_parameter_options o = options_of(c);
  for (size_t i = 0; i < o.all.len; i++)
    tm_buf_printf(out, "%s%s%s", i > 0 ? " " : "", tm_option_dashes(&o.all.at[i]),
                  o.all.at[i].name);
  tm_parameter_options_release(&o);
}

static void add_command_words(struct tm_buf *out, const struct tm_cli *cli)
{
  for (size_t i = 0, n = 0; cli->commands[i]; i++)
    if (cli->commands[i]->summary)
      tm_buf_printf(out, "%s%s", n++ > 0 ? " " : "", cli->commands[i]->name);
}

/* Adds the topics of `help` that are not commands; a name of several constructors appears once. */
static void add_topics(struct tm_buf *out, const struct tm_cli *cli)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  struct tm_buf seen = TM_BUF_NONE;
  add_command_words(out, cli);
  tm_buf_add_str(out, " parameters");
  tm_buf_add_char(&seen, ' ');
  for (const struct tm_manual_page *page = tm_manual_pages; page->name; page++)
    if (!tm_command_find(cli, page->name))
      tm_buf_printf(out, " %s", page->name);
  for (size_t i = 0; tidemill_constructor(i); i++)
    for (size_t k = 0; tidemill_parameter(tidemill_constructor(i), k, &p); k++) {
      char *word = tm_xprintf(" %s ", p.name);
      if (!strstr(seen.data, word)) {
        tm_buf_printf(&seen, "%s ", p.name);
        tm_buf_printf(out, " %s", p.name);
      }
      free(word);
    }
  tm_buf_release(&seen);
}

/* What may follow the options of a command, as a word of the functions below. */
static const char *rest_of(const struct tm_command *c)
{
  if (strncmp(c->usage, "[JOB]", 5) == 0 || strncmp(c->usage, "JOB", 3) == 0)
    return "job";
  if (strcmp(c->name, "help") == 0)
    return "topic";
  if (strcmp(c->name, "dataset") == 0)
    return "dataset";
  return strstr(c->usage, ".lua") || strncmp(c->usage, "FILE", 4) == 0 ? "file" : "none";
}

/* Adds case branches: the options of each command, and what follows them. */
static void add_commands(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(out, "  case $command in\n");
  for (size_t i = 0; cli->commands[i]; i++) {
    const struct tm_command *c = cli->commands[i];
    if (!c->summary)
      continue;
    tm_buf_printf(out, "    %s) options='", c->name);
    add_option_words(out, c);
    tm_buf_printf(out, "' rest=%s ;;\n", rest_of(c));
  }
  tm_buf_add_str(out, "  esac\n");
}

/* Adds the words that an option accepts, separated by blanks; nothing if it also accepts others.
 * For a parameter, they are in the name of its value: "true|false". */
static void add_accepted(struct tm_buf *out, const struct tm_option *o, bool is_parameter)
{
  for (size_t i = 0; o->values && o->values[i]; i++)
    tm_buf_printf(out, "%s%s", i > 0 ? " " : "", o->values[i]);
  if (!is_parameter || !strchr(o->value, '|'))
    return;
  for (const char *c = o->value; *c; c++)
    tm_buf_add_char(out, *c == '|' ? ' ' : *c);
}

static void add_value(struct tm_buf *out, const struct tm_command *c, const struct tm_option *o,
                      bool is_parameter)
{
  struct tm_buf accepted = TM_BUF_NONE;
  add_accepted(&accepted, o, is_parameter);
  tm_buf_printf(out, "    %s%s%s) ", c->name, tm_option_dashes(o), o->name);
  if (accepted.len > 0)
    tm_buf_printf(out, "values='%s' ;;\n", accepted.data);
  else
    tm_buf_printf(out, "rest=%s options= ;;\n",
                  o->value && strcmp(o->value, "JOB") == 0 ? "job" : "file");
  tm_buf_release(&accepted);
}

/* Adds case branches: the words that an option accepts; files for any other option with a value. */
static void add_values(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(out, "  case $command$previous in\n");
  for (size_t i = 0; cli->commands[i]; i++) {
    const struct tm_command *c = cli->commands[i];
    struct tm_parameter_options o = options_of(c);
    for (size_t j = 0; c->summary && j < o.all.len; j++)
      if (o.all.at[j].kind != TM_OPTION_FLAG && o.all.at[j].kind != TM_OPTION_MAYBE)
        add_value(out, c, &o.all.at[j], j >= o.own_len);
    tm_parameter_options_release(&o);
  }
  tm_buf_add_str(out, "  esac\n");
}

static void add_topics_line(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(out, "  local topics='");
  add_topics(out, cli);
  tm_buf_add_str(out, "'\n");
}

#define DATASETS "tidemill dataset list 2>/dev/null | awk 'NR > 1 { print $1 }'"

/* A directory with a blank in its name would become two words. */
#define JOB_NAMES "awk -F '  +' 'NR > 1 && $1 !~ / / { print $1 }'"

static const char jobs_line[] =
    "    job) words=\"latest $(tidemill jobs 2>/dev/null | " JOB_NAMES ")\" ;;\n"
    "    topic) words=$topics ;;\n"
    "    dataset) if [ \"$COMP_CWORD\" -eq 2 ]; then words='list show register unregister'\n"
    "      else words=\"$(" DATASETS ")\"; fi ;;\n";

/* Jobs have names of folders, and compgen -W would run a command in such a name. So the function
 * compares these words one by one. */
static void write_bash(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(out,
                 "# bash completion for tidemill " TM_VERSION
                 "; written by: tidemill help --completion bash\n"
                 "_tidemill()\n{\n"
                 "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "  local command=${COMP_WORDS[1]} options= rest=none values= words=\n");
  add_topics_line(out, cli);
  tm_buf_add_str(
      out, "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '");
  add_command_words(out, cli);
  tm_buf_add_str(out, "' -- \"$current\"))\n    return\n  fi\n");
  add_commands(out, cli);
  add_values(out, cli);
  tm_buf_add_str(out,
                 "  if [ -n \"$values\" ]; then\n"
                 "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n    return\n  fi\n"
                 "  case $current in\n"
                 "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")); return ;;\n"
                 "  esac\n"
                 "  case $rest in\n");
  tm_buf_add_str(out, jobs_line);
  tm_buf_add_str(
      out, "    file) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n"
           "  esac\n"
           "  local word\n"
           "  while read -r word; do\n"
           "    case $word in \"$current\"*) [ -n \"$word\" ] && COMPREPLY+=(\"$word\") ;; esac\n"
           "  done < <(tr ' ' '\\n' <<<\"$words\")\n"
           "  local hidden='.*'\n"
           "  case $current in *.*) hidden= ;; esac\n"
           "  case $rest in job|dataset)\n"
           "    COMPREPLY+=($(compgen -d -X \"$hidden\" -- \"$current\")) ;;\n"
           "  esac\n"
           "  return 0\n"
           "}\ncomplete -o filenames -F _tidemill tidemill\n");
}

/* Writes a file of $fpath, which zsh autoloads: its text is the function. */
static void write_zsh(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(out, "#compdef tidemill\n"
                      "# zsh completion for tidemill " TM_VERSION
                      "; written by: tidemill help --completion zsh\n"
                      "_tidemill()\n{\n"
                      "  local current=${words[CURRENT]} previous=${words[CURRENT-1]}\n"
                      "  local command=${words[2]} options= rest=none values=\n");
  add_topics_line(out, cli);
  tm_buf_add_str(out, "  if (( CURRENT == 2 )); then\n    compadd -- ");
  add_command_words(out, cli);
  tm_buf_add_str(out, "\n    return\n  fi\n");
  add_commands(out, cli);
  add_values(out, cli);
  tm_buf_add_str(
      out, "  if [[ -n $values ]]; then\n    compadd -- ${=values}\n    return\n  fi\n"
           "  if [[ $current == -* ]]; then\n    compadd -- ${=options}\n    return\n  fi\n"
           "  case $rest in\n"
           "    job) compadd -- latest ${(f)\"$(tidemill jobs 2>/dev/null | " JOB_NAMES
           ")\"}; _files -/ ;;\n"
           "    topic) compadd -- ${=topics} ;;\n"
           "    dataset) if (( CURRENT == 3 )); then compadd -- list show register unregister\n"
           "      else compadd -- ${(f)\"$(" DATASETS ")\"}; _files; fi ;;\n"
           "    file) _files ;;\n"
           "  esac\n"
           "}\n_tidemill \"$@\"\n");
}

void tm_completion_write(struct tm_buf *out, const struct tm_cli *cli, const char *shell)
{
  if (strcmp(shell, "zsh") == 0)
    write_zsh(out, cli);
  else
    write_bash(out, cli);
}
