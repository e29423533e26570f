/* zip_entry.c - reads the contents of a zip entry, starting at its local header.
 *
 * This file decodes stored and deflated entries, which nearly all entries are. A short entry costs
 * one read of the file. libarchive decodes all other methods.
 *
 *  (1) An entry gives exactly as many bytes as the directory states, whatever the method.
 *  (2) The check sum of the directory is compared before the last bytes are given, whatever the
 *      method.
 *  (3) Deflated data end too early only when all input is used and the decoder makes no progress.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/archive/entry_own.h"

#define LOCAL  30
#define INPUT  ((size_t)64 << 10)
#define MARGIN 512 /* bytes of name and extra field that are read with a short entry */

enum { STORED = 0, DEFLATED = 8 };

struct tm_zip_entry {
  struct tm_stream *file;
  const char *path; /* for messages */
  struct tm_entry_place place;
  int64_t in, in_end; /* in the file: of the next read, and of the data's end */
  int64_t out;        /* bytes returned */
  uint32_t crc;
  bool has_ended; /* the deflated data have */
  bool has_z;
  z_stream z;
  char *input;
  size_t at, len;       /* in `input` */
  struct tm_walk *walk; /* for other methods */
};

static int damaged(struct tm_err *err, const char *what)
{
  return tm_err_set(err, TM_EDAMAGE, "%s", what);
}

/* More input: at least one byte. */
static int fill(struct tm_zip_entry *z, struct tm_err *err)
{
  int64_t left = z->in_end - z->in;
  size_t n = left < (int64_t)INPUT ? (size_t)left : INPUT;
  if (z->at < z->len)
    return 0;
  if (n == 0)
    return damaged(err, "its data end too early");
  int64_t got = z->file->read(z->file, z->input, n, z->in, err);
  if (got < (int64_t)n)
    return got < 0 ? (int)got : damaged(err, "the archive has been cut off");
  z->in += got;
  z->at = 0;
  z->len = n;
  return 0;
}

/* Reads the local header and, if the entry is short, its data. */
static int begin(struct tm_zip_entry *z, struct tm_err *err)
{
  size_t n = z->place.packed < (int64_t)(INPUT - LOCAL - MARGIN)
                 ? LOCAL + MARGIN + (size_t)z->place.packed
                 : LOCAL + MARGIN;
  int64_t got = z->file->read(z->file, z->input, n, z->place.place, err);
  if (got < 0)
    return (int)got;
  if (got < LOCAL || memcmp(z->input, "PK\3\4", 4) != 0)
    return damaged(err, "there is no header where the directory of the archive says");
  const unsigned char *p = (const unsigned char *)z->input;
  size_t head = LOCAL + (size_t)(p[26] | p[27] << 8) + (size_t)(p[28] | p[29] << 8);
  z->in = z->place.place + (int64_t)head;
  z->in_end = z->in + z->place.packed;
  if (head < (size_t)got) {
    z->at = head;
    z->len = (size_t)got - head > (uint64_t)z->place.packed ? head + (size_t)z->place.packed
                                                            : (size_t)got;
    z->in += (int64_t)(z->len - z->at);
  }
  return 0;
}

static void begin_inflate(struct tm_zip_entry *z)
{
  int rc = z->has_z ? inflateReset2(&z->z, -15) : inflateInit2(&z->z, -15);
  tm_require(rc == Z_OK);
  z->has_z = true;
}

static int begin_walk(struct tm_zip_entry *z, struct tm_err *err)
{
  struct archive_entry *entry;
  z->walk = tm_walk_open(z->file, z->path, TM_WALK_ZIP, z->place.place, err);
  if (z->walk == NULL)
    return err->code;
  int rc = tm_walk_next(z->walk, &entry, err);
  return rc == 0 ? damaged(err, "there is no header where the directory says") : rc < 0 ? rc : 0;
}

static void release(struct tm_zip_entry *z)
{
  if (z->has_z)
    inflateEnd(&z->z);
  tm_walk_close(z->walk);
  free(z->input);
  free(z);
}

void tm_zip_entry_close(struct tm_zip_entry *z, struct tm_zip_entry **spare)
{
  if (z == NULL)
    return;
  if (spare == NULL || *spare != NULL) {
    release(z);
    return;
  }
  tm_walk_close(z->walk);
  z->walk = NULL;
  *spare = z;
}

static int finish(struct tm_zip_entry *z, struct tm_err *err);

