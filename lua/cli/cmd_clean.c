/* cmd_clean.c - `tidemill clean`: removes jobs with their directories. lua/records/clean.c chooses
 * them.
 *
 * The command lists what it would remove and asks on a terminal; elsewhere it needs --yes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"

struct clean_options {
  struct tm_words statuses;
  const char *older_than;
  bool all, dry_run, yes, json;
};

struct clean {
  struct clean_options o;
  struct tm_words rest;
  int64_t age_ns;
  struct tidemill_workspace *workspace;
  struct tidemill_clean *chosen;
  size_t going, staying, scripts, models;
  int64_t bytes, script_bytes, model_bytes;
};

static const char *const statuses[] = { "Completed", "Failed", "Canceled", "Interrupted", NULL };
static const enum tidemill_state states[] = { TIDEMILL_STATE_COMPLETED, TIDEMILL_STATE_FAILED,
                                              TIDEMILL_STATE_CANCELED, TIDEMILL_STATE_INTERRUPTED };

#define PLACE(field) offsetof(struct clean_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "status", TM_OPTION_LIST, PLACE(statuses), "STATUS", statuses, "only jobs with this status, and no prepared models; may be repeated; by default Failed, Canceled and Interrupted" },
  { "all", TM_OPTION_FLAG, PLACE(all), NULL, NULL, "also Completed jobs, with their output" },
  { "older-than", TM_OPTION_VALUE, PLACE(older_than), "AGE", NULL, "only jobs that ended, and models that were prepared, longer ago than this: 30d, 12h, 90m, 2w" },
  { "dry-run", TM_OPTION_FLAG, PLACE(dry_run), NULL, NULL, "shows what would be removed, and removes nothing" },
  { "yes", TM_OPTION_FLAG, PLACE(yes), NULL, NULL, "does not ask for confirmation" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "prints one JSON object per line for each job, one for the copies of scripts, and one for prepared models" },
};
/* clang-format on */

static int clean(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_clean = {
  .name = "clean",
  .run = clean,
  .usage = "[JOB]... [--status STATUS]... [--all] [--older-than AGE] [--dry-run] [--yes] [--json]",
  .summary = "removes jobs with their output; by default those not Completed",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "Without JOB, takes the jobs of the workspace that are neither Completed nor\n"
          "running, the copies of scripts that no job needs, and prepared models, which\n"
          "workers make again. Also finishes interrupted removals. Shows what will be\n"
          "removed, and asks first.\n",
};

/* ---- options ---- */

static int read_age(int64_t *out, const char *text, struct tm_err *err)
{
  static const struct {
    char letter;
    int64_t seconds;
  } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
  size_t n = strlen(text);
  char *digits = n > 1 ? tm_xstrndup(text, n - 1) : NULL;
  int64_t count;
  bool is_number = digits && tm_text_int(digits, &count) && count >= 0 && count < 1000000;
  free(digits);
  for (size_t i = 0; i < TM_COUNT_OF(units) && is_number; i++)
    if (units[i].letter == text[n - 1]) {
      *out = count * units[i].seconds * TM_S;
      return 0;
    }
  return tm_err_set(
      err, TM_EUSAGE,
      "'--older-than %s' is not an age; accepted: a number and s, m, h, d or w, as in 30d", text);
}

static int read_arguments(struct clean *c, int argc, char **argv, struct tm_err *err)
{
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &c->o, &c->rest, err);
  if (rc == 0 && c->o.older_than)
    rc = read_age(&c->age_ns, c->o.older_than, err);
  if (rc == 0 && c->o.all && c->o.statuses.len > 0)
    rc = tm_err_set(err, TM_EUSAGE, "'--all' and '--status' exclude each other");
  if (rc == 0 && c->rest.len > 0 && (c->o.all || c->o.statuses.len > 0 || c->o.older_than))
    rc = tm_err_set(err, TM_EUSAGE,
                    "'%s' names a job: --all, --status and --older-than choose among those of the "
                    "workspace",
                    c->rest.at[0]);
  return rc;
}

/* ---- messages ---- */

