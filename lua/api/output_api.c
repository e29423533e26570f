/* output_api.c - copies a step's rows to where the user wants them.
 *
 * The copy is written beside its place under another name, synced, and renamed. It is a copy and
 * not a link: changes by the user must not change the job's own output, whose bytes the journal
 * describes.
 */
#include "api/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "outputs/upload_mark.h"

#define PIECE ((size_t)1 << 20) /* bytes */

/* Whether a file can be made in the folder. Tries a file without a name; if the file system has
 * none, the error appears later. */
static int try_folder(const struct tm_fs *fs, const char *dir)
{
  struct tm_err err = TM_ERR_NONE;
  int fd = tm_fs_open(fs, dir, O_TMPFILE | O_WRONLY, 0600, &err);
  if (fd >= 0)
    tm_fs_close(fs, fd);
  return fd == -EACCES || fd == -EROFS || fd == -EPERM ? fd : 0;
}

static int check_folder(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  char *dir = tm_path_dir(path);
  struct tm_stat st;
  int rc = fs->stat(fs->self, dir, true, &st);
  if (rc == 0 && !S_ISDIR(st.mode))
    rc = -ENOTDIR;
  if (rc == 0)
    rc = try_folder(fs, dir);
  if (rc < 0)
    tm_err_set(err, TM_EUSAGE, "cannot put the output at '%s': '%s': %s", path, dir,
               tm_code_text(rc));
  free(dir);
  return rc < 0 ? TM_EUSAGE : 0;
}

static int refuse_existing(const struct tidemill_runtime *rt, const char *path, struct tm_err *err)
{
  tm_err_set(err, TM_EUSAGE, "'%s' is there already; name another file, or replace it: `overwrite`",
             path);
  return tm_words_for_host(rt, err);
}

/* `path`: absolute. */
static int check(const struct tidemill_runtime *rt, const char *path, bool overwrite,
                 struct tm_err *err)
{
  const struct tm_fs *fs = rt->fs;
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, true, &st);
  if (rc == -ENOENT)
    return check_folder(fs, path, err);
  if (rc < 0)
    return tm_err_set(err, TM_EUSAGE, "cannot put the output at '%s': %s", path, tm_code_text(rc));
  if (!S_ISREG(st.mode))
    return tm_err_set(err, TM_EUSAGE, "'%s' is there and is not a regular file; name another one%s",
                      path,
                      rt->is_command ? ", or send the rows to standard output: --output -" : "");
  return overwrite ? check_folder(fs, path, err) : refuse_existing(rt, path, err);
}

static int copy(const struct tm_fs *fs, const char *from, int in, const char *to, int out,
                struct tm_err *err)
{
  tm_require(in >= 0 && out >= 0 && in != out);
  char *piece = tm_xmalloc(PIECE);
  int64_t at = 0, got;
  int rc = 0;
  while (rc == 0 && (got = tm_fs_read_at(fs, in, from, piece, PIECE, at, err)) != 0) {
    rc = got < 0 ? (int)got : tm_fs_write_at(fs, out, to, piece, (size_t)got, at, err);
    at += got;
  }
  free(piece);
  return rc < 0 ? rc : tm_fs_sync(fs, out, to, err);
}

/* Somebody may have made the file while the rows were copied. */
static int put(const struct tidemill_runtime *rt, const char *beside, const char *to,
               bool overwrite, struct tm_err *err)
{
  tm_require(strcmp(beside, to) != 0);
  const struct tm_fs *fs = rt->fs;
  int rc = overwrite ? fs->rename(fs->self, beside, to) : fs->rename_new(fs->self, beside, to);
  if (rc == -EEXIST)
    return refuse_existing(rt, to, err);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", beside, to);
  char *dir = tm_path_dir(to);
  rc = tm_fs_sync_dir(fs, dir, err);
  free(dir);
  return rc;
}

/* Returns where to write the copy; the caller frees it. The name stays within the limit of the file
 * system, even if the other name is at the limit. */
static char *place_beside(const char *to)
{
  char *dir = tm_path_dir(to),
       *name = tm_xprintf("%.200s.%ld.tmp", tm_path_base(to), (long)getpid());
  char *beside = tm_path_join(dir, name);
  free(name);
  free(dir);
  return beside;
}

/* Lets `verify` tell this copy from a file that somebody puts there later. A mark cannot hold a
 * path that is not UTF-8. */
static int mark(const struct tm_fs *fs, const char *step_dir, const char *beside, const char *to,
                struct tm_err *err)
{
  struct tm_upload_mark m = { .replaces.files = -1, .from.outcomes = -1 };
  if (!tm_text_is_utf8(to, strlen(to)))
    return 0;
  int rc = tm_upload_look(&m.look, fs, beside, err);
  char *path = tm_upload_mark_copy_path(step_dir);
  if (rc >= 0)
    rc = tm_upload_mark_write(&m, fs, path, to, err);
  free(path);
  return rc;
}

