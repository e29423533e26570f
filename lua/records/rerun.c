/* rerun.c - see rerun.h.
 *
 * --only-failed takes the items in failed_items.jsonl. It refuses rows of tables. If run() returned
 * fewer elements than items, the list does not say which items failed. Then the line names the
 * command that runs the whole job again.
 */
#include "records/rerun.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define LINES_MAX 10000 /* lines of a step that are searched for a named item */

typedef void (*tm_own_command)(void *data, struct tm_buf *out, const char *only_failed);

struct look {
  int64_t lines;
  bool has_files, has_rows;
};

static int on_failure(const struct tidemill_failure *f, void *data)
{
  struct look *l = data;
  l->has_rows = l->has_rows || f->are_rows;
  l->has_files = l->has_files || (*f->item && !f->are_rows);
  return (*f->item || f->are_rows) || ++l->lines == LINES_MAX;
}

static bool can_run_alone(struct tidemill_record *job)
{
  const struct tidemill_record_step *step;
  struct look l = { .lines = 0 };
  for (size_t i = 0; (step = tidemill_record_step(job, i)) != NULL; i++) {
    l.lines = 0;
    (void)tidemill_record_failures(job, step->name, on_failure, &l, NULL);
  }
  return l.has_files && !l.has_rows;
}

static bool has_params(struct tidemill_record *job)
{
  struct tm_json *v = tm_json_of(tidemill_record_definition(job));
  const struct tm_json *params = tm_json_get(v, "params");
  bool yes = params && params->type == TM_JSON_OBJECT && params->list.len > 0;
  tm_json_free(v);
  return yes;
}

/* Adds the pipeline file, with the parameters of the job. */
static void add_run(struct tm_buf *out, struct tidemill_record *job)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  bool has = has_params(job);
  tm_buf_add_str(out, has ? "tidemill run --like " : "tidemill run ");
  tm_text_shell(out, has ? info->dir : info->file);
}

void tm_rerun_append_command(struct tm_err *err, const char *anew)
{
  char *words = tm_xprintf("; to start a new job: %s", anew);
  tm_err_append(err, words);
  free(words);
}

static bool is_among(const char *const *given, size_t given_len, const char *name)
{
  size_t n = strlen(name);
  for (size_t i = 0; i < given_len; i++)
    if (strncmp(given[i], name, n) == 0 && given[i][n] == '=')
      return true;
  return false;
}

static void add_param(struct tm_buf *out, const char *name, const struct tm_json *value)
{
  struct tm_buf pair = TM_BUF_NONE;
  tm_buf_printf(&pair, "%s=", name);
  if (value->type == TM_JSON_STRING)
    tm_buf_add_str(&pair, value->string.at);
  else
    tm_json_write(&pair, value, (struct tm_json_style) { 0 });
  tm_buf_add_str(out, " --param ");
  tm_text_shell(out, tm_buf_str(&pair));
  tm_buf_release(&pair);
}

void tm_rerun_add_without_job(struct tm_buf *out, struct tidemill_record *job,
                              const char *const *given, size_t given_len)
{
  const char *file = tidemill_record_info(job)->file;
  struct tm_json *v = tm_json_of(tidemill_record_definition(job));
  const struct tm_json *params = tm_json_get(v, "params");
  size_t n = params && params->type == TM_JSON_OBJECT ? params->list.len : 0;
  if (*file) {
    tm_buf_add_str(out, "tidemill run ");
    tm_text_shell(out, file);
    for (size_t i = 0; i < n; i++)
      if (!is_among(given, given_len, params->keys[i]))
        add_param(out, params->keys[i], params->list.at[i]);
    for (size_t i = 0; i < given_len; i++) {
      tm_buf_add_str(out, " --param ");
      tm_text_shell(out, given[i]);
    }
  }
  tm_json_free(v);
}

/* Whether options may follow the recorded command, and it can be typed again as it is. */
static bool can_extend(const char *command)
{
  static const char *const others[] = { " -- ",      "...",        " - ",           " --output",
                                        " --resume", " --job-dir", " --only-failed" };
  size_t n = strlen(command);
  if (strncmp(command, "tidemill map ", strlen("tidemill map ")) != 0 ||
      (n > 2 && strcmp(command + n - 2, " -") == 0))
    return false;
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    if (strstr(command, others[i]))
      return false;
  return true;
}

/* Adds the recorded command of a map job. False: it cannot be typed again as it is. */
static bool add_recorded(struct tm_buf *out, struct tidemill_record *job)
{
  const char *directory, *command = tidemill_record_command(job, &directory);
  char *here = command && can_extend(command) ? getcwd(NULL, 0) : NULL;
  if (!here)
    return false;
  if (strcmp(here, directory) != 0) {
    tm_buf_add_str(out, "cd ");
    tm_text_shell(out, directory);
    tm_buf_add_str(out, " && ");
  }
  tm_buf_add_str(out, command);
  free(here);
  return true;
}

void tm_rerun_add_anew(struct tm_buf *out, struct tidemill_record *job, tm_own_command own,
                       void *data)
{
  struct tm_buf command = TM_BUF_NONE;
  if (own)
    own(data, &command, NULL);
  else if (*tidemill_record_info(job)->file)
    add_run(&command, job);
  else
    (void)add_recorded(&command, job);
  if (command.len > 0)
    tm_buf_printf(out, "; to start a new job: %s", command.data);
  tm_buf_release(&command);
}

void tm_rerun_append_anew(struct tm_err *err, const char *dir)
{
  struct tidemill_record *job = NULL;
  struct tm_buf anew = TM_BUF_NONE;
  if (tidemill_record_open(&job, NULL, dir, NULL) >= 0)
    tm_rerun_add_anew(&anew, job, NULL, NULL);
  tm_err_append(err, tm_buf_str(&anew));
  tm_buf_release(&anew);
  tidemill_record_close(job);
}

bool tm_rerun_add(struct tm_buf *out, struct tidemill_record *job, tm_own_command own, void *data)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  const char *only_failed = can_run_alone(job) ? info->dir : NULL;
  if (info->counts->items_failed == 0)
    return false;
  tm_buf_add_str(out, only_failed ? "to run the failed items again: "
                                  : "the failed items cannot be run alone (rows of a table, or "
                                    "nobody knows which ones); to run all again: ");
  if (*info->file) {
    add_run(out, job);
    tm_buf_add_str(out, only_failed ? " --only-failed " : " --no-reuse");
    if (only_failed)
      tm_text_shell(out, only_failed);
  } else if (own) {
    own(data, out, only_failed);
  } else {
    bool is_whole = add_recorded(out, job);
    tm_buf_add_str(out, is_whole ? "" : "the command that started the job");
    if (only_failed) {
      tm_buf_add_str(out, is_whole ? " --only-failed " : ", with --only-failed ");
      tm_text_shell(out, only_failed);
    }
  }
  return true;
}
