/* job_files.c - see job_files.h. */
#include "portal/job_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"

static int open_beneath(int folder, const char *path, uint64_t flags)
{
  struct open_how how = { .flags = flags | O_CLOEXEC,
                          .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
  long fd = syscall(SYS_openat2, folder, *path ? path : ".", &how, sizeof how);
  return fd < 0 ? -errno : (int)fd;
}

static int64_t ns_of(const struct timespec *t)
{
  return (int64_t)t->tv_sec * TM_S + t->tv_nsec;
}

/* First as a mere place, which opens nothing: a FIFO would wait, a device may do anything. */
static int look(int folder, const char *path, struct stat *st)
{
  int place = open_beneath(folder, path, O_PATH);
  if (place < 0)
    return place;
  int rc = fstat(place, st) < 0 ? -errno : 0;
  close(place);
  return rc < 0 || S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) ? rc : -EPERM;
}

static int open_kind(struct tm_job_file *out, int folder, const char *path)
{
  struct stat st;
  int rc = look(folder, path, &st);
  if (rc < 0)
    return rc;
  out->fd = open_beneath(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (out->fd < 0)
    return out->fd;
  if (fstat(out->fd, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
    return -EPERM; /* something else has taken its place */
  out->is_folder = S_ISDIR(st.st_mode);
  out->bytes = st.st_size;
  out->changed_ns = ns_of(&st.st_mtim);
  return 0;
}

int tm_job_file_open(struct tm_job_file *out, const char *dir, const char *path, struct tm_err *err)
{
  *out = (struct tm_job_file) { .fd = -1 };
  int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int rc = folder < 0 ? -errno : open_kind(out, folder, path);
  if (folder >= 0)
    close(folder);
  if (rc >= 0)
    return 0;
  if (out->fd >= 0)
    close(out->fd);
  out->fd = -1;
  if (rc == -EXDEV || rc == -ELOOP)
    return tm_err_set(err, -ENOENT,
                      "'%s' is a link that leads out of the job's directory, which the portal does "
                      "not follow",
                      path);
  if (rc == -EPERM)
    return tm_err_set(err, -ENOENT, "'%s' is neither a file nor a folder", path);
  return tm_err_system(err, rc == -ENOTDIR ? -ENOENT : rc, "cannot open '%s'", path);
}

static int rank(const struct tm_job_entry *e)
{
  return strcmp(e->name, "readme.txt") == 0 ? 0 : e->is_folder ? 1 : 2;
}

static int compare(const void *a, const void *b)
{
  int difference = rank(a) - rank(b);
  return difference ? difference
                    : strcmp(((const struct tm_job_entry *)a)->name,
                             ((const struct tm_job_entry *)b)->name);
}

static void add_entry(struct tm_job_entries *e, int job, const char *path, const char *name)
{
  struct stat st = { .st_size = 0 };
  char *whole = tm_path_join(path, name);
  int rc = look(job, whole, &st);
  free(whole);
  if (rc == -ENOENT)
    return; /* it is gone, or a link to nothing */
  *TM_ARRAY_ADD(&e->at) = (struct tm_job_entry) { .name = tm_xstrdup(name),
                                                  .is_folder = rc == 0 && S_ISDIR(st.st_mode),
                                                  .is_shown = rc == 0,
                                                  .bytes = st.st_size };
}

static void read_entries(struct tm_job_entries *e, int job, const char *path, DIR *dir)
{
  for (struct dirent *d; !e->is_cut && (d = readdir(dir));) {
    if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
      continue;
    e->is_cut = e->at.len == TM_JOB_FILES_MAX;
    if (!e->is_cut)
      add_entry(e, job, path, d->d_name);
  }
  if (e->at.len > 0)
    qsort(e->at.at, e->at.len, sizeof *e->at.at, compare);
}

int tm_job_entries_read(struct tm_job_entries *e, const char *dir, const char *path,
                        struct tm_err *err)
{
  *e = (struct tm_job_entries) { .is_cut = false };
  int job = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), rc = job < 0 ? -errno : 0;
  int fd = rc < 0 ? rc : open_beneath(job, path, O_RDONLY | O_DIRECTORY);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  if (folder)
    read_entries(e, job, path, folder);
  else
    rc = tm_err_system(err, fd, "cannot read folder '%s'", path);
  if (folder)
    closedir(folder);
  if (job >= 0)
    close(job);
  return rc;
}

void tm_job_entries_release(struct tm_job_entries *e)
{
  for (size_t i = 0; i < e->at.len; i++)
    free(e->at.at[i].name);
  TM_ARRAY_RELEASE(&e->at);
}

/* A character that the end of the piece cuts counts as whole. */
bool tm_job_file_is_text(const char *bytes, size_t n)
{
  size_t bad = 0;
  for (size_t i = 0; i < n;) {
    size_t len = tm_text_utf8_len(bytes + i, n - i);
    bad += len == 0 && n - i >= 4;
    if (bytes[i] == '\0')
      return false;
    i += len > 0 ? len : 1;
  }
  return bad * 10 <= n;
}
