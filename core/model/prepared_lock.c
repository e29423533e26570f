/* prepared_lock.c - see prepared_lock.h. The note is a line: "DEATHS is_late SESSION". A kill
 * between its two calls leaves none, so that one more process tries. */
#include "model/prepared_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define NOTE_MAX 256

/* Whether the file that is locked still has its name: `tidemill clean` removes it. */
static bool is_named(const struct tm_prepared_lock *l)
{
  struct tm_stat own, named;

  return l->fs->fstat(l->fs->self, l->fd, &own) == 0 &&
         l->fs->stat(l->fs->self, l->path, false, &named) == 0 && named.ino == own.ino &&
         named.dev == own.dev;
}

static void let_go(struct tm_prepared_lock *l)
{
  tm_fs_close(l->fs, l->fd); /* which ends the lock */
  l->fd = -1;
}

int tm_prepared_lock_take(struct tm_prepared_lock *out, const struct tm_fs *fs, const char *copy,
                          bool makes, struct tm_err *err)
{
  int flags = O_RDWR | O_NOFOLLOW | (makes ? O_CREAT : 0);

  *out = (struct tm_prepared_lock) { .fs = fs, .path = tm_xprintf("%s.lock", copy), .fd = -1 };
  for (;;) {
    out->fd = tm_fs_open(fs, out->path, flags, 0600, err);
    if (out->fd < 0)
      return out->fd;
    int rc = tm_lock_take(out->fd, false);
    if (rc == 0 && is_named(out))
      return 1;
    let_go(out);
    if (rc < 0)
      return rc == -EWOULDBLOCK ? 0 : tm_err_system(err, rc, "cannot lock '%s'", out->path);
  }
}

void tm_prepared_lock_drop(struct tm_prepared_lock *l)
{
  if (l->fs)
    let_go(l);
  free(l->path);
  l->path = NULL;
}

/* ---- the note ---- */

static int add_note(char text[NOTE_MAX], const struct tm_prepared_note *note, const char *session)
{
  return snprintf(text, NOTE_MAX, "%" PRId64 " %d %s\n", note->deaths, note->is_late, session);
}

struct tm_prepared_note tm_prepared_lock_read(const struct tm_prepared_lock *l, const char *session)
{
  char text[NOTE_MAX] = "", expected[NOTE_MAX];
  struct tm_prepared_note note = { 0 };
  int late = 0;

  (void)tm_fs_read_at(l->fs, l->fd, l->path, text, NOTE_MAX - 1, 0, NULL);
  int found = sscanf(text, "%2" SCNd64 " %1d", &note.deaths, &late);
  note.is_late = late != 0;
  add_note(expected, &note, session);
  bool is_ours = found == 2 && strcmp(text, expected) == 0;
  return is_ours ? note : (struct tm_prepared_note) { 0 };
}

int tm_prepared_lock_write(const struct tm_prepared_lock *l, const struct tm_prepared_note *note,
                           const char *session, struct tm_err *err)
{
  char text[NOTE_MAX];
  int n = add_note(text, note, session), rc = l->fs->ftruncate(l->fs->self, l->fd, 0);

  tm_require(n > 0 && n < NOTE_MAX);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot write '%s'", l->path);
  if (note->deaths == 0 && !note->is_late)
    return 0;
  return tm_fs_write_at(l->fs, l->fd, l->path, text, (size_t)n, 0, err);
}
