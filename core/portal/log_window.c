/* log_window.c - see log_window.h. */
#include "portal/log_window.h"

#include <string.h>

#include "base/text.h"

#define BEFORE "before-"

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

struct tm_window tm_window_at(const char *where, int64_t size)
{
  struct tm_window w = { .from = 0 };
  int64_t byte = 0;
  w.is_backward = strcmp(where, "end") == 0 || strncmp(where, BEFORE, strlen(BEFORE)) == 0;
  if (strcmp(where, "end") == 0)
    byte = size;
  else if (!tm_text_int(w.is_backward ? where + strlen(BEFORE) : where, &byte) || byte < 0)
    byte = 0;
  byte = least(byte, size);
  w.from = !w.is_backward ? byte : byte > TM_WINDOW_BYTES ? byte - TM_WINDOW_BYTES : 0;
  w.to = w.is_backward ? byte : least(size, byte + TM_WINDOW_BYTES);
  return w;
}

/* How many bytes from the begin have at most TM_WINDOW_LINES lines. */
static size_t first_lines(const char *data, size_t n)
{
  size_t at = 0;
  for (int lines = 0; lines < TM_WINDOW_LINES && at < n; lines++) {
    const char *end = memchr(data + at, '\n', n - at);
    at = end ? (size_t)(end - data) + 1 : n;
  }
  return at;
}

/* Where the last TM_WINDOW_LINES lines begin. */
static size_t last_lines(const char *data, size_t n)
{
  size_t at = n;
  for (int lines = 0; lines < TM_WINDOW_LINES && at > 0; lines++) {
    const char *end = memrchr(data, '\n', at - 1);
    at = end ? (size_t)(end - data) + 1 : 0;
  }
  return at;
}

void tm_window_cut(struct tm_window *w, const char *data, size_t n, int64_t size, size_t *skip)
{
  size_t begin = 0, end = n;
  const char *first = memchr(data, '\n', n), *last = memrchr(data, '\n', n);
  if (w->is_backward && w->from > 0 && first && (size_t)(first - data) + 1 < n)
    begin = (size_t)(first - data) + 1;
  if (!w->is_backward && w->from + (int64_t)n < size && last)
    end = (size_t)(last - data) + 1;
  if (w->is_backward)
    begin += last_lines(data + begin, end - begin);
  else
    end = begin + first_lines(data + begin, end - begin);
  *skip = begin;
  w->to = w->from + (int64_t)end;
  w->from += (int64_t)begin;
}

bool tm_window_line(const char *data, size_t n, size_t *at, struct tm_window_line *out)
{
  if (*at >= n)
    return false;
  const char *text = data + *at, *end = memchr(text, '\n', n - *at);
  size_t len = end ? (size_t)(end - text) : n - *at;
  *at += len + (end ? 1 : 0);
  while (len > 0 && text[len - 1] == '\r')
    len--;
  const char *carriage = memrchr(text, '\r', len);
  size_t over = carriage ? (size_t)(carriage - text) + 1 : 0;
  size_t shown = len - over;
  if (shown > TM_WINDOW_LINE) {
    shown = TM_WINDOW_LINE;
    while (shown > TM_WINDOW_LINE - 4 && ((unsigned char)text[over + shown] & 0xC0) == 0x80)
      shown--;
  }
  *out = (struct tm_window_line) { text + over, shown, (int64_t)(len - over - shown) };
  return true;
}
