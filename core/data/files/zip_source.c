/* zip_source.c - the entries of a zip file by its central directory, which stands at its end.
 *
 *   [local header, data] [local header, data] ... [central directory] [zip64 end, its locator] [end]
 *
 * Of ours rather than a library's: what is wanted is the place of each entry, so that a worker can read its own without the
 * directory, and neither libzip nor libarchive tells it. (Both read all of the directory in each process: 100 ms for
 * 100,000 entries.)
 *
 *  (1) Every place is within the file, before the directory; all entries together are no longer than what stands before it:
 *      entries that overlap, as the smallest of bombs have them, are found here.
 *  (2) Numbers come from the directory alone. A local header is believed in nothing but its own length.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/files/archive_own.h"

#define END          22 /* bytes, of the end without its comment */
#define END_MOST     (END + 65535)
#define LOCATOR      20
#define END64        56
#define CENTRAL      46
#define LOCAL        30
#define PIECE        ((size_t)256 << 10)
#define ENCRYPTED    (1u | 1u << 6 | 1u << 13)
#define MADE_BY_UNIX 3u
#define FULL         0xffffffffu /* the number is in the zip64 field */

struct zip_source {
  struct tm_source source;
  struct tm_archive_options o;
  int fd;
  int64_t at, end; /* of the directory, what is left of it in the file */
  int64_t start;   /* of the directory */
  int64_t shift;   /* bytes in front of the archive, which its places do not count */
  int64_t left;    /* entries */
  int64_t taken;   /* bytes of entries so far */
  struct tm_buf bytes;
  size_t used;
};

