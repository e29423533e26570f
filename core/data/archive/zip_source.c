/* zip_source.c - the entries of a zip file, by the central directory at its end.
 *
 *   [local header, data] [local header, data] ... [central directory] [zip64 end, locator] [end]
 *
 * The code is our own because it needs the offset of each entry, so that a worker can read its
 * entry without the directory; neither libzip nor libarchive reports it. (Both read the whole
 * directory in each process: 100 ms for 100,000 entries.)
 *
 *  (1) Every offset is within the archive, before the directory. All entries together are not
 *      longer than that: overlapping entries, as in the smallest bombs, are found here. Bytes
 *      before the archive do not count.
 *  (2) Numbers come only from the directory. Of a local header, only its own length is used.
 *  (3) The directory is read to its end: extra entries are not silently left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/archive/archive_own.h"
#include "data/archive/zip_end.h"

#define PIECE        ((size_t)256 << 10)
#define ENCRYPTED    (1u | 1u << 6 | 1u << 13)
#define MADE_BY_UNIX 3u
#define FULL         0xffffffffu /* the number is in the zip64 field */

struct zip_source {
  struct tm_source source;
  struct tm_archive_options o;
  int fd;
  struct tm_zip_directory directory;
  int64_t at;   /* offset in the file of the next read of the directory */
  int64_t left; /* entries */
  /* bytes between the archive's beginning and its directory: the maximum for all entries */
  int64_t room;
  int64_t taken; /* bytes of entries so far */
  struct tm_buf bytes;
  size_t used;
};

static int64_t u64(const char *p) /* negative: larger than any possible value */
{
  return (int64_t)tm_get_u64(p);
}

static int refuse(const struct zip_source *z, struct tm_err *err, const char *what)
{
  return tm_archive_refuse(z->o.path, err, "%s", what);
}

/* ---- entries ---- */

/* n contiguous bytes of the directory; NULL with a message. */
static const char *want(struct zip_source *z, size_t n, struct tm_err *err)
{
  while (z->bytes.len - z->used < n) {
    int64_t left = z->directory.end - z->at;
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

/* Reads the numbers that do not fit in 32 bits, in the order of the saturated fields. */
static bool read_zip64(const char *p, size_t n, struct tm_entry_place *e)
{
  int64_t *const to[] = { &e->size, &e->packed, &e->place };
  for (size_t at = 0; at + 4 <= n;) {
    size_t len = tm_get_u16(p + at + 2);
    const char *field = p + at + 4;
    if (len > n - at - 4)
      break;
    if (tm_get_u16(p + at) == 1) {
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
  uint32_t mode = tm_get_u16(p + 4) >> 8 == MADE_BY_UNIX ? tm_get_u32(p + 38) >> 16 : 0;
  const struct tm_entry_place *e = &out->place;
  out->type = out->name_len > 0 && out->name[out->name_len - 1] == '/'
                  ? TM_RAW_FOLDER
                  : tm_archive_type_of(mode, e->size);
  if (out->type != TM_RAW_FILE)
    return;
  if (tm_get_u16(p + 8) & ENCRYPTED)
    out->fault = "it is encrypted";
  else if (e->method != 0 && e->method != 8 && e->method != 12 && e->method != 14 &&
           e->method != 93 && e->method != 95)
    out->fault = "it is packed in a way that is not known; accepted: stored, deflate, bzip2, LZMA, "
                 "zstd, xz";
  else if (e->method == 0 && e->packed != e->size)
    out->fault = "it is stored, and its two sizes differ: the archive is damaged";
}

/* After the last stated entry: 0: the directory has ended; 1: its count had wrapped; negative. */
static int check_end(struct zip_source *z, struct tm_err *err)
{
  int64_t rest = z->directory.end - z->at + (int64_t)(z->bytes.len - z->used);
  const char *p = rest >= TM_ZIP_CENTRAL ? want(z, 4, err) : NULL;
  if (rest >= TM_ZIP_CENTRAL && p == NULL)
    return err->code;
  if (p == NULL || memcmp(p, "PK\1\2", 4) != 0)
    return 0;
  if (!z->directory.is_wrapped || rest / TM_ZIP_CENTRAL < TM_ZIP_WRAPS_AT)
    return refuse(z, err, "its directory has more entries than its end says");
  z->left = TM_ZIP_WRAPS_AT;
  return 1;
}

static int zip_next(struct tm_source *s, struct tm_raw_entry *out, struct tm_err *err)
{
  struct zip_source *z = (struct zip_source *)s;
  int rc = z->left == 0 ? check_end(z, err) : 1;
  if (rc <= 0)
    return rc;
  const char *p = want(z, TM_ZIP_CENTRAL, err);
  if (p == NULL)
    return err->code;
  if (memcmp(p, "PK\1\2", 4) != 0)
    return refuse(z, err, "its directory is damaged");
  size_t name = tm_get_u16(p + 28), extra = tm_get_u16(p + 30),
         all = TM_ZIP_CENTRAL + name + extra + tm_get_u16(p + 32);
  if ((p = want(z, all, err)) == NULL)
    return err->code;
  *out = (struct tm_raw_entry) { .type = TM_RAW_FILE,
                                 .name = p + TM_ZIP_CENTRAL,
                                 .name_len = name,
                                 .is_symbolic = true,
                                 .place = { .how = TM_ENTRY_IN_ZIP,
                                            .method = tm_get_u16(p + 10),
                                            .crc = tm_get_u32(p + 16),
                                            .packed = tm_get_u32(p + 20),
                                            .size = tm_get_u32(p + 24),
                                            .place = tm_get_u32(p + 42) } };
  struct tm_entry_place *e = &out->place;
  if (!read_zip64(p + TM_ZIP_CENTRAL + name, extra, e))
    return refuse(z, err, "its directory is damaged: numbers of zip64 are missing");
  if (e->size < 0 || e->packed < 0 || e->place < 0 || e->place > z->room - TM_ZIP_LOCAL ||
      e->packed > z->room - TM_ZIP_LOCAL - e->place)
    return refuse(z, err, "its directory is damaged: an entry lies outside it"); /* keeps (1) */
  e->place += z->directory.shift;
  z->taken += TM_ZIP_LOCAL + e->packed;
  if (z->taken > z->room)
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
  if (tm_zip_directory_find(o, fd, &z->directory, err) == 0) {
    z->at = z->directory.start;
    z->left = z->directory.entries;
    z->room = z->directory.start - z->directory.shift;
    return &z->source;
  }
  zip_close(&z->source);
  return NULL;
}
