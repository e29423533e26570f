/* resume_way.c - see resume_way.h. Opens the files of each step for reading and puts them through
 * recovery, which writes nothing before it cuts. Leaves out Completed steps: resuming does not open
 * them either.
 */
#include "inspect/resume_way.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent_msg.h"
#include "base/mem.h"
#include "base/path.h"
#include "commit/gone.h"
#include "commit/manifest_file.h"
#include "commit/recover.h"
#include "commit/table_state.h"
#include "data/item.h"
#include "record/events.h"
#include "record/job_record.h"

#define FAILURES_END (128 << 10) /* how many bytes of the failures log are read */

struct step_files {
  struct tm_journal journal;
  struct tm_output output, failures;
  struct tm_files files;
  struct tm_manifest *manifest;
  struct tm_mini_batch_states mini_batch_states;
  bool is_over; /* all mini-batches are committed */
};

/* A missing file counts as empty: a session would create it. */
static int open_output(struct tm_output *o, const char *path, struct tm_err *err)
{
  if (tm_fs_exists(tm_fs_real(), path))
    return tm_output_open_read(o, tm_fs_real(), path, err);
  o->fs = tm_fs_real();
  o->path = tm_xstrdup(path);
  return 0;
}

static int open_state_file(struct tm_output *o, const char *step_dir, const char *name,
                           struct tm_err *err)
{
  char *path = tm_path_join(step_dir, name);
  int rc = open_output(o, path, err);
  free(path);
  return rc;
}

/* The path of the rows. The file has its final name if a session ended between the rename and the
 * result. NULL: the step writes no rows. */
static char *rows_of(const char *step_dir, const struct tm_json *step)
{
  const char *name = tm_job_record_rows_file(step);
  if (!name)
    return NULL;
  char *whole = tm_xprintf("%s/output/%s", step_dir, name);
  char *partial = tm_xprintf("%s.partial", whole);
  bool is_whole = !tm_fs_exists(tm_fs_real(), partial) && tm_fs_exists(tm_fs_real(), whole);
  free(is_whole ? partial : whole);
  return is_whole ? whole : partial;
}

static int open_files(struct step_files *f, const char *step_dir, const struct tm_json *step,
                      struct tm_err *err)
{
  char *journal = tm_path_join(step_dir, "state/journal");
  char *rows = rows_of(step_dir, step);
  int rc = 0;
  f->journal = (struct tm_journal) { .fs = tm_fs_real(), .fd = -1 };
  if (tm_fs_exists(tm_fs_real(), journal))
    rc = tm_journal_open_read(&f->journal, tm_fs_real(), journal, err);
  else
    f->journal.path = tm_xstrdup(journal);
  if (rc >= 0 && rows)
    rc = open_output(&f->output, rows, err);
  if (rc >= 0)
    rc = open_state_file(&f->failures, step_dir, "state/failures", err);
  if (rc >= 0)
    rc = open_state_file(&f->files.log, step_dir, "state/files", err);
  f->files.output_dir = tm_path_join(step_dir, "output");
  free(rows);
  free(journal);
  return rc;
}

static void close_files(struct step_files *f)
{
  tm_journal_close(&f->journal);
  tm_output_close(&f->output);
  tm_output_close(&f->failures);
  tm_files_close(&f->files);
  tm_manifest_close(f->manifest);
  tm_mini_batch_states_release(&f->mini_batch_states);
}

/* Whether nothing but the step writes there: otherwise rows may belong to another job. */
static bool is_own_folder(const char *step_dir)
{
  char *output = tm_path_join(step_dir, "output");
  struct tm_stat st;
  bool yes = tm_fs_real()->stat(NULL, output, false, &st) == 0 && S_ISDIR(st.mode);
  free(output);
  return yes;
}

