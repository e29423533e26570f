/* reuse.c - see reuse.h.
 *
 *  (1) The recorded inputs are older than their use: the lister reports a file before it is handed
 *      out (input_record.h), and what is beside the inputs is listed before the step begins. A file
 *      that changes meanwhile counts as changed next time.
 *  (2) A result is checked before it is linked, and its job must still exist afterwards: removal.c
 *      renames a job before it touches anything in it.
 *  (3) <step> appears by one rename, together with its result: a resumed job has either all of it
 *      or nothing.
 */
#include "job/reuse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "data/files/listing.h"
#include "data/table/table.h"
#include "outputs/link_tree.h"
#include "record/input_record.h"
#include "record/job_record.h"
#include "record/same_libraries.h"
#include "snapshot/snapshot.h"
#include "store/trust.h"
#include "sys/clock.h"

static void say(struct tm_reuse *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct tm_reuse *r, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;

  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  free(r->words);
  r->words = tm_buf_take(&text);
}

const char *tm_reuse_obstacle(const struct tm_pipeline *p, const struct tm_step *step)
{
  if (!step->allow_reuse)
    return "allow_reuse is false";
  if (step->config.resume_from)
    return "it takes over another job: --resume_from";
  if (p->only_failed)
    return "its inputs are the items that failed: --only-failed";
  for (size_t i = 0; i < step->inputs_len; i++) {
    const struct tm_dataset *d = step->inputs[i];
    if (tm_dataset_is_stdin(d))
      return "its input is a list on standard input";
    if (d->table && (d->table->ops.take >= 0 || d->table->ops.skip > 0))
      return "its input is a part of a table: take() or skip()";
    if (d->kind == TM_DATASET_ARCHIVES && d->limit > 0)
      return "its input is a part of archives: a limit";
  }
  return NULL;
}

void tm_reuse_init(struct tm_reuse *r, const char *snapshot_hash)
{
  r->definition = tm_reuse_definition(r->step->effective, snapshot_hash);
  tm_reuse_key(r->definition, r->key);
}

void tm_reuse_release(struct tm_reuse *r)
{
  tm_json_free(r->definition);
  tm_result_rows_release(&r->rows);
  tm_identity_release(&r->inputs);
  tm_identity_release(&r->side);
  free(r->words);
}

/* By its definition. */

static bool has_failures(const struct tm_result_row *row)
{
  return tm_json_int(tm_json_get(row->summary, "items"), "failed", 0) > 0 ||
         tm_json_int(tm_json_get(row->summary, "mini_batches"), "failed", 0) > 0;
}

/* How the files of the script differ from the copy in the job of a result, to free(). NULL: the
 * script is the same, or the copy cannot be read. */
static char *compare_script(const struct tm_reuse *r, const struct tm_result_row *row)
{
  struct tm_buf words = TM_BUF_NONE;
  char *copy = tm_xprintf("%s/script/%s", row->job, r->step->name);
  bool is_known = !tm_reuse_has_script(row->definition, r->definition) &&
                  tm_snapshot_diff(&words, r->fs, &r->step->config, r->job_dir, copy, NULL) == 0 &&
                  words.len > 0;
  char *text = is_known ? tm_buf_take(&words) : NULL;
  tm_buf_release(&words);
  free(copy);
  return text;
}

/* Reports how the definition differs from that of the step's newest result. */
static int explain_definition(struct tm_reuse *r, struct tm_db *db, struct tm_err *err)
{
  struct tm_result_row newest;
  struct tm_buf words = TM_BUF_NONE;
  int rc = tm_results_newest(&newest, db, r->pipeline, r->step->name, err);
  char *script = rc > 0 ? compare_script(r, &newest) : NULL;

  if (rc > 0 && !tm_reuse_compare(&words, newest.definition, r->definition, script, true))
    tm_buf_add_str(&words, "its definition is another");
  if (rc > 0)
    say(r, "%s", words.data);
  tm_buf_release(&words);
  free(script);
  tm_result_row_release(&newest);
  return rc;
}

/* Whether others may have written the result. The workspace itself has been checked, or the user
 * named it. A job elsewhere may have been removed since, and somebody else may have put another in
 * its place. */
