/* node_settings.c - see node_settings.h. */
#include "plan/node_settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/command_template.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "plan/slurm_options.h"

/* A setting that belongs to another target, or NULL. */
static const char *setting_of_another(const struct tm_node_settings *s)
{
  if (!s->is_exec && s->command)
    return "node_command";
  if (!s->is_exec && s->hosts)
    return "node_hosts";
  if (!s->is_slurm && s->slurm_options)
    return "slurm_options";
  return !s->is_slurm && s->wants_slurm_jobs ? "slurm_allocation" : NULL;
}

static int check_others(const struct tm_node_settings *s, struct tm_err *err)
{
  const char *name = setting_of_another(s);

  if (!name)
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' is given with compute_target = \"%s\": %s; write compute_target = "
                    "\"%s\", or leave it out",
                    name,
                    s->is_slurm  ? "slurm"
                    : s->is_exec ? "exec"
                                 : "local",
                    s->is_slurm  ? "srun starts the nodes"
                    : s->is_exec ? "node_command starts the nodes"
                                 : "workers run on this machine",
                    name[0] == 's' ? "slurm" : "exec");
}

/* Without a launcher there is one node. */
static int check_local(const struct tm_node_settings *s, struct tm_err *err)
{
  if (s->node_count > 1)
    return tm_err_set(
        err, TM_EUSAGE,
        "'node_count' is %" PRId64
        " with compute_target = \"local\", which is one machine; write compute_target "
        "= \"slurm\", or \"exec\" and a node_command, or node_count = 1",
        s->node_count);
  return 0;
}

static char **words_of(const struct tm_json *command, struct tm_err *err)
{
  if (command->type == TM_JSON_STRING)
    return tm_command_words_split(command->string.at, err);
  char **words = tm_xcalloc(command->list.len + 1, sizeof(*words));
  for (size_t i = 0; i < command->list.len; i++)
    words[i] = tm_xstrdup(command->list.at[i]->string.at);
  return words;
}

static bool can_expand(char *const *words, bool has_host, bool has_processes, struct tm_err *err)
{
  static const struct tm_template_value values[] = { { "host", "h" },
                                                     { "node_id", "1" },
                                                     { "program", "p" },
                                                     { "job_dir", "/j" },
                                                     { "processes", "1" } };
  size_t first = has_host ? 0 : 1, end = TM_COUNT_OF(values) - (has_processes ? 0 : 1);
  char **expanded = tm_command_words_expand(words, values + first, end - first, err);
  tm_command_words_free(expanded);
  return expanded != NULL;
}

static int check_command(char *const *words, bool has_hosts, bool has_processes, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;

  if (!can_expand(words, true, true, &why))
    return tm_err_set(err, TM_EUSAGE, "'node_command': %s", why.text);
  if (!has_processes && !can_expand(words, true, false, NULL))
    return tm_err_set(err, TM_EUSAGE,
                      "'node_command' contains {processes}, but there is no "
                      "'process_count_per_node': each node decides how many workers it has, after "
                      "it was started; write process_count_per_node, or leave {processes} out");
  if (!has_hosts && !can_expand(words, false, true, NULL))
    return tm_err_set(err, TM_EUSAGE,
                      "'node_command' contains {host}, but there are no 'node_hosts'; name the "
                      "machines: node_hosts = { \"cn01\", \"cn02\" }, or a file with one name per "
                      "line");
  return 0;
}

static void add_host(struct tm_config *c, struct tm_map *seen, const char *name, size_t len)
{
  bool is_new;

  tm_map_add(seen, name, len, &is_new);
  if (!is_new)
    return;
  c->node_hosts = tm_xrealloc(c->node_hosts, (c->node_hosts_len + 2) * sizeof(*c->node_hosts));
  c->node_hosts[c->node_hosts_len++] = tm_xstrndup(name, len);
  c->node_hosts[c->node_hosts_len] = NULL;
}

#define SHELL_CHARACTERS " $`&;|<>()\"'\\*?!{}#" /* not []%: an address may be [fe80::1%eth0] */
#define BOM              "\xef\xbb\xbf"          /* editors write it at the beginning of a file */

