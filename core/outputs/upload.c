/* upload.c - see upload.h. */
#include "outputs/upload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/archive/pack.h"
#include "outputs/copy.h"
#include "outputs/upload_mark.h"

#define PUT_TRIES 100

/* One upload: its paths, and what is known about it. */
struct upload {
  const struct tm_fs *fs;
  const struct tm_step *step;
  const struct tm_step_output *out;
  const char *destination;
  char *folder, *journal, *mark; /* in the job's directory */
  char *parent, *copy, *before;  /* beside the destination; `before`: what the upload replaces */
  struct tm_journal_sum now;     /* the outcomes that the step has */
  /* what this job put at the destination; files -1: nothing */
  struct tm_upload_look own;
};

static void upload_init(struct upload *u, const struct tm_fs *fs, const struct tm_step *step,
                        size_t i, const char *job_dir)
{
  const struct tm_step_output *out = &step->outputs[i];
  tm_require(out->is_upload && out->destination && job_dir[0] == '/');
  unsigned job = (unsigned)tm_hash64(job_dir, strlen(job_dir));
  char *step_dir = tm_path_join(job_dir, step->name);

  *u = (struct upload) {
    .fs = fs, .step = step, .out = out, .destination = out->destination, .own = { .files = -1 }
  };
  u->folder = tm_path_join(job_dir, out->folder);
  u->journal = tm_path_join(step_dir, "state/journal");
  u->mark = tm_upload_mark_path(step_dir, i);
  u->parent = tm_path_dir(out->destination);
  u->copy = tm_xprintf("%s.tidemill-%08x", out->destination, job);
  u->before = tm_xprintf("%s.before", u->copy);
  free(step_dir);
}

static void upload_release(struct upload *u)
{
  free(u->folder);
  free(u->journal);
  free(u->mark);
  free(u->parent);
  free(u->copy);
  free(u->before);
}

/* 1: `look` is at the destination. 0: something else is, or nothing. */
static int is_there(const struct upload *u, const struct tm_upload_look *look, struct tm_err *err)
{
  struct tm_upload_look now;
  struct tm_err why = TM_ERR_NONE;
  int rc = look->files < 0 ? -ENOENT : tm_upload_look(&now, u->fs, u->destination, &why);

  if (rc == -ENOENT || rc == -ENOTDIR)
    return 0;
  return rc < 0 ? tm_err_set(err, rc, "%s", why.text) : tm_upload_look_is_equal(&now, look);
}

/* 1: this job put there what is at the destination, and nobody has changed it since; `own` and
 * `mark` describe it. An error is not a 0: the next mark would forget the existing upload. */
static int find_own(struct upload *u, struct tm_upload_mark *mark, struct tm_err *err)
{
  int rc = tm_upload_mark_read(mark, u->fs, u->mark, u->destination, err);

  if (rc <= 0)
    return rc;
  u->own = mark->look;
  if ((rc = is_there(u, &u->own, err)) == 0) {
    u->own = mark->replaces;
    rc = is_there(u, &u->own, err);
  }
  if (rc <= 0)
    u->own = (struct tm_upload_look) { .files = -1 };
  return rc;
}

int tm_upload_is_own(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                     const char *job_dir, struct tm_err *err)
{
  tm_require(i < step->outputs_len);
  struct tm_upload_mark mark;
  struct upload u;
  int rc;

  upload_init(&u, fs, step, i, job_dir);
  rc = find_own(&u, &mark, err);
  upload_release(&u);
  return rc;
}

/* 1: it is done. Keeps (3). */
static int find_done(struct upload *u, struct tm_err *err)
{
  struct tm_upload_mark mark;
  int rc = tm_journal_sum_read(&u->now, u->fs, u->journal, err);

  if (rc < 0 || (rc = find_own(u, &mark, err)) <= 0)
    return rc;
  return tm_upload_look_is_equal(&u->own, &mark.look) && mark.from.outcomes == u->now.outcomes &&
         mark.from.hash == u->now.hash;
}

