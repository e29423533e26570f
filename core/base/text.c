/* text.c - strict parsers for user input; text made safe for a log line, a CSV field or a shell.
 *
 * Readers accept the whole string or refuse it: no blanks around it, nothing after it, no silent
 * overflow. Nothing depends on the host's locale: characters are classified by their bytes, and
 * numbers are read in the C locale, which is set for the thread during the call.
 */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"

#define NEAREST_MAX 5 /* edits; names further apart are unrelated */

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Reads digits up to `max` and moves *s past them. False without a digit, or beyond `max`. */
static bool read_digits(const char **s, uint64_t max, uint64_t *out)
{
  uint64_t n = 0;
  if (!is_digit(**s))
    return false;
  for (; is_digit(**s); ++*s) {
    uint64_t digit = (uint64_t)(**s - '0');
    if (n > (max - digit) / 10)
      return false;
    n = n * 10 + digit;
  }
  *out = n;
  return true;
}

bool tm_text_int(const char *s, int64_t *out)
{
  uint64_t n;
  bool negative = *s == '-';
  if (*s == '-' || *s == '+')
    s++;
  if (!read_digits(&s, (uint64_t)INT64_MAX + negative, &n) || *s)
    return false;
  /* INT64_MIN has no positive twin */
  *out = negative && n > 0 ? -(int64_t)(n - 1) - 1 : (int64_t)n;
  return true;
}

/* [+-] digits [. digits] [e [+-] digits], with at least one digit on one side of the point. Refuses
 * what strtod() would accept beyond that: hexadecimal digits, "inf" and "nan". */
static bool has_number_form(const char *s)
{
  s += *s == '-' || *s == '+';
  size_t whole = strspn(s, "0123456789"), part = 0;
  s += whole;
  if (*s == '.') {
    part = strspn(s + 1, "0123456789");
    s += 1 + part;
  }
  if (whole + part == 0)
    return false;
  if (*s == 'e' || *s == 'E') {
    s += 1 + (s[1] == '-' || s[1] == '+');
    size_t digits = strspn(s, "0123456789");
    if (digits == 0)
      return false;
    s += digits;
  }
  return *s == '\0';
}

/* Reads at most nine digits, and returns how many they were; -1: there are more. */
static int read_nine(const char **s, int64_t *out)
{
  int n = 0;
  for (*out = 0; **s >= '0' && **s <= '9'; (*s)++) {
    if (++n > 9)
      return -1;
    *out = *out * 10 + (**s - '0');
  }
  return n;
}

bool tm_text_ns(const char *s, int64_t *out)
{
  int64_t whole, part = 0;
  int digits = read_nine(&s, &whole), places = 0;
  if (*s == '.') {
    s++;
    places = read_nine(&s, &part);
  }
  if (*s || digits < 0 || places < 0 || digits + places == 0)
    return false;
  for (; places < 9; places++)
    part *= 10;
  *out = whole * 1000000000 + part;
  return true;
}

bool tm_text_number(const char *s, double *out)
{
  if (!has_number_form(s))
    return false;
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  tm_require(c != (locale_t)0);
  double n = strtod_l(s, NULL, c);
  freelocale(c);
  if (!isfinite(n))
    return false;
  *out = n;
  return true;
}

bool tm_text_seconds(const char *s, double *out)
{
  static const struct {
    const char *name;
    double seconds;
  } units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 } };
  size_t n = strcspn(s, "smhd ");
  const char *unit = s + n + (s[n] == ' ' && s[n + 1]);
  char *number = tm_xstrndup(s, n);
  bool is_known = false, is_number = tm_text_number(number, out);
  free(number);
  for (size_t i = 0; is_number && !is_known && i < TM_COUNT_OF(units); i++)
    if (strcmp(unit, units[i].name) == 0) {
      *out *= units[i].seconds;
      is_known = true;
    }
  return is_known;
}

bool tm_text_size(const char *s, int64_t *out)
{
  static const char units[] = "kmgt";
  uint64_t n;
  int shift = 0;
  if (!read_digits(&s, INT64_MAX, &n))
    return false;
  if (*s) {
    s += *s == ' ';
    const char *unit = *s ? strchr(units, lower(*s)) : NULL;
    if (!unit || lower(s[1]) != 'b' || s[2])
      return false;
    shift = 10 * (int)(unit - units + 1);
  }
  if (n > (uint64_t)INT64_MAX >> shift)
    return false;
  *out = (int64_t)(n << shift);
  return true;
}

static char folded(char c)
{
  return c == '-' ? '_' : lower(c);
}

