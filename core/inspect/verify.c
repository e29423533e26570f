/* verify.c - see verify.h.
 *
 * The journal is read once. The other files are read along with it, in the order in which they were
 * written, each through a window, so that small results need no call of their own. A record is
 * impossible here for the same reasons as in recover.c. There it ends the log or the job; here it
 * is reported, and the walk continues as long as the places still fit.
 *
 *  (1) In a job without a result, nothing after the last sync record is a fault: the first record
 *      that does not hold ends what counts. A job with a result has synced everything and has no
 *      such end, except for (2).
 *  (2) The very last sync record of a session is written and not fsynced. After a power cut some
 *      file systems have zeros in its place. Zeros from behind the line up to the end of the
 *      journal are therefore not a fault. Outcomes that they might hide are still found: the result
 *      counts them, and rows would remain that no record covers.
 */
#include "inspect/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "commit/mini_batch_states.h"
#include "commit/manifest_file.h"
#include "commit/recover.h"
#include "inspect/verify_state.h"
#include "inspect/verify_upload.h"
#include "record/job_record.h"
#include "record/owner.h"

#define WINDOW     (1u << 20) /* bytes */
#define FAULTS_MAX 100        /* of a step; then its walk ends */

/* A file that is read forward. */
struct window {
  struct tm_output *file;
  char *bytes;
  int64_t base; /* place of bytes[0] */
  size_t have;
};

struct check {
  const struct tm_verify_options *o;
  const struct tm_json *result; /* of the step; NULL: the job was interrupted */
  const char *wanted_copy;      /* of its rows, by the record; or NULL */
  struct tm_step_verify *found;
  struct tm_faults faults; /* of this step; `found` gets their number at the end */
  struct tm_journal journal;
  struct tm_output output, failures;
  struct tm_files files; /* its log, for reading; and the folder of the files */
  struct tm_manifest *manifest;
  struct tm_mini_batch_states mini_batch_states;
  struct tm_recovery recovery; /* only for the line */
  struct window rows, lines;
  int64_t output_end, failures_end, files_end; /* where the records so far end */
  uint64_t sessions;
  bool is_torn; /* (1): what follows does not count */
};

/* Bytes of a file. */

/* 1: the bytes from `from` up to `to` have `hash`; 0: they do not, or they are missing. */
static int has_hash(struct window *w, int64_t from, int64_t to, uint64_t hash, struct tm_err *err)
{
  struct tm_output *f = w->file;
  int64_t got;
  if (from < 0 || to < from || to > f->end)
    return 0;
  if (to - from > WINDOW)
    return tm_output_has(f, from, to, hash, err);
  if (from < w->base || to > w->base + (int64_t)w->have) {
    if (!w->bytes)
      w->bytes = tm_xmalloc(WINDOW);
    got = tm_fs_read_at(f->fs, f->fd, f->path, w->bytes, WINDOW, from, err);
    w->base = from;
    w->have = got < 0 ? 0 : (size_t)got;
    if (got < to - from)
      return got < 0 ? (int)got : 0;
  }
  return tm_hash64(w->bytes + (from - w->base), (size_t)(to - from)) == hash;
}

/* Records. */

static const char *find_outcome_fault(const struct check *c, const struct tm_record *r)
{
  if (c->sessions == 0)
    return "the journal does not begin with a session";
  if (r->index >= c->manifest->added)
    return "a mini-batch that is not in the manifest";
  if (tm_mini_batch_states_get(&c->mini_batch_states, r->index) == TM_MINI_BATCH_COMMITTED)
    return "a mini-batch that is committed twice";
  if (r->output_end < c->output_end || r->failures_end < c->failures_end)
    return "rows that end before they begin";
  if (r->succeeded > r->items)
    return "more items that succeeded than there are";
  return NULL;
}

static const char *find_fault(const struct check *c, const struct tm_record *r, int64_t at)
{
  if (r->kind == TM_RECORD_SESSION)
    return r->number == c->sessions + 1 ? NULL : "a session is missing before this one";
  if (r->kind == TM_RECORD_SYNC)
    return r->journal_len <= at ? NULL : "a sync record that is ahead of itself";
  if (r->kind == TM_RECORD_FILES)
    return c->sessions > 0 && r->files_end >= c->files_end ? NULL
                                                           : "files that end before they begin";
  return find_outcome_fault(c, r);
}

/* 0: the bytes are as they must be. 1: they are not; `what`, `path` and `from` say what is wrong,
 * in which file and where. */