struct tm_zip_entry *tm_zip_entry_open(struct tm_stream *file, const char *path,
                                       const struct tm_entry_place *place,
                                       struct tm_zip_entry **spare, struct tm_err *err)
{
  struct tm_zip_entry *z = *spare;
  *spare = NULL;
  if (z == NULL) {
    z = TM_NEW(struct tm_zip_entry);
    z->input = tm_xmalloc(INPUT);
  }
  z->file = file;
  z->path = path;
  z->place = *place;
  z->at = z->len = 0;
  z->out = 0;
  z->crc = 0;
  z->has_ended = false;
  int rc =
      place->method == STORED || place->method == DEFLATED ? begin(z, err) : begin_walk(z, err);
  if (rc == 0 && place->method == DEFLATED)
    begin_inflate(z);
  if (rc == 0 && place->size == 0) /* nobody reads it */
    rc = finish(z, err);
  if (rc == 0)
    return z;
  tm_zip_entry_close(z, spare);
  return NULL;
}

/* ---- reading ---- */

static int64_t read_stored(struct tm_zip_entry *z, char *p, size_t n, struct tm_err *err)
{
  int rc = fill(z, err);
  if (rc < 0)
    return rc;
  n = n < z->len - z->at ? n : z->len - z->at;
  memcpy(p, z->input + z->at, n);
  z->at += n;
  return (int64_t)n;
}

/* zlib holds back up to 258 bytes of output that do not fit: it is called again even after it has
 * taken the last input (3). */
static int64_t inflate_some(struct tm_zip_entry *z, void *p, size_t n, struct tm_err *err)
{
  uInt room = n < (1u << 30) ? (uInt)n : 1u << 30;
  bool has_input = z->at < z->len || z->in < z->in_end;
  int rc = has_input ? fill(z, err) : 0;
  if (rc < 0)
    return rc;
  z->z.next_in = (Bytef *)z->input + z->at;
  z->z.avail_in = (uInt)(z->len - z->at);
  z->z.next_out = p;
  z->z.avail_out = room;
  rc = inflate(&z->z, Z_NO_FLUSH);
  z->at = z->len - z->z.avail_in;
  z->has_ended = rc == Z_STREAM_END;
  if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
    return damaged(err, z->z.msg ? z->z.msg : "its data cannot be decoded");
  if (!has_input && !z->has_ended && z->z.avail_out == room)
    return damaged(err, "its data end too early");
  return (int64_t)(room - z->z.avail_out);
}

/* The decoder has returned all bytes that the directory states. Does it hold more? */
static int check_end(struct tm_zip_entry *z, struct tm_err *err)
{
  int64_t got = 0;
  char more;
  if (z->walk != NULL)
    got = tm_walk_read(z->walk, &more, 1, err);
  while (z->place.method == DEFLATED && !z->has_ended && got == 0)
    got = inflate_some(z, &more, 1, err);
  if (got > 0)
    return damaged(err, "it holds more than the directory of the archive says");
  return (int)got;
}

/* Keeps (1) and (2). */
static int finish(struct tm_zip_entry *z, struct tm_err *err)
{
  int rc = check_end(z, err);
  return rc == 0 && z->crc != z->place.crc ? damaged(err, "its check sum is wrong") : rc;
}

static int64_t read_own(struct tm_zip_entry *z, char *p, size_t n, struct tm_err *err)
{
  size_t done = 0;
  while (done < n) {
    if (z->has_ended)
      return damaged(err, "its data end too early");
    int64_t got = z->place.method == STORED ? read_stored(z, p + done, n - done, err)
                                            : inflate_some(z, p + done, n - done, err);
    if (got < 0)
      return got;
    done += (size_t)got;
  }
  return (int64_t)n;
}

int64_t tm_zip_entry_read(struct tm_zip_entry *z, void *p, size_t n, struct tm_err *err)
{
  int64_t left = z->place.size - z->out;
  n = (int64_t)n < left ? n : (size_t)left;
  n = n < (1u << 30) ? n : 1u << 30;
  if (n == 0)
    return 0;
  int64_t got = z->walk ? tm_walk_read(z->walk, p, n, err) : read_own(z, p, n, err);
  if (got < 0)
    return got;
  if (got < (int64_t)n)
    return damaged(err, "its data end too early");
  z->crc = (uint32_t)crc32(z->crc, p, (uInt)got);
  z->out += got;
  int rc = z->out == z->place.size ? finish(z, err) : 0;
  return rc < 0 ? rc : got;
}
