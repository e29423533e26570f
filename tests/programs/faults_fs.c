/* faults_fs.c - see faults_fs.h. Each call of the table is counted, looked up in the plan, and
 * passed on to the real one. */
#include "faults_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  int code;
} errors[] = {
  { "EIO", -EIO },       { "ENOSPC", -ENOSPC }, { "EACCES", -EACCES },
  { "EINTR", -EINTR },   { "EROFS", -EROFS },   { "EMFILE", -EMFILE },
  { "ENOLCK", -ENOLCK }, { "ENOSYS", -ENOSYS }, { "EOPNOTSUPP", -EOPNOTSUPP },
};

/* 0, or the result of the call. */
static int count(struct faults_fs *f, bool changes, const char *name, const char *path,
                 uint64_t *call)
{
  uint64_t change = changes ? ++f->changes : 0;
  *call = ++f->calls;
  if (f->record >= 0) {
    char line[600];
    int n = changes ? snprintf(line, sizeof(line), "%llu %llu %s %.500s\n",
                               (unsigned long long)*call, (unsigned long long)change, name, path)
                    : snprintf(line, sizeof(line), "%llu - %s %.500s\n", (unsigned long long)*call,
                               name, path);
    if (tm_fd_append(f->record, line, (size_t)n) < 0)
      abort();
  }
  if (changes && change == f->kill_at)
    kill(getpid(), SIGKILL);
  return *call == f->fail_at ? f->code : 0;
}

static const char *read_path(int fd, char *out, size_t size)
{
  char link[40];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, out, size - 1);
  out[n > 0 ? n : 0] = '\0';
  return out;
}

/* The path of a descriptor, for the record. */
static const char *path_of(const struct faults_fs *f, int fd, char *out, size_t size)
{
  out[0] = '\0';
  return f->record < 0 ? out : read_path(fd, out, size);
}

int faults_fs_lock(const struct faults_fs *f, int fd)
{
  char path[512];
  const char *name = f->lock_code < 0 ? strrchr(read_path(fd, path, sizeof(path)), '/') : NULL;
  bool is_of_job = name && (strcmp(name, "/lock") == 0 || strcmp(name, "/node.lock") == 0);
  return is_of_job ? f->lock_code : 0;
}

static int faults_open(void *self, const char *path, int flags, int mode)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, flags & (O_CREAT | O_TRUNC), "open", path, &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->open(tm_fs_real()->self, path, flags, mode);
  trace_end_open(&f->trace, rc, flags, mode, path);
  return rc;
}

static int faults_close(void *self, int fd)
{
  struct faults_fs *f = self;
  char path[512];
  uint64_t call;
  int rc = count(f, false, "close", path_of(f, fd, path, sizeof(path)), &call);
  trace_begin(&f->trace);
  int closed = tm_fs_real()->close(tm_fs_real()->self, fd);
  trace_end(&f->trace, closed, NULL, "close %d", fd);
  return rc < 0 ? rc : closed;
}

static int64_t faults_pread(void *self, int fd, void *p, size_t n, int64_t at)
{
  struct faults_fs *f = self;
  char path[512];
  uint64_t call;
  int rc = count(f, false, "pread", path_of(f, fd, path, sizeof(path)), &call);
  if (call == f->short_at && n > 1)
    n /= 2;
  return rc < 0 ? rc : tm_fs_real()->pread(tm_fs_real()->self, fd, p, n, at);
}

static int64_t faults_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  struct faults_fs *f = self;
  char path[512];
  uint64_t call;
  int rc = count(f, true, "pwrite", path_of(f, fd, path, sizeof(path)), &call);
  if (call == f->short_at && n > 1)
    n /= 2;
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  int64_t put = tm_fs_real()->pwrite(tm_fs_real()->self, fd, p, n, at);
  trace_end_write(&f->trace, put, fd, p, at);
  return put;
}

static int faults_fsync(void *self, int fd)
{
  struct faults_fs *f = self;
  char path[512];
  uint64_t call;
  int rc = count(f, true, "fsync", path_of(f, fd, path, sizeof(path)), &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  trace_end(&f->trace, 0, NULL, "syncing %d", fd);
  rc = tm_fs_real()->fsync(tm_fs_real()->self, fd);
  trace_begin(&f->trace);
  trace_end(&f->trace, rc, NULL, "synced %d", fd);
  return rc;
}

static int faults_ftruncate(void *self, int fd, int64_t length)
{
  struct faults_fs *f = self;
  char path[512];
  uint64_t call;
  int rc = count(f, true, "ftruncate", path_of(f, fd, path, sizeof(path)), &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->ftruncate(tm_fs_real()->self, fd, length);
  trace_end(&f->trace, rc, NULL, "cut %d %lld", fd, (long long)length);
  return rc;
}

static int faults_fstat(void *self, int fd, struct tm_stat *out)
{
  struct faults_fs *f = self;
  char path[512];
  uint64_t call;
  int rc = count(f, false, "fstat", path_of(f, fd, path, sizeof(path)), &call);
  return rc < 0 ? rc : tm_fs_real()->fstat(tm_fs_real()->self, fd, out);
}

static int faults_stat(void *self, const char *path, bool follow, struct tm_stat *out)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, false, "stat", path, &call);
  return rc < 0 ? rc : tm_fs_real()->stat(tm_fs_real()->self, path, follow, out);
}

