/* inspection.c - see inspection.h.
 *
 *   job.json          the job and its steps
 *   lock, owner       whether a process runs it, and which
 *   job_result.json   the result of a job that has ended
 *   <step>/state/     journal: mini-batches that have ended; the end of the manifest: how many
 *                     there are; the end of the failures log
 *
 * The journal is read once, in pieces (journal_count.h).
 */
#include "inspect/inspection.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "record/job_record.h"
#include "record/owner.h"
#include "sys/fs.h"

const char *tm_job_status_name(enum tm_job_status s)
{
  tm_require(s <= TM_JOB_CANCELED);
  static const char *const names[] = { "Running", "Interrupted", "Completed", "Failed",
                                       "Canceled" };
  return names[s];
}

/* The journal. */

/* Of the earlier inspection, so that the journal is not read from its beginning. */
static void take_count(const struct tm_inspection *s, struct tm_step_inspection *step)
{
  struct tm_inspection *earlier = s->earlier;

  step->count = (struct tm_journal_count)TM_JOURNAL_COUNT_NONE;
  for (size_t i = 0; earlier && i < earlier->steps_len; i++)
    if (earlier->steps[i].name && strcmp(earlier->steps[i].name, step->name) == 0) {
      step->count = earlier->steps[i].count;
      earlier->steps[i].count = (struct tm_journal_count)TM_JOURNAL_COUNT_NONE;
    }
}

/* `brief`: reads only the first record. */
static int read_journal(struct tm_inspection *s, struct tm_step_inspection *step, const char *dir,
                        bool brief, struct tm_err *err)
{
  struct tm_journal_count *c = &step->count;
  char *path = tm_path_join(dir, "state/journal");
  int rc = brief ? tm_journal_count_read_begin(c, path, err) : tm_journal_count_read(c, path, err);

  step->sessions = c->sessions;
  step->begin_wall_ns = c->begin_wall_ns;
  step->session_wall_ns = c->session_wall_ns;
  step->session_ended = c->session_ended;
  step->succeeded = c->succeeded;
  step->failed = c->failed;
  step->uncounted = c->uncounted;
  step->items_succeeded = c->items_succeeded;
  step->items_failed = c->items_failed;
  step->damage_at = c->damage_at;
  if (c->mtime_ns > s->end_wall_ns)
    s->end_wall_ns = c->mtime_ns;
  free(path);
  return rc;
}

/* Steps. */

static int64_t member(const struct tm_json *v, const char *group, const char *name)
{
  return tm_json_int(tm_json_get(v, group), name, 0);
}

static void take_result(struct tm_step_inspection *s, const struct tm_json *v)
{
  const struct tm_json *outputs = tm_json_get(v, "outputs");
  s->status = tm_xstrdup(tm_json_str(v, "status", NULL));
  s->cause = tm_xstrdup(tm_json_str(v, "cause", NULL));
  s->output = tm_xstrdup(tm_json_str(v, "output", NULL));
  s->outputs = outputs ? tm_json_copy(outputs) : NULL;
  s->reused_from = tm_xstrdup(tm_json_str(v, "reused_from", NULL));
  s->total = member(v, "mini_batches", "total");
  s->succeeded = member(v, "mini_batches", "succeeded");
  s->failed = member(v, "mini_batches", "failed");
  s->uncounted = member(v, "mini_batches", "uncounted");
  s->items_total = member(v, "items", "total");
  s->items_succeeded = member(v, "items", "succeeded");
  s->items_failed = member(v, "items", "failed");
}

/* Where the rows of a step are that has not ended. */
static char *output_of(const char *dir, const struct tm_json *step)
{
  const char *name = tm_job_record_rows_file(step);
  return name ? tm_xprintf("%s/output/%s.partial", dir, name) : tm_xprintf("%s/output", dir);
}

static void find_error_file(struct tm_step_inspection *s, const char *dir)
{
  char *path = tm_path_join(dir, "logs/user/error.txt");
  if (tm_fs_exists(tm_fs_real(), path))
    s->error_file = path;
  else
    free(path);
}

