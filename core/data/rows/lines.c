/* lines.c - counts line breaks from the nearest known place.
 *
 * A plain file is counted at memory speed. Unpacking is slower, and a stream that can only be read
 * in order starts at its beginning: limits keep the time for these to a second or two.
 */
#include "data/rows/lines.h"

#include <stdlib.h>
#include <string.h>

#include "data/rows/encoding.h"
#include "data/rows/scan.h"

#define PIECE       ((size_t)1 << 20)
#define STEP        ((int64_t)64 << 20)  /* between marks */
#define PLAIN_MOST  ((int64_t)8 << 30)   /* bytes that are counted at once, of a plain file; */
#define PACKED_MOST ((int64_t)1 << 30)   /* of a packed file with an index; */
#define ORDER_MOST  ((int64_t)256 << 20) /* of a packed file without one */

void tm_lines_release(struct tm_lines *l)
{
  free(l->path);
  TM_ARRAY_RELEASE(&l->marks);
  *l = (struct tm_lines) { 0 };
}

void tm_lines_begin(struct tm_lines *l, const char *path, int64_t size)
{
  if (l->path != NULL && strcmp(l->path, path) == 0 && l->size == size)
    return;
  free(l->path);
  l->path = tm_xstrdup(path);
  l->size = size;
  l->marks.len = 0;
}

/* The number of marks at or before the byte. */
static size_t marks_before(const struct tm_lines *l, int64_t at)
{
  size_t low = 0, high = l->marks.len;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (l->marks.at[middle].at <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void tm_lines_note(struct tm_lines *l, int64_t at, int64_t breaks)
{
  size_t i = marks_before(l, at);
  if (i > 0 && l->marks.at[i - 1].at == at)
    return;
  TM_ARRAY_ADD(&l->marks);
  memmove(&l->marks.at[i + 1], &l->marks.at[i], (l->marks.len - 1 - i) * sizeof(*l->marks.at));
  l->marks.at[i] = (struct tm_line_mark) { at, breaks };
}

/* Counts from a mark up to `at`, and leaves marks on the way, but none at `at`. False: the file
 * cannot be read so far. */
static bool count(struct tm_lines *l, struct tm_stream *s, bool is_utf16, bool big_endian,
                  struct tm_line_mark *mark, int64_t at)
{
  struct tm_dialect plain = { .no_quotes = true };
  struct tm_scan scan;
  struct tm_buf raw = TM_BUF_NONE, text = TM_BUF_NONE;
  int64_t got = 1, before = mark->breaks, last = mark->at;
  tm_scan_init(&scan, &plain, TM_SCAN_BEST);
  while (mark->at < at && got > 0) {
    size_t n = at - mark->at < (int64_t)PIECE ? (size_t)(at - mark->at) : PIECE;
    tm_buf_clear(&raw);
    tm_buf_clear(&text);
    got = s->read(s, tm_buf_extend(&raw, n), n, mark->at, NULL);
    size_t len = got > 0 ? (size_t)got : 0;
    if (is_utf16)
      tm_utf16_narrow(tm_buf_extend(&text, len / 2), raw.data, len & ~(size_t)1, big_endian);
    tm_scan_rows(&scan, is_utf16 ? tm_buf_str(&text) : raw.data, is_utf16 ? text.len : len,
                 UINT64_MAX);
    *mark = (struct tm_line_mark) { mark->at + (int64_t)len, before + (int64_t)scan.rows };
    if (mark->at - last >= STEP) {
      tm_lines_note(l, mark->at, mark->breaks);
      last = mark->at;
    }
  }
  tm_buf_release(&raw);
  tm_buf_release(&text);
  return mark->at == at;
}

int64_t tm_lines_find(struct tm_lines *l, struct tm_stream *s, enum tm_encoding encoding,
                      bool big_endian, int64_t at)
{
  size_t known = marks_before(l, at);
  struct tm_line_mark mark = { 0, 0 };
  if (known > 0)
    mark = l->marks.at[known - 1];
  int64_t most = s->is_in_order                       ? ORDER_MOST
                 : s->size >= 0 && !s->will_have_size ? PLAIN_MOST
                                                      : PACKED_MOST;
  if (at - (s->is_in_order ? 0 : mark.at) > most ||
      !count(l, s, encoding == TM_ENCODING_UTF16, big_endian, &mark, at))
    return 0;
  if (known == l->marks.len && known > 0 && at - l->marks.at[known - 1].at < STEP / 64)
    l->marks.len--; /* many faults close together share a mark */
  tm_lines_note(l, at, mark.breaks);
  return mark.breaks + 1;
}
