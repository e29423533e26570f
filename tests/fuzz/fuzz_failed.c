/* fuzz_failed.c - an untrusted failed_items.jsonl: the first byte chooses the input of the step,
 * the rest is the file.
 *
 * The reader returns absolute paths without NUL. Reading all inputs returns the items of each input
 * and no others.
 */
#include "fuzz.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/files/failed.h"

static int stat_regular(void *self, int fd, struct tm_stat *out)
{
  *out = (struct tm_stat) { .mode = S_IFREG };
  return 0;
}

static int open_memory(void *self, const char *path, int flags, int mode)
{
  return dup(*(int *)self);
}

struct sums {
  int64_t items, bytes, unnamed;
};

/* Whether it could be read to its end. */
static bool read_all(const struct tm_fs *fs, int64_t input, struct sums *sums)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_item item;
  bool is_missing;
  struct tm_failed *f = tm_failed_open(fs, "/list", input, &is_missing, &err);
  int rc;
  fuzz_require(f != NULL);
  while ((rc = tm_failed_next(f, &item, &err)) > 0) {
    fuzz_require(item.path_len > 0 && item.path_len <= 4 * PATH_MAX && item.path[0] == '/');
    fuzz_require(memchr(item.path, 0, item.path_len) == NULL && item.size == -1);
    fuzz_require(input == TM_FAILED_ANY || tm_failed_input(f) == input);
    sums->items++;
    sums->bytes += (int64_t)item.path_len;
  }
  sums->unnamed = tm_failed_unnamed(f);
  fuzz_require(rc == 0 || err.text[0] != '\0');
  tm_failed_close(f);
  return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  int fd = memfd_create("list", MFD_CLOEXEC);
  struct sums all = { 0 }, one = { 0 };
  struct tm_fs fs = *tm_fs_real();
  fuzz_require(fd >= 0);
  if (size > 1)
    fuzz_require(write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
  fs.self = &fd;
  fs.open = open_memory;
  fs.fstat = stat_regular;
  if (read_all(&fs, TM_FAILED_ANY, &all)) /* then each input can be read as well */
    fuzz_require(read_all(&fs, size > 0 ? data[0] & 3 : 0, &one));
  fuzz_require(one.items <= all.items && one.bytes <= all.bytes && one.unnamed <= all.unnamed);
  close(fd);
  return 0;
}