/* The names of the steps that a step waits for. */
static char *waits_of(const struct tm_step_inspection *step, const struct tm_json *record)
{
  const struct tm_json *needs = tm_json_get(record, "needs");
  struct tm_buf names = TM_BUF_NONE;
  if (step->sessions > 0 || step->status || !needs || needs->type != TM_JSON_ARRAY)
    return NULL;
  for (size_t i = 0; i < needs->list.len; i++)
    if (needs->list.at[i]->type == TM_JSON_STRING)
      tm_buf_printf(&names, "%s'%s'", i ? ", " : "", needs->list.at[i]->string.at);
  return tm_buf_take(&names);
}

/* Reads from the manifest how much there is to do. */
static int read_extent(struct tm_step_inspection *step, const char *dir, struct tm_err *err)
{
  char *manifest = tm_path_join(dir, "state/manifest");
  struct tm_manifest_extent extent;
  int rc = tm_manifest_look(&extent, manifest, err);
  free(manifest);
  if (rc < 0)
    return rc;
  step->total = extent.mini_batches;
  step->is_listed = extent.has_end;
  step->items_total = extent.items;
  if (extent.items >= 0 && step->items_succeeded + step->items_failed > extent.items)
    step->items_total = step->items_succeeded + step->items_failed; /* rows of tables */
  return 0;
}

static int read_step(struct tm_inspection *s, struct tm_step_inspection *step,
                     const struct tm_json *record, const struct tm_json *result, struct tm_err *err)
{
  char *dir = tm_path_join(s->dir, tm_json_str(record, "name", ""));
  struct tm_json *kept = result ? NULL : tm_step_result_load(dir); /* while other steps run */
  int rc;
  result = result ? result : kept;
  step->name = tm_xstrdup(tm_json_str(record, "name", ""));
  step->damage_at = -1;
  take_count(s, step);
  if (tm_json_bool(result, "reused", false)) /* its journal has sessions of another job */
    rc = 0;
  else
    rc = read_journal(s, step, dir, result != NULL, err);
  if (result)
    take_result(step, result);
  else {
    step->output = output_of(dir, record);
    /* after the journal, because a running job must not list less than what has ended */
    if (rc >= 0)
      rc = read_extent(step, dir, err);
  }
  step->waits_for = waits_of(step, record);
  if (step->begin_wall_ns > 0 && (s->begin_wall_ns == 0 || step->begin_wall_ns < s->begin_wall_ns))
    s->begin_wall_ns = step->begin_wall_ns;
  tm_json_free(kept);
  free(dir);
  return rc;
}

/* A job of which nothing ran began when its definition was written. */
static void set_begin(struct tm_inspection *s)
{
  char *path = tm_path_join(s->dir, "job.json");
  struct tm_stat st;
  bool has_reused = false;
  for (size_t i = 0; i < s->steps_len; i++)
    has_reused = has_reused || s->steps[i].reused_from;
  if (has_reused && tm_fs_real()->stat(NULL, path, true, &st) == 0)
    s->begin_wall_ns = st.mtime_ns;
  free(path);
}

static int read_steps(struct tm_inspection *s, const struct tm_json *record,
                      const struct tm_json *result, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(record, "steps");
  int rc = 0;
  if (!steps || steps->type != TM_JSON_ARRAY)
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: it has no list of steps", s->dir);
  s->steps = tm_xcalloc(steps->list.len, sizeof(*s->steps));
  s->steps_len = steps->list.len;
  for (size_t i = 0; i < steps->list.len && rc >= 0; i++) {
    const char *name = tm_json_str(steps->list.at[i], "name", "");
    rc = read_step(s, &s->steps[i], steps->list.at[i], tm_job_record_step(result, name), err);
  }
  return rc;
}

/* The job. */

static int set_status(struct tm_inspection *s, const struct tm_json *result, bool has_owner,
                      struct tm_err *err)
{
  const char *said = tm_json_str(result, "status", "");
  if (has_owner || !result) {
    s->status = has_owner ? TM_JOB_RUNNING : TM_JOB_INTERRUPTED;
    return 0;
  }
  for (int i = TM_JOB_COMPLETED; i <= TM_JOB_CANCELED; i++)
    if (strcmp(said, tm_job_status_name((enum tm_job_status)i)) == 0) {
      s->status = (enum tm_job_status)i;
      return 0;
    }
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s/job_result.json' is damaged: its status is '%s'; accepted: Completed, "
                    "Failed, Canceled",
                    s->dir, said);
}

