/* target.c - see target.h. */
#include "portal/request/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static int digit_of(char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of "%XX" at s, of which n bytes may be read; -1: it is not one, or NUL. */
static int escaped_byte(const char *s, size_t n)
{
  int high = n >= 3 ? digit_of(s[1]) : -1, low = n >= 3 ? digit_of(s[2]) : -1;
  int byte = high < 0 || low < 0 ? -1 : high * 16 + low;
  return byte == 0 ? -1 : byte;
}

static bool is_plain(char c)
{
  return c > 0x20 && c < 0x7f && !strchr("\"<>\\^`{|}#", c);
}

/* Decodes a segment in place, which ends at a NUL. */
static int decode_segment(char *s, struct tm_err *err)
{
  size_t n = strlen(s), len = 0;
  for (size_t i = 0; i < n; i++) {
    int byte = s[i] == '%' ? escaped_byte(s + i, n - i) : is_plain(s[i]) ? s[i] : -1;
    if (byte < 0 || byte == '/')
      return tm_err_set(err, TM_EUSAGE, "the address has a byte that does not belong there");
    i += s[i] == '%' ? 2 : 0;
    s[len++] = (char)byte;
  }
  s[len] = '\0';
  if (len == 0 || strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
    return tm_err_set(err, TM_EUSAGE, "the address has a part that is empty, '.' or '..'");
  return 0;
}

static int add_segment(struct tm_target *t, char *s, struct tm_err *err)
{
  if (t->len == TM_TARGET_SEGMENTS)
    return tm_err_set(err, TM_EUSAGE, "the address has more than %d parts", TM_TARGET_SEGMENTS);
  t->segments[t->len++] = s;
  return decode_segment(s, err);
}

int tm_target_parse(struct tm_target *t, const char *raw, struct tm_err *err)
{
  *t = (struct tm_target) { .query = "" };
  if (strlen(raw) > TM_TARGET_BYTES)
    return tm_err_set(err, TM_EUSAGE, "the address is longer than %d bytes", TM_TARGET_BYTES);
  if (raw[0] != '/')
    return tm_err_set(err, TM_EUSAGE, "the address does not begin with '/'");
  t->memory = tm_xstrdup(raw);
  char *query = strchr(t->memory, '?');
  if (query) {
    *query = '\0';
    t->query = query + 1;
  }
  char *at = t->memory + 1;
  int rc = 0;
  while (rc == 0 && *at) {
    char *slash = strchr(at, '/'), *next = slash ? slash + 1 : at + strlen(at);
    t->is_folder = slash && *next == '\0';
    if (slash)
      *slash = '\0';
    rc = add_segment(t, at, err);
    at = next;
  }
  t->is_folder = t->is_folder || t->len == 0;
  return rc;
}

void tm_target_release(struct tm_target *t)
{
  free(t->memory);
  *t = (struct tm_target) { .query = "" };
}

char *tm_target_rest(const struct tm_target *t, size_t from)
{
  struct tm_buf path = TM_BUF_NONE;
  for (size_t i = from; i < t->len; i++) {
    tm_buf_add_str(&path, i > from ? "/" : "");
    tm_buf_add_str(&path, t->segments[i]);
  }
  tm_buf_add_str(&path, "");
  return tm_buf_take(&path);
}

/* The value of `name` within the query, or NULL; *len: its bytes. */
static const char *find(const char *query, const char *name, size_t *len)
{
  size_t n = strlen(name);
  for (const char *at = query; *at;) {
    size_t pair = strcspn(at, "&");
    if (pair > n && strncmp(at, name, n) == 0 && at[n] == '=') {
      *len = pair - n - 1;
      return at + n + 1;
    }
    at += pair + (at[pair] == '&');
  }
  return NULL;
}

bool tm_target_text(const char *query, const char *name, struct tm_buf *out)
{
  size_t len, begin = out->len;
  const char *value = find(query, name, &len);
  if (!value)
    return false;
  for (size_t i = 0; i < len; i++) {
    int byte = value[i] == '%'   ? escaped_byte(value + i, len - i)
               : value[i] == '+' ? ' '
                                 : (unsigned char)value[i];
    if (byte < 0) {
      tm_buf_reserve(out, 0);
      out->len = begin;
      out->data[begin] = '\0';
      return false;
    }
    i += value[i] == '%' ? 2 : 0;
    tm_buf_add_char(out, (char)byte);
  }
  tm_buf_add_str(out, "");
  return true;
}

int64_t tm_target_int(const char *query, const char *name, int64_t otherwise)
{
  struct tm_buf text = TM_BUF_NONE;
  int64_t n = otherwise;
  if (!tm_target_text(query, name, &text) || !tm_text_int(tm_buf_str(&text), &n) || n < 0)
    n = otherwise;
  tm_buf_release(&text);
  return n;
}
