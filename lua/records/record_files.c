/* record_files.c - reads other files of a job for hosts: failed items, the texts of its files, and
 * whether the files match the journal.
 */
#include "records/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/path.h"
#include "base/text.h"
#include "inspect/resume_way.h"
#include "inspect/verify.h"
#include "job/failed_source.h"

#define FILE_MAX    (64u << 20) /* bytes */
#define PIECE_BYTES (64u << 10)

/* ---- failed items ---- */

struct failures {
  const char *step;
  int (*on_failure)(const struct tidemill_failure *failure, void *data);
  void *data;
};

static int on_failure(void *data, const struct tm_json *v)
{
  const struct failures *f = data;
  return f->on_failure(&(struct tidemill_failure) { .size = sizeof(struct tidemill_failure),
                                                    .step = f->step,
                                                    .mini_batch = tm_json_int(v, "mini_batch", -1),
                                                    .item = tm_json_str(v, "item", ""),
                                                    .error = tm_json_str(v, "error", ""),
                                                    .status = tm_json_str(v, "status", ""),
                                                    .log = tm_json_str(v, "log", ""),
                                                    .try_number = tm_json_int(v, "try", 0),
                                                    .items = tm_inspection_items_of(v),
                                                    .are_rows = tm_json_get(v, "begin") != NULL,
                                                    .where = tm_json_str(v, "where", ""),
                                                    .text = "" },
                       f->data);
}

struct lines {
  int (*on_line)(void *data, const struct tm_json *line);
  void *data;
};

/* Skips a line in another format, because the file may contain other lines. */
static int tell_line(const struct lines *l, const char *line, size_t len)
{
  struct tm_json *v = tm_json_parse(line, len, NULL);
  int rc = v ? l->on_line(l->data, v) : 0;
  tm_json_free(v);
  return rc;
}

/* Passes on whole lines of `text` and removes them; no line ends before `from`. Returns their
 * bytes. */
static size_t tell_lines(const struct lines *l, struct tm_buf *text, size_t from, int *rc)
{
  size_t at = 0;
  const char *end;
  while (*rc == 0 && (end = memchr(text->data + from, '\n', text->len - from))) {
    size_t len = (size_t)(end - (text->data + at));
    *rc = tell_line(l, text->data + at, len);
    at = from = at + len + 1;
  }
  if (at > 0)
    tm_buf_remove_front(text, at);
  return at;
}

int tm_record_read_lines(const char *path, int64_t *position,
                         int (*on_line)(void *data, const struct tm_json *line), void *data,
                         struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  const struct lines l = { on_line, data };
  struct tm_buf text = TM_BUF_NONE;
  int fd = tm_fs_exists(fs, path) ? tm_fs_open(fs, path, O_RDONLY, 0, err) : -ENOENT;
  int64_t at = *position, got = 0;
  int rc = fd < 0 && fd != -ENOENT ? fd : 0;
  struct tm_stat st = { .size = 0 };
  if (fd >= 0)
    (void)fs->fstat(fs->self, fd, &st);
  while (fd >= 0 && rc == 0 && at < st.size) {
    tm_buf_reserve(&text, PIECE_BYTES);
    got = tm_fs_read_at(fs, fd, path, text.data + text.len, PIECE_BYTES, at, err);
    if (got <= 0)
      break;
    text.len += (size_t)got;
    at += got;
    *position += (int64_t)tell_lines(&l, &text, text.len - (size_t)got, &rc);
  }
  if (got < 0)
    rc = (int)got;
  if (fd >= 0)
    tm_fs_close(fs, fd);
  tm_buf_release(&text);
  return rc;
}

int tm_record_refuse_step(const struct tidemill_record *r, const char *step, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  for (size_t i = 0; i < r->steps.len; i++)
    tm_buf_printf(&names, "%s%s", i > 0 ? ", " : "", r->steps.at[i].step.name);
  tm_err_set(err, TM_EUSAGE, "there is no step '%s'; there are: %s", step, tm_buf_str(&names));
  tm_buf_release(&names);
  return TM_EUSAGE;
}

