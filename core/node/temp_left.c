/* temp_left.c - see temp_left.h. */
#include "node/temp_left.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

/* ---- names ---- */

static const char *absolute(const char *value)
{
  return value && *value == '/' ? value : NULL;
}

struct tm_temp_places tm_temp_places(const char *tmpdir, const char *memory_dir)
{
  const char *temp = absolute(tmpdir);
  const char *memory = temp ? NULL : TM_TEMP_MEMORY_DIR;

  return (struct tm_temp_places) { .temp = temp ? temp : "/tmp",
                                   .memory = memory_dir ? absolute(memory_dir) : memory };
}

/* It is short: scripts make sockets there, whose paths have at most 107 bytes. */
char *tm_temp_name_begin(const char *job_dir)
{
  return tm_xprintf("tidemill-%u-%08" PRIx32 "-", (unsigned)geteuid(),
                    (uint32_t)tm_hash64(job_dir, strlen(job_dir)));
}

bool tm_temp_is_name(const char *name, unsigned long *uid)
{
  static const char begin[] = "tidemill-";
  char *end;

  if (strncmp(name, begin, sizeof(begin) - 1) != 0)
    return false;
  name += sizeof(begin) - 1;
  if (*name < '0' || *name > '9')
    return false;
  *uid = strtoul(name, &end, 10);
  return *end == '-';
}

/* ---- removing ---- */

int tm_temp_remove(const char *path, unsigned long uid, struct tm_err *err)
{
  const struct tm_fs *real = tm_fs_real();
  struct tm_stat st;
  int rc;

  tm_require(path[0] == '/');
  rc = real->stat(real->self, path, false, &st);
  if (rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at the temporary folder '%s'", path);
  if (uid != geteuid())
    return tm_err_set(
        err, -EPERM,
        "the temporary folder '%s' was made by another user (uid %lu), who can remove it", path,
        uid);
  if (!S_ISDIR(st.mode) || st.uid != geteuid())
    return 0;
  return tm_tree_remove_forced(path, err);
}

struct search {
  const char *dir;
  char *begin;
  bool removes; /* false: they are counted */
  size_t found;
};

static void look_at(struct search *s, const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int fd = fs->open(fs->self, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

  if (fd >= 0 && fs->fstat(fs->self, fd, &st) == 0 && st.uid == geteuid() &&
      tm_lock_take(fd, false) == 0) {
    s->found++;
    if (s->removes)
      tm_tree_remove_forced(path, NULL);
  }
  tm_fs_close(fs, fd);
}

static int on_name(void *data, const char *name, int type)
{
  struct search *s = data;

  if (strncmp(name, s->begin, strlen(s->begin)) == 0) {
    char *path = tm_path_join(s->dir, name);
    look_at(s, path);
    free(path);
  }
  return 0;
}

static size_t look(const char *job_dir, const char *dir, bool removes)
{
  struct search s = { .dir = dir, .begin = tm_temp_name_begin(job_dir), .removes = removes };

  (void)tm_dir_read(dir, on_name, &s);
  free(s.begin);
  return s.found;
}

size_t tm_temp_count_left(const char *job_dir, const char *dir)
{
  return look(job_dir, dir, false);
}

void tm_temp_remove_left(const char *job_dir, const char *dir)
{
  (void)look(job_dir, dir, true);
}