static int check_bytes(struct check *c, const struct tm_record *r, const char **path, int64_t *from,
                       const char **what, struct tm_err *err)
{
  int rc = 1;
  if (c->output.fd >= 0) {
    *path = c->output.path;
    *from = c->output_end;
    *what = r->output_end > c->output.end ? "it has become shorter, rows are missing"
                                          : "rows that are not those that were committed";
    rc = has_hash(&c->rows, c->output_end, r->output_end, r->output_hash, err);
  }
  if (rc > 0 && c->failures.fd >= 0) {
    *path = c->failures.path;
    *from = c->failures_end;
    *what = "lines that are not those that were written";
    rc = has_hash(&c->lines, c->failures_end, r->failures_end, r->failures_hash, err);
  }
  return rc < 0 ? rc : !rc;
}

/* The same for files, which must be under their names. */
static int check_names(struct check *c, const struct tm_record *r, const char **path, int64_t *from,
                       const char **what, struct tm_err *err)
{
  int rc = tm_output_has(&c->files.log, c->files_end, r->files_end, r->files_hash, err);
  *path = c->files.log.path ? c->files.log.path : c->journal.path;
  *from = c->files_end;
  *what = "lines that are not those that were written";
  if (rc > 0) {
    rc = tm_files_are_there(&c->files, c->files_end, r->files_end, err);
    *what = "a file that it names is not in the output folder";
  }
  return rc < 0 ? rc : !rc;
}

static void apply(struct check *c, const struct tm_record *r)
{
  struct tm_step_verify *f = c->found;
  f->records++;
  if (r->kind == TM_RECORD_SESSION)
    c->sessions = r->number;
  if (r->kind == TM_RECORD_FILES)
    c->files_end = r->files_end;
  if (r->kind != TM_RECORD_COMMITTED && r->kind != TM_RECORD_FAILED)
    return;
  if (tm_mini_batch_states_get(&c->mini_batch_states, r->index) == TM_MINI_BATCH_FAILED)
    f->failed--;
  if (r->kind == TM_RECORD_FAILED)
    f->failed++;
  else
    f->committed++;
  tm_mini_batch_states_put(&c->mini_batch_states, r->index,
                           r->kind == TM_RECORD_FAILED ? TM_MINI_BATCH_FAILED
                                                       : TM_MINI_BATCH_COMMITTED);
  f->output_bytes += c->output.fd >= 0 ? r->output_end - c->output_end : 0;
  f->failure_bytes += r->failures_end - c->failures_end;
  c->output_end = r->output_end;
  c->failures_end = r->failures_end;
}

/* One readable record. */
static int check_record(struct check *c, const struct tm_record *r, int64_t at, struct tm_err *err)
{
  bool may_be_torn = !c->result && at >= c->recovery.line.journal_len; /* (1) */
  const char *what = find_fault(c, r, at), *path = c->journal.path;
  bool is_outcome = r->kind == TM_RECORD_COMMITTED || r->kind == TM_RECORD_FAILED;
  int64_t from = at;
  int rc = 0;
  if (!what && is_outcome && (rc = check_bytes(c, r, &path, &from, &what, err)) == 0)
    what = NULL;
  if (!what && r->kind == TM_RECORD_FILES &&
      (rc = check_names(c, r, &path, &from, &what, err)) == 0)
    what = NULL;
  if (rc < 0)
    return rc;
  if (what && may_be_torn) {
    c->is_torn = true;
    return 0;
  }
  if (what && is_outcome)
    tm_fault(&c->faults, path, from,
             "%s (mini-batch %" PRIu64 ", its record at byte %" PRId64 " of the journal)", what,
             r->index, at);
  else if (what)
    tm_fault(&c->faults, path, from, "%s", what);
  /* If only the bytes of a record are wrong, it still says where the next ones begin. */
  if (!what || path != c->journal.path)
    apply(c, r);
  return 0;
}

static void check_line(struct check *c)
{
  const struct tm_record *line = &c->recovery.line;
  if (line->journal_len > 0 &&
      (c->output_end != line->output_len || c->failures_end != line->failures_len ||
       c->files_end != line->files_len))
    tm_fault(&c->faults, c->journal.path, line->journal_len,
             "the records before it end elsewhere than the last sync record says");
}

