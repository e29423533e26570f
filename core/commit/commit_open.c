/* commit_open.c - the beginning of a session: see commit_own.h. Opening reads the state of an
 * earlier session (recover.c decides what counts). It writes nothing, so that a resume may still be
 * refused. Beginning cuts what does not count, and puts the rest on the disk; only then the
 * session's first record is written: invariant (5) of commit.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "commit/commit_own.h"
#include "commit/gone.h"
#include "commit/manifest_file.h"
#include "commit/recover.h"
#include "sys/clock.h"

static char *join(const char *dir, const char *name, const char *suffix)
{
  return tm_xprintf("%s/%s%s", dir, name, suffix);
}

static struct tm_commit *commit_new(const struct tm_commit_options *o)
{
  struct tm_commit *c = TM_NEW(struct tm_commit);
  c->fs = o->fs;
  c->epoch = o->epoch;
  c->owned_ns = tm_clock_mono_ns();
  c->step_dir = tm_xstrdup(o->step_dir);
  c->state_dir = join(o->step_dir, "state", "");
  c->spill_dir = join(c->state_dir, "spill", "");
  c->staging_dir = join(c->state_dir, "staging", "");
  c->output_dir = tm_xstrdup(o->output_dir);
  c->owner_file = tm_xstrdup(o->owner_file);
  if (o->output_name) {
    c->final = join(o->output_dir, o->output_name, "");
    c->partial = join(o->output_dir, o->output_name, ".partial");
  }
  c->output.fd = c->failures.fd = c->files.log.fd = c->journal.fd = -1;
  return c;
}

static int open_journal(struct tm_commit *c, struct tm_err *err)
{
  char *path = join(c->state_dir, "journal", "");
  int rc = tm_journal_open(&c->journal, c->fs, path, err);
  free(path);
  return rc;
}

/* 1 or 0; or an error if it is unknown. */
static int is_there(const struct tm_commit *c, const char *path, struct tm_err *err)
{
  struct tm_stat st;
  int rc = c->fs->stat(c->fs->self, path, true, &st);
  if (rc == -ENOENT)
    return 0;
  return rc < 0 ? tm_err_system(err, rc, "cannot look at '%s'", path) : 1;
}

/* A session that ended between the last rename and the job's result left the output under its final
 * name. */
static int open_rows(struct tm_commit *c, struct tm_err *err)
{
  int rc = c->partial && c->journal.len >= TM_RECORD_SIZE ? is_there(c, c->partial, err) : 1;
  if (rc == 0 && (rc = is_there(c, c->final, err)) >= 0)
    c->is_renamed = rc > 0;
  if (rc < 0 || !c->partial)
    return rc < 0 ? rc : 0;
  return tm_output_open(&c->output, c->fs, c->is_renamed ? c->final : c->partial, err);
}

static int open_files(struct tm_commit *c, const struct tm_commit_options *o, struct tm_err *err)
{
  int rc = open_rows(c, err);
  if (rc < 0)
    return rc;
  char *path = join(c->state_dir, "failures", "");
  rc = tm_output_open(&c->failures, c->fs, path, err);
  free(path);
  if (rc < 0)
    return rc;
  path = join(c->state_dir, "files", "");
  rc = tm_files_open(&c->files, c->fs, path, o->output_dir, o->output_name, err);
  free(path);
  return rc;
}

static int open_manifest(struct tm_commit *c, int64_t stated, struct tm_err *err)
{
  char *path = join(c->state_dir, "manifest", "");
  int rc = tm_manifest_open(&c->manifest, c->fs, path, stated, err);
  free(path);
  return rc;
}

/* Whether nothing but this step writes to the folder of its output. */
static bool is_own_folder(const struct tm_commit *c)
{
  size_t n = strlen(c->step_dir);
  struct tm_stat st;
  return strncmp(c->output_dir, c->step_dir, n) == 0 && c->output_dir[n] == '/' &&
         c->fs->stat(c->fs->self, c->output_dir, false, &st) == 0 && !S_ISLNK(st.mode);
}

