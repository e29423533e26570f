/* temp_dirs.c - see temp_dirs.h. */
#include "record/temp_dirs.h"

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
#include "node/node_msg.h"
#include "sys/process.h"

#define MEMORY_DIR "/dev/shm"
#define RECORDS    "temp_dirs"
#define RECORD_MAX (64u << 10)

/* Names. */

/* An absolute path, or NULL. */
static const char *named(const char *variable)
{
  const char *dir = getenv(variable);
  return dir && *dir == '/' ? dir : NULL;
}

/* NULL: there is none. */
static const char *memory_dir(const char *tmp)
{
  return getenv(TM_ENV_MEMORY_DIR) ? named(TM_ENV_MEMORY_DIR) : tmp ? NULL : MEMORY_DIR;
}

/* What the names of all folders of a job begin with. It is short: scripts make sockets there, whose
 * paths have at most 107 bytes. */
static char *new_begin(const char *job_dir)
{
  return tm_xprintf("tidemill-%u-%08" PRIx32 "-", (unsigned)geteuid(),
                    (uint32_t)tm_hash64(job_dir, strlen(job_dir)));
}

static char *new_name(const char *job_dir)
{
  char *begin = new_begin(job_dir);
  char *name = tm_xprintf("%s%012" PRIx64, begin, tm_process_random() >> 16);
  free(begin);
  return name;
}

/* Whether it is "tidemill-<number>-..."; *uid: the number. */
static bool read_name(const char *name, unsigned long *uid)
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

/* Recording. */

static int write_record(const struct tm_fs *fs, const char *records, const char *name,
                        const char *parent, struct tm_err *err)
{
  char *path = tm_path_join(records, name);
  int fd = tm_fs_open(fs, path, O_WRONLY | O_CREAT | O_EXCL, 0600, err), rc = fd;
  if (fd >= 0)
    rc = tm_fs_write_at(fs, fd, path, parent, strlen(parent), 0, err);
  tm_fs_close(fs, fd);
  free(path);
  return rc < 0 ? rc : 0;
}

int tm_temp_dirs_check(const struct tm_fs *fs, struct tm_err *err)
{
  const char *tmp = named("TMPDIR");
  struct tm_stat st;
  int rc = tmp ? fs->stat(fs->self, tmp, true, &st) : 0;
  if (rc == 0 && tmp && !S_ISDIR(st.mode))
    rc = -ENOTDIR;
  return rc < 0 ? tm_err_set(err, TM_EUSAGE,
                             "TMPDIR is '%s': %s; workers make their temporary folders there: name "
                             "a folder that is there, or unset TMPDIR",
                             tmp, tm_code_text(rc))
                : 0;
}

int tm_temp_dirs_record(struct tm_temp_dirs *d, const struct tm_fs *fs, const char *job_dir,
                        bool wants_memory, struct tm_err *err)
{
  tm_require(job_dir);
  const char *tmp = named("TMPDIR"), *memory = wants_memory ? memory_dir(tmp) : NULL;
  char *records = tm_path_join(job_dir, RECORDS), *name = new_name(job_dir);
  int rc = fs->mkdir(fs->self, records, 0700);
  *d = (struct tm_temp_dirs) { .temp = tm_path_join(tmp ? tmp : "/tmp", name) };
  if (rc < 0 && rc != -EEXIST)
    tm_err_system(err, rc, "cannot make the folder '%s'", records);
  else
    rc = write_record(fs, records, name, tmp ? tmp : "/tmp", err); /* keeps (2) */
  free(name);
  name = new_name(job_dir); /* a second name: both may be in one folder */
  d->memory = memory ? tm_path_join(memory, name) : tm_xstrdup("");
  if (rc == 0 && memory)
    rc = write_record(fs, records, name, memory, err);
  free(name);
  free(records);
  if (rc < 0)
    tm_temp_dirs_release(d);
  return rc;
}

void tm_temp_dirs_release(struct tm_temp_dirs *d)
{
  free(d->temp);
  free(d->memory);
  *d = (struct tm_temp_dirs) { 0 };
}

static char *below(const char *base, const char *step, const char *worker)
{
  const char *dash = worker ? "-" : "";
  return *base ? tm_xprintf("%s/%s%s%s", base, step, dash, worker ? worker : "") : tm_xstrdup("");
}

struct tm_temp_dirs tm_temp_dirs_of(const struct tm_temp_dirs *d, const char *step,
                                    const char *worker)
{
  tm_require(d->temp && d->memory && step[0]);
  return (struct tm_temp_dirs) { .temp = below(d->temp, step, worker),
                                 .memory = below(d->memory, step, worker) };
}

/* Removing. */

struct removal {
  const struct tm_fs *fs;
  const char *records;
  struct tm_err *err; /* of the first folder that could not be removed */
  int code;
};

/* Removes the folder itself. If the path leads to nothing of ours, that counts as removed: our
 * folder no longer exists. */
