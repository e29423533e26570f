/* removal.c - see removal.h. */
#include "run/removal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "run/job_dir.h"
#include "run/temp_dirs.h"
#include "sys/process.h"

struct sum {
  const struct tm_fs *fs;
  const char *dir;
  int64_t bytes;
};

static int on_name(void *data, const char *name, int type)
{
  struct sum *s = data;
  char *path = tm_path_join(s->dir, name);
  struct tm_stat st;
  if (s->fs->stat(s->fs->self, path, false, &st) == 0)
    s->bytes += S_ISDIR(st.mode) ? tm_job_size(s->fs, path) : st.size;
  free(path);
  return 0;
}

int64_t tm_job_size(const struct tm_fs *fs, const char *dir)
{
  struct sum s = { .fs = fs, .dir = dir };
  (void)tm_dir_read(dir, on_name, &s);
  return s.bytes;
}

/* A name beside it that nothing has, to free(). */
static char *other_name(const struct tm_fs *fs, const char *dir)
{
  char *name = NULL;
  do {
    uint64_t random = tm_process_random();
    free(name);
    name = tm_xprintf("%s.removed-%c%c%c%c", dir, 'a' + (int)(random % 26),
                      'a' + (int)(random / 26 % 26), 'a' + (int)(random / 676 % 26),
                      'a' + (int)(random / 17576 % 26));
  } while (tm_fs_exists(fs, name));
  return name;
}

static int on_step(void *data, const char *name, int type)
{
  const char *job_dir = data;
  char *step_dir = tm_path_join(job_dir, name);
  (void)tm_temp_dirs_remove_all(job_dir, step_dir); /* of a file: nothing */
  free(step_dir);
  return 0;
}

/* The directory is ours alone. Of a link to one the link goes: what it points at stays as it is. */
static int remove_held(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  char *name = other_name(fs, dir), *record = tm_path_join(name, "job.json");
  struct tm_stat st;
  bool is_link = fs->stat(fs->self, dir, false, &st) == 0 && S_ISLNK(st.mode);
  if (!is_link)
    (void)tm_dir_read(dir, on_step, (void *)(uintptr_t)dir);
  int rc = fs->rename(fs->self, dir, name);
  if (rc < 0)
    tm_err_system(err, rc, "cannot rename '%s'", dir);
  if (rc == 0) {
    if (!is_link)
      (void)fs->unlink(fs->self, record); /* missing: a job whose definition was not complete */
    rc = tm_tree_remove(name, err);
  }
  free(record);
  free(name);
  return rc;
}

int tm_job_remove(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  struct tm_job_dir held;
  struct tm_stat st;
  int rc = fs->stat(fs->self, dir, true, &st);
  if (rc < 0) /* opening would make it */
    return tm_err_system(err, rc, "cannot remove the job '%s'", dir);
  if ((rc = tm_job_dir_open(&held, fs, dir, err)) < 0)
    return rc;
  rc = remove_held(fs, dir, err);
  tm_job_dir_close(&held);
  return rc;
}