static void add_json(struct tm_buf *out, struct tm_json *v)
{
  tm_json_write(out, v, (struct tm_json_style) { 0 });
  tm_json_free(v);
}

static void add_line(struct tm_buf *out, const struct clean *c, const struct tidemill_clean_job *j)
{
  if (c->o.json) {
    struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
    tm_json_set(v, "job_dir", tm_json_new_string(j->dir));
    tm_json_set(v, "status", tm_json_new_string(tidemill_state_name(j->state)));
    tm_json_set(v, "removed", tm_json_new_bool(!c->o.dry_run));
    tm_json_set(v, "bytes", tm_json_new_int(j->bytes));
    tm_json_set(v, "kept", tm_json_new(TM_JSON_NULL));
    tm_json_set(v, "leftover", tm_json_new_bool(j->is_leftover));
    add_json(out, v);
  } else {
    tm_buf_printf(out, "%s  %s  ", j->dir,
                  j->is_leftover ? "left by a removal that was interrupted"
                                 : tidemill_state_name(j->state));
    tm_text_bytes(out, j->bytes);
  }
  tm_buf_add_char(out, '\n');
}

/* A line for what is in a folder of the workspace. */
static void add_folder_line(struct tm_buf *out, const struct clean *c, const char *folder, size_t n,
                            const char *words, int64_t bytes)
{
  if (n == 0)
    return;
  if (c->o.json) {
    struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
    tm_json_set(v, folder, tm_json_new_int((int64_t)n));
    tm_json_set(v, "removed", tm_json_new_bool(!c->o.dry_run));
    tm_json_set(v, "bytes", tm_json_new_int(bytes));
    add_json(out, v);
  } else {
    tm_buf_printf(out, "%s/%s  %zu %s  ", tidemill_workspace_path(c->workspace), folder, n, words);
    tm_text_bytes(out, bytes);
  }
  tm_buf_add_char(out, '\n');
}

static void add_scripts_line(struct tm_buf *out, const struct clean *c)
{
  add_folder_line(out, c, "snapshots", c->scripts,
                  tm_text_counted((int64_t)c->scripts, "copy of a script that no job runs any more",
                                  "copies of scripts that no job runs any more"),
                  c->script_bytes);
}

static void add_models_line(struct tm_buf *out, const struct clean *c)
{
  add_folder_line(out, c, "models", c->models,
                  tm_text_counted((int64_t)c->models, "prepared model", "prepared models"),
                  c->model_bytes);
}

/* Prints to standard error which jobs stay, with the reason. Without --json it also prints which
 * jobs would go, before it asks. */
static void say_list(const struct clean *c)
{
  bool says_going = !c->o.json && !c->o.dry_run && !c->o.yes;
  const struct tidemill_clean_job *j;
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; (j = tidemill_clean_job(c->chosen, i)) != NULL; i++)
    if (*j->kept)
      tm_cli_say("'%s' stays: %s", j->dir, j->kept);
    else if (says_going)
      add_line(&text, c, j);
  if (says_going) {
    add_scripts_line(&text, c);
    add_models_line(&text, c);
  }
  fputs(tm_buf_str(&text), stderr);
  tm_buf_release(&text);
}