static int recover(struct step_files *f, const char *step_dir, struct tm_err *err)
{
  struct tm_commit_found found = { 0 };
  struct tm_recovery r = { .journal = &f->journal,
                           .output = &f->output,
                           .failures = &f->failures,
                           .files = &f->files,
                           .mini_batch_states = &f->mini_batch_states,
                           .keep_failed = true };
  char *manifest = tm_path_join(step_dir, "state/manifest");
  int rc = tm_recover_line(&r, err);
  if (rc >= 0 && (r.line.manifest_len > 0 || tm_fs_exists(tm_fs_real(), manifest)))
    rc = tm_manifest_open_read(&f->manifest, tm_fs_real(), manifest, r.line.manifest_len, err);
  r.manifest = f->manifest;
  if (rc >= 0 && f->manifest)
    rc = tm_recover_log(&r, &found, err);
  f->is_over = f->manifest && found.committed == (int64_t)tm_manifest_count(f->manifest);
  if (rc >= 0 && r.sessions == 0 && f->output.end > 0 && is_own_folder(step_dir))
    rc = tm_gone_report(f->journal.path, err);
  free(manifest);
  return rc;
}

/* Checks the columns of a step over tables. */
static int check_columns(const struct step_files *f, const char *step_dir,
                         const struct tm_json *step, struct tm_err *err)
{
  const struct tm_json *given = tm_json_get(tm_json_get(step, "definition"), "inputs");
  size_t n = tm_json_items(given), len = 0;
  if (n == 0 || !f->manifest)
    return 0;
  struct tm_dataset **inputs = tm_xcalloc(n, sizeof(*inputs));
  while (len < n && (inputs[len] = tm_dataset_from_json(given->list.at[len], NULL)))
    len++;
  char *state = tm_path_join(step_dir, "state"), *schema = tm_path_join(state, "schema.json");
  int rc = len < n ? 0
                   : tm_table_state_check((const struct tm_dataset *const *)inputs, n, f->manifest,
                                          schema, err);
  if (rc >= 0 && !f->is_over)
    rc = tm_table_state_check_groups(n, f->manifest, state, err);
  free(schema);
  free(state);
  for (size_t i = 0; i < len; i++)
    tm_dataset_free(inputs[i]);
  free(inputs);
  return rc;
}

/* 1: the file is as it was when it was listed; 0: it has changed; negative: it does not exist. */
static int is_as_listed(const struct tm_item *item)
{
  char *path = tm_xstrndup(item->path, tm_item_file_len(item));
  struct tm_stat st = { 0 };
  int rc = tm_fs_real()->stat(NULL, path, true, &st);
  free(path);
  return rc < 0 ? rc : item->size < 0 || (st.size == item->size && st.mtime_ns == item->mtime_ns);
}

/* If the user accepts changes, a session hands out a changed file. But an item of a table or an
 * archive is a place within the file, which does not fit the changed file. */
static enum tm_resume_way way_of_item(const struct tm_item *item, struct tm_err *why)
{
  int same = is_as_listed(item);
  if (same > 0)
    return TM_RESUME_BY_JOB;
  if (same == 0 && !item->is_rows && !item->is_entry)
    return TM_RESUME_BY_ACCEPTING;
  tm_err_set(why, TM_ECHANGED,
             same == 0 ? "input '%.*s' has changed since it was cut into mini-batches; a new job "
                         "reads it as it is now"
                       : "input '%.*s' is no longer there; put it back and resume, or start a new "
                         "job",
             (int)tm_item_file_len(item), item->path);
  return TM_RESUME_NEVER;
}

static enum tm_resume_way way_of_items(const struct step_files *f, uint64_t index,
                                       struct tm_err *why)
{
  enum tm_resume_way way = TM_RESUME_BY_JOB;
  struct tm_manifest_entry e;
  struct tm_reader r;
  struct tm_item item;
  if (tm_manifest_read(f->manifest, index, &e, NULL) < 0)
    return way; /* recovery has judged the file */
  tm_reader_init(&r, e.bytes, e.len);
  while (way != TM_RESUME_NEVER && tm_item_next(&r, &item)) {
    enum tm_resume_way of_item = way_of_item(&item, why);
    way = of_item > way ? of_item : way;
  }
  return way;
}

/* For a line of the failures log. Looks only at items that a worker could not load: it met the
 * change and reached the file system moments ago. Other inputs may be on one that hangs. */
static enum tm_resume_way way_of_failure(const struct step_files *f, const char *line, size_t len,
                                         struct tm_err *why)
{
  struct tm_json *v = tm_json_parse(line, len, NULL);
  int64_t index = tm_json_int(v, "mini_batch", -1);
  bool is_load = strcmp(tm_json_str(v, "status", ""), tm_status_name(TM_LOAD_EXCEPTION)) == 0;
  tm_json_free(v);
  if (!is_load || index < 0 || (uint64_t)index >= tm_manifest_count(f->manifest) ||
      tm_mini_batch_states_get(&f->mini_batch_states, (uint64_t)index) != TM_MINI_BATCH_FAILED)
    return TM_RESUME_BY_JOB;
  return way_of_items(f, (uint64_t)index, why);
}

