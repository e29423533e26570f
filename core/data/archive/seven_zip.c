/* seven_zip.c - see seven_zip.h.
 *
 *   [32 bytes: place of the header] [packed contents] [packed header] [header, or its place]
 *
 *  (1) A header has at most HEADER_MOST bytes, packed or not, and takes as much memory. A header
 *      larger than TM_ARCHIVE_SMALL is at most RATIO times as long as the archive.
 *  (2) The check sums of the header are verified before it is used.
 */
#include "data/archive/seven_zip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "data/archive/archive_source.h"
#include "data/archive/walk.h"

#define START       32
#define HEADER_MOST (UINT64_C(128) << 20)
#define RATIO       200
#define MAGIC       "7z\xbc\xaf\x27\x1c"

bool tm_seven_zip_is(const char *first, size_t n)
{
  return n >= TM_SEVEN_ZIP_FIRST && memcmp(first, MAGIC, TM_SEVEN_ZIP_FIRST) == 0;
}

bool tm_seven_zip_is_in(struct tm_stream *file)
{
  char first[TM_SEVEN_ZIP_FIRST];
  int64_t got = file->size < 0 ? 0 : file->read(file, first, sizeof first, 0, NULL);
  return got > 0 && tm_seven_zip_is(first, (size_t)got);
}

static uint32_t crc_of(const char *p, size_t n)
{
  return (uint32_t)crc32_z(0, (const Bytef *)p, n);
}

static int read_all(struct tm_stream *file, const char *path, char *p, size_t n, int64_t at,
                    struct tm_err *err)
{
  int64_t got = file->read(file, p, n, at, err);
  if (got >= 0 && got < (int64_t)n)
    return tm_archive_refuse(path, err, "it is cut off");
  return got < 0 ? (int)got : 0;
}

static int check_size(const struct tm_stream *file, const char *path, uint64_t n,
                      struct tm_err *err) /* keeps (1) */
{
  if (n <= HEADER_MOST && (n <= (uint64_t)TM_ARCHIVE_SMALL || n / RATIO <= (uint64_t)file->size))
    return 0;
  return tm_archive_refuse(path, err,
                           "its header claims %" PRIu64
                           " bytes, more than 128 MB or %d times the archive; pack it as tar",
                           n, RATIO);
}

/* ---- a packed header ---- */

/* The synthetic archive: a start, the real contents, a header. */
struct made_up {
  struct tm_stream stream;
  struct tm_stream *file;
  int64_t header_at;
  char start[START];
  struct tm_buf header;
};

static int64_t made_up_read(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct made_up *m = (struct made_up *)s;
  const char *from = at < START ? m->start + at : m->header.data + (at - m->header_at);
  int64_t end = at < START ? START : at < m->header_at ? m->header_at : s->size;
  n = (int64_t)n < end - at ? n : (size_t)(end - at);
  if (at >= START && at < m->header_at)
    return m->file->read(m->file, p, n, at, err);
  memcpy(p, from, n);
  return (int64_t)n;
}

static void put_start(char *start, uint64_t offset, const struct tm_buf *header)
{
  memcpy(start, MAGIC "\0\4", 8);
  tm_put_u64(start + 12, offset);
  tm_put_u64(start + 20, header->len);
  tm_put_u32(start + 28, crc_of(header->data, header->len));
  tm_put_u32(start + 8, crc_of(start + 12, 20));
}

/* The original streams, and one file over them, named x. */
static void make_up(struct made_up *m, struct tm_stream *file, const struct tm_buf *packed,
                    const struct tm_seven_zip_streams *s, uint64_t room)
{
  static const char before[] = { 1, 4 }, after[] = { 8, 0, 0, 5, 1, 17, 5, 0, 'x', 0, 0, 0, 0, 0 };
  *m = (struct made_up) { .stream = { .read = made_up_read }, .file = file };
  tm_buf_add(&m->header, before, sizeof before);
  tm_buf_add(&m->header, packed->data + 1, (size_t)(s->end - packed->data) - 1);
  tm_buf_add(&m->header, after, sizeof after);
  m->header_at = START + (int64_t)room;
  m->stream.size = m->header_at + (int64_t)m->header.len;
  put_start(m->start, room, &m->header);
}

