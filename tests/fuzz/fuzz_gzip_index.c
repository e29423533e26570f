/* fuzz_gzip_index.c - the index of a gzip file; if the first byte is odd, with correct check sums.
 * The points lie in order and within the file, and their windows can be read. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "data/stream/gzip_index.h"

#define SOURCE_SIZE 100000

static int open_memory(void *self, const char *path, int flags, int mode)
{
  return dup(*(int *)self);
}

/* Head and records. */
static void sign(char *p, size_t n, const struct tm_gzip_key *key)
{
  char head[TM_GZIP_HEAD];
  if (n < TM_GZIP_HEAD)
    return;
  tm_gzip_head_encode(head, key);
  memcpy(p, head, sizeof head);
  for (size_t at = TM_GZIP_HEAD; at + TM_GZIP_RECORD <= n;) {
    char *r = p + at;
    size_t packed = tm_get_u32(r + 4), blocks = (size_t)tm_get_u32(r + 48) * 8;
    size_t left = n - at - TM_GZIP_RECORD;
    if (packed <= left)
      tm_put_u64(r + 32, tm_hash64(r + TM_GZIP_RECORD, packed));
    if (packed + blocks <= left)
      tm_put_u64(r + 40, tm_hash64(r + TM_GZIP_RECORD + packed, blocks));
    tm_put_u64(r + 56, tm_hash64_seed(r, 56, at));
    at += TM_GZIP_RECORD + (packed + blocks <= left ? packed + blocks : left);
  }
}

static void check_index(struct tm_gzip_index *x)
{
  static char window[TM_GZIP_WINDOW];
  struct tm_gzip_record r;
  int64_t size = tm_gzip_index_size(x), last = -1;
  uint64_t hash;
  bool has_all = tm_gzip_index_block(x, (SOURCE_SIZE - 1) / TM_GZIP_BLOCK, &hash);
  fuzz_require(size >= -1 && (size < 0 || has_all));
  fuzz_require(!tm_gzip_index_block(x, SOURCE_SIZE / TM_GZIP_BLOCK + 1, &hash));
  for (int64_t at = 0; at < SOURCE_SIZE * 2; at += at / 8 + 1) {
    if (!tm_gzip_index_find(x, at, &r))
      continue;
    fuzz_require(r.out <= at && r.out >= last && r.in >= 0 && r.in <= SOURCE_SIZE && r.bits <= 7 &&
                 r.window <= TM_GZIP_WINDOW);
    last = r.out;
    tm_gzip_index_window(x, &r, window);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t n = size > 0 ? size - 1 : 0;
  char *bytes = malloc(n + 1);
  int fd = memfd_create("index", MFD_CLOEXEC);
  struct tm_fs fs = *tm_fs_real();
  struct tm_gzip_key key = { .path = "/t.gz", .size = SOURCE_SIZE, .mtime_ns = 7, .spacing = 100 };
  if (n > 0)
    memcpy(bytes, data + 1, n);
  if (size > 0 && (data[0] & 1))
    sign(bytes, n, &key);
  fuzz_require(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
  fs.self = &fd;
  fs.open = open_memory;
  struct tm_gzip_index *x = tm_gzip_index_open(&fs, "/", &key);
  if (x != NULL)
    check_index(x);
  tm_gzip_index_close(x);
  close(fd);
  free(bytes);
  return 0;
}