static bool is_strange(struct tm_reuse *r, const struct tm_result_row *row)
{
  struct tm_err why = TM_ERR_NONE;
  size_t n = strlen(r->workspace);

  if ((strncmp(row->job, r->workspace, n) == 0 && row->job[n] == '/') ||
      tm_trust_job(r->fs, row->job, &why) == 0)
    return false;
  say(r,
      "its earlier result is not used: the job '%s' is another user's, or others can write to it",
      row->job);
  return true;
}

/* A result with failed items counts only if the settings that decide about failures are the same. A
 * result that an earlier job left in this job's own directory does not count. */
static void drop_unfit(struct tm_reuse *r)
{
  size_t kept = 0;

  for (size_t i = 0; i < r->rows.len; i++) {
    struct tm_result_row *row = &r->rows.at[i];
    struct tm_buf words = TM_BUF_NONE;
    bool is_own = r->job_dir && strcmp(row->job, r->job_dir) == 0;
    bool differs =
        has_failures(row) && tm_reuse_compare(&words, row->definition, r->definition, NULL, true);
    bool is_unfit = is_own || differs || is_strange(r, row);
    if (is_unfit) {
      if (is_own)
        say(r, "its earlier result is gone: it was in the directory of this job");
      else if (differs)
        say(r, "items had failed, and %s", words.data);
      tm_result_row_release(row);
    } else {
      r->rows.at[kept++] = *row;
    }
    tm_buf_release(&words);
  }
  r->rows.len = kept;
}

int tm_reuse_hope(struct tm_reuse *r, struct tm_db *db, struct tm_err *err)
{
  int rc = db ? tm_results_find(&r->rows, db, r->key, err) : 0;

  if (rc < 0)
    return rc;
  drop_unfit(r);
  if (r->rows.len > 0)
    return 1;
  if (!r->words && db && (rc = explain_definition(r, db, err)) < 0)
    return rc;
  r->is_new = !r->words;
  if (r->is_new)
    say(r, "the workspace '%s' has no result of it that can be reused", r->workspace);
  return 0;
}

/* By its inputs. */

static void begin_identity(struct tm_identity *id, bool by_content)
{
  tm_identity_release(id);
  *id = (struct tm_identity) { .is_listed = true,
                               .has_contents = by_content,
                               .max = TM_INPUT_RECORD_MAX };
}

/* Adds the files of a dataset, which another step may have written. A script that gets a folder may
 * also read its hidden files. */
static int list_dataset(struct tm_identity *out, const struct tm_reuse *r,
                        const struct tm_dataset *d, bool is_folder, struct tm_err *err)
{
  struct tm_dataset *bound = d->step ? tm_dataset_bind(d, r->dir_of(r->data, d->step)) : NULL;
  struct tm_dataset files = bound ? *bound : *d;
  files.takes_hidden = is_folder;
  int rc = tm_input_record_list(out, r->fs, &files, r->stop, err);

  tm_dataset_free(bound);
  return rc;
}

static int list_inputs(struct tm_reuse *r, struct tm_err *err)
{
  int rc = 0;

  begin_identity(&r->inputs, r->step->reuses_by_content);
  for (size_t i = 0; i < r->step->inputs_len && rc >= 0; i++)
    if (r->step->inputs[i]->mode == TM_DATASET_DIRECT)
      rc = list_dataset(&r->inputs, r, r->step->inputs[i], false, err);
  return rc;
}

/* Adds the files at a path outside the jobs. */
static int list_place(struct tm_identity *out, const struct tm_reuse *r, char *path,
                      struct tm_err *err)
{
  struct tm_dataset d = { .kind = TM_DATASET_FILES,
                          .paths = &path,
                          .paths_len = 1,
                          .base_dir = (char *)"/",
                          .takes_hidden = true,
                          .input = -1 };

  return tm_input_record_list(out, r->fs, &d, r->stop, err);
}

/* The -wal file beside a database, which holds the changes since the last checkpoint. SQLite puts
 * it where the links lead to. */
static int list_wal_of(struct tm_reuse *r, const char *path, size_t len, struct tm_err *err)
{
  char *file = tm_xstrndup(path, len), *place = realpath(file, NULL),
       *wal = tm_xprintf("%s-wal", place ? place : file);
  struct tm_stat st;
  bool has_changes = r->fs->stat(r->fs->self, wal, true, &st) == 0 && st.size > 0;
  int rc = has_changes ? list_place(&r->side, r, wal, err) : 0;

  free(wal);
  free(place);
  free(file);
  return rc;
}