/* 1: continue. */
static int ask(const struct clean *c, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  char line[16];
  if (c->o.yes)
    return 1;
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
    return tm_err_set(err, TM_EUSAGE,
                      "nothing is removed: there is no terminal to ask on; --yes does not ask, "
                      "--dry-run says what would be removed");
  tm_text_bytes(&text, c->bytes + c->script_bytes + c->model_bytes);
  fprintf(stderr, "remove %s, %s? [y/N] ",
          c->going > 0 ? tm_text_counted((int64_t)c->going, "this job", "these jobs")
                       : "these copies",
          text.data);
  fflush(stderr);
  tm_buf_release(&text);
  if (fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y'))
    return 1;
  tm_cli_say("nothing is removed");
  return 0;
}

/* ---- removal ---- */

/* Reports a job that cannot be removed and continues with the others. Prints a line to standard
 * output for each removed job. */
static int remove_all(struct clean *c, struct tm_buf *text)
{
  const struct tidemill_clean_job *j;
  int status = 0;
  for (size_t i = 0; (j = tidemill_clean_job(c->chosen, i)) != NULL; i++) {
    struct tm_err err = TM_ERR_NONE;
    if (*j->kept)
      continue;
    if (c->o.dry_run || tidemill_clean_remove(c->chosen, i, &err) >= 0) {
      add_line(text, c, j);
      continue;
    }
    tm_cli_say("%s", err.text);
    status = 3;
  }
  return status;
}

static int remove_scripts(struct clean *c, struct tm_buf *text)
{
  struct tm_err err = TM_ERR_NONE;
  if (!c->o.dry_run && tidemill_clean_remove_scripts(c->chosen, &err) < 0) {
    tm_cli_say("%s", err.text);
    return 3;
  }
  add_scripts_line(text, c);
  return 0;
}

static int remove_models(struct clean *c, struct tm_buf *text)
{
  struct tm_err err = TM_ERR_NONE;
  if (!c->o.dry_run && tidemill_clean_remove_models(c->chosen, &err) < 0) {
    tm_cli_say("%s", err.text);
    return 3;
  }
  add_models_line(text, c);
  return 0;
}

static void count(struct clean *c)
{
  const struct tidemill_clean_job *j;
  for (size_t i = 0; (j = tidemill_clean_job(c->chosen, i)) != NULL; i++) {
    c->staying += *j->kept != '\0';
    c->going += *j->kept == '\0';
    c->bytes += j->bytes;
  }
  c->scripts = tidemill_clean_scripts(c->chosen, &c->script_bytes);
  c->models = tidemill_clean_models(c->chosen, &c->model_bytes);
}

static int clean_all(struct clean *c, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = 1, status = 0, written;
  count(c);
  say_list(c);
  if (c->going == 0 && c->scripts == 0 && c->models == 0)
    tm_cli_say("there is nothing to remove");
  else if (!c->o.dry_run)
    rc = ask(c, err);
  if (rc <= 0)
    return rc;
  status = remove_all(c, &text);
  if (status == 0) /* a remaining job may run one of them */
    status = remove_scripts(c, &text);
  int left = remove_models(c, &text);
  status = status ? status : left;
  written = tm_cli_write_and_release(&text);
  /* A named job that stays is a refusal. */
  return written ? written : status ? status : c->rest.len > 0 && c->staying > 0 ? 2 : 0;
}

static int run_clean(struct clean *c, const struct tm_cli *cli, struct tm_err *err)
{
  struct tidemill_clean_options o = TIDEMILL_CLEAN_OPTIONS_INIT;
  enum tidemill_state wanted[TM_COUNT_OF(states)];
  int rc = 0;
  if (c->rest.len > 0)
    c->workspace = tm_cli_nearest_workspace(cli);
  else
    rc = tm_cli_open_workspace(cli, &c->workspace, TM_CLI_USES, err);
  if (rc < 0)
    return rc;
  for (size_t i = 0; i < TM_COUNT_OF(states); i++)
    for (size_t k = 0; k < c->o.statuses.len; k++)
      if (strcmp(statuses[i], c->o.statuses.at[k]) == 0) {
        wanted[o.states_len++] = states[i];
        break;
      }
  o.states = wanted;
  o.jobs = c->rest.at;
  o.jobs_len = c->rest.len;
  o.all = c->o.all;
  o.older_than_ns = c->age_ns;
  rc = tidemill_clean_new(&c->chosen, c->workspace, &o, err);
  return rc < 0 ? rc : clean_all(c, err);
}

static int clean(const struct tm_cli *cli, int argc, char **argv)
{
  struct clean c = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = read_arguments(&c, argc, argv, &err);
  rc = rc < 0 ? tm_cli_fail_usage(&tm_command_clean, &err)
              : tm_cli_end(run_clean(&c, cli, &err), &err);
  tidemill_clean_free(c.chosen);
  tidemill_workspace_close(c.workspace);
  TM_ARRAY_RELEASE(&c.o.statuses);
  TM_ARRAY_RELEASE(&c.rest);
  return rc;
}