/* 1: the journal has nothing but zeros from `at` on. */
static int is_zero_from(const struct tm_journal *j, int64_t at, struct tm_err *err)
{
  static const char zeros[TM_RECORD_SIZE];
  char bytes[TM_RECORD_SIZE];
  int64_t got;
  for (; at < j->len; at += got) {
    got = tm_fs_read_at(j->fs, j->fd, j->path, bytes, sizeof(bytes), at, err);
    if (got < 0 || got == 0 || memcmp(bytes, zeros, (size_t)got) != 0)
      return got < 0 ? (int)got : 0;
  }
  return 1;
}

/* An unreadable record ends the walk: without it nobody knows where the next rows begin. Keeps (1)
 * and (2). */
static int check_bad_record(struct check *c, int64_t at, struct tm_err *err)
{
  bool is_behind = at >= c->recovery.line.journal_len;
  int rc = is_behind && c->result ? is_zero_from(&c->journal, at, err) : is_behind;
  c->is_torn = rc > 0;
  if (rc == 0)
    tm_fault(&c->faults, c->journal.path, at, "a bad record");
  return rc < 0 ? rc : 0;
}

static int walk(struct check *c, struct tm_journal_walk *w, struct tm_err *err)
{
  struct tm_record r;
  bool is_line_checked = false;
  int rc = 1;
  while (rc >= 0 && !c->is_torn && c->faults.found < FAULTS_MAX) {
    if (!is_line_checked && w->next >= c->recovery.line.journal_len) {
      is_line_checked = true;
      if (c->faults.found == 0)
        check_line(c);
    }
    rc = tm_journal_walk_next(w, &r, err);
    if (rc == 0)
      break;
    if (rc == TM_EDAMAGE) {
      rc = check_bad_record(c, w->at, err);
      break;
    }
    if (rc > 0)
      rc = check_record(c, &r, w->at, err);
  }
  if (c->is_torn && !c->result)
    c->found->torn_records = (c->journal.len - w->at + TM_RECORD_SIZE - 1) / TM_RECORD_SIZE;
  return rc < 0 ? rc : 0;
}

static int check_journal(struct check *c, struct tm_err *err)
{
  struct tm_journal_walk w;
  int rc;
  tm_journal_walk_init(&w, &c->journal, 0);
  rc = walk(c, &w, err);
  tm_journal_walk_release(&w);
  return rc;
}

/* Lengths and counts. */

static void check_tail(struct check *c, const struct tm_output *f, int64_t end, bool is_output)
{
  if (f->fd < 0 || f->end <= end)
    return;
  if (c->result)
    tm_fault(&c->faults, f->path, end, "%" PRId64 " bytes that no record covers", f->end - end);
  else if (is_output)
    c->found->torn_bytes = f->end - end;
}

static void check_count(struct check *c, const char *name, int64_t counted)
{
  int64_t said = tm_json_int(tm_json_get(c->result, "mini_batches"), name, -1);
  char *path;
  if (said == counted)
    return;
  path = tm_path_join(c->o->dir, "job_result.json");
  tm_fault(&c->faults, path, -1, "step '%s': %" PRId64 " mini-batches %s, the journal has %" PRId64,
           c->found->name, said, name, counted);
  free(path);
}

static void check_sums(struct check *c)
{
  if (c->faults.found > 0)
    return; /* these would only follow from the faults above */
  check_tail(c, &c->output, c->output_end, true);
  check_tail(c, &c->failures, c->failures_end, false);
  check_tail(c, &c->files.log, c->files_end, false);
  if (!c->result)
    return;
  check_count(c, "succeeded", c->found->committed);
  check_count(c, "failed", c->found->failed);
  check_count(c, "total", c->found->entries);
}

static void check_manifest(struct check *c)
{
  const struct tm_manifest *m = c->manifest;
  c->found->entries = (int64_t)m->added;
  if (m->end < c->recovery.line.manifest_len)
    tm_fault(&c->faults, m->path, m->end,
             "a bad entry, or the end of the file; %" PRId64 " bytes had been written to the disk",
             c->recovery.line.manifest_len);
  else if (m->end < m->size_found && c->result)
    tm_fault(&c->faults, m->path, m->end, "%" PRId64 " bytes that are not an entry",
             m->size_found - m->end);
}

/* A step. */

static bool is_completed(const struct check *c)
{
  const char *status = tm_json_str(c->result, "status", "");
  return strcmp(status, tm_verdict_name(TM_COMPLETED)) == 0;
}

/* The rows: under their final name if the step is Completed, otherwise in the partial file; none
 * with summary_only. */