static int list_wals(struct tm_reuse *r, const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_dataset *bound = d->step ? tm_dataset_bind(d, r->dir_of(r->data, d->step)) : NULL;
  const struct tm_dataset *files = bound ? bound : d;
  struct tm_listing_options o = { .fs = r->fs,
                                  .base_dir = files->base_dir,
                                  .paths = (const char *const *)files->paths,
                                  .paths_len = files->paths_len,
                                  .skip_unreadable = files->skip_unreadable };
  struct tm_listing *l = tm_listing_open(&o);
  struct tm_item item;
  int rc;

  while ((rc = tm_listing_next(l, &item, err)) > 0)
    if ((rc = list_wal_of(r, item.path, item.path_len, err)) < 0)
      break;
  tm_listing_close(l);
  tm_dataset_free(bound);
  return rc;
}

/* Parts of inputs that are not listed as inputs: the files behind links and copies, and the files
 * beside a database. */
static int list_inputs_aside(struct tm_reuse *r, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < r->step->inputs_len && rc >= 0; i++) {
    const struct tm_dataset *d = r->step->inputs[i];
    if (d->mode != TM_DATASET_DIRECT)
      rc = list_dataset(&r->side, r, d, false, err);
    if (rc >= 0 && d->kind == TM_DATASET_SQL)
      rc = list_wals(r, d, err);
  }
  return rc;
}

/* Adds the files in a folder, by their names below `base`. */
static int list_folder(struct tm_identity *out, const struct tm_reuse *r, const char *base,
                       const char *folder, struct tm_err *err)
{
  char *path = folder ? tm_path_join(base, folder) : tm_xstrdup(base);
  struct tm_dataset d = { .kind = TM_DATASET_FILES,
                          .paths = &path,
                          .paths_len = 1,
                          .base_dir = (char *)base,
                          .step = (char *)"",
                          .takes_hidden = true,
                          .input = -1 };
  int rc = tm_input_record_list(out, r->fs, &d, r->stop, err);

  free(path);
  return rc;
}

int tm_reuse_look_aside(struct tm_reuse *r, struct tm_err *err)
{
  const struct tm_step *step = r->step;
  int rc = 0;

  begin_identity(&r->side, step->reuses_by_content);
  rc = list_inputs_aside(r, err);
  for (size_t i = 0; i < step->side_inputs_len && rc >= 0; i++)
    rc = list_dataset(&r->side, r, step->side_inputs[i], true, err);
  for (size_t i = 0; i < step->read_paths_len && rc >= 0; i++)
    rc = list_place(&r->side, r, step->read_paths[i], err);
  for (size_t i = 0; i < step->paths_len && rc >= 0; i++)
    if (strcmp(step->paths[i].step, step->name) != 0)
      rc = list_folder(&r->side, r, r->dir_of(r->data, step->paths[i].step),
                       step->arguments[step->paths[i].at], err);
  r->has_side = rc >= 0;
  return rc;
}

static char *record_of(const char *job, const char *step, const char *name)
{
  return tm_xprintf("%s/%s/state/%s", job, step, name);
}

/* Reports what has changed since, among the inputs or beside them. */
static void explain_files(struct tm_reuse *r, const struct tm_result_row *row, const char *name,
                          const struct tm_identity *then, const struct tm_identity *now)
{
  const char *base = r->step->inputs[0]->base_dir;
  char *path = record_of(row->job, r->step->name, name);
  struct tm_identity named = { .files = 0 };
  struct tm_buf words = TM_BUF_NONE;
  bool has_names =
      tm_input_record_read(&named, r->fs, path, NULL) >= 0 && tm_identity_is_equal(&named, then);

  tm_identity_compare(&words, has_names ? &named : then, now, base ? base : "/");
  say(r, "%s", tm_buf_str(&words));
  tm_identity_release(&named);
  tm_buf_release(&words);
  free(path);
}

/* By its outputs. */

static int list_outputs(struct tm_identity *out, const struct tm_reuse *r, const char *job_dir,
                        struct tm_err *err)
{
  int rc = 0;

  begin_identity(out, false);
  out->max = 1; /* they are compared, not named */
  for (size_t i = 0; i < r->step->outputs_len && rc >= 0; i++) {
    const struct tm_step_output *o = &r->step->outputs[i];
    rc = list_folder(out, r, job_dir, o->folder, err);
    if (rc >= 0 && o->is_upload)
      rc = list_folder(out, r, o->destination, NULL, err);
  }
  return rc;
}

