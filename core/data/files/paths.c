/* paths.c - returns paths from one buffer, in place: only what the end of a piece splits is copied.
 *
 *      buffer  [ room for the folder ][ rest | 256 KB piece ...           ]
 *                                      ^ at                        ^ end
 *
 * The folder is written in front of a relative path, over bytes that were already returned, so that
 * the path is contiguous without a copy: `room` bytes are kept free before the first.
 *
 *  (1) There is always room for the folder before `at`: bytes moved to the front go after it.
 *  (2) A path longer than the limit ends the reading, so the rest before a piece is short.
 */
#include "data/files/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/process.h"

#define PIECE      (256u << 10)   /* bytes */
#define PATH_LIMIT (4 * PATH_MAX) /* bytes */
#define REST_LIMIT                                                                                 \
  (PATH_LIMIT + 4) /* bytes: a path with a byte order mark before it and a CR after it */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct tm_paths {
  const struct tm_fs *fs;
  const struct tm_stop *stop; /* or NULL */
  int fd;
  char *path; /* of the list */
  char *dir;  /* for relative paths, with a '/' at the end */
  size_t dir_len;
  char *buffer;    /* dir_len + REST_LIMIT + PIECE bytes */
  size_t at, end;  /* read but not returned yet */
  uint64_t number; /* of the current line or record, from 1 */
  char separator;
  bool has_ended; /* the file has */
  bool is_stdin;
};

/* The folder for relative paths. */
static char *folder_of(const char *path, const char *base_dir, bool is_regular)
{
  char *dir = is_regular ? tm_path_dir(path) : tm_xstrdup(base_dir);
  size_t n = strlen(dir);
  char *out = tm_xprintf("%s%s", dir, n > 0 && dir[n - 1] == '/' ? "" : "/");
  free(dir);
  return out;
}

struct tm_paths *tm_paths_open(const struct tm_fs *fs, const char *base_dir, const char *path,
                               bool null_separated, const struct tm_stop *stop, struct tm_err *err)
{
  struct tm_paths *p = TM_NEW(struct tm_paths);
  struct tm_stat st;
  int rc;
  p->fs = fs;
  p->stop = stop;
  p->is_stdin = strcmp(path, "-") == 0;
  p->path = p->is_stdin ? tm_xstrdup("standard input") : tm_path_absolute(base_dir, path);
  p->separator = null_separated ? '\0' : '\n';
  p->fd = p->is_stdin ? tm_process_take_stdin(err)
                      : tm_fs_open(fs, p->path, O_RDONLY | O_NONBLOCK, 0, err);
  if (p->fd < 0)
    goto fail;
  rc = fs->fstat(fs->self, p->fd, &st);
  if (rc == 0 && S_ISDIR(st.mode))
    rc = -EISDIR;
  if (rc < 0) {
    tm_err_system(err, rc, "cannot read '%s' as a list of paths", p->path);
    goto fail;
  }
  p->dir = folder_of(p->path, base_dir, S_ISREG(st.mode) && !p->is_stdin);
  p->dir_len = strlen(p->dir);
  p->buffer = tm_xmalloc(p->dir_len + REST_LIMIT + PIECE);
  p->at = p->end = p->dir_len;
  return p;
fail:
  tm_paths_close(p);
  return NULL;
}

void tm_paths_close(struct tm_paths *p)
{
  if (p == NULL)
    return;
  tm_fs_close(p->fs, p->fd);
  free(p->path);
  free(p->dir);
  free(p->buffer);
  free(p);
}

/* Appends the next piece to the rest of the last. */
static int read_piece(struct tm_paths *p, struct tm_err *err)
{
  size_t rest = p->end - p->at;
  int64_t got;
  memmove(p->buffer + p->dir_len, p->buffer + p->at, rest); /* keeps (1) */
  p->at = p->dir_len;
  p->end = p->at + rest;
  got = tm_stop_read(p->stop, p->fd, p->buffer + p->end, PIECE);
  if (got < 0)
    return tm_err_system(err, (int)got, "cannot read '%s'", p->path);
  p->end += (size_t)got;
  p->has_ended = got == 0;
  return 0;
}

/* `is_last`: it ends with the file, not with a separator. */
static int give(struct tm_paths *p, char *path, size_t len, bool is_last, struct tm_item *out,
                struct tm_err *err)
{
  const char *unit = p->separator == '\n' ? "line" : "record";
  if (len > PATH_LIMIT)
    return tm_err_set(err, TM_EUSAGE, "'%s', %s %llu: a path of more than %d bytes", p->path, unit,
                      (unsigned long long)p->number, PATH_LIMIT);
  if (p->separator == '\n' && memchr(path, '\0', len) != NULL)
    return tm_err_set(
        err, TM_EUSAGE,
        "'%s', line %llu: a NUL byte in a path; is it a list with NUL between the paths? then set "
        "null_separated = true",
        p->path, (unsigned long long)p->number);
  if (p->separator == '\0' && p->number == 1 && is_last && path[len - 1] == '\n')
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is one path of %zu bytes with line breaks: it holds no NUL; is it a "
                      "list of lines? then leave out null_separated",
                      p->path, len);
  if (path[0] != '/') {
    path -= p->dir_len;
    len += p->dir_len;
    memcpy(path, p->dir, p->dir_len);
  }
  *out = (struct tm_item) { .path = path, .path_len = len, .size = -1 };
  return 1;
}

int tm_paths_next(struct tm_paths *p, struct tm_item *out, struct tm_err *err)
{
  tm_require(p->at <= p->end);
  for (;;) {
    char *from = p->buffer + p->at;
    size_t rest = p->end - p->at;
    char *stop = memchr(from, p->separator, rest);
    if (stop == NULL && rest <= REST_LIMIT && !p->has_ended) {
      int rc = read_piece(p, err);
      if (rc < 0)
        return rc;
      continue;
    }
    if (stop == NULL && rest == 0)
      return 0;
    size_t len = stop == NULL ? rest : (size_t)(stop - from);
    p->at += len + (stop != NULL);
    if (p->number++ == 0 && p->separator == '\n' && len >= 3 &&
        memcmp(from, BYTE_ORDER_MARK, 3) == 0) {
      from += 3;
      len -= 3;
    }
    if (p->separator == '\n' && stop != NULL && len > 0 && from[len - 1] == '\r')
      len--;
    if (len > 0)
      return give(p, from, len, stop == NULL, out, err);
  }
}
