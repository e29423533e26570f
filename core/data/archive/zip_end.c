/* zip_end.c - see zip_end.h.
 *
 *   ... [central directory] [zip64 end] [zip64 locator] [end, comment]
 *
 * Names and comments may hold the marks of all of these. So a mark alone proves nothing:
 *
 *  (1) An end is valid if its comment ends with the file and a directory begins where it says. Only
 *      if there is no such end, bytes after the comment are accepted. Two valid ends are refused:
 *      programs would disagree about the contents.
 *  (2) A zip64 locator has one possible position. Its zip64 end is valid if it agrees with each
 *      number of the end that is not saturated.
 *  (3) Offsets count from the archive's beginning, which need not be the file's: the stated and the
 *      real offset of the directory differ by the bytes before the archive.
 */
#include "data/archive/zip_end.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/archive/archive_source.h"
#include "data/stream/stream.h"

#define END       22 /* bytes of the end without its comment */
#define END_MOST  (END + 65535)
#define LOCATOR   20
#define END64     56
#define TAR_BLOCK 512
#define FULL16    0xffffu /* saturated: the number is in the zip64 end */
#define FULL32    0xffffffffu

struct finder {
  const struct tm_archive_options *o;
  int fd;
};

/* The claims of an end. */
struct stated {
  int64_t entries, size, offset; /* of the directory */
  int64_t before;                /* offset in the file: the end of the directory */
};

static int64_t u64(const char *p) /* negative: larger than any possible value */
{
  return (int64_t)tm_get_u64(p);
}

static int refuse(const struct finder *f, struct tm_err *err, const char *what)
{
  return tm_archive_refuse(f->o->path, err, "%s", what);
}

static bool read_at(const struct finder *f, char *p, size_t n, int64_t at)
{
  return at >= 0 && tm_fs_read_at(f->o->fs, f->fd, f->o->path, p, n, at, NULL) == (int64_t)n;
}

static bool has_mark(const struct finder *f, int64_t at, const char *mark)
{
  char p[4];
  return read_at(f, p, sizeof p, at) && memcmp(p, mark, 4) == 0;
}

/* ---- the directory that an end states ---- */

static bool is_possible(const struct stated *s)
{
  return s->size >= 0 && s->offset >= 0 && s->entries >= 0 && s->size <= s->before &&
         s->offset <= s->before - s->size && s->entries <= s->size / TM_ZIP_CENTRAL;
}

/* Whether a directory exists there; `out` gets its offsets. Keeps (3). */
static bool is_there(const struct finder *f, const struct stated *s, struct tm_zip_directory *out)
{
  if (!is_possible(s))
    return false;
  *out = (struct tm_zip_directory) { .start = s->before - s->size,
                                     .end = s->before,
                                     .entries = s->entries };
  out->shift = out->start - s->offset;
  if (s->size == 0)
    return s->entries == 0 && out->shift == 0;
  if (has_mark(f, out->start, "PK\1\2"))
    return true;
  out->start = s->offset; /* something else is between the directory and the end */
  out->end = s->offset + s->size;
  out->shift = 0;
  return has_mark(f, out->start, "PK\1\2");
}

/* ---- zip64 ---- */

static bool agrees(const char *end, const struct stated *s)
{
  uint32_t entries = tm_get_u16(end + 10), size = tm_get_u32(end + 12),
           offset = tm_get_u32(end + 16);
  return (entries == FULL16 || entries == s->entries) && (size == FULL32 || size == s->size) &&
         (offset == FULL32 || offset == s->offset);
}

static bool is_saturated(const char *end)
{
  return tm_get_u16(end + 10) == FULL16 || tm_get_u32(end + 12) == FULL32 ||
         tm_get_u32(end + 16) == FULL32;
}

/* The zip64 end for the end at `end_at`: 1 with its claims; 0: none; negative. Keeps (2). */
static int read_end64(const struct finder *f, const char *end, int64_t end_at, struct stated *out,
                      struct tm_err *err)
{
  struct tm_zip_directory d;
  char p[END64];
  int64_t at = end_at - LOCATOR;
  if (!has_mark(f, at, "PK\6\7") || !read_at(f, p, LOCATOR, at))
    return 0;
  int64_t stated = u64(p + 8), near = at - END64;
  at = has_mark(f, near, "PK\6\6") && near >= stated ? near : stated < near ? stated : -1;
  if (stated < 0 || !has_mark(f, at, "PK\6\6") || !read_at(f, p, END64, at))
    return is_saturated(end)
               ? refuse(f, err, "its zip64 end is not where it should be; it may be cut off")
               : 0;
  *out = (struct stated) {
    .entries = u64(p + 32), .size = u64(p + 40), .offset = u64(p + 48), .before = at
  };
  if (tm_get_u32(p + 16) != 0 || tm_get_u32(p + 20) != 0)
    return is_saturated(end) ? refuse(f, err, "it is one part of several; join them first") : 0;
  if (agrees(end, out))
    return 1;
  if (!is_saturated(end) && !is_there(f, out, &d))
    return 0; /* bytes of a name or a comment */
  return refuse(f, err, "its end and its zip64 end disagree about the directory");
}