static int put_copy(const struct tidemill_runtime *rt, const char *from, const char *step_dir,
                    const char *to, bool overwrite, struct tm_err *err)
{
  const struct tm_fs *fs = rt->fs;
  int rc, in = -1, out = -1;
  tm_require(to[0] == '/'); /* the folder beside it is known */
  char *beside = place_beside(to);
  if ((rc = in = tm_fs_open(fs, from, O_RDONLY, 0, err)) < 0)
    goto done;
  if ((rc = out = tm_fs_open(fs, beside, O_WRONLY | O_CREAT | O_EXCL, 0666, err)) < 0)
    goto done;
  if ((rc = copy(fs, from, in, beside, out, err)) < 0 ||
      (rc = mark(fs, step_dir, beside, to, err)) < 0 ||
      (rc = put(rt, beside, to, overwrite, err)) < 0)
    fs->unlink(fs->self, beside);
done:
  tm_fs_close(fs, in);
  tm_fs_close(fs, out);
  free(beside);
  return rc;
}

/* Makes the path absolute; the caller frees it. NULL and an error. */
static char *destination(const char *path, struct tm_err *err)
{
  char *cwd = tm_api_here(err), *out = cwd ? tm_path_absolute(cwd, path) : NULL;
  free(cwd);
  return out;
}

int tidemill_output_check(struct tidemill_runtime *rt, const char *path, bool overwrite,
                          struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_output_check()", "rt", rt, "path", path, NULL) < 0)
    return TM_EUSAGE;
  char *to = destination(path, err);
  int rc = to ? check(rt, to, overwrite, err) : err->code;
  free(to);
  return rc;
}

/* For a job that was Completed before it was resumed: no step is open, but the result names the
 * file. The caller frees it. */
static char *earlier_output(struct tidemill_job *job, size_t step)
{
  struct tm_json *result = tidemill_job_steps_len(job) == 0 ? tm_job_result(job->job) : NULL;
  const struct tm_json *steps = tm_json_get(result, "steps");
  char *path = NULL;
  if (step < tm_json_items(steps))
    path = tm_xstrdup(tm_json_str(steps->list.at[step], "output", NULL));
  tm_json_free(result);
  return path;
}

/* The caller frees it. NULL and an error. */
static char *output_of(struct tidemill_job *job, size_t step, const char *call, struct tm_err *err)
{
  struct tidemill_step of = TIDEMILL_STEP_INIT;
  bool is_earlier = tidemill_job_state(job) == TIDEMILL_STATE_COMPLETED;
  char *earlier = is_earlier ? earlier_output(job, step) : NULL;
  if (earlier || tidemill_job_step(job, step, &of, err) < 0)
    return earlier;
  if (of.state == TIDEMILL_STATE_COMPLETED && of.output_file)
    return tm_xstrdup(of.output_file);
  tm_err_set(err, TM_EUSAGE, "%s: step '%s' %s", call, of.name,
             of.output_file ? "is not Completed" : "writes no rows: summary_only");
  return NULL;
}

int tidemill_job_put_output(struct tidemill_job *job, size_t step, const char *path, bool overwrite,
                            struct tm_err *err)
{
  static const char call[] = "tidemill_job_put_output()";
  err = TM_ERR_OWN(err);
  if (tm_need(err, call, "job", job, "path", path, NULL) < 0)
    return TM_EUSAGE;
  char *from = output_of(job, step, call, err), *to = from ? destination(path, err) : NULL;
  int rc = to ? check(job->rt, to, overwrite, err) : err->code;
  if (rc == 0) {
    char *outputs = tm_path_dir(from), *step_dir = tm_path_dir(outputs);
    rc = put_copy(job->rt, from, step_dir, to, overwrite, err);
    free(step_dir);
    free(outputs);
  }
  free(from);
  free(to);
  return rc < 0 ? rc : 0;
}

int tidemill_pipeline_set_output_file(struct tidemill_pipeline *p, const char *path, bool overwrite,
                                      struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_set_output_file()", "p", p, "path", path, NULL) < 0)
    return TM_EUSAGE;
  char *to = destination(path, err);
  if (!to)
    return err->code;
  free(p->output_file);
  p->output_file = to;
  p->overwrites = overwrite;
  tm_draft_changed(p);
  return 0;
}

const char *tidemill_pipeline_output_file(const struct tidemill_pipeline *p, bool *overwrite)
{
  if (overwrite)
    *overwrite = p && p->overwrites;
  return p ? p->output_file : NULL;
}