/* A job's first record is on the disk before its first row (5): rows without a record belong to
 * another job, or the journal is gone. */
static int check_output_is_ours(const struct tm_commit *c, const struct tm_commit_options *o,
                                const struct tm_commit_found *found, struct tm_err *err)
{
  if (!found->is_new || !c->partial || o->overwrite)
    return 0;
  int rc = is_there(c, c->final, err);
  if (rc < 0)
    return rc;
  const char *there = rc > 0 ? c->final : c->output.end > 0 ? c->partial : NULL;
  if (!there)
    return 0;
  if (is_own_folder(c))
    return tm_gone_report(c->journal.path, err);
  return tm_err_set(
      err, TM_EUSAGE,
      "output file '%s' exists already and is not this job's; move it away, choose another "
      "append_row_file_name, or set overwrite = true",
      there);
}

static int recover(struct tm_commit *c, const struct tm_commit_options *o,
                   struct tm_commit_found *found, struct tm_err *err)
{
  int rc;
  struct tm_recovery *r = c->recovery = TM_NEW(struct tm_recovery);
  *r = (struct tm_recovery) { .journal = &c->journal,
                              .output = &c->output,
                              .failures = &c->failures,
                              .files = &c->files,
                              .mini_batch_states = &c->mini_batch_states,
                              .keep_failed = o->keep_failed };
  if ((rc = tm_recover_line(r, err)) < 0 || (rc = open_manifest(c, r->line.manifest_len, err)) < 0)
    return rc;
  r->manifest = c->manifest;
  if ((rc = tm_recover_log(r, found, err)) < 0 || (rc = check_output_is_ours(c, o, found, err)) < 0)
    return rc;
  if (c->partial)
    tm_output_take_back(&c->output, r->output_len);
  else
    c->output.end = r->output_len;
  c->recorded_output = r->output_len;
  c->recorded_failures = r->failures_len;
  c->recorded_files = r->files_len;
  tm_require(c->recorded_failures <= c->failures.end && c->recorded_files <= c->files.log.end);
  return 0;
}

/* Makes what is missing, and gives the rows their name while they grow. */
static int make_files(struct tm_commit *c, struct tm_err *err)
{
  int rc = tm_fs_make_dirs(c->fs, c->spill_dir, 0700, err);
  if (rc < 0 || (rc = tm_journal_make(&c->journal, err)) < 0 ||
      (rc = tm_fs_make_dirs(c->fs, c->output_dir, 0777, err)) < 0)
    return rc;
  if (c->is_renamed && (rc = c->fs->rename(c->fs->self, c->final, c->partial)) < 0)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", c->final, c->partial);
  if (c->is_renamed && (rc = tm_output_reopen(&c->output, c->partial, err)) < 0)
    return rc;
  if (c->partial && (rc = tm_output_make(&c->output, 0666, err)) < 0)
    return rc;
  rc = tm_output_make(&c->failures, 0600, err);
  return rc < 0 ? rc : tm_output_make(&c->files.log, 0600, err);
}

static int sync_parent(const struct tm_commit *c, const char *path, struct tm_err *err)
{
  char *dir = tm_path_dir(path);
  int rc = tm_fs_sync_dir(c->fs, dir, err);
  free(dir);
  return rc;
}

/* Keeps (5): names made by a killed session may never have been fsynced, so all are, whoever made
 * them. */
static int sync_all(struct tm_commit *c, struct tm_err *err)
{
  tm_files_begin_sync(&c->files); /* folders of files that recovery kept */
  int rc = tm_commit_sync_files(c, err);
  tm_files_end_sync(&c->files);
  if (rc == 0)
    rc = tm_fs_sync_dir(c->fs, c->state_dir, err);
  if (rc == 0)
    rc = tm_fs_sync_dir(c->fs, c->step_dir, err);
  if (rc == 0)
    rc = sync_parent(c, c->step_dir, err);
  if (rc == 0)
    rc = tm_fs_sync_dir(c->fs, c->output_dir, err);
  return rc < 0 ? rc : sync_parent(c, c->output_dir, err);
}

