/* clean.c - `tidemill clean`: jobs that are of no use any more, with all that is in their directories.
 *
 * Without words: those of the workspace that have ended without being Completed, or were interrupted: what a Completed job has
 * in its directory is what it was run for. Never a job that runs; never one whose output is a registered dataset.
 * With them go the copies of scripts that the workspace has kept and that no job is left to run.
 *
 * What would be removed is listed, then asked for on a terminal; without one it takes --yes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "run/job.h"
#include "run/old_snapshots.h"
#include "run/removal.h"
#include "run/survey.h"
#include "store/jobs.h"
#include "store/registry.h"
#include "sys/clock.h"

struct clean_options {
  struct tm_words statuses;
  const char *older_than;
  bool all, dry_run, yes, json;
};

struct candidate {
  char *dir;
  char *kept; /* why it stays; NULL: it goes */
  enum tm_job_status status;
  int64_t ended_ns; /* when it was last at work */
  int64_t bytes;
};

struct clean {
  const struct tm_cli *cli;
  struct clean_options o;
  struct tm_words rest;
  char *workspace; /* NULL: none is here, and jobs are named by their directories */
  int64_t now_ns, age_ns;
  struct TM_ARRAY(struct candidate) list;
  struct tm_old_snapshots scripts; /* that go, too */
  int64_t going, bytes;
};

static const char *const statuses[] = { "Completed", "Failed", "Canceled", "Interrupted", NULL };

#define PLACE(field) offsetof(struct clean_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "status", TM_OPTION_LIST, PLACE(statuses), "STATUS", statuses, "only jobs of this status; as often as needed; without it Failed, Canceled and Interrupted" },
  { "all", TM_OPTION_FLAG, PLACE(all), NULL, NULL, "Completed jobs too, with their output" },
  { "older-than", TM_OPTION_VALUE, PLACE(older_than), "AGE", NULL, "only jobs that ended longer ago: 30d, 12h, 90m, 2w" },
  { "dry-run", TM_OPTION_FLAG, PLACE(dry_run), NULL, NULL, "says what would be removed, and removes nothing" },
  { "yes", TM_OPTION_FLAG, PLACE(yes), NULL, NULL, "does not ask" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "one JSON object a line for each job, and one for the copies of scripts" },
};
/* clang-format on */

static int clean(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_clean = {
  .name = "clean",
  .run = clean,
  .usage = "[JOB]... [--status STATUS]... [--all] [--older-than AGE] [--dry-run] [--yes] [--json]",
  .summary =
      "removes jobs of the workspace that are not Completed, or those named, with their output",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

/* What was asked for. */

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
      "'--older-than %s' is no age; accepted: a number and s, m, h, d or w, as in 30d", text);
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

/* Which jobs. */

static bool is_wanted(const struct clean *c, const struct candidate *j)
{
  bool by_status = c->o.all || (c->o.statuses.len == 0 && j->status != TM_JOB_COMPLETED);
  for (size_t i = 0; i < c->o.statuses.len; i++)
    by_status = by_status || strcmp(c->o.statuses.at[i], tm_job_status_name(j->status)) == 0;
  return c->rest.len > 0 || (by_status && c->now_ns - j->ended_ns >= c->age_ns);
}

/* Why it stays, to free(); NULL: it may go. */
static char *reason_to_keep(const struct clean *c, const struct candidate *j, struct tm_err *err)
{
  char *name = NULL, *reason = NULL;
  if (j->status == TM_JOB_RUNNING)
    return tm_xstrdup("it is running");
  if (c->workspace && tm_registry_find_job(&name, c->workspace, j->dir, err) > 0)
    reason = tm_xprintf("its output is the registered dataset '%s'; tidemill dataset unregister %s "
                        "lets it go",
                        name, name);
  free(name);
  return reason;
}

static int64_t ended_of(const struct clean *c, const struct tm_survey *s)
{
  char *record = tm_path_join(s->dir, "job.json");
  int64_t at = s->end_wall_ns ? s->end_wall_ns : s->begin_wall_ns;
  struct tm_stat st;
  if (at == 0 && c->cli->fs->stat(c->cli->fs->self, record, true, &st) == 0)
    at = st.mtime_ns;
  free(record);
  return at;
}

/* Looks at one; `dir` is taken over. */
static int add(struct clean *c, char *dir, struct tm_err *err)
{
  struct tm_survey s;
  struct candidate j = { .dir = dir };
  int rc = tm_survey_read(&s, dir, c->now_ns, err);
  if (rc >= 0) {
    j.status = s.status;
    j.ended_ns = ended_of(c, &s);
    err->code = 0;
    if (is_wanted(c, &j)) {
      j.kept = reason_to_keep(c, &j, err);
      j.bytes = j.kept ? 0 : tm_job_size(c->cli->fs, dir);
      rc = err->code;
    } else {
      j.kept = tm_xstrdup("");
    }
  }
  tm_survey_release(&s);
  c->going += rc >= 0 && !j.kept;
  c->bytes += j.bytes;
  *TM_ARRAY_ADD(&c->list) = j;
  return rc < 0 ? rc : 0;
}

static int add_named(struct clean *c, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < c->rest.len && rc == 0; i++) {
    char *dir = tm_cli_find_job(c->cli, c->rest.at[i], err);
    bool is_twice = false;
    for (size_t k = 0; dir && k < c->list.len; k++)
      is_twice = is_twice || strcmp(c->list.at[k].dir, dir) == 0;
    if (is_twice)
      free(dir);
    else
      rc = dir ? add(c, dir, err) : err->code;
  }
  return rc;
}

