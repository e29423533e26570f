/* temp_left.c - see temp_left.h.
 *
 *  (1) `.keeper` is removed last: what remains of an interrupted removal is still known.
 *  (2) A keeper that is killed before it has written `.keeper` leaves an empty folder. It is
 *      removed when it is older than OLD_NS. A keeper that was only stopped notices that, and makes
 *      the folder again (temp.c).
 */
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
#include "base/time.h"
#include "node/temp_owner.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define OLD_NS (60 * TM_S)

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

char *tm_temp_name_begin(const char *job_dir)
{
  return tm_temp_name_begin_of(job_dir, geteuid());
}

/* It is short: scripts make sockets there, whose paths have at most 107 bytes. */
char *tm_temp_name_begin_of(const char *job_dir, uint32_t uid)
{
  return tm_xprintf("tidemill-%" PRIu32 "-%08" PRIx32 "-", uid,
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

static int on_name_within(void *data, const char *name, int type)
{
  const char *dir = data;

  if (strcmp(name, TM_TEMP_KEEPER) != 0) {
    char *path = tm_path_join(dir, name);
    (void)tm_tree_remove_forced(path, NULL);
    free(path);
  }
  return 0;
}

int tm_temp_remove_tree(const char *path, struct tm_err *err) /* keeps (1) */
{
  (void)tm_dir_read(path, on_name_within, (void *)path);
  return tm_tree_remove_forced(path, err);
}

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
  return tm_temp_remove_tree(path, err);
}

bool tm_temp_is_in_use(const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  int fd = fs->open(fs->self, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  bool is = fd >= 0 && tm_lock_take(fd, false) == -EWOULDBLOCK;

  tm_fs_close(fs, fd);
  return is;
}

struct search {
  const char *job_dir, *dir;
  char *begin;
  /* A folder of this user with such a name, which is open as `fd`. */
  void (*on_folder)(struct search *s, const char *path, int fd, const struct tm_stat *st);
  size_t found;
  struct tm_temp_machine here;
  struct tm_temp_removed *removed;
};

static int on_name(void *data, const char *name, int type)
{
  const struct tm_fs *fs = tm_fs_real();
  struct search *s = data;
  struct tm_stat st;

  if (strncmp(name, s->begin, strlen(s->begin)) != 0)
    return 0;
  char *path = tm_path_join(s->dir, name);
  int fd = fs->open(fs->self, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
  if (fd >= 0 && fs->fstat(fs->self, fd, &st) == 0 && st.uid == geteuid())
    s->on_folder(s, path, fd, &st);
  tm_fs_close(fs, fd);
  free(path);
  return 0;
}

static void look(struct search *s)
{
  s->begin = tm_temp_name_begin(s->job_dir);
  (void)tm_dir_read(s->dir, on_name, s);
  free(s->begin);
}

static void count(struct search *s, const char *path, int fd, const struct tm_stat *st)
{
  s->found += tm_lock_take(fd, false) == 0;
}

size_t tm_temp_count_left(const char *job_dir, const char *dir)
{
  struct search s = { .job_dir = job_dir, .dir = dir, .on_folder = count };

  look(&s);
  return s.found;
}

static void remove_left(struct search *s, const char *path, int fd, const struct tm_stat *st)
{
  if (tm_lock_take(fd, false) == 0)
    tm_temp_remove_tree(path, NULL);
}

void tm_temp_remove_left(const char *job_dir, const char *dir)
{
  look(&(struct search) { .job_dir = job_dir, .dir = dir, .on_folder = remove_left });
}

/* Keeps (2). It is not locked: the keeper that is about to lock it must not fail. */
static void remove_unowned(const char *path, const struct tm_stat *st)
{
  const struct tm_fs *fs = tm_fs_real();

  if (tm_clock_wall_ns() - st->mtime_ns < OLD_NS)
    return;
  char *keeper = tm_path_join(path, TM_TEMP_KEEPER);
  (void)fs->unlink(fs->self, keeper);
  (void)fs->unlink(fs->self, path); /* only if it is empty */
  free(keeper);
}

static void remove_dead(struct search *s, const char *path, int fd, const struct tm_stat *st)
{
  struct tm_temp_owner owner;

  if (!tm_temp_owner_read(&owner, path, &s->here)) {
    remove_unowned(path, st);
    return;
  }
  if (!owner.is_here || tm_lock_take(fd, false) < 0)
    return;
  if (owner.is_same_boot)
    s->removed->processes += tm_incarnation_kill(s->job_dir, &owner.incarnation);
  s->removed->folders += tm_temp_remove_tree(path, NULL) == 0;
}

void tm_temp_remove_dead(const char *job_dir, const char *dir, struct tm_temp_removed *out)
{
  look(&(struct search) { .job_dir = job_dir,
                          .dir = dir,
                          .on_folder = remove_dead,
                          .here = tm_temp_this_machine(),
                          .removed = out });
}