int tidemill_record_failures(struct tidemill_record *r, const char *step,
                             int (*host_failure)(const struct tidemill_failure *failure,
                                                 void *data),
                             void *data, struct tm_err *err)
{
  struct failures f = { .on_failure = host_failure, .data = data };
  bool is_known = !step;
  int rc = tm_need(err, "tidemill_record_failures()", "r", r, "on_failure",
                   host_failure ? (const void *)r : NULL, NULL);
  for (size_t i = 0; rc == 0 && i < r->steps.len; i++) {
    f.step = r->steps.at[i].step.name;
    if (step && strcmp(step, f.step) != 0)
      continue;
    char *path = tm_xprintf("%s/%s/failed_items.jsonl", r->info.dir, f.step);
    int64_t position = 0;
    rc = tm_record_read_lines(path, &position, on_failure, &f, err);
    free(path);
    is_known = true;
  }
  return rc == 0 && !is_known ? tm_record_refuse_step(r, step, err) : rc;
}

/* ---- texts ---- */

const char *tidemill_record_json(struct tidemill_record *r)
{
  struct tm_json *v;
  if (!r || *r->info.fault)
    return NULL;
  if (r->json)
    return r->json;
  tm_record_read_details(r);
  v = r->known ? tm_history_to_json(r->known) : tm_inspection_to_json(&r->inspection);
  r->json = tm_json_text(v);
  tm_json_free(v);
  return r->json;
}

static const char *read_text(const struct tidemill_record *r, const char *name, char **kept)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = *kept ? NULL : tm_path_join(r->info.dir, name);
  if (path && tm_fs_read_file(tm_fs_real(), path, FILE_MAX, &text, NULL) >= 0)
    *kept = tm_buf_take(&text);
  else
    tm_buf_release(&text);
  free(path);
  return *kept;
}

const char *tidemill_record_definition(struct tidemill_record *r)
{
  return r ? read_text(r, "job.json", &r->definition) : NULL;
}

const char *tidemill_record_result(struct tidemill_record *r)
{
  return r ? read_text(r, "job_result.json", &r->result) : NULL;
}

/* ---- resuming ---- */

enum tidemill_resume_way tidemill_resume_way(const char *dir, struct tm_err *err)
{
  static const enum tidemill_resume_way ways[] = {
    [TM_RESUME_BY_JOB] = TIDEMILL_RESUME_BY_JOB,
    [TM_RESUME_BY_ACCEPTING] = TIDEMILL_RESUME_BY_ACCEPTING,
    [TM_RESUME_BY_COMMAND] = TIDEMILL_RESUME_BY_COMMAND,
    [TM_RESUME_BY_LIST] = TIDEMILL_RESUME_BY_LIST,
    [TM_RESUME_NEVER] = TIDEMILL_RESUME_NEVER,
  };
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_resume_way()", "dir", dir, NULL) < 0)
    return TIDEMILL_RESUME_NEVER;
  char *cwd = tm_api_here(err);
  char *path = cwd ? tm_path_absolute(cwd, dir) : NULL;
  enum tidemill_resume_way way = path ? ways[tm_resume_way_of(path, err)] : TIDEMILL_RESUME_NEVER;
  free(path);
  free(cwd);
  return way;
}

/* ---- running failed items again ---- */

static int check_rerun(struct tidemill_record *r, struct tm_err *err)
{
  const char *dir = r->info.dir;
  struct tm_failed_source source;
  if (*r->info.fault) {
    *err = r->fault;
    return err->code;
  }
  int rc = tm_failed_source_open(&source, tm_fs_real(), dir, NULL, "/", err);
  tm_failed_source_release(&source);
  if (rc < 0)
    return rc;
  if (r->info.counts->items_failed == 0)
    return tm_err_set(err, TM_EUSAGE, "no item failed in job '%s'", dir);
  if (!tm_rerun_can_be_alone(r))
    return tm_err_set(err, TM_EUSAGE,
                      "the failed items of job '%s' cannot be run alone: they are rows of a table, "
                      "or nobody knows which ones they are",
                      dir);
  return 0;
}