/* One that cannot be read is said, and stays: named, it is refused. */
static int add_all(struct clean *c, struct tm_err *err)
{
  struct tm_jobs jobs = { 0 };
  int rc = tm_jobs_list(&jobs, c->cli->fs, c->workspace, err);
  for (size_t i = 0; i < jobs.len && rc >= 0; i++) {
    struct tm_err why = TM_ERR_NONE;
    if (add(c, tm_xstrdup(jobs.at[i]), &why) < 0) {
      tm_cli_say("left as it is: %s", why.text);
      c->list.at[c->list.len - 1].kept = tm_xstrdup("");
    }
  }
  tm_jobs_release(&jobs);
  return rc < 0 ? rc : 0;
}

/* What is said. */

static void add_size(struct tm_buf *out, int64_t bytes)
{
  static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
  double n = (double)bytes;
  size_t i = 0;
  for (; n >= 1024 && i + 1 < TM_COUNT_OF(units); i++)
    n /= 1024;
  tm_buf_printf(out, "%.*f %s", i > 0 && n < 10 ? 1 : 0, n, units[i]);
}

static void add_line(struct tm_buf *out, const struct clean *c, const struct candidate *j)
{
  if (c->o.json) {
    struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
    tm_json_set(v, "job_dir", tm_json_new_string(j->dir));
    tm_json_set(v, "status", tm_json_new_string(tm_job_status_name(j->status)));
    tm_json_set(v, "removed", tm_json_new_bool(!j->kept && !c->o.dry_run));
    tm_json_set(v, "bytes", tm_json_new_int(j->bytes));
    tm_json_set(v, "kept", tm_json_new_string(j->kept));
    tm_json_write(out, v, (struct tm_json_style) { 0 });
    tm_json_free(v);
  } else {
    tm_buf_printf(out, "%s  %s  ", j->dir, tm_job_status_name(j->status));
    add_size(out, j->bytes);
  }
  tm_buf_add_char(out, '\n');
}

static void add_scripts_line(struct tm_buf *out, const struct clean *c)
{
  const struct tm_old_snapshots *s = &c->scripts;
  if (s->paths.len == 0)
    return;
  if (c->o.json) {
    struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
    tm_json_set(v, "snapshots", tm_json_new_int((int64_t)s->paths.len));
    tm_json_set(v, "removed", tm_json_new_bool(!c->o.dry_run));
    tm_json_set(v, "bytes", tm_json_new_int(s->bytes));
    tm_json_write(out, v, (struct tm_json_style) { 0 });
    tm_json_free(v);
  } else {
    tm_buf_printf(out, "%s/snapshots  %zu %s that no job runs any more  ", c->workspace,
                  s->paths.len,
                  tm_text_counted((int64_t)s->paths.len, "copy of a script", "copies of scripts"));
    add_size(out, s->bytes);
  }
  tm_buf_add_char(out, '\n');
}

/* On standard error: those that stay, with the reason; and without --json those that go, before they are asked for. */
static void say_list(const struct clean *c)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < c->list.len; i++)
    if (c->list.at[i].kept && *c->list.at[i].kept)
      tm_cli_say("'%s' stays: %s", c->list.at[i].dir, c->list.at[i].kept);
    else if (!c->list.at[i].kept && !c->o.json && !c->o.dry_run && !c->o.yes)
      add_line(&text, c, &c->list.at[i]);
  if (!c->o.json && !c->o.dry_run && !c->o.yes)
    add_scripts_line(&text, c);
  fputs(tm_buf_str(&text), stderr);
  tm_buf_release(&text);
}