static int open_output(struct check *c, const char *step_dir, const struct tm_json *step,
                       struct tm_err *err)
{
  const char *name = tm_job_record_rows_file(step);
  int rc = 0;
  c->rows.file = &c->output;
  if (!name)
    return 0;
  char *whole = tm_xprintf("%s/output/%s", step_dir, name);
  char *partial = tm_xprintf("%s.partial", whole);
  bool is_partial = tm_verify_size_of(partial) >= 0;
  if (!is_partial && tm_verify_size_of(whole) < 0)
    tm_fault(&c->faults, is_completed(c) ? whole : partial, -1, "%s", TM_VERIFY_GONE);
  else
    rc = tm_output_open_read(&c->output, tm_fs_real(), is_partial ? partial : whole, err);
  free(partial);
  free(whole);
  return rc;
}

static int open_files(struct check *c, const char *step_dir, const struct tm_json *step,
                      struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  char *journal = tm_path_join(step_dir, "state/journal");
  char *failures = tm_path_join(step_dir, "state/failures");
  char *manifest = tm_path_join(step_dir, "state/manifest");
  char *files = tm_path_join(step_dir, "state/files");
  int rc = tm_journal_open_read(&c->journal, fs, journal, err);
  if (rc >= 0)
    rc = open_output(c, step_dir, step, err);
  if (rc >= 0)
    rc = tm_output_open_read(&c->failures, fs, failures, err);
  if (rc >= 0)
    rc = tm_output_open_read(&c->files.log, fs, files, err);
  c->files.output_dir = tm_path_join(step_dir, "output");
  if (rc >= 0)
    rc = tm_manifest_open_read(&c->manifest, fs, manifest, 0, err);
  c->lines.file = &c->failures;
  c->recovery.journal = &c->journal;
  if (rc >= 0)
    rc = tm_recover_line(&c->recovery, err);
  free(journal);
  free(failures);
  free(manifest);
  free(files);
  return rc;
}

static void close_files(struct check *c)
{
  tm_journal_close(&c->journal);
  tm_output_close(&c->output);
  tm_output_close(&c->failures);
  tm_files_close(&c->files);
  tm_manifest_close(c->manifest);
  tm_mini_batch_states_release(&c->mini_batch_states);
  free(c->rows.bytes);
  free(c->lines.bytes);
}

/* Whether the step has begun: before its first record, a killed session may have made any of its
 * files. */
static bool has_begun(const char *step_dir)
{
  char *journal = tm_path_join(step_dir, "state/journal");
  char *manifest = tm_path_join(step_dir, "state/manifest");
  bool yes = tm_verify_size_of(journal) > 0 || tm_verify_size_of(manifest) > TM_MANIFEST_FILE_HEAD;
  free(journal);
  free(manifest);
  return yes;
}

/* False: files of the step are gone, and it cannot be read. */

/* Only for a Completed step: any other step uploads its outputs again. */
static int check_uploads(struct check *c, const struct tm_json *step, struct tm_buf *said,
                         struct tm_buf *copy, struct tm_err *err)
{
  struct tm_verify_uploads v = { .job_dir = c->o->dir,
                                 .workspace = c->o->workspace,
                                 .step = step,
                                 .rows = c->o->has_copies ? c->output.path : NULL,
                                 .wanted_copy = c->wanted_copy,
                                 .is_output_good = c->faults.found == 0,
                                 .faults = { c->o->on_fault, c->o->data, 0 } };
  int rc = is_completed(c) ? tm_verify_uploads(&v, err) : 0;
  c->faults.found += v.faults.found;
  c->found->copy_faults = v.copy_faults;
  *said = v.said;
  *copy = v.copy_said;
  return rc;
}

static int check_step(struct check *c, const struct tm_json *step, struct tm_err *err)
{
  char *dir = tm_path_join(c->o->dir, c->found->name);
  struct tm_buf uploads = TM_BUF_NONE, copy = TM_BUF_NONE;
  int rc = 0;
  if (has_begun(dir)) {
    bool is_whole =
        tm_verify_state_files(&c->faults, dir) && (rc = open_files(c, dir, step, err)) >= 0;
    if (is_whole) {
      c->found->output = c->output.path;
      check_manifest(c);
      rc = check_journal(c, err);
      if (rc >= 0 && c->o->has_tables)
        rc = tm_verify_state_tables(&c->faults, dir, step, c->manifest, err);
    }
    if (rc >= 0)
      check_sums(c);
    if (rc >= 0 && is_whole)
      rc = check_uploads(c, step, &uploads, &copy, err);
  } else if (tm_json_str(c->result, "output", NULL)) { /* otherwise it did not run */
    char *path = tm_path_join(dir, "state/journal");
    tm_fault(&c->faults, path, -1, "it is missing");
    free(path);
  }
  c->found->uploads = tm_buf_str(&uploads);
  c->found->copy = tm_buf_str(&copy);
  c->found->faults = c->faults.found;
  if (rc >= 0)
    c->o->on_step(c->o->data, c->found);
  tm_buf_release(&uploads);
  tm_buf_release(&copy);
  close_files(c);
  free(dir);
  return rc;
}