static void set_end(struct tm_inspection *s, bool has_result)
{
  const struct tm_fs *fs = tm_fs_real();
  char *path = tm_path_join(s->dir, "job_result.json");
  struct tm_stat st;
  if (has_result && fs->stat(fs->self, path, true, &st) == 0)
    s->end_wall_ns = st.mtime_ns;
  if (s->status == TM_JOB_RUNNING)
    s->end_wall_ns = 0;
  free(path);
}

/* Whether job.json has its last bytes. A list of thousands of jobs does not parse the file. */
static bool has_whole_record(const char *dir)
{
  const struct tm_fs *fs = tm_fs_real();
  char *path = tm_path_join(dir, "job.json"), end[2] = "";
  struct tm_stat st = { 0 };
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, NULL);
  bool is_whole = fd >= 0 && fs->fstat(fs->self, fd, &st) == 0 && st.size > 2 &&
                  tm_fs_read_at(fs, fd, path, end, 2, st.size - 2, NULL) == 2 &&
                  memcmp(end, "}\n", 2) == 0;
  tm_fs_close(fs, fd);
  free(path);
  return is_whole;
}

/* The record of the job, to free. In a list, the result is enough for a job that has ended. */
static struct tm_json *read_record(const struct tm_inspection *s, bool is_of_list,
                                   const struct tm_json *result, struct tm_err *err)
{
  bool is_enough = is_of_list && s->status > TM_JOB_INTERRUPTED &&
                   tm_json_str(result, "name", NULL) && has_whole_record(s->dir);
  return is_enough ? tm_json_copy(result) : tm_job_record_load(s->dir, err);
}

static void take_names(struct tm_inspection *s, const struct tm_json *record,
                       const struct tm_json *result)
{
  s->name = tm_xstrdup(tm_json_str(record, "name", ""));
  s->pipeline_file = tm_xstrdup(tm_json_str(record, "pipeline", ""));
  s->cause = tm_xstrdup(tm_json_str(result, "cause", NULL));
  if (tm_cancel_request_from_json(&s->cancel, tm_json_get(result, "canceled_by")))
    s->is_cancel_asked = s->is_cancel_taken = true;
  s->has_nodes = tm_nodes_sum_from_json(&s->nodes, tm_json_get(result, "nodes"));
}

/* A list of jobs does not read it before. */
static void read_command(struct tm_inspection *s)
{
  struct tm_json *record = tm_job_record_load(s->dir, NULL);
  const struct tm_json *command = tm_json_get(record, "command");
  if (command)
    s->command = tm_json_copy(command);
  tm_json_free(record);
}

static int read_job(struct tm_inspection *s, const struct tm_json *record,
                    const struct tm_json *result, struct tm_err *err)
{
  int rc = read_steps(s, record, s->status == TM_JOB_RUNNING ? NULL : result, err);
  if (s->begin_wall_ns == 0)
    set_begin(s);
  set_end(s, result != NULL);
  return rc;
}

static void read_cancel(struct tm_inspection *s)
{
  struct tm_session session;
  s->is_cancel_asked =
      tm_session_look(&session, s->dir, NULL) == 0 && session.is_held && !session.has_ended &&
      tm_cancel_request_find(&s->cancel, s->dir, session.epoch, &s->is_cancel_taken);
}

static int read_all(struct tm_inspection *s, bool is_of_list, struct tm_err *err)
{
  struct tm_err of_result = TM_ERR_NONE, of_status = TM_ERR_NONE;
  struct tm_json *record, *result;
  bool has_owner = tm_owner_is_running(s->dir, NULL, NULL); /* before it looks for the result */
  int rc;
  result = tm_job_result_load(s->dir, &of_result);
  if (!is_of_list || has_owner || !result)
    tm_owner_read(s->dir, &s->pid, &s->host);
  if (has_owner)
    read_cancel(s);
  /* A session removes the result before it runs anything. If there is a result, the owner of the
   * lock has done its work and will close soon. */
  rc = set_status(s, result, has_owner && !result && of_result.code == 0, &of_status);
  s->is_stopped = s->status == TM_JOB_RUNNING && tm_owner_is_stopped(s->pid, s->host);
  record = read_record(s, is_of_list, result, err);
  if (!record) {
    tm_json_free(result);
    return err->code;
  }
  take_names(s, record, result);
  if (of_result.code < 0)
    rc = tm_err_set(err, of_result.code, "%s", of_result.text);
  else if (rc < 0)
    rc = tm_err_set(err, rc, "%s", of_status.text);
  else
    rc = read_job(s, record, result, err);
  tm_json_free(record);
  tm_json_free(result);
  return rc < 0 ? rc : 0;
}