/* 1: go on. */
static int ask(const struct clean *c, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  char line[16];
  if (c->o.yes)
    return 1;
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
    return tm_err_set(err, TM_EUSAGE,
                      "nothing is removed: there is no terminal to ask on; --yes does without, "
                      "--dry-run says what would be removed");
  add_size(&text, c->bytes + c->scripts.bytes);
  fprintf(stderr, "remove %s, %s? [y/N] ",
          c->going > 0 ? tm_text_counted(c->going, "this job", "these jobs") : "these copies",
          text.data);
  fflush(stderr);
  tm_buf_release(&text);
  if (fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y'))
    return 1;
  tm_cli_say("nothing is removed");
  return 0;
}

/* Removing. */

static int remove_one(const struct clean *c, const struct candidate *j, struct tm_err *err)
{
  char *reason = reason_to_keep(c, j, err); /* again: it may have been registered meanwhile */
  int rc = reason ? tm_err_set(err, TM_EINUSE, "'%s' stays: %s", j->dir, reason) : err->code;
  free(reason);
  return rc < 0 ? rc : tm_job_remove(c->cli->fs, j->dir, err);
}

/* One that cannot be removed is said, and the others are all the same. The lines of those that are gone go to standard output. */
static int remove_all(struct clean *c, struct tm_buf *text)
{
  int status = 0;
  for (size_t i = 0; i < c->list.len; i++) {
    struct candidate *j = &c->list.at[i];
    struct tm_err err = TM_ERR_NONE;
    if (j->kept)
      continue;
    if (c->o.dry_run || remove_one(c, j, &err) == 0) {
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
  if (!c->o.dry_run && tm_old_snapshots_remove(&c->scripts, c->cli->fs, &err) < 0) {
    tm_cli_say("%s", err.text);
    return 3;
  }
  add_scripts_line(text, c);
  return 0;
}

static int clean_all(struct clean *c, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  bool has_kept = false;
  int rc = 1, status = 0, written;
  say_list(c);
  for (size_t i = 0; i < c->list.len; i++)
    has_kept = has_kept || (c->list.at[i].kept && *c->list.at[i].kept);
  if (c->going == 0 && c->scripts.paths.len == 0)
    tm_cli_say("there is nothing to remove");
  else if (!c->o.dry_run)
    rc = ask(c, err);
  if (rc <= 0)
    return rc;
  status = remove_all(c, &text);
  if (status == 0) /* a job that is left may run one */
    status = remove_scripts(c, &text);
  written = tm_cli_write(&text);
  tm_buf_release(&text);
  /* A job that was named and stays is a refusal. */
  return written ? written : status ? status : c->rest.len > 0 && has_kept ? 2 : 0;
}

/* Those of jobs that are to go included. What cannot be known is not removed. */
static void find_scripts(struct clean *c)
{
  struct tm_err err = TM_ERR_NONE;
  struct TM_ARRAY(char *) gone = { 0 };
  for (size_t i = 0; i < c->list.len; i++)
    if (!c->list.at[i].kept)
      *TM_ARRAY_ADD(&gone) = c->list.at[i].dir;
  if (tm_old_snapshots_find(&c->scripts, c->cli->fs, c->workspace, gone.at, gone.len, &err) < 0)
    tm_cli_say("copies of scripts are left as they are: %s", err.text);
  TM_ARRAY_RELEASE(&gone);
}

static int run_clean(struct clean *c, struct tm_err *err)
{
  int rc;
  c->now_ns = tm_clock_wall_ns();
  c->workspace = tm_cli_workspace(c->cli, err);
  if (!c->workspace && c->rest.len == 0)
    return err->code;
  err->code = 0;
  rc = c->rest.len > 0 ? add_named(c, err) : add_all(c, err);
  if (rc >= 0 && c->rest.len == 0)
    find_scripts(c);
  return rc < 0 ? rc : clean_all(c, err);
}

static int clean(const struct tm_cli *cli, int argc, char **argv)
{
  struct clean c = { .cli = cli };
  struct tm_err err = TM_ERR_NONE;
  int rc = read_arguments(&c, argc, argv, &err);
  rc = rc < 0 ? tm_cli_fail_usage(&tm_command_clean, &err) : tm_cli_end(run_clean(&c, &err), &err);
  for (size_t i = 0; i < c.list.len; i++) {
    free(c.list.at[i].dir);
    free(c.list.at[i].kept);
  }
  TM_ARRAY_RELEASE(&c.list);
  tm_old_snapshots_release(&c.scripts);
  TM_ARRAY_RELEASE(&c.o.statuses);
  TM_ARRAY_RELEASE(&c.rest);
  free(c.workspace);
  return rc;
}