static bool is_job(const struct tm_reuse *r, const char *dir)
{
  char *path = tm_path_join(dir, "job.json");
  bool yes = tm_fs_exists(r->fs, path);

  free(path);
  return yes;
}

static void forget(const struct tm_reuse *r, const struct tm_result_row *row)
{
  (void)tm_results_remove(r->workspace, row->id, NULL);
}

/* Whether the outputs still exist unchanged: 1, or 0 with a message. */
static int check_outputs(struct tm_reuse *r, const struct tm_result_row *row, struct tm_err *err)
{
  struct tm_identity now = { .files = 0 };
  struct tm_buf words = TM_BUF_NONE;
  int rc;

  if (!is_job(r, row->job)) {
    forget(r, row);
    say(r, "its earlier result is gone, with the job '%s'", row->job);
    return 0;
  }
  rc = list_outputs(&now, r, row->job, err);
  if (rc >= 0) {
    rc = tm_identity_is_equal(&now, &row->output);
    tm_identity_compare(&words, &row->output, &now, row->job);
    if (rc == 0)
      say(r, "its earlier output, of the job '%s', is not as it was: %s", row->job,
          tm_buf_str(&words));
  }
  tm_buf_release(&words);
  tm_identity_release(&now);
  return rc;
}

static int check_libraries(struct tm_reuse *r, const struct tm_result_row *row)
{
  struct tm_buf why = TM_BUF_NONE;
  int rc = tm_libraries_are_same(r->fs, r->step, row->job, &why);

  if (rc == 0)
    say(r, "%s", why.data);
  tm_buf_release(&why);
  return rc;
}

static void say_reused(struct tm_reuse *r)
{
  const struct tm_result_row *row = &r->rows.at[r->chosen];
  struct tm_buf when = TM_BUF_NONE, files = TM_BUF_NONE;
  int64_t n = r->inputs.files > 0 ? r->inputs.files : r->side.files;
  int64_t failed = tm_json_int(tm_json_get(row->summary, "items"), "failed", 0);
  char *words = NULL;

  tm_time_iso(&when, row->completed_ns);
  tm_text_grouped(&files, n);
  if (failed > 0)
    words = tm_xprintf("; %" PRId64 " %s failed there", failed,
                       tm_text_counted(failed, "item", "items"));
  say(r, "script, settings, arguments and %s input %s are as in job '%s', step Completed %s%s",
      files.data, tm_text_counted(n, "file", "files"), tm_path_base(row->job), when.data,
      words ? words : "");
  free(words);
  tm_buf_release(&when);
  tm_buf_release(&files);
}

int tm_reuse_look(struct tm_reuse *r, struct tm_err *err)
{
  int rc = list_inputs(r, err);
  bool has_same = false;

  if (rc >= 0 && !r->has_side)
    rc = tm_reuse_look_aside(r, err);
  for (size_t i = 0; i < r->rows.len && rc == 0; i++) {
    const struct tm_result_row *row = &r->rows.at[i];
    if (!tm_identity_is_equal(&row->inputs, &r->inputs) ||
        !tm_identity_is_equal(&row->side, &r->side))
      continue;
    has_same = true;
    rc = check_outputs(r, row, err);
    if (rc > 0)
      rc = check_libraries(r, row);
    r->chosen = i;
  }
  if (rc > 0)
    say_reused(r);
  if (rc != 0 || has_same)
    return rc;
  if (!tm_identity_is_equal(&r->rows.at[0].inputs, &r->inputs))
    explain_files(r, &r->rows.at[0], "inputs", &r->rows.at[0].inputs, &r->inputs);
  else
    explain_files(r, &r->rows.at[0], "side_inputs", &r->rows.at[0].side, &r->side);
  return 0;
}

/* Linking the result. */

/* The logs belong to the earlier job, and so do temporary files of its tries. */
static bool is_left_out(const char *relative)
{
  static const char *const names[] = { "logs", "step_result.json", "state/spill", "state/staging" };

  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    if (strcmp(relative, names[i]) == 0)
      return true;
  return false;
}