/* ---- ends ---- */

/* Judges the end record at `end_at`. 1: valid, with its directory; 0: not one, with the reason;
 * negative: the archive must be refused. */
static int judge_end(const struct finder *f, const char *end, int64_t end_at,
                     struct tm_zip_directory *out, struct tm_err *err)
{
  struct stated s = { .entries = tm_get_u16(end + 10),
                      .size = tm_get_u32(end + 12),
                      .offset = tm_get_u32(end + 16),
                      .before = end_at };
  int rc = read_end64(f, end, end_at, &s, err);
  if (rc < 0)
    return rc;
  if (rc == 0 && (tm_get_u16(end + 4) != 0 || tm_get_u16(end + 6) != 0 ||
                  tm_get_u16(end + 8) != tm_get_u16(end + 10))) {
    refuse(f, err, "it is one part of several; join them first");
    return 0;
  }
  if (!is_there(f, &s, out)) {
    refuse(f, err, "its directory is not where its end says; it may be cut off or damaged");
    return 0;
  }
  out->is_wrapped = rc == 0;
  return 1;
}

/* Judges each end in the last n bytes of the file whose comment ends with the file or, unless
 * `is_exact`, before. Returns the number of valid ends, or negative. `err` has the reason of the
 * last invalid one in the file. */
static int look(const struct finder *f, const char *p, size_t n, bool is_exact,
                struct tm_zip_directory *out, struct tm_err *err)
{
  int found = 0;
  for (size_t at = n < END ? 0 : n - END + 1; at-- > 0;) {
    struct tm_zip_directory d;
    struct tm_err why = TM_ERR_NONE;
    if (memcmp(p + at, "PK\5\6", 4) != 0)
      continue;
    size_t end = at + END + tm_get_u16(p + at + 20);
    if (is_exact ? end != n : end >= n)
      continue;
    int rc = judge_end(f, p + at, f->o->size - (int64_t)(n - at), &d, &why);
    if (rc > 0 && found++ == 0)
      *out = d;
    if (rc <= 0 && err->code == 0)
      *err = why;
    if (rc < 0)
      return err->code = why.code;
    if (found > 0 && !is_exact)
      break;
  }
  return found;
}

/* Keeps (1). */
static int find(const struct finder *f, bool is_exact_only, struct tm_zip_directory *out,
                struct tm_err *err)
{
  size_t n = f->o->size < END_MOST ? (size_t)f->o->size : END_MOST;
  char *last = tm_xmalloc(n + 1);
  struct tm_err why = TM_ERR_NONE;
  int64_t got = tm_fs_read_at(f->o->fs, f->fd, f->o->path, last, n, f->o->size - (int64_t)n, &why);
  int found = got < 0 ? (int)got : got == (int64_t)n ? look(f, last, n, true, out, &why) : 0;
  if (found == 0 && !is_exact_only)
    found = look(f, last, n, false, out, &why);
  free(last);
  if (found == 1)
    return 0;
  if (found > 1)
    return refuse(f, err, "it has two ends, one of them in the comment of the other");
  if (why.code == 0)
    return refuse(f, err, "it begins as a zip file and has no end of one; it may be cut off");
  *err = why;
  return why.code;
}

int tm_zip_directory_find(const struct tm_archive_options *o, int fd, struct tm_zip_directory *out,
                          struct tm_err *err)
{
  struct finder f = { o, fd };
  return find(&f, false, out, err);
}

/* ---- what a file is ---- */

/* By its check sum: the oldest tars have no other mark. */
static bool is_tar(const char *p)
{
  long sum = 0, stated = 0;
  for (size_t i = 0; i < TAR_BLOCK; i++)
    sum += i >= 148 && i < 156 ? ' ' : (unsigned char)p[i];
  for (size_t i = 148; i < 156; i++)
    if (p[i] >= '0' && p[i] <= '7')
      stated = stated * 8 + (p[i] - '0');
  return memcmp(p + 257, "ustar", 5) == 0 || sum == stated;
}

static bool is_other_archive(const struct finder *f, const char *first, size_t n)
{
  char block[TAR_BLOCK];
  return tm_stream_packing(first, n) != TM_PACKED_NOT ||
         (n >= 6 && memcmp(first, "7z\xbc\xaf\x27\x1c", 6) == 0) ||
         (n >= 4 && memcmp(first, "0707", 4) == 0) ||
         (n >= 2 && (memcmp(first, "\xc7\x71", 2) == 0 || memcmp(first, "\x71\xc7", 2) == 0)) ||
         (read_at(f, block, sizeof block, 0) && is_tar(block));
}

bool tm_zip_is(const struct tm_archive_options *o, int fd, const char *first, size_t n)
{
  struct finder f = { o, fd };
  struct tm_zip_directory d;
  struct tm_err err = TM_ERR_NONE;
  if (n >= 4 && (memcmp(first, "PK\3\4", 4) == 0 || memcmp(first, "PK\5\6", 4) == 0))
    return true;
  return !is_other_archive(&f, first, n) && find(&f, true, &d, &err) == 0 && d.entries > 0;
}