static int faults_rename(void *self, const char *from, const char *to)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, true, "rename", to, &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->rename(tm_fs_real()->self, from, to);
  trace_end(&f->trace, rc, to, "rename %s", from);
  return rc;
}

static int faults_rename_new(void *self, const char *from, const char *to)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, true, "rename_new", to, &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->rename_new(tm_fs_real()->self, from, to);
  trace_end(&f->trace, rc, to, "rename %s", from);
  return rc;
}

static int faults_exchange(void *self, const char *a, const char *b)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, true, "exchange", b, &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->exchange(tm_fs_real()->self, a, b);
  trace_end(&f->trace, rc, b, "exchange %s", a);
  return rc;
}

static int faults_unlink(void *self, const char *path)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, true, "unlink", path, &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->unlink(tm_fs_real()->self, path);
  trace_end(&f->trace, rc, NULL, "unlink %s", path);
  return rc;
}

static int faults_mkdir(void *self, const char *path, int mode)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, true, "mkdir", path, &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->mkdir(tm_fs_real()->self, path, mode);
  trace_end(&f->trace, rc, NULL, "mkdir %d %s", mode, path);
  return rc;
}

static int faults_symlink(void *self, const char *target, const char *path)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, true, "symlink", path, &call);
  if (rc < 0)
    return rc;
  trace_begin(&f->trace);
  rc = tm_fs_real()->symlink(tm_fs_real()->self, target, path);
  trace_end(&f->trace, rc, target, "symlink %s", path);
  return rc;
}

static int faults_readlink(void *self, const char *path, char *out, size_t size)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, false, "readlink", path, &call);
  return rc < 0 ? rc : tm_fs_real()->readlink(tm_fs_real()->self, path, out, size);
}

static int faults_dir_read(void *self, const char *path, tm_on_name on_name, void *data)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, false, "dir_read", path, &call);
  return rc < 0 ? rc : tm_fs_real()->dir_read(tm_fs_real()->self, path, on_name, data);
}

/* Counts as one call, because nobody uses the removed tree. */
static int faults_tree_remove(void *self, const char *path, struct tm_err *err)
{
  struct faults_fs *f = self;
  uint64_t call;
  int rc = count(f, true, "tree_remove", path, &call);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot remove '%s'", path);
  trace_begin(&f->trace);
  rc = tm_fs_real()->tree_remove(tm_fs_real()->self, path, err);
  trace_end(&f->trace, rc, NULL, "remove %s", path);
  return rc;
}

static int error_of(const char *name)
{
  for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
    if (strcmp(name, errors[i].name) == 0)
      return errors[i].code;
  return 0;
}

/* Reads one word of the plan; false if it is not valid. */
static bool set_word(struct faults_fs *f, const char *word)
{
  char *end;
  if (strncmp(word, "record:", 7) == 0) {
    f->record =
        tm_fs_real()->open(tm_fs_real()->self, word + 7, O_WRONLY | O_CREAT | O_APPEND, 0600);
    return f->record >= 0;
  }
  if (strncmp(word, "trace:", 6) == 0)
    return trace_open(&f->trace, word + 6) == 0;
  if (strncmp(word, "locks:", 6) == 0)
    return (f->lock_code = error_of(word + 6)) < 0;
  const char *at = strchr(word, '@');
  if (!at)
    return false;
  uint64_t n = strtoull(at + 1, &end, 10);
  size_t len = (size_t)(at - word);
  if (n == 0)
    return false;
  if (len == 4 && memcmp(word, "fail", 4) == 0 && *end == ':' && (f->code = error_of(end + 1)) < 0)
    f->fail_at = n;
  else if (len == 4 && memcmp(word, "kill", 4) == 0 && !*end)
    f->kill_at = n;
  else if (len == 5 && memcmp(word, "short", 5) == 0 && !*end)
    f->short_at = n;
  else
    return false;
  return true;
}

/* Only reads. It is not counted, because its result depends on the machine. */
static int faults_volume(void *self, const char *path, struct tm_volume *out)
{
  return tm_fs_real()->volume(tm_fs_real()->self, path, out);
}

int faults_fs_init(struct faults_fs *f, const char *plan)
{
  char words[1000], *rest = words, *word;
  memset(f, 0, sizeof(*f));
  f->record = f->trace.fd = -1;
  f->fs = (struct tm_fs) { .self = f,
                           .open = faults_open,
                           .close = faults_close,
                           .pread = faults_pread,
                           .pwrite = faults_pwrite,
                           .fsync = faults_fsync,
                           .ftruncate = faults_ftruncate,
                           .fstat = faults_fstat,
                           .stat = faults_stat,
                           .rename = faults_rename,
                           .rename_new = faults_rename_new,
                           .exchange = faults_exchange,
                           .unlink = faults_unlink,
                           .mkdir = faults_mkdir,
                           .symlink = faults_symlink,
                           .volume = faults_volume,
                           .readlink = faults_readlink,
                           .dir_read = faults_dir_read,
                           .tree_remove = faults_tree_remove };
  if (!plan)
    return 0;
  if ((size_t)snprintf(words, sizeof(words), "%s", plan) >= sizeof(words))
    return -1;
  while ((word = strsep(&rest, ",")))
    if (*word && !set_word(f, word))
      return -1;
  return 0;
}