int tm_upload_is_done(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                      const char *job_dir, struct tm_err *err)
{
  tm_require(i < step->outputs_len);
  struct upload u;
  int rc;

  upload_init(&u, fs, step, i, job_dir);
  rc = find_done(&u, err);
  upload_release(&u);
  return rc;
}

/* 0. TM_EUSAGE: the destination was free when the job began, and now holds something that is not
 * this job's. Called right before each replacement, because copying may have taken long. */
static int check_replaceable(const struct upload *u, struct tm_err *err)
{
  int rc = u->step->config.overwrite ? 1 : is_there(u, &u->own, err);

  if (rc != 0)
    return rc < 0 ? rc : 0;
  return tm_err_set(err, TM_EUSAGE,
                    "destination '%s' is not free any more: something has been put there since the "
                    "job began; move it away and resume the job: what the step has done is kept",
                    u->destination);
}

/* Keeps (1). */
static int make_archive(const struct upload *u, const atomic_bool *stop, struct tm_err *err)
{
  struct tm_pack_options o = {
    .format = u->out->archive_format, .mode = 0666, .is_for_others = true, .stop = stop
  };
  int rc = u->fs->unlink(u->fs->self, u->copy); /* left by a killed session */

  if (rc < 0 && rc != -ENOENT)
    return tm_err_system(err, rc, "cannot remove '%s'", u->copy);
  rc = tm_fs_make_dirs(u->fs, u->parent, 0777, err);
  return rc < 0 ? rc : tm_pack_write_as(u->fs, u->folder, u->copy, &o, err);
}

/* Keeps (1). */
static int make_copy(const struct upload *u, const atomic_bool *stop, struct tm_err *err)
{
  struct tm_copy c = { .fs = u->fs, .from = u->folder, .to = u->copy, .stop = stop };
  int rc = tm_fs_remove_tree(u->fs, u->copy, err); /* left by a killed session */

  if (rc >= 0)
    rc = tm_fs_make_dirs(u->fs, u->copy, 0777,
                         err); /* what is below a job's directory is for its owner only */
  return rc < 0 ? rc : tm_copy_tree(&c, err);
}

/* Keeps (2). */
static int write_mark(const struct upload *u, struct tm_err *err)
{
  struct tm_upload_mark mark = { .from = u->now, .replaces = u->own };
  int rc = tm_upload_look(&mark.look, u->fs, u->copy, err);

  if (rc >= 0 && u->out->archive_format)
    rc = tm_upload_hash(&mark.hash, u->fs, u->copy, err);
  return rc < 0 ? rc : tm_upload_mark_write(&mark, u->fs, u->mark, u->destination, err);
}

/* The destination must be free, or an empty folder for a folder. rename() would replace a file. */
static int put_new(const struct upload *u)
{
  return u->out->archive_format ? u->fs->rename_new(u->fs->self, u->copy, u->destination)
                                : u->fs->rename(u->fs->self, u->copy, u->destination);
}

/* put_new() found something at the destination: a folder that is not empty, a file, a link. */
static bool is_in_the_way(int rc)
{
  return rc == -ENOTEMPTY || rc == -EEXIST || rc == -ENOTDIR;
}

/* The second rename of replace_by_renames() failed: the old folder gets its name again. */
static int put_back(const struct upload *u, int code, struct tm_err *err)
{
  bool is_back = u->fs->rename(u->fs->self, u->before, u->destination) == 0;

  tm_err_system(err, code, "cannot rename '%s' to '%s'", u->copy, u->destination);
  if (!is_back && err)
    tm_err_wrap(err,
                "what was at '%s' is in '%s' now, and the new output is in '%s'; resuming the job "
                "puts the new one in its place",
                u->destination, u->before, u->copy);
  return code;
}

/* For file systems that cannot exchange names. Between the two renames the destination is empty. If
 * another job puts its own upload there, that is in the way again. After a kill the destination
 * stays empty until tm_upload_mend(). */