static int begin(struct tm_inspection *s, const char *dir, int64_t now_wall_ns, bool is_of_list,
                 struct tm_err *err)
{
  *s = (struct tm_inspection) { .dir = tm_xstrdup(dir), .now_wall_ns = now_wall_ns };
  return read_all(s, is_of_list, err);
}

int tm_inspection_read(struct tm_inspection *s, const char *dir, int64_t now_wall_ns,
                       struct tm_err *err)
{
  return begin(s, dir, now_wall_ns, false, err);
}

int tm_inspection_read_for_list(struct tm_inspection *s, const char *dir, int64_t now_wall_ns,
                                struct tm_err *err)
{
  return begin(s, dir, now_wall_ns, true, err);
}

int tm_inspection_renew(struct tm_inspection *s, int64_t now_wall_ns, struct tm_err *err)
{
  struct tm_inspection earlier = *s;
  int rc;
  *s = (struct tm_inspection) { .dir = tm_xstrdup(earlier.dir),
                                .now_wall_ns = now_wall_ns,
                                .earlier = &earlier };
  rc = read_all(s, false, err);
  s->earlier = NULL;
  tm_inspection_release(&earlier);
  return rc;
}

int tm_inspection_read_sessions(struct tm_inspection *s, size_t step, struct tm_err *err)
{
  tm_require(step < s->steps_len);
  struct tm_step_inspection *of = &s->steps[step];
  char *path = tm_xprintf("%s/%s/state/journal", s->dir, of->name);
  int rc = of->reused_from ? 0 : tm_journal_count_read(&of->count, path, err);
  free(path);
  return rc;
}

void tm_inspection_read_details(struct tm_inspection *s)
{
  if (!s->host) /* a list has not read it */
    tm_owner_read(s->dir, &s->pid, &s->host);
  read_command(s);
  for (size_t i = 0; i < s->steps_len; i++) {
    struct tm_step_inspection *step = &s->steps[i];
    char *dir = tm_path_join(s->dir, step->name), *manifest = tm_path_join(dir, "state/manifest");
    struct tm_manifest_extent extent;
    if (step->status && tm_manifest_look(&extent, manifest, NULL) >= 0)
      step->is_listed = extent.has_end;
    tm_inspection_read_errors(step, dir, step->status != NULL);
    find_error_file(step, dir);
    tm_inspection_read_tries(step, dir);
    if (s->status == TM_JOB_RUNNING && !step->status && step->sessions > 0)
      tm_inspection_read_running(step, dir, s->dir, s->now_wall_ns);
    free(manifest);
    free(dir);
  }
}

static void release_step(struct tm_step_inspection *s)
{
  for (size_t i = 0; i < s->errors_len; i++) {
    free(s->errors[i].message);
    free(s->errors[i].pattern);
    free(s->errors[i].where);
    tm_inspection_error_release(&s->errors[i]);
  }
  free(s->name);
  free(s->status);
  free(s->reused_from);
  free(s->waits_for);
  free(s->cause);
  free(s->output);
  tm_json_free(s->outputs);
  free(s->error_file);
  tm_activities_release(&s->activities);
  tm_journal_count_release(&s->count);
}

void tm_inspection_release(struct tm_inspection *s)
{
  for (size_t i = 0; i < s->steps_len; i++)
    release_step(&s->steps[i]);
  free(s->steps);
  free(s->dir);
  free(s->name);
  free(s->pipeline_file);
  free(s->host);
  free(s->cause);
  tm_json_free(s->command);
  memset(s, 0, sizeof(*s));
}

double tm_inspection_rate(const struct tm_inspection *s, const struct tm_step_inspection *step)
{
  int64_t ns = s->now_wall_ns - step->session_wall_ns;
  if (s->status != TM_JOB_RUNNING || step->session_ended == 0 || ns <= 0)
    return 0;
  return (double)step->session_ended * (double)TM_S / (double)ns;
}