static void fill_counts(struct tm_step_view *view, const struct tm_json *summary)
{
  const struct tm_json *m = tm_json_get(summary, "mini_batches"),
                       *n = tm_json_get(summary, "items");
  struct tm_counts *c = &view->counts;

  *c = (struct tm_counts) { .all_created = true };
  c->created = tm_json_int(m, "total", 0);
  c->succeeded = tm_json_int(m, "succeeded", 0);
  c->failed = tm_json_int(m, "failed", 0);
  c->uncounted = tm_json_int(m, "uncounted", 0);
  c->items_created = tm_json_int(n, "total", 0);
  c->items_succeeded = tm_json_int(n, "succeeded", 0);
  c->items_failed = tm_json_int(n, "failed", 0);
  c->items = c->items_succeeded + c->items_failed;
}

static int put(struct tm_reuse *r, const char *temporary, struct tm_step_view *view,
               struct tm_err *err)
{
  struct tm_json *result = tm_step_result_new(view);
  int rc = tm_step_result_put(r->fs, temporary, result, err);

  tm_json_free(result);
  if (rc >= 0 && (rc = r->fs->rename(r->fs->self, temporary, view->dir)) < 0)
    tm_err_system(err, rc, "cannot rename '%s' to '%s'", temporary, view->dir);
  return rc < 0 ? rc : tm_fs_sync_dir(r->fs, r->job_dir, err);
}

int tm_reuse_take(struct tm_reuse *r, struct tm_step_view *view, struct tm_err *err)
{
  const struct tm_result_row *row = &r->rows.at[r->chosen];
  char *from = tm_path_join(row->job, r->step->name),
       *temporary = tm_xprintf("%s.reuse", view->dir);
  struct tm_link_tree tree = {
    .fs = r->fs, .from = from, .to = temporary, .is_left_out = is_left_out, .stop = r->stop
  };
  int rc = tm_fs_remove_tree(r->fs, temporary, err);

  if (rc == 0)
    rc = tm_link_tree(&tree, err);
  if (rc >= 0 && !is_job(r, row->job)) /* keeps (2) */
    rc = tm_err_set(err, -ENOENT, "the job '%s' has been removed meanwhile", row->job);
  if (rc >= 0) {
    fill_counts(view, row->summary);
    view->verdict = TM_COMPLETED;
    view->reused_from = tm_json_str(row->summary, "reused_from", row->job); /* where it was run */
    rc = put(r, temporary, view, err);                                      /* keeps (3) */
  }
  if (rc < 0)
    tm_fs_remove_tree(r->fs, temporary, NULL);
  free(temporary);
  free(from);
  return rc < 0 ? rc : 0;
}

/* Keeping a result. */

static int fill_row(struct tm_result_row *row, struct tm_reuse *r, const struct tm_step_view *view,
                    struct tm_err *err)
{
  char *path = record_of(r->job_dir, r->step->name, "inputs");
  int rc = tm_input_record_read(&row->inputs, r->fs, path, err);

  free(path);
  if (rc >= 0)
    rc = list_outputs(&row->output, r, r->job_dir, err);
  row->summary = tm_step_result_new(view);
  row->completed_ns = view->reused_from ? r->rows.at[r->chosen].completed_ns : tm_clock_wall_ns();
  return rc;
}

/* Names of the files beside the inputs, so that a later message can say which of them changed. */
static int keep_aside(struct tm_reuse *r, struct tm_err *err)
{
  char *path = record_of(r->job_dir, r->step->name, "side_inputs");
  int rc = r->side.files > 0 && !tm_fs_exists(r->fs, path)
               ? tm_input_record_write(r->fs, path, &r->side, err)
               : 0;

  free(path);
  return rc;
}

int tm_reuse_keep(struct tm_reuse *r, const struct tm_step_view *view, struct tm_err *err)
{
  struct tm_result_row row = {
    .key = r->key,
    .pipeline = (char *)r->pipeline,
    .step = r->step->name,
    .job = (char *)r->job_dir,
    .definition = r->definition,
    .side = { .files = r->side.files, .bytes = r->side.bytes, .hash = r->side.hash }
  };
  int rc = keep_aside(r, err);

  if (rc >= 0)
    rc = fill_row(&row, r, view, err);
  if (rc >= 0)
    rc = tm_results_add(r->workspace, &row, err);
  tm_json_free(row.summary);
  tm_identity_release(&row.inputs);
  tm_identity_release(&row.output);
  return rc;
}