static int replace_by_renames(const struct upload *u, struct tm_err *err)
{
  int rc = tm_fs_remove_tree(u->fs, u->before, err);

  if (rc < 0)
    return rc;
  rc = u->fs->rename(u->fs->self, u->destination, u->before);
  if (rc < 0 && rc != -ENOENT)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", u->destination, u->before);
  rc = u->fs->rename(u->fs->self, u->copy, u->destination);
  return rc < 0 && !is_in_the_way(rc) ? put_back(u, rc, err) : rc;
}

/* Puts the copy where something else is, which may be gone by now. Afterwards a folder that was
 * there is at `copy` or `before`. */
static int replace(const struct upload *u, struct tm_err *err)
{
  int rc = u->out->archive_format ? u->fs->rename(u->fs->self, u->copy, u->destination)
                                  : u->fs->exchange(u->fs->self, u->copy, u->destination);

  if (rc == -ENOSYS)
    return replace_by_renames(u, err);
  if (rc == -ENOENT)
    rc = put_new(u);
  return rc < 0 && !is_in_the_way(rc)
             ? tm_err_system(err, rc, "cannot put '%s' in the place of '%s'", u->copy,
                             u->destination)
             : rc;
}

/* Replaces what is in the way where it may, as often as another job puts its own there meanwhile.
 * Keeps (4). */
static int put(const struct upload *u, struct tm_err *err)
{
  int rc = put_new(u);

  if (rc < 0 && !is_in_the_way(rc))
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", u->copy, u->destination);
  for (int n = 0; n < PUT_TRIES && is_in_the_way(rc); n++) {
    int may = check_replaceable(u, err);
    if (may < 0)
      return may;
    rc = replace(u, err);
  }
  if (is_in_the_way(rc))
    tm_err_system(err, rc, "cannot rename '%s' to '%s'", u->copy, u->destination);
  return rc < 0 ? rc : tm_fs_sync_dir(u->fs, u->parent, err);
}

/* Removes what was replaced, and makes that last: a power cut would bring it back. A remainder that
 * cannot be removed does no harm. */
static void remove_replaced(const struct upload *u)
{
  const char *names[] = { u->copy, u->before };
  bool is_removed = false;

  for (size_t i = 0; i < 2; i++) {
    struct tm_stat st;
    if (u->fs->stat(u->fs->self, names[i], false, &st) == 0)
      is_removed |= tm_fs_remove_tree(u->fs, names[i], NULL) >= 0;
  }
  if (is_removed)
    (void)tm_fs_sync_dir(u->fs, u->parent, NULL);
}

static int renew(const struct upload *u, const atomic_bool *stop, struct tm_err *err)
{
  int rc = u->out->archive_format ? make_archive(u, stop, err) : make_copy(u, stop, err);

  if (rc >= 0)
    rc = write_mark(u, err);
  if (rc >= 0)
    rc = put(u, err);
  if (rc == -ECANCELED || rc == TM_EUSAGE)
    tm_fs_remove_tree(u->fs, u->copy, NULL);
  return rc;
}

int tm_upload_output(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                     const char *job_dir, const atomic_bool *stop, struct tm_err *err)
{
  tm_require(i < step->outputs_len);
  struct upload u;
  int rc;

  upload_init(&u, fs, step, i, job_dir);
  rc = find_done(&u, err);
  if (rc == 0)
    rc = renew(&u, stop, err);
  if (rc >= 0)
    remove_replaced(&u);
  upload_release(&u);
  return rc < 0 ? tm_err_wrap(err, "output '%s' of step '%s'", step->outputs[i].name, step->name)
                : 0;
}

int tm_upload_mend(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                   const char *job_dir, struct tm_err *err)
{
  tm_require(i < step->outputs_len);
  struct upload u;
  struct tm_stat st;
  int rc = 0;

  upload_init(&u, fs, step, i, job_dir);
  if (fs->stat(fs->self, u.destination, false, &st) == -ENOENT &&
      fs->stat(fs->self, u.before, false, &st) == 0) {
    rc = fs->rename(fs->self, u.before, u.destination);
    rc = rc < 0 ? tm_err_system(err, rc, "cannot rename '%s' to '%s'", u.before, u.destination)
                : tm_fs_sync_dir(fs, u.parent, err);
  }
  upload_release(&u);
  return rc;
}
