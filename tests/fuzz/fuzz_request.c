/* fuzz_request.c - the lines of a request to the portal: target, Host, Cookie, Range, and a text
 * that is looked at in windows. What a target names lies in one folder; a range lies in the file;
 * the lines of windows, one after the other, are the text. */
#include "fuzz.h"

#include <strings.h>

#include "base/mem.h"
#include "portal/request/access.h"
#include "portal/log_window.h"
#include "portal/request/range.h"
#include "portal/request/route.h"

static void check_target(const char *raw)
{
  struct tm_target t;
  struct tm_buf value = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  if (tm_target_parse(&t, raw, &err) < 0) {
    fuzz_require(err.text[0] != '\0');
  } else {
    for (size_t i = 0; i < t.len; i++)
      fuzz_require(t.segments[i][0] != '\0' && !strchr(t.segments[i], '/') &&
                   strcmp(t.segments[i], ".") != 0 && strcmp(t.segments[i], "..") != 0);
    struct tm_route route = tm_route_of(&t, 1);
    fuzz_require(route.kind == TM_PAGE_NONE || route.rest <= t.len);
    (void)tm_target_text(t.query, "q", &value);
    fuzz_require(tm_target_int(t.query, "page", 1) >= 0);
  }
  tm_buf_release(&value);
  tm_target_release(&t);
}

static void check_access(const char *host, const char *cookie)
{
  struct tm_access a = { .token = "t", .session = "s" };
  struct tm_request_head head = { .method = "GET", .host = host, .hosts = 1 };
  const char *words, *at = cookie;
  size_t len;
  if (tm_access_check(&a, &head, &words) == 0)
    fuzz_require(strncasecmp(host, "localhost", 9) == 0 || strncmp(host, "127.0.0.1", 9) == 0 ||
                 strncmp(host, "[::1]", 5) == 0);
  (void)tm_access_cookie(&a, cookie, 0);
  while (tm_access_cookie_value(&at, "a", &len))
    fuzz_require(len <= strlen(cookie));
}

static void check_range(const char *header, int64_t size)
{
  struct tm_range r = tm_range_of(header, size);
  fuzz_require(r.from >= 0 && r.bytes >= 0 && r.from + r.bytes <= size);
  fuzz_require(r.kind != TM_RANGE_PART || r.bytes > 0);
}

/* Each window goes on where the one before it ended, and comes to an end. */
static void check_windows(const char *text, size_t size)
{
  char where[30] = "0";
  int64_t to = 0;
  while (to < (int64_t)size) {
    struct tm_window w = tm_window_at(where, (int64_t)size);
    struct tm_window_line line;
    size_t n = (size_t)(w.to - w.from), skip = 0, at = 0;
    fuzz_require(w.from == to && w.to <= (int64_t)size);
    tm_window_cut(&w, text + w.from, n, (int64_t)size, &skip);
    fuzz_require(skip == 0 && w.from == to && w.to > to);
    while (tm_window_line(text + w.from, (size_t)(w.to - w.from), &at, &line))
      fuzz_require(line.len <= TM_WINDOW_LINE && line.more >= 0);
    to = w.to;
    snprintf(where, sizeof where, "%lld", (long long)to);
  }
}

/* Four lines, and the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = tm_xstrndup((const char *)data, size), *lines[4], *at = text;
  for (size_t i = 0; i < TM_COUNT_OF(lines); i++) {
    char *end = memchr(at, '\n', size - (size_t)(at - text));
    lines[i] = at;
    at = end ? end + 1 : text + size;
    if (end)
      *end = '\0';
  }
  check_target(lines[0]);
  check_access(lines[1], lines[2]);
  check_range(lines[3], (int64_t)size);
  check_windows(at, size - (size_t)(at - text));
  free(text);
  return 0;
}