static uint32_t u16(const char *p)
{
  return (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8;
}

static int64_t u64(const char *p) /* negative: more than anything can have */
{
  return (int64_t)tm_get_u64(p);
}

static int refuse(const struct zip_source *z, struct tm_err *err, const char *what)
{
  return tm_archive_refuse(z->o.path, err, "%s", what);
}

/* ---- where the directory is ---- */

/* In the last bytes of the file: the last mark whose comment fits. NULL: none. */
static const char *find_end(const char *p, size_t n)
{
  for (size_t at = n < END ? 0 : n - END + 1; at-- > 0;)
    if (memcmp(p + at, "PK\5\6", 4) == 0 && at + END + u16(p + at + 20) <= n)
      return p + at;
  return NULL;
}

/* The numbers of a zip64 end, where there is one in front of the end at `end_at`. 1; 0: there is none. */
static int read_end64(struct zip_source *z, int64_t end_at, int64_t *size, int64_t *offset,
                      int64_t *before, struct tm_err *err)
{
  char p[END64];
  int64_t at = end_at - LOCATOR;
  if (at < 0 || tm_fs_read_at(z->o.fs, z->fd, z->o.path, p, LOCATOR, at, NULL) != LOCATOR ||
      memcmp(p, "PK\6\7", 4) != 0)
    return 0;
  at = u64(p + 8);
  if (at < 0 || at > end_at - LOCATOR - END64 ||
      tm_fs_read_at(z->o.fs, z->fd, z->o.path, p, END64, at, NULL) != END64 ||
      memcmp(p, "PK\6\6", 4) != 0)
    return refuse(z, err, "its zip64 end is not where it should be; it may be cut off");
  if (tm_get_u32(p + 16) != 0 || tm_get_u32(p + 20) != 0)
    return refuse(z, err, "it is one part of several; join them first");
  z->left = u64(p + 32);
  *size = u64(p + 40);
  *offset = u64(p + 48);
  *before = at;
  return 1;
}

static int place_directory(struct zip_source *z, const char *end, int64_t end_at,
                           struct tm_err *err)
{
  int64_t size = tm_get_u32(end + 12), offset = tm_get_u32(end + 16), before = end_at;
  z->left = u16(end + 10);
  int rc = read_end64(z, end_at, &size, &offset, &before, err);
  if (rc < 0)
    return rc;
  if (rc == 0 && (u16(end + 4) != 0 || u16(end + 6) != 0 || u16(end + 8) != u16(end + 10)))
    return refuse(z, err, "it is one part of several; join them first");
  if (size < 0 || offset < 0 || size > before || offset > before - size || z->left < 0 ||
      z->left > size / CENTRAL)
    return refuse(z, err, "its directory is not where its end says; it may be cut off or damaged");
  z->start = z->at = before - size;
  z->end = before;
  z->shift = z->start - offset;
  return 0;
}

static int find_directory(struct zip_source *z, struct tm_err *err)
{
  size_t n = z->o.size < END_MOST ? (size_t)z->o.size : END_MOST;
  char *last = tm_xmalloc(n + 1);
  int64_t got = tm_fs_read_at(z->o.fs, z->fd, z->o.path, last, n, z->o.size - (int64_t)n, err);
  const char *end = got == (int64_t)n ? find_end(last, n) : NULL;
  int rc = got < 0 ? (int)got : 0;
  if (got >= 0 && end == NULL)
    rc = refuse(z, err, "it begins as a zip file and has no end of one; it may be cut off");
  else if (end != NULL)
    rc = place_directory(z, end, z->o.size - (int64_t)n + (end - last), err);
  free(last);
  return rc;
}

/* ---- entries ---- */

/* So many bytes of the directory in one run; NULL with words. */
static const char *want(struct zip_source *z, size_t n, struct tm_err *err)
{
  while (z->bytes.len - z->used < n) {
    int64_t left = z->end - z->at;
    size_t piece = left < (int64_t)PIECE ? (size_t)left : PIECE, before;
    tm_buf_remove_front(&z->bytes, z->used);
    z->used = 0;
    before = z->bytes.len;
    int64_t got = piece == 0 ? 0
                             : tm_fs_read_at(z->o.fs, z->fd, z->o.path,
                                             tm_buf_extend(&z->bytes, piece), piece, z->at, err);
    z->bytes.len = before + (got > 0 ? (size_t)got : 0);
    z->at += got > 0 ? got : 0;
    if (got == 0)
      refuse(z, err, "its directory ends too early");
    if (got <= 0)
      return NULL;
  }
  return z->bytes.data + z->used;
}

/* Numbers that do not fit in 32 bits, in the order in which they are missing. */
static bool read_zip64(const char *p, size_t n, struct tm_entry_place *e)
{
  int64_t *const to[] = { &e->size, &e->packed, &e->place };
  for (size_t at = 0; at + 4 <= n;) {
    size_t len = u16(p + at + 2);
    const char *field = p + at + 4;
    if (len > n - at - 4)
      break;
    if (u16(p + at) == 1) {
      for (size_t i = 0; i < TM_COUNT_OF(to); i++) {
        if (*to[i] != FULL)
          continue;
        if (len < 8)
          return false;
        *to[i] = u64(field);
        field += 8;
        len -= 8;
      }
      return true;
    }
    at += 4 + len;
  }
  return e->size != FULL && e->packed != FULL && e->place != FULL;
}

static void judge(const char *p, struct tm_raw_entry *out)
{
  uint32_t mode = u16(p + 4) >> 8 == MADE_BY_UNIX ? tm_get_u32(p + 38) >> 16 : 0;
  const struct tm_entry_place *e = &out->place;
  if (S_ISDIR(mode) || (out->name_len > 0 && out->name[out->name_len - 1] == '/'))
    out->type = TM_RAW_FOLDER;
  else if (S_ISLNK(mode))
    out->type = TM_RAW_LINK;
  else if ((mode & S_IFMT) != 0 && !S_ISREG(mode))
    out->type = TM_RAW_OTHER;
  else if (u16(p + 8) & ENCRYPTED)
    out->fault = "it is encrypted";
  else if (e->method != 0 && e->method != 8 && e->method != 12 && e->method != 14 &&
           e->method != 93 && e->method != 95)
    out->fault = "it is packed in a way that is not known; accepted: stored, deflate, bzip2, LZMA, "
                 "zstd, xz";
  else if (e->method == 0 && e->packed != e->size)
    out->fault = "it is stored, and its two sizes differ: the archive is damaged";
}

static int zip_next(struct tm_source *s, struct tm_raw_entry *out, struct tm_err *err)
{
  struct zip_source *z = (struct zip_source *)s;
  if (z->left == 0)
    return 0;
  const char *p = want(z, CENTRAL, err);
  if (p == NULL)
    return err->code;
  if (memcmp(p, "PK\1\2", 4) != 0)
    return refuse(z, err, "its directory is damaged");
  size_t name = u16(p + 28), extra = u16(p + 30), all = CENTRAL + name + extra + u16(p + 32);
  if ((p = want(z, all, err)) == NULL)
    return err->code;
  *out = (struct tm_raw_entry) { .type = TM_RAW_FILE,
                                 .name = p + CENTRAL,
                                 .name_len = name,
                                 .is_symbolic = true,
                                 .place = { .how = TM_ENTRY_IN_ZIP,
                                            .method = u16(p + 10),
                                            .crc = tm_get_u32(p + 16),
                                            .packed = tm_get_u32(p + 20),
                                            .size = tm_get_u32(p + 24),
                                            .place = tm_get_u32(p + 42) } };
  struct tm_entry_place *e = &out->place;
  if (!read_zip64(p + CENTRAL + name, extra, e))
    return refuse(z, err, "its directory is damaged: numbers of zip64 are missing");
  if (e->size < 0 || e->packed < 0 || e->place < 0 || e->place > z->start - z->shift - LOCAL ||
      e->packed > z->start - z->shift - LOCAL - e->place)
    return refuse(z, err, "its directory is damaged: an entry lies outside it"); /* keeps (1) */
  e->place += z->shift;
  z->taken += LOCAL + e->packed;
  if (z->taken > z->start)
    return refuse(z, err, "its entries overlap, as those of a bomb do");
  judge(p, out);
  z->used += all;
  z->left--;
  return 1;
}

static void zip_close(struct tm_source *s)
{
  struct zip_source *z = (struct zip_source *)s;
  tm_fs_close(z->o.fs, z->fd);
  tm_buf_release(&z->bytes);
  free(z);
}

struct tm_source *tm_zip_source(const struct tm_archive_options *o, int fd, struct tm_err *err)
{
  struct zip_source *z = TM_NEW(struct zip_source);
  z->source = (struct tm_source) { zip_next, zip_close };
  z->o = *o;
  z->fd = fd;
  if (find_directory(z, err) == 0)
    return &z->source;
  zip_close(&z->source);
  return NULL;
}