static size_t least(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Edit distance in which a swap of two neighbours counts once. `rows` has room for 3 * (strlen(b) +
 * 1) numbers: the current row and the two before it. */
static size_t distance(const char *a, const char *b, size_t *rows)
{
  size_t la = strlen(a), lb = strlen(b);
  size_t *before = rows, *last = rows + lb + 1, *row = rows + 2 * (lb + 1);
  for (size_t j = 0; j <= lb; j++)
    last[j] = j;
  for (size_t i = 1; i <= la; i++) {
    row[0] = i;
    for (size_t j = 1; j <= lb; j++) {
      bool same = folded(a[i - 1]) == folded(b[j - 1]);
      size_t d = least(last[j - 1] + !same, least(last[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
          folded(a[i - 2]) == folded(b[j - 1]))
        d = least(d, before[j - 2] + 1);
      row[j] = d;
    }
    size_t *spare = before;
    before = last;
    last = row;
    row = spare;
  }
  return last[lb];
}

const char *tm_text_nearest(const char *given, const char *const *names, size_t n)
{
  const char *nearest = NULL;
  size_t nearest_distance = SIZE_MAX, given_len = strlen(given), longest = 0;
  for (size_t i = 0; i < n; i++)
    if (strlen(names[i]) > longest)
      longest = strlen(names[i]);
  size_t *rows = tm_xcalloc(3 * (longest + 1), sizeof *rows);
  for (size_t i = 0; i < n; i++) {
    size_t len = strlen(names[i]);
    size_t limit = (len > given_len ? len : given_len) / 3;
    limit = limit > NEAREST_MAX ? NEAREST_MAX : limit;
    size_t d = distance(given, names[i], rows);
    if (d <= (limit ? limit : 1) && d < nearest_distance) {
      nearest_distance = d;
      nearest = names[i];
    }
  }
  free(rows);
  return nearest;
}

size_t tm_text_utf8_len(const char *s, size_t n)
{
  const unsigned char *b = (const unsigned char *)s;
  if (n == 0)
    return 0;
  if (b[0] < 0x80)
    return 1;
  size_t len = b[0] >= 0xC2 && b[0] <= 0xDF   ? 2
               : (b[0] & 0xF0) == 0xE0        ? 3
               : b[0] >= 0xF0 && b[0] <= 0xF4 ? 4
                                              : 0;
  if (len == 0 || n < len)
    return 0;
  for (size_t i = 1; i < len; i++)
    if ((b[i] & 0xC0) != 0x80)
      return 0;
  bool overlong = (b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xF0 && b[1] < 0x90);
  bool surrogate = b[0] == 0xED && b[1] > 0x9F;
  bool beyond = b[0] == 0xF4 && b[1] > 0x8F;
  return overlong || surrogate || beyond ? 0 : len;
}

size_t tm_text_front(const char *s, size_t max)
{
  size_t len = strnlen(s, max + 1), cut = max;
  if (len <= max)
    return len;
  while (cut > 0 && max - cut < 3 && (s[cut] & 0xc0) == 0x80)
    cut--;
  return cut;
}

bool tm_text_is_utf8(const char *s, size_t n)
{
  for (size_t i = 0; i < n;) {
    size_t len = tm_text_utf8_len(s + i, n - i);
    if (len == 0)
      return false;
    i += len;
  }
  return true;
}

/* Whether a whole character controls a terminal or ends a line: C0, DEL, C1, U+2028 and U+2029. */
static bool is_control(const unsigned char *b, size_t len)
{
  if (len == 1)
    return b[0] < 0x20 || b[0] == 0x7F;
  if (len == 2)
    return b[0] == 0xC2 && b[1] < 0xA0;
  return len == 3 && b[0] == 0xE2 && b[1] == 0x80 && (b[2] == 0xA8 || b[2] == 0xA9);
}

static void add_escaped(struct tm_buf *out, const unsigned char *b, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    switch (b[i]) {
    case '\n': tm_buf_add_str(out, "\\n"); break;
    case '\r': tm_buf_add_str(out, "\\r"); break;
    case '\t': tm_buf_add_str(out, "\\t"); break;
    default: tm_buf_printf(out, "\\x%02X", b[i]);
    }
  }
}

/* Bytes at the beginning that stay as they are: printable ASCII. */
static size_t plain_len(const char *s, size_t n)
{
  size_t len = 0;
  while (len < n && s[len] >= 0x20 && s[len] < 0x7f)
    len++;
  return len;
}

void tm_text_one_line(struct tm_buf *out, const char *s, size_t n, size_t max)
{
  size_t start = out->len, keep = start; /* keep: where "..." would still fit */
  size_t dots = max < 3 ? max : 3;
  for (size_t i = 0; i < n;) {
    size_t used = out->len - start + dots, left = n - i;
    size_t room = max == 0 ? left : used < max ? max - used : 0;
    size_t plain = plain_len(s + i, room < left ? room : left);
    if (plain > 0) {
      tm_buf_add(out, s + i, plain);
      keep = out->len;
      i += plain;
      continue;
    }
    size_t len = tm_text_utf8_len(s + i, n - i);
    size_t whole = len ? len : 1;
    const unsigned char *b = (const unsigned char *)s + i;
    if (len == 0 || is_control(b, len))
      add_escaped(out, b, whole);
    else
      tm_buf_add(out, b, len);
    i += whole;
    if (max && out->len - start > max) {
      out->len = keep;
      tm_buf_add(out, "...", dots);
      return;
    }
    if (max && out->len - start + dots <= max)
      keep = out->len;
  }
}

void tm_text_csv(struct tm_buf *out, const char *s, size_t n, char separator)
{
  bool quoted =
      n > 0 && (strchr(" \t", s[0] ? s[0] : 'x') || strchr(" \t", s[n - 1] ? s[n - 1] : 'x'));
  for (size_t i = 0; i < n && !quoted; i++)
    quoted = s[i] == separator || s[i] == '"' || s[i] == '\r' || s[i] == '\n';
  if (!quoted) {
    tm_buf_add(out, s, n);
    return;
  }
  tm_buf_add_char(out, '"');
  while (n > 0) {
    const char *quote = memchr(s, '"', n);
    size_t len = quote ? (size_t)(quote - s) + 1 : n;
    tm_buf_add(out, s, len);
    if (quote)
      tm_buf_add_char(out, '"');
    s += len;
    n -= len;
  }
  tm_buf_add_char(out, '"');
}

const char *tm_text_article(const char *name)
{
  return *name && strchr("AEIOUaeiou", *name) ? "an" : "a";
}

bool tm_text_has_word(const char *words, const char *word, size_t len)
{
  for (const char *at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
    if (strcspn(at, "|") == len && strncmp(at, word, len) == 0)
      return true;
  return false;
}

const char *tm_text_counted(int64_t n, const char *one, const char *more)
{
  return n == 1 ? one : more;
}

void tm_text_grouped(struct tm_buf *out, int64_t n)
{
  struct tm_buf digits = TM_BUF_NONE;
  tm_buf_add_int(&digits, n);
  const char *s = digits.data;
  size_t len = digits.len;
  if (*s == '-') {
    tm_buf_add_char(out, '-');
    s++;
    len--;
  }
  for (size_t i = 0; i < len; i++) {
    if (i > 0 && (len - i) % 3 == 0)
      tm_buf_add_char(out, ',');
    tm_buf_add_char(out, s[i]);
  }
  tm_buf_release(&digits);
}

void tm_text_count(struct tm_buf *out, int64_t n, const char *words)
{
  tm_text_grouped(out, n);
  tm_buf_add_str(out, words);
}

void tm_text_bytes(struct tm_buf *out, int64_t bytes)
{
  static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
  double n = (double)bytes;
  size_t unit = 0;
  for (; n >= 1000 && unit + 1 < TM_COUNT_OF(units); unit++)
    n /= 1024;
  if (bytes == 1)
    tm_buf_add_str(out, "1 byte");
  else
    tm_buf_printf(out, unit == 0 || n >= 99.95 ? "%.0f %s" : "%.1f %s", n, units[unit]);
}

/* Whether a terminal shows `s` as it is. */
static bool is_printable(const char *s)
{
  for (const char *p = s; *p; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7F)
      return false;
  return tm_text_is_utf8(s, strlen(s));
}

/* $'...', with escapes of three octal digits: \012 is a line break. */
static void add_ansi_c(struct tm_buf *out, const char *s)
{
  bool is_utf8 = tm_text_is_utf8(s, strlen(s));
  tm_buf_add_str(out, "$'");
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c < 0x20 || c == 0x7F || (c >= 0x80 && !is_utf8))
      tm_buf_printf(out, "\\%03o", c);
    else
      tm_buf_printf(out, c == '\'' || c == '\\' ? "\\%c" : "%c", c);
  }
  tm_buf_add_char(out, '\'');
}

void tm_text_shell(struct tm_buf *out, const char *s)
{
  static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "@%+=:,./_-";
  if (*s && *s != '=' && s[strspn(s, harmless)] == '\0') { /* zsh reads =ls as the path of ls */
    tm_buf_add_str(out, s);
    return;
  }
  if (!is_printable(s)) {
    add_ansi_c(out, s);
    return;
  }
  tm_buf_add_char(out, '\'');
  for (; *s; s++) {
    if (*s == '\'')
      tm_buf_add_str(out, "'\\''");
    else
      tm_buf_add_char(out, *s);
  }
  tm_buf_add_char(out, '\'');
}

char *tm_text_shell_word(const char *s)
{
  struct tm_buf out = TM_BUF_NONE;
  tm_text_shell(&out, s);
  return tm_buf_take(&out);
}

/* The columns of the last line. */
static size_t last_column(const struct tm_buf *out)
{
  size_t n = 0;
  while (n < out->len && out->data[out->len - 1 - n] != '\n')
    n++;
  return n;
}

void tm_text_wrap(struct tm_buf *out, const char *s, size_t indent, size_t width)
{
  size_t column = last_column(out);
  bool is_first = true; /* word of its line */
  for (s += strspn(s, " "); *s; s += strspn(s, " ")) {
    size_t n = strcspn(s, " ");
    if (!is_first && column + 1 + n > width) {
      tm_buf_printf(out, "\n%*s", (int)indent, "");
      column = indent;
      is_first = true;
    }
    tm_buf_printf(out, "%s%.*s", is_first ? "" : " ", (int)n, s);
    column += n + !is_first;
    is_first = false;
    s += n;
  }
  tm_buf_add_char(out, '\n');
}