static void add_lines(struct tm_config *c, struct tm_map *seen, const char *text)
{
  text += strncmp(text, BOM, strlen(BOM)) == 0 ? strlen(BOM) : 0;
  while (*text) {
    size_t line = strcspn(text, "\n"), begin = strspn(text, " \t\r");
    const char *name = text + (begin < line ? begin : line);
    size_t len = strcspn(name, " \t\r\n#");
    if (len > 0)
      add_host(c, seen, name, len);
    text += line + (text[line] == '\n');
  }
}

static bool has_control(const char *name)
{
  while (*name && !iscntrl((unsigned char)*name))
    name++;
  return *name != '\0';
}

static int refuse_name(const char *name, const char *why, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc;

  tm_text_one_line(&text, name, strlen(name), 0);
  rc = tm_err_set(err, TM_EUSAGE, "'node_hosts' has the name '%s': %s", tm_buf_str(&text), why);
  tm_buf_release(&text);
  return rc;
}

/* ssh takes a word that begins with '-' for an option, which may run anything, and so does a shell
 * with some characters, if the command has {host} in the text of one. Logs have a name in one
 * line. */
static int check_name(const char *name, struct tm_err *err)
{
  if (has_control(name))
    return refuse_name(name, "names of machines have no control characters", err);
  if (name[0] == '-')
    return refuse_name(name,
                       "commands would take it for an option; names of machines do not begin "
                       "with '-'",
                       err);
  if (strpbrk(name, SHELL_CHARACTERS))
    return refuse_name(name, "names of machines have none of the characters" SHELL_CHARACTERS, err);
  return 0;
}

static int check_names(const struct tm_config *c, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < c->node_hosts_len; i++)
    rc = check_name(c->node_hosts[i], err);
  return rc;
}

static int check_hosts(const struct tm_node_settings *s, struct tm_config *c, struct tm_err *err)
{
  struct tm_map seen = { 0 };
  const struct tm_json *hosts = s->hosts;
  int64_t found;

  for (size_t i = 0; hosts->type == TM_JSON_ARRAY && i < hosts->list.len; i++)
    add_host(c, &seen, hosts->list.at[i]->string.at, hosts->list.at[i]->string.len);
  if (hosts->type == TM_JSON_STRING)
    add_lines(c, &seen, s->hosts_text);
  tm_map_release(&seen);
  found = (int64_t)c->node_hosts_len;
  if (found >= s->node_count)
    return check_names(c, err);
  return tm_err_set(err, TM_EUSAGE,
                    "'node_hosts' has %" PRId64 " different %s, but 'node_count' is %" PRId64
                    "; name more machines, or lower node_count",
                    found, tm_text_counted(found, "name", "names"), s->node_count);
}

static int check_slurm(const struct tm_node_settings *s, struct tm_config *c, struct tm_err *err)
{
  char *none[] = { NULL };
  struct tm_slurm_options o;
  struct tm_err why = TM_ERR_NONE;
  char **words = s->slurm_options ? words_of(s->slurm_options, &why) : NULL;
  int rc = why.code == 0 ? tm_slurm_options_read(&o, words ? words : none, &why) : why.code;

  tm_command_words_free(words);
  if (rc < 0)
    return tm_err_set(err, TM_EUSAGE, "'slurm_options': %s", why.text);
  c->slurm_options = o.words;
  c->slurm_exclude = o.exclude;
  return 0;
}

int tm_node_settings_check(const struct tm_node_settings *s, struct tm_config *c,
                           struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  int rc = check_others(s, err);

  tm_require(s->node_count > 0 && !c->node_command && !c->node_hosts && !c->slurm_options);
  tm_require(!s->is_exec || !s->is_slurm);
  if (rc < 0)
    return rc;
  if (s->is_slurm)
    return check_slurm(s, c, err);
  if (!s->is_exec)
    return check_local(s, err);
  if (!s->command)
    return tm_err_set(
        err, TM_EUSAGE,
        "compute_target is \"exec\", but 'node_command' is missing; write the command "
        "that starts a node, such as node_command = \"ssh -T {host} {program} node\"");
  if (!(c->node_command = words_of(s->command, &why)))
    return tm_err_set(err, TM_EUSAGE, "'node_command': %s", why.text);
  rc = check_command(c->node_command, s->hosts, s->has_processes, err);
  return rc < 0 || !s->hosts ? rc : check_hosts(s, c, err);
}