/* The job. */

/* The result of a step that was Completed before its job was interrupted. */
static struct tm_json *load_kept(const char *job_dir, const char *step)
{
  char *dir = tm_path_join(job_dir, step);
  struct tm_json *v = tm_step_result_load(dir);
  free(dir);
  return v;
}

/* Where the record says that the user wants the rows of the first step; or NULL. */
static const char *wanted_copy(const struct tm_json *record, size_t step)
{
  const struct tm_json *source = step == 0 ? tm_json_get(record, "source") : NULL;
  return tm_json_str(source, "output_file", NULL);
}

static int64_t check_steps(const struct tm_verify_options *o, const struct tm_json *record,
                           const struct tm_json *result, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(record, "steps");
  int64_t faults = 0;
  if (!steps || steps->type != TM_JSON_ARRAY)
    return tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: it has no list of steps", o->dir);
  for (size_t i = 0; i < steps->list.len; i++) {
    struct tm_step_verify found = { .name = tm_json_str(steps->list.at[i], "name", "") };
    struct check c = { .o = o,
                       .found = &found,
                       .faults = { o->on_fault, o->data, 0 },
                       .result = tm_job_record_step(result, found.name),
                       .wanted_copy = wanted_copy(record, i),
                       .journal.fd = -1,
                       .output.fd = -1,
                       .failures.fd = -1,
                       .files.log.fd = -1 };
    struct tm_json *kept = result ? NULL : load_kept(o->dir, found.name);
    int rc;
    if (kept)
      c.result = kept;
    rc = check_step(&c, steps->list.at[i], err);
    tm_json_free(kept);
    if (rc < 0)
      return rc;
    faults += found.faults + found.copy_faults;
  }
  return faults;
}

/* The text of `owner`, which differs in each session; to free(). */
static char *session_of(const char *dir)
{
  char *path = tm_path_join(dir, "owner");
  struct tm_buf text = TM_BUF_NONE;
  (void)tm_fs_read_file(tm_fs_real(), path, 4096, &text, NULL);
  free(path);
  return text.data ? tm_buf_take(&text) : tm_xstrdup("");
}

static int refuse_running(const char *dir, struct tm_err *err)
{
  int64_t pid;
  char *host;
  if (tm_owner_is_running(dir, &pid, &host))
    tm_err_set(err, TM_EINUSE,
               "job '%s' is running, by pid %" PRId64
               " on host %s; what it writes can be verified when it has ended",
               dir, pid, host);
  free(host);
  return err->code;
}

int64_t tm_verify_own_job(const struct tm_verify_options *o, struct tm_err *err)
{
  tm_require(o->dir && o->on_fault);
  struct tm_err of_result = TM_ERR_NONE;
  struct tm_json *record = tm_job_record_load(o->dir, err), *result;
  int64_t rc;
  if (!record)
    return err->code;
  result = tm_job_result_load(o->dir, &of_result);
  if (of_result.code < 0) {
    *err = of_result;
    rc = err->code;
  } else {
    rc = check_steps(o, record, result, err);
  }
  tm_json_free(record);
  tm_json_free(result);
  return rc;
}

int64_t tm_verify_job(const struct tm_verify_options *o, struct tm_err *err)
{
  tm_require(o->dir && o->on_fault);
  char *before, *after;
  int64_t rc;
  if (refuse_running(o->dir, err) < 0)
    return err->code;
  before = session_of(o->dir);
  rc = tm_verify_own_job(o, err);
  after = session_of(o->dir);
  if (strcmp(before, after) != 0)
    rc = tm_err_set(err, TM_EINUSE,
                    "job '%s' was resumed while it was verified: this result does not count; "
                    "verify it when it has ended",
                    o->dir);
  free(before);
  free(after);
  return rc;
}
