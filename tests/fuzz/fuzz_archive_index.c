/* fuzz_archive_index.c - the index of an archive; if the first byte is odd, with correct check
 * sums. The reader refuses the index, or each of its entries lies within it. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "data/archive/archive_index.h"

static int open_memory(void *self, const char *path, int flags, int mode)
{
  return dup(*(int *)self);
}

static void sign(char *p, size_t n, const struct tm_archive_options *o)
{
  size_t records = n - TM_ARCHIVE_HEAD;
  memset(p, 0, 64);
  memcpy(p, "TMARIX1\n", 8);
  tm_put_u32(p + 8, 2);
  tm_put_u64(p + 16, (uint64_t)o->size);
  tm_put_u64(p + 24, (uint64_t)o->mtime_ns);
  tm_put_u64(p + 32, tm_hash64(o->path, strlen(o->path)));
  tm_put_u64(p + 40, (uint64_t)o->limits.entries);
  tm_put_u64(p + 48, (uint64_t)o->limits.size);
  tm_put_u64(p + 56, (uint64_t)o->limits.ratio);
  tm_put_u64(p + 64, tm_get_u64(p + 64) % (records / TM_ARCHIVE_RECORD + 1));
  tm_put_u64(p + 72, records);
  tm_put_u64(p + 80, tm_hash64(p + TM_ARCHIVE_HEAD, records));
  tm_put_u64(p + 88, tm_hash64(p, 88));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t n = size > 0 ? size - 1 : 0, left = n;
  char *bytes = malloc(n + 1);
  int fd = memfd_create("index", MFD_CLOEXEC), rc = 0;
  struct tm_fs fs = *tm_fs_real();
  struct tm_err err = TM_ERR_NONE;
  struct tm_archive_entry e;
  struct tm_archive_options o = {
    .fs = &fs, .path = "/a.zip", .size = 7, .mtime_ns = 8, .index_dir = "/", .limits = { 1, 2, 3 }
  };
  if (n > 0)
    memcpy(bytes, data + 1, n);
  if (n >= TM_ARCHIVE_HEAD && (data[0] & 1))
    sign(bytes, n, &o);
  fuzz_require(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
  fs.self = &fd;
  fs.open = open_memory;
  struct tm_archive_index *x = tm_archive_index_open(&o);
  fuzz_require(x != NULL || n < TM_ARCHIVE_HEAD || !(data[0] & 1));
  while (x != NULL && (rc = tm_archive_index_next(x, &e, &err)) > 0) {
    size_t used = TM_ARCHIVE_RECORD + e.name_len + (e.fault ? strlen(e.fault) : 0);
    fuzz_require(used <= left && strlen(e.name) == e.name_len && e.name_len > 0);
    fuzz_require(e.place.how <= TM_ENTRY_WALKED && e.place.place >= 0 && e.place.packed >= 0 &&
                 e.place.size >= 0);
    left -= used;
  }
  fuzz_require(rc == 0 || err.code < 0);
  tm_archive_index_close(x);
  close(fd);
  free(bytes);
  return 0;
}
