/* message_pattern.c - see message_pattern.h. Messages and names may be long and hostile: a message
 * is cut, and only some ends of a path are looked for. */
#include "base/message_pattern.h"

#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define ENDS_MAX 8 /* of a path */

struct reading {
  const char *begin, *end;
  struct {
    const char *at;
    size_t len;
  } ends[ENDS_MAX]; /* of the item's path, the longest first */
  size_t ends_len;
};

static bool is_of_name(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '/' || (c & 0x80);
}

/* "element 1" is not about the file "in/1". */
static bool is_number(const char *at, size_t len)
{
  while (len > 0 && isdigit((unsigned char)at[len - 1]))
    len--;
  return len == 0;
}

static void add_end(struct reading *r, const char *at, size_t len)
{
  if (!is_number(at, len) && r->ends_len < ENDS_MAX) {
    r->ends[r->ends_len].at = at;
    r->ends[r->ends_len++].len = len;
  }
}

/* The whole path, and what follows its last separators. */
static void find_ends(struct reading *r, const char *item, size_t len)
{
  size_t starts[ENDS_MAX - 1], n = 0;
  add_end(r, item, len);
  for (size_t i = len; i > 0 && n < TM_COUNT_OF(starts); i--)
    if (strchr("/!#:", item[i - 1]) && item[i - 1])
      starts[n++] = i;
  while (n-- > 0)
    add_end(r, item + starts[n], len - starts[n]);
}

/* How many bytes at `at` name the item; 0: none. */
static size_t item_at(const struct reading *r, const char *at)
{
  size_t left = (size_t)(r->end - at);
  if (at > r->begin && (is_of_name(at[-1]) || at[-1] == '.'))
    return 0;
  for (size_t i = 0; i < r->ends_len; i++) {
    size_t n = r->ends[i].len;
    if (n <= left && memcmp(at, r->ends[i].at, n) == 0 && (n == left || !is_of_name(at[n])))
      return n;
  }
  return 0;
}

/* How many bytes at `at` are quoted text with its quotes; 0: none. */
static size_t quoted_at(const struct reading *r, const char *at)
{
  if ((*at != '\'' && *at != '"') || (at > r->begin && isalnum((unsigned char)at[-1])))
    return 0;
  for (const char *p = at + 1; p < r->end && *p != '\n'; p++)
    if (*p == *at && (p + 1 == r->end || !isalnum((unsigned char)p[1])))
      return (size_t)(p + 1 - at);
  return 0;
}

/* Whether the quoted text is the item. */
static bool is_item(const struct reading *r, const char *at, size_t len)
{
  return len > 2 && item_at(r, at + 1) == len - 2;
}

static size_t number_at(const struct reading *r, const char *at)
{
  const char *p = at;
  if (!isdigit((unsigned char)*p))
    return 0;
  if (p + 2 < r->end && p[0] == '0' && p[1] == 'x' && isxdigit((unsigned char)p[2])) {
    for (p += 2; p < r->end && isxdigit((unsigned char)*p);)
      p++;
    return (size_t)(p - at);
  }
  while (p < r->end && isdigit((unsigned char)*p))
    p++;
  if (p + 1 < r->end && *p == '.' && isdigit((unsigned char)p[1]))
    for (p++; p < r->end && isdigit((unsigned char)*p);)
      p++;
  return (size_t)(p - at);
}

void tm_message_pattern(struct tm_buf *out, const char *message, const char *item, size_t item_len)
{
  struct reading r = { .begin = message,
                       .end = message + strnlen(message, TM_MESSAGE_PATTERN_MAX) };
  size_t n;
  find_ends(&r, item, item_len);
  for (const char *at = r.begin; at < r.end; at += n) {
    if ((n = quoted_at(&r, at)) > 0) {
      tm_buf_add_str(out, is_item(&r, at, n) ? "<item>" : "'...'");
    } else if ((n = item_at(&r, at)) > 0) {
      tm_buf_add_str(out, "<item>");
    } else if ((n = number_at(&r, at)) > 0) {
      tm_buf_add_str(out, "<n>");
    } else {
      n = 1;
      tm_buf_add_char(out, *at);
    }
  }
}
