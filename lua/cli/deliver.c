/* deliver.c - see deliver.h.
 *
 * The copy is written beside its place under a name of its own, synced, and renamed. It is a copy, not a link: what the user
 * does to it must not change the job's own output, whose bytes the journal vouches for.
 */
#include "cli/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

#define PIECE ((size_t)1 << 20) /* bytes */

static int check_folder(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  char *dir = tm_path_dir(path);
  struct tm_stat st;
  int rc = fs->stat(fs->self, dir, true, &st);
  if (rc == 0 && !S_ISDIR(st.mode))
    rc = -ENOTDIR;
  if (rc < 0)
    tm_err_set(err, TM_EUSAGE, "cannot put the output at '%s': '%s': %s", path, dir,
               tm_code_text(rc));
  free(dir);
  return rc < 0 ? TM_EUSAGE : 0;
}

int tm_deliver_check(const struct tm_fs *fs, const char *path, bool overwrite, struct tm_err *err)
{
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, true, &st);
  if (rc == -ENOENT)
    return check_folder(fs, path, err);
  if (rc < 0)
    return tm_err_set(err, TM_EUSAGE, "cannot put the output at '%s': %s", path, tm_code_text(rc));
  if (!S_ISREG(st.mode))
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is there and is no regular file; name another one, or send the rows to "
                      "standard output: --output -",
                      path);
  if (!overwrite)
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is there already; name another file, or replace it: --overwrite", path);
  return 0;
}

static int copy(const struct tm_fs *fs, const char *from, int in, const char *to, int out,
                struct tm_err *err)
{
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

static int put(const struct tm_fs *fs, const char *beside, const char *to, struct tm_err *err)
{
  int rc = fs->rename(fs->self, beside, to);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", beside, to);
  char *dir = tm_path_dir(to);
  rc = tm_fs_sync_dir(fs, dir, err);
  free(dir);
  return rc;
}

int tm_deliver(const struct tm_fs *fs, const char *from, const char *to, bool overwrite,
               struct tm_err *err)
{
  int rc = tm_deliver_check(fs, to, overwrite, err), in = -1, out = -1;
  char *beside = tm_xprintf("%s.%ld.tmp", to, (long)getpid());
  if (rc < 0)
    goto done;
  if ((rc = in = tm_fs_open(fs, from, O_RDONLY, 0, err)) < 0)
    goto done;
  if ((rc = out = tm_fs_open(fs, beside, O_WRONLY | O_CREAT | O_EXCL, 0666, err)) < 0)
    goto done;
  if ((rc = copy(fs, from, in, beside, out, err)) < 0 || (rc = put(fs, beside, to, err)) < 0)
    fs->unlink(fs->self, beside);
done:
  tm_fs_close(fs, in);
  tm_fs_close(fs, out);
  free(beside);
  return rc;
}
