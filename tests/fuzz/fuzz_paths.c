/* fuzz_paths.c - a list of paths: the first byte chooses the separator, the rest is the list.
 *
 * The reader returns the same paths as a reader of the whole list at once.
 */
#include "fuzz.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/files/paths.h"

static int stat_regular(void *self, int fd, struct tm_stat *out)
{
  *out = (struct tm_stat) { .mode = S_IFREG };
  return 0;
}

static int open_memory(void *self, const char *path, int flags, int mode)
{
  return dup(*(int *)self);
}

struct list {
  const uint8_t *at, *end;
  uint8_t separator;
  bool has_begun;
};

/* The next path of the list that is not empty; false at the end. */
static bool next_path(struct list *l, const uint8_t **path, size_t *len)
{
  while (l->at < l->end) {
    const uint8_t *stop = memchr(l->at, l->separator, (size_t)(l->end - l->at));
    *path = l->at;
    *len = (size_t)((stop == NULL ? l->end : stop) - l->at);
    l->at = stop == NULL ? l->end : stop + 1;
    if (!l->has_begun && l->separator == '\n' && *len >= 3 &&
        memcmp(*path, "\xef\xbb\xbf", 3) == 0) {
      *path += 3;
      *len -= 3;
    }
    l->has_begun = true;
    if (*len > 0 && stop != NULL && l->separator == '\n' && (*path)[*len - 1] == '\r')
      --*len;
    if (*len > 0)
      return true;
  }
  return false;
}

static void check_path(const struct tm_item *item, const uint8_t *path, size_t len)
{
  const char *given = item->path;
  size_t given_len = item->path_len;
  if (path[0] != '/') {
    fuzz_require(given_len > 7 && memcmp(given, "/lists/", 7) == 0);
    given += 7;
    given_len -= 7;
  }
  fuzz_require(given_len == len && memcmp(given, path, len) == 0 && item->size == -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_item item;
  const uint8_t *path;
  size_t len = size - (size > 0);
  bool null_separated = size > 0 && (data[0] & 1);
  struct list l = { data + (size > 0), data + size, null_separated ? '\0' : '\n', false };
  int fd = memfd_create("list", MFD_CLOEXEC), rc;
  struct tm_fs fs = *tm_fs_real();
  fuzz_require(fd >= 0 && write(fd, l.at, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0);
  fs.self = &fd;
  fs.open = open_memory;
  fs.fstat = stat_regular;
  struct tm_paths *p = tm_paths_open(&fs, "/base", "/lists/list", null_separated, NULL, &err);
  fuzz_require(p != NULL);
  while ((rc = tm_paths_next(p, &item, &err)) > 0) {
    fuzz_require(next_path(&l, &path, &len));
    check_path(&item, path, len);
  }
  if (next_path(&l, &path, &len)) /* refused, and for a reason */
    fuzz_require(rc < 0 && err.text[0] != '\0' &&
                 (len > 4 * PATH_MAX || memchr(path, '\0', len) != NULL ||
                  (null_separated && path[len - 1] == '\n'))); /* a list of lines */
  else
    fuzz_require(rc == 0);
  tm_paths_close(p);
  close(fd);
  return 0;
}