static int unpack(struct made_up *m, const char *path, struct tm_buf *out, struct tm_err *err)
{
  struct archive_entry *e;
  struct tm_walk *w = tm_walk_open(&m->stream, path, TM_WALK_SEVEN_ZIP, 0, err);
  int64_t rc = w ? tm_walk_next(w, &e, err) : err->code;
  if (rc > 0)
    rc = tm_walk_read(w, out->data, out->len, err);
  if (rc >= 0 && rc != (int64_t)out->len)
    rc = tm_archive_refuse(path, err, "its header is cut off");
  tm_walk_close(w);
  return rc < 0 ? (int)rc : 0;
}

/* Replaces the packed `header` by the unpacked one. */
static int unpack_header(struct tm_buf *header, struct tm_stream *file, const char *path,
                         uint64_t room, struct tm_err *err)
{
  struct tm_seven_zip_streams s;
  struct tm_buf plain = TM_BUF_NONE;
  struct made_up m;
  const char *bad = tm_seven_zip_parse_packed(&s, header->data, header->len, room);
  if (bad || s.is_encrypted)
    return tm_archive_refuse(path, err, "%s", bad ? bad : "its header is encrypted");
  int rc = check_size(file, path, s.unpacked, err);
  if (rc < 0)
    return rc;
  tm_buf_extend(&plain, (size_t)s.first_size);
  make_up(&m, file, header, &s, room);
  rc = unpack(&m, path, &plain, err);
  if (rc == 0 && s.is_first_known && crc_of(plain.data, plain.len) != s.first_crc) /* keeps (2) */
    rc = tm_archive_refuse(path, err, "its header is damaged");
  tm_buf_release(&m.header);
  tm_buf_release(header);
  *header = plain;
  return rc;
}

/* ---- a header ---- */

static int read_header(struct tm_buf *out, struct tm_stream *file, const char *path, uint64_t *room,
                       struct tm_err *err)
{
  char start[START];
  int rc = read_all(file, path, start, START, 0, err);
  if (rc < 0)
    return rc;
  uint64_t offset = tm_get_u64(start + 12), n = tm_get_u64(start + 20);
  uint64_t behind = (uint64_t)file->size - START;
  if (crc_of(start + 12, 20) != tm_get_u32(start + 8))
    return tm_archive_refuse(path, err, "its start is damaged");
  if (offset > behind || n > behind - offset)
    return tm_archive_refuse(path, err, "it is cut off");
  *room = offset;
  if (n == 0 || (rc = check_size(file, path, n, err)) < 0)
    return rc;
  char *p = tm_buf_extend(out, (size_t)n);
  rc = read_all(file, path, p, (size_t)n, START + (int64_t)offset, err);
  if (rc == 0 && crc_of(p, (size_t)n) != tm_get_u32(start + 28)) /* keeps (2) */
    rc = tm_archive_refuse(path, err, "its header is damaged");
  if (rc == 0 && *p == 23)
    rc = unpack_header(out, file, path, offset, err);
  return rc;
}

int tm_seven_zip_read(struct tm_seven_zip *z, struct tm_stream *file, const char *path,
                      struct tm_err *err)
{
  struct tm_buf bytes = TM_BUF_NONE;
  uint64_t room = 0;
  *z = (struct tm_seven_zip) { 0 };
  int rc = read_header(&bytes, file, path, &room, err);
  const char *bad = NULL;
  if (rc == 0 && bytes.len > 0)
    bad = tm_seven_zip_parse(&z->header, bytes.data, bytes.len, room);
  if (bad)
    rc = tm_archive_refuse(path, err, "%s", bad);
  z->bytes = bytes.data;
  if (rc < 0)
    tm_seven_zip_release(z);
  return rc;
}

void tm_seven_zip_release(struct tm_seven_zip *z)
{
  free(z->bytes);
  *z = (struct tm_seven_zip) { 0 };
}
