/* fuzz_manifest.c - a manifest; if the first byte is odd, with correct check sums. Once it is open,
 * all its entries can be read, in any order.
 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "commit/manifest.h"
#include "commit/manifest_file.h"

static int open_memory(void *self, const char *path, int flags, int mode)
{
  return dup(*(int *)self);
}

/* Sets the check sums of the head and of all entries. */
static void sign(uint8_t *p, size_t n)
{
  uint64_t chain = 0;
  if (n < TM_MANIFEST_FILE_HEAD)
    return;
  tm_put_u32(p + 12, (uint32_t)tm_hash64(p, 12));
  for (size_t at = TM_MANIFEST_FILE_HEAD; at + TM_MANIFEST_HEAD <= n;) {
    struct tm_manifest_head h;
    tm_manifest_head_decode(&h, p + at);
    if (h.length > n - at - TM_MANIFEST_HEAD)
      return;
    h.check = tm_manifest_check(p + at, p + at + TM_MANIFEST_HEAD, h.length);
    h.chain = chain = tm_manifest_link(chain, h.check);
    tm_manifest_head_encode(&h, p + at);
    at += TM_MANIFEST_HEAD + h.length;
  }
}

static void read_all(struct tm_manifest *m)
{
  uint64_t count = tm_manifest_count(m), items = 0;
  struct tm_manifest_entry e;
  struct tm_err err = TM_ERR_NONE;
  for (uint64_t i = 0; i < count; i++) {
    fuzz_require(tm_manifest_read(m, i, &e, &err) >= 0 && e.index == i);
    items += e.items;
  }
  fuzz_require(items == tm_manifest_items(m));
  for (uint64_t i = count; i > 0; i--)
    fuzz_require(tm_manifest_read(m, i - 1, &e, &err) >= 0 && e.index == i - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t n = size > 0 ? size - 1 : 0;
  uint8_t *bytes = malloc(n + 1);
  int fd = memfd_create("manifest", MFD_CLOEXEC);
  struct tm_fs fs = *tm_fs_real();
  struct tm_manifest *m = NULL;
  struct tm_err err = TM_ERR_NONE;
  if (n > 0)
    memcpy(bytes, data + 1, n);
  if (size > 0 && (data[0] & 1))
    sign(bytes, n);
  fuzz_require(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
  fs.self = &fd;
  fs.open = open_memory;
  if (tm_manifest_open(&m, &fs, "/manifest", 0, &err) >= 0)
    read_all(m);
  else
    fuzz_require(err.text[0] != '\0');
  tm_manifest_close(m);
  close(fd);
  free(bytes);
  return 0;
}