static int remove_folder(const char *path, unsigned long uid, struct tm_err *err)
{
  const struct tm_fs *real = tm_fs_real();
  struct tm_stat st;
  tm_require(path[0] == '/');
  int rc = real->stat(real->self, path, false, &st);
  if (rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at the temporary folder '%s'", path);
  if (uid != geteuid())
    return tm_err_set(
        err, -EPERM,
        "the temporary folder '%s' was made by another user (uid %lu), who can remove "
        "it",
        path, uid);
  if (!S_ISDIR(st.mode) || st.uid != geteuid()) /* keeps (4) */
    return 0;
  return tm_tree_remove_forced(path, err);
}

static int on_record(void *data, const char *name, int type)
{
  struct removal *r = data;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf parent = TM_BUF_NONE;
  char *record;
  unsigned long uid = 0;
  int rc;
  if (!read_name(name, &uid)) /* not a record */
    return 0;
  record = tm_path_join(r->records, name);
  rc = tm_fs_read_file(r->fs, record, RECORD_MAX, &parent, &err);
  /* Empty: its writer was killed before it made the folder. */
  if (rc >= 0 && parent.len > 0 && parent.data[0] == '/' && !memchr(parent.data, 0, parent.len)) {
    char *path = tm_path_join(tm_buf_str(&parent), name);
    rc = remove_folder(path, uid, &err);
    free(path);
  }
  if (rc >= 0 && (rc = r->fs->unlink(r->fs->self, record)) == -ENOENT)
    rc = 0;
  if (rc < 0 && err.code == 0)
    tm_err_system(&err, rc, "cannot remove '%s'", record);
  if (rc < 0 && r->code == 0) {
    r->code = rc;
    if (r->err)
      *r->err = err;
  }
  tm_buf_release(&parent);
  free(record);
  return 0;
}

int tm_temp_dirs_remove_of(const struct tm_temp_dirs *d, const struct tm_fs *fs,
                           const char *job_dir, struct tm_err *err)
{
  const char *const paths[] = { d->temp, d->memory };
  char *records = tm_path_join(job_dir, RECORDS);
  struct removal r = { .fs = fs, .records = records, .err = err };
  for (size_t i = 0; i < TM_COUNT_OF(paths); i++)
    if (paths[i] && *paths[i])
      on_record(&r, strrchr(paths[i], '/') + 1, 0);
  (void)fs->unlink(fs->self, records); /* unless another keeper has a record */
  free(records);
  return r.code;
}

int tm_temp_dirs_remove(const struct tm_fs *fs, const char *job_dir, struct tm_err *err)
{
  char *records = tm_path_join(job_dir, RECORDS);
  struct removal r = { .fs = fs, .records = records, .err = err };
  int rc = fs->dir_read(fs->self, records, on_record, &r);
  if (rc < 0 && rc != -ENOENT)
    r.code = tm_err_system(err, rc, "cannot read the folder '%s'", records);
  else if (rc == 0 && r.code == 0)
    (void)fs->unlink(fs->self, records);
  free(records);
  return r.code;
}

/* Folders without a record. */

struct search {
  const char *dir, *begin;
  bool removes; /* true: they are removed; false: they are counted */
  size_t found;
};

/* Keeps (3) and (4). */
static void look_at_orphan(struct search *s, const char *path)
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

static int on_temp_name(void *data, const char *name, int type)
{
  struct search *s = data;
  if (strncmp(name, s->begin, strlen(s->begin)) == 0) {
    char *path = tm_path_join(s->dir, name);
    look_at_orphan(s, path);
    free(path);
  }
  return 0;
}

/* Looks where this session would make its own folders, and in memory, where another session may
 * have made some. Returns how many there are. */
static size_t look_for_orphans(const char *job_dir, bool removes)
{
  const char *tmp = named("TMPDIR"), *memory = memory_dir(tmp);
  const char *dirs[] = { tmp ? tmp : "/tmp", MEMORY_DIR, memory };
  char *begin = new_begin(job_dir);
  struct search s = { .begin = begin, .removes = removes };
  for (size_t i = 0; i < TM_COUNT_OF(dirs); i++)
    if ((s.dir = dirs[i]) && (i < 2 || strcmp(dirs[i], MEMORY_DIR) != 0))
      (void)tm_dir_read(s.dir, on_temp_name, &s);
  free(begin);
  return s.found;
}

static bool are_recorded(const struct tm_fs *fs, const char *job_dir)
{
  char *records = tm_path_join(job_dir, RECORDS);
  bool are = tm_fs_exists(fs, records);
  free(records);
  return are;
}

int tm_temp_dirs_remove_left(const struct tm_fs *fs, const char *job_dir, struct tm_err *err)
{
  int rc;
  if (!are_recorded(fs, job_dir) && look_for_orphans(job_dir, false) == 0)
    return 0;
  (void)tm_job_kill_all(job_dir); /* keeps (5) */
  rc = tm_temp_dirs_remove(fs, job_dir, err);
  look_for_orphans(job_dir, true);
  return rc;
}