/* Writes the session's own record, and a sync record of the files that recovery has synced. */
static int begin_session(struct tm_commit *c, uint64_t number, struct tm_err *err)
{
  struct tm_record session = { .kind = TM_RECORD_SESSION };
  struct tm_record sync = { .kind = TM_RECORD_SYNC };
  session.number = number;
  session.epoch = c->epoch;
  session.wall_ns = tm_clock_wall_ns();
  sync.journal_len = c->journal.len;
  sync.manifest_len = c->synced_manifest = tm_manifest_length(c->manifest);
  sync.output_len = c->recorded_output;
  sync.failures_len = c->recorded_failures;
  sync.files_len = c->recorded_files;
  tm_journal_add(&c->journal, &session);
  tm_journal_add(&c->journal, &sync);
  int rc = tm_journal_flush(&c->journal, err);
  return rc < 0 ? rc : tm_fs_sync(c->fs, c->journal.fd, c->journal.path, err);
}

struct spilled {
  const struct tm_commit *commit;
  const char *begin; /* of the names */
};

static int remove_spilled(void *data, const char *name, int type)
{
  const struct spilled *s = data;
  const struct tm_commit *c = s->commit;
  if (strncmp(name, s->begin, strlen(s->begin)) != 0)
    return 0;
  char *path = join(c->spill_dir, name, "");
  c->fs->unlink(c->fs->self, path); /* leftovers do no harm: names are not reused */
  free(path);
  return 0;
}

void tm_commit_remove_spilled(const struct tm_commit *c, const char *begin)
{
  struct spilled s = { .commit = c, .begin = begin };
  c->fs->dir_read(c->fs->self, c->spill_dir, remove_spilled, &s);
}

int tm_commit_open(struct tm_commit **out, const struct tm_commit_options *options,
                   struct tm_commit_found *found, struct tm_err *err)
{
  int rc;
  struct tm_commit *c = commit_new(options);
  *out = NULL;
  *found = (struct tm_commit_found) { 0 };
  if ((rc = open_journal(c, err)) < 0 || (rc = open_files(c, options, err)) < 0 ||
      (rc = recover(c, options, found, err)) < 0) {
    tm_commit_close(c);
    return rc;
  }
  *out = c;
  return 0;
}

int tm_commit_begin(struct tm_commit *c, struct tm_err *err)
{
  tm_require(c->recovery && c->flushed == 0 && tm_commit_pending(c) == 0); /* once */
  int rc;
  if ((rc = make_files(c, err)) < 0 || (rc = tm_recover_cut(c->recovery, err)) < 0 ||
      (rc = sync_all(c, err)) < 0 || (rc = begin_session(c, c->recovery->sessions + 1, err)) < 0)
    return rc;
  tm_commit_remove_spilled(c, "");
  tm_staging_remove_all(c->fs, c->output_dir, c->staging_dir);
  return 0;
}

void tm_commit_close(struct tm_commit *c)
{
  if (!c)
    return;
  tm_manifest_close(c->manifest);
  tm_journal_close(&c->journal);
  tm_output_close(&c->failures);
  tm_files_close(&c->files);
  tm_output_close(&c->output);
  tm_mini_batch_states_release(&c->mini_batch_states);
  tm_buf_release(&c->noted);
  tm_buf_release(&c->header);
  free(c->recovery);
  free(c->partial);
  free(c->final);
  free(c->owner_file);
  free(c->output_dir);
  free(c->spill_dir);
  free(c->staging_dir);
  free(c->state_dir);
  free(c->step_dir);
  free(c);
}