/* Reads the last lines of the failures log. The first may be cut, and is then not JSON. */
static enum tm_resume_way way_of_inputs(const struct step_files *f, struct tm_err *why)
{
  enum tm_resume_way way = TM_RESUME_BY_JOB;
  int64_t from = f->failures.end > FAILURES_END ? f->failures.end - FAILURES_END : 0;
  size_t len = (size_t)(f->failures.end - from);
  if (f->failures.fd < 0 || !f->manifest || len == 0)
    return way;
  char *text = tm_xmalloc(len + 1), *at = text, *end;
  int64_t got =
      tm_fs_read_at(tm_fs_real(), f->failures.fd, f->failures.path, text, len, from, NULL);
  text[got > 0 ? got : 0] = '\0';
  for (; way != TM_RESUME_NEVER && (end = strchr(at, '\n')) != NULL; at = end + 1) {
    enum tm_resume_way of_failure = way_of_failure(f, at, (size_t)(end - at), why);
    way = of_failure > way ? of_failure : way;
  }
  free(text);
  return way;
}

static bool is_stdin(const struct tm_json *input)
{
  const struct tm_json *paths = tm_json_get(input, "paths");
  return strcmp(tm_json_str(input, "kind", ""), "manifest") == 0 && tm_json_items(paths) > 0 &&
         paths->list.at[0]->type == TM_JSON_STRING &&
         strcmp(paths->list.at[0]->string.at, "-") == 0;
}

/* A list on standard input cannot be read again. */
static bool needs_list(const struct step_files *f, const struct tm_json *step)
{
  const struct tm_json *inputs = tm_json_get(tm_json_get(step, "definition"), "inputs");
  bool needs = false;
  for (size_t i = 0; i < tm_json_items(inputs); i++)
    needs = needs || is_stdin(inputs->list.at[i]);
  return needs && !(f->manifest && tm_manifest_has_end(f->manifest));
}

static bool is_completed(const char *step_dir)
{
  struct tm_json *result = tm_step_result_load(step_dir);
  bool yes = strcmp(tm_json_str(result, "status", ""), tm_verdict_name(TM_COMPLETED)) == 0;
  tm_json_free(result);
  return yes;
}

static enum tm_resume_way way_of_step(const char *dir, const struct tm_json *step,
                                      struct tm_err *why)
{
  struct step_files f = {
    .journal.fd = -1, .output.fd = -1, .failures.fd = -1, .files.log.fd = -1
  };
  char *step_dir = tm_path_join(dir, tm_json_str(step, "name", ""));
  int rc = 0;
  if (!is_completed(step_dir)) {
    if (tm_fs_exists(tm_fs_real(), step_dir) && (rc = open_files(&f, step_dir, step, why)) >= 0)
      rc = recover(&f, step_dir, why);
    if (rc >= 0)
      rc = check_columns(&f, step_dir, step, why);
    if (rc >= 0)
      rc = needs_list(&f, step) ? TM_RESUME_BY_LIST : (int)way_of_inputs(&f, why);
  }
  close_files(&f);
  free(step_dir);
  return rc < 0 ? TM_RESUME_NEVER : (enum tm_resume_way)rc;
}

enum tm_resume_way tm_resume_way_of(const char *dir, struct tm_err *why)
{
  struct tm_json *record = tm_job_record_load(dir, why);
  const struct tm_json *steps = tm_json_get(record, "steps");
  bool has_definition = tm_json_str(record, "pipeline", NULL) || tm_json_get(record, "source");
  enum tm_resume_way way = record ? TM_RESUME_BY_JOB : TM_RESUME_NEVER;
  for (size_t i = 0; i < tm_json_items(steps) && way != TM_RESUME_NEVER; i++) {
    enum tm_resume_way of_step = way_of_step(dir, steps->list.at[i], why);
    way = of_step > way ? of_step : way;
  }
  if (way < TM_RESUME_BY_COMMAND && !has_definition)
    way = TM_RESUME_BY_COMMAND;
  tm_json_free(record);
  return way;
}
