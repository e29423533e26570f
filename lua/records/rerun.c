/* rerun.c - see rerun.h.
 *
 * --only-failed takes the items in failed_items.jsonl. It refuses rows of tables. If run() returned
 * fewer elements than items, the list does not say which items failed. Then the line names the
 * command that runs the whole job again.
 *
 * A command is words first, which a program can start without a shell. Its text is made of them.
 */
#include "records/rerun.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define LINES_MAX 10000 /* lines of a step that are searched for a named item */

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

bool tm_rerun_can_be_alone(struct tidemill_record *job)
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

/* ---- the command ---- */

void tm_rerun_add_word(struct tm_rerun *c, const char *word)
{
  *TM_ARRAY_ADD(&c->argv) = tm_xstrdup(word);
}

/* The pipeline file, with the parameters of the job. */
static void take_file(struct tm_rerun *c, struct tidemill_record *job)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  bool has = has_params(job);
  tm_rerun_add_word(c, "tidemill");
  tm_rerun_add_word(c, "run");
  if (has)
    tm_rerun_add_word(c, "--like");
  tm_rerun_add_word(c, has ? info->dir : info->file);
}

static bool is_option(const char *word, const char *name)
{
  for (; *name; word++, name++)
    if ((*word == '_' ? '-' : *word) != *name)
      return false;
  return true;
}

/* Whether options may follow the recorded command, and it can be given again as it is. "...":
 * values of environment variables, which are not recorded. */
static bool can_extend(const char *const *words)
{
  static const char *const others[] = { "--output", "--resume", "--job-dir", "--only-failed" };
  if (!words[0] || strcmp(words[0], "tidemill") != 0 || !words[1] || strcmp(words[1], "map") != 0)
    return false;
  for (size_t i = 2; words[i]; i++) {
    if (strcmp(words[i], "--") == 0 || strcmp(words[i], "-") == 0 || strstr(words[i], "..."))
      return false;
    for (size_t k = 0; k < TM_COUNT_OF(others); k++)
      if (is_option(words[i], others[k]))
        return false;
  }
  return true;
}

/* The recorded command of a map job. False: it cannot be given again as it is. */
static bool take_recorded(struct tm_rerun *c, struct tidemill_record *job)
{
  const char *directory;
  const char *const *words = tidemill_record_words(job, &directory);
  if (!words || !can_extend(words))
    return false;
  for (size_t i = 0; words[i]; i++)
    tm_rerun_add_word(c, words[i]);
  c->directory = tm_xstrdup(directory);
  return true;
}

bool tm_rerun_init(struct tm_rerun *c, struct tidemill_record *job, bool only_failed)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  bool is_known = true;
  *c = (struct tm_rerun) { .directory = NULL };
  if (*info->file)
    take_file(c, job);
  else
    is_known = take_recorded(c, job);
  if (is_known && only_failed) {
    tm_rerun_add_word(c, "--only-failed");
    tm_rerun_add_word(c, info->dir);
  }
  return is_known;
}

void tm_rerun_release(struct tm_rerun *c)
{
  TM_ARRAY_RELEASE_EACH(&c->argv);
  free(c->directory);
  c->directory = NULL;
}

void tm_rerun_add_text(struct tm_buf *out, const struct tm_rerun *c, const char *here)
{
  if (c->directory && !(here && strcmp(here, c->directory) == 0)) {
    tm_buf_add_str(out, "cd ");
    tm_text_shell(out, c->directory);
    tm_buf_add_str(out, " && ");
  }
  for (size_t i = 0; i < c->argv.len && c->argv.at[i]; i++) {
    if (i > 0)
      tm_buf_add_char(out, ' ');
    tm_text_shell(out, c->argv.at[i]);
  }
}

/* For a shell in the current directory. False: the command is not known. */
static bool add_command(struct tm_buf *out, struct tidemill_record *job, bool only_failed,
                        tm_rerun_own own, void *data)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  struct tm_rerun c = { .directory = NULL };
  char *here = getcwd(NULL, 0);
  bool is_own = own && !*info->file;
  if (is_own)
    own(data, &c, only_failed ? info->dir : NULL);
  bool is_known = is_own || (here && tm_rerun_init(&c, job, only_failed));
  if (is_known)
    tm_rerun_add_text(out, &c, here);
  tm_rerun_release(&c);
  free(here);
  return is_known;
}

/* ---- the lines ---- */

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

void tm_rerun_add_own(struct tm_buf *out, tm_rerun_own own, void *data)
{
  struct tm_rerun c = { .directory = NULL };
  own(data, &c, NULL);
  tm_rerun_add_text(out, &c, NULL);
  tm_rerun_release(&c);
}

void tm_rerun_add_anew(struct tm_buf *out, struct tidemill_record *job, tm_rerun_own own,
                       void *data)
{
  struct tm_buf command = TM_BUF_NONE;
  (void)add_command(&command, job, false, own, data);
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

bool tm_rerun_add(struct tm_buf *out, struct tidemill_record *job, tm_rerun_own own, void *data)
{
  const struct tidemill_record_info *info = tidemill_record_info(job);
  const char *only_failed = tm_rerun_can_be_alone(job) ? info->dir : NULL;
  if (info->counts->items_failed == 0)
    return false;
  tm_buf_add_str(out, only_failed ? "to run the failed items again: "
                                  : "the failed items cannot be run alone (rows of a table, or "
                                    "nobody knows which ones); to run all again: ");
  if (!add_command(out, job, only_failed != NULL, own, data)) {
    tm_buf_add_str(out, "the command that started the job");
    if (only_failed) {
      tm_buf_add_str(out, ", with --only-failed ");
      tm_text_shell(out, only_failed);
    }
  } else if (*info->file && !only_failed) {
    tm_buf_add_str(out, " --no-reuse");
  }
  return true;
}
