/* scratch.c - see scratch.h.
 *
 *  (1) A folder is swept only if this user owns it, nobody else may enter it, and its lock is free:
 *      the lock ends with the process that took it, whatever ended that.
 *  (2) The file gets the name .lock when it is locked already: a folder that is being made is not
 *      swept.
 */
#include "entry/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"
#include "sys/standard_fds.h"

#define LOCK "/.lock"

/* What the folders of each kind keep. */
static const struct kind {
  const char *name;
  bool keeps_output, keeps_log;
} kinds[] = {
  { "try", true, true },    { "replay", true, true }, { "script", true, false },
  { "rerun", true, false }, { "walk", false, false }, { "dry", false, false },
};

static const char *parent(void)
{
  const char *tmp = getenv("TMPDIR");
  return tmp && *tmp == '/' ? tmp : "/tmp";
}

static const struct kind *kind_of(const char *name)
{
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++) {
    char *begin = tm_xprintf("tidemill-%s-", kinds[i].name);
    bool is_it = strncmp(name, begin, strlen(begin)) == 0 && strlen(name) == strlen(begin) + 6;
    free(begin);
    if (is_it)
      return &kinds[i];
  }
  return NULL;
}

/* Returns the descriptor of the folder's lock if no living process holds it. Negative: the folder
 * is in use, or does not belong to us. Keeps (1). */
static int take_over(const char *path)
{
  struct stat st;
  char *lock = tm_xprintf("%s" LOCK, path);
  int fd = -1;
  if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
      (st.st_mode & 077) == 0)
    fd = tm_fd_lift(open(lock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  free(lock);
  if (fd >= 0 && tm_lock_take(fd, false) < 0) {
    close(fd);
    fd = -1;
  }
  return fd;
}

static void remove_below(const char *path, const char *name, bool is_kept)
{
  char *whole = tm_path_join(path, name);
  if (is_kept)
    rmdir(whole);
  else
    tm_tree_remove(whole, NULL);
  free(whole);
}

static void sweep_one(const struct kind *kind, const char *path)
{
  struct tm_scratch s = { .path = tm_xstrdup(path), .lock = take_over(path) };
  if (s.lock < 0) {
    free(s.path);
    return;
  }
  if (!kind->keeps_output) {
    tm_scratch_remove(&s);
    return;
  }
  remove_below(path, "temp", false);
  remove_below(path, "output", true);
  remove_below(path, "log", kind->keeps_log);
  tm_scratch_leave(&s);
}

static int on_name(void *data, const char *name, int type)
{
  const struct kind *kind = kind_of(name);
  char *path = kind ? tm_path_join(data, name) : NULL;
  if (path)
    sweep_one(kind, path);
  free(path);
  return 0;
}

/* Keeps (2). */
static int lock_new(const char *path)
{
  char *lock = tm_xprintf("%s" LOCK, path), *before = tm_xprintf("%s.new", lock);
  int fd = tm_fd_lift(open(before, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd >= 0 && (tm_lock_take(fd, false) < 0 || rename(before, lock) < 0)) {
    close(fd);
    fd = -1;
    unlink(before);
  }
  free(before);
  free(lock);
  return fd;
}

int tm_scratch_make(struct tm_scratch *s, const char *kind, struct tm_err *err)
{
  tm_dir_read(parent(), on_name, (void *)parent());
  char *path = tm_xprintf("%s/tidemill-%s-XXXXXX", parent(), kind);
  if (!mkdtemp(path)) {
    tm_err_set(err, TM_EUSAGE,
               "cannot make a folder '%s'; set TMPDIR to a folder that you can write to", path);
    free(path);
    return TM_EUSAGE;
  }
  tm_require(kind_of(tm_path_base(path))); /* else it would never be swept */
  *s = (struct tm_scratch) { .path = path, .lock = lock_new(path) };
  return 0;
}

bool tm_scratch_leave(struct tm_scratch *s)
{
  if (!s->path)
    return false;
  char *lock = tm_xprintf("%s" LOCK, s->path);
  if (s->lock >= 0)
    unlink(lock);
  free(lock);
  bool is_left = rmdir(s->path) < 0 && errno != ENOENT;
  if (s->lock >= 0)
    close(s->lock);
  free(s->path);
  *s = (struct tm_scratch) { .lock = -1 };
  return is_left;
}

void tm_scratch_remove(struct tm_scratch *s)
{
  if (!s->path)
    return;
  tm_tree_remove(s->path, NULL);
  tm_scratch_leave(s);
}