static int refuse_command(const char *dir, struct tm_err *err)
{
  char *word = tm_text_shell_word(dir);
  tm_err_set(err, TM_EUSAGE,
             "the command that started job '%s' is not recorded, or cannot be given again as it "
             "is; type it with --only-failed %s, and without options such as --output, which "
             "belong to that job",
             dir, word);
  free(word);
  return TM_EUSAGE;
}

int tidemill_record_rerun(struct tidemill_record *r, const struct tidemill_rerun **out,
                          struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_record_rerun()", "r", r, "out", out, NULL) < 0)
    return TM_EUSAGE;
  *out = NULL;
  int rc = check_rerun(r, err);
  if (rc < 0)
    return rc;
  tm_rerun_release(&r->again);
  free((char *)(uintptr_t)r->rerun.text);
  r->rerun.text = NULL;
  if (!tm_rerun_init(&r->again, r, true))
    return refuse_command(r->info.dir, err);
  tm_rerun_add_text(&text, &r->again, NULL);
  *TM_ARRAY_ADD(&r->again.argv) = NULL;
  r->rerun = (struct tidemill_rerun) { .size = sizeof r->rerun,
                                       .argv = (const char *const *)r->again.argv.at,
                                       .directory = r->again.directory ? r->again.directory : "",
                                       .text = tm_buf_take(&text) };
  *out = &r->rerun;
  return 0;
}

int tidemill_record_trust(const struct tidemill_record *r, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  int rc = tm_need(err, "tidemill_record_trust()", "r", r, NULL);
  return rc < 0 ? rc : tm_trust_job(tm_fs_real(), r->info.dir, err);
}

/* ---- verification ---- */

struct verifying {
  void (*on_fault)(const char *path, int64_t at_byte, const char *what, void *data);
  void (*on_step)(const struct tidemill_verified *step, void *data);
  void *data;
};

static void on_fault(void *data, const char *path, int64_t at, const char *what)
{
  struct verifying *v = data;
  if (v->on_fault)
    v->on_fault(path, at, what, v->data);
}

static void on_step(void *data, const struct tm_step_verify *s)
{
  struct verifying *v = data;
  if (v->on_step)
    v->on_step(&(struct tidemill_verified) { .size = sizeof(struct tidemill_verified),
                                             .step = s->name,
                                             .output = s->output ? s->output : "",
                                             .records = s->records,
                                             .committed = s->committed,
                                             .failed = s->failed,
                                             .entries = s->entries,
                                             .output_bytes = s->output_bytes,
                                             .failure_bytes = s->failure_bytes,
                                             .torn_records = s->torn_records,
                                             .torn_bytes = s->torn_bytes,
                                             .faults = s->faults,
                                             .uploads = s->uploads,
                                             .copy = s->copy },
               v->data);
}

int tidemill_workspace_verify(struct tidemill_workspace *ws, const char *job,
                              void (*host_fault)(const char *path, int64_t at_byte,
                                                 const char *what, void *data),
                              void (*host_step)(const struct tidemill_verified *step, void *data),
                              void *data, struct tm_err *err)
{
  struct verifying v = { .on_fault = host_fault, .on_step = host_step, .data = data };
  struct tm_verify_options o = {
    .has_copies = true, .has_tables = true, .on_fault = on_fault, .on_step = on_step, .data = &v
  };
  int64_t faults;
  char *dir;
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_workspace_verify()", "job", job, NULL) < 0)
    return TM_EUSAGE;
  o.workspace = ws ? ws->path : NULL;
  o.dir = dir = tm_workspace_job_dir(ws, job, TM_TO_READ, err);
  faults = dir ? tm_verify_job(&o, err) : err->code;
  free(dir);
  return faults > INT_MAX ? INT_MAX : (int)faults;
}
