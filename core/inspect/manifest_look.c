/* manifest_look.c - finds the length of a manifest from the end of its file (inspection.h).
 *
 * A complete list ends in its end record, which has a fixed size. Otherwise the last entry is
 * searched for in a piece at the end: a position is an entry if its kind, its length and its check
 * sum are right, and the next one follows directly. Bytes of a path that look like a head do not
 * have the right check sum.
 */
#include "inspect/inspection.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/mem.h"
#include "commit/manifest_file.h"

#define PIECE    (64u << 10) /* bytes */
#define END_SIZE (TM_MANIFEST_HEAD + 8)

/* Whether the bytes are an entry or the end record. */
static bool is_entry(const char *b, size_t have, struct tm_manifest_head *h)
{
  if (have < TM_MANIFEST_HEAD)
    return false;
  tm_manifest_head_decode(h, b);
  return (h->kind == TM_MANIFEST_ENTRY || h->kind == TM_MANIFEST_END) &&
         h->length <= have - TM_MANIFEST_HEAD &&
         tm_manifest_check(b, b + TM_MANIFEST_HEAD, h->length) == h->check;
}

/* The last complete entry within the bytes; false: there is none. */
static bool find_last(struct tm_manifest_extent *out, const char *b, size_t have)
{
  struct tm_manifest_head h;
  bool found = false;
  size_t at = 0;
  while (at + TM_MANIFEST_HEAD <= have) {
    if (!is_entry(b + at, have - at, &h)) {
      at++;
      continue;
    }
    found = true;
    out->has_end = h.kind == TM_MANIFEST_END;
    out->mini_batches = (int64_t)h.index + !out->has_end;
    out->items =
        out->has_end && h.length == 8 ? (int64_t)tm_get_u64(b + at + TM_MANIFEST_HEAD) : -1;
    at += TM_MANIFEST_HEAD + h.length;
  }
  return found;
}

static int look(struct tm_manifest_extent *out, int fd, const char *path, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  size_t want = END_SIZE;
  char *bytes = NULL;
  int64_t got = 0;
  int rc = fs->fstat(fs->self, fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", path);
  for (;;) {
    if ((int64_t)want > st.size)
      want = (size_t)st.size;
    bytes = tm_xrealloc(bytes, want + 1);
    got = tm_fs_read_at(fs, fd, path, bytes, want, st.size - (int64_t)want, err);
    if (got < 0 || find_last(out, bytes, (size_t)got) || (int64_t)want == st.size)
      break;
    want = want < PIECE ? PIECE : want * 4;
  }
  free(bytes);
  return got < 0 ? (int)got : 0;
}

int tm_manifest_look(struct tm_manifest_extent *out, const char *path, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  int fd, rc;
  *out = (struct tm_manifest_extent) { .items = -1 };
  if (!tm_fs_exists(fs, path))
    return 0;
  fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  if (fd < 0)
    return fd;
  rc = look(out, fd, path, err);
  tm_fs_close(fs, fd);
  return rc;
}
