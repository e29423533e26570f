/* log_line.c - see log_line.h. */
#include "report/log_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/time.h"

#define MOMENT_LEN 19 /* "2026-01-31 23:59:58" */

/* Parses n digits, or returns -1. */
static int digits(const char *s, size_t n)
{
  int value = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i] < '0' || s[i] > '9')
      return -1;
    value = value * 10 + (s[i] - '0');
  }
  return value;
}

static int64_t read_fraction(const char *s, size_t len, size_t *used)
{
  int64_t ns = 0, unit = TM_S / 10;
  for (*used = 0; *used < len && s[*used] >= '0' && s[*used] <= '9'; ++*used, unit /= 10)
    ns += (s[*used] - '0') * unit;
  return ns;
}

size_t tm_log_moment(const char *s, size_t len, int64_t *wall_ns)
{
  size_t used = 0;
  if (len < MOMENT_LEN + 2 || s[4] != '-' || s[7] != '-' || (s[10] != ' ' && s[10] != 'T') ||
      s[13] != ':' || s[16] != ':' || (s[19] != ',' && s[19] != '.'))
    return 0;
  int year = digits(s, 4), month = digits(s + 5, 2), day = digits(s + 8, 2);
  int hour = digits(s + 11, 2), minute = digits(s + 14, 2), second = digits(s + 17, 2);
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
      hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return 0;
  int64_t fraction_ns = read_fraction(s + 20, len - 20, &used);
  if (used == 0)
    return 0;
  *wall_ns = ((tm_time_days(year, month, day) * 24 + hour) * 60 + minute) * 60 * TM_S +
             (int64_t)second * TM_S + fraction_ns;
  return 20 + used + (20 + used < len && s[20 + used] == 'Z');
}

static bool read_level(const char *s, size_t len, enum tm_level *out)
{
  for (int i = TM_DEBUG; i <= TM_ERROR; i++) {
    const char *name = tm_level_name((enum tm_level)i);
    *out = (enum tm_level)i;
    if (strlen(name) == len && memcmp(name, s, len) == 0)
      return true;
  }
  return false;
}

bool tm_log_line_read(const char *line, size_t len, struct tm_log_line *out)
{
  const char *end = line + len, *fields[4];
  size_t moment = tm_log_moment(line, len, &out->wall_ns);
  if (moment == 0 || moment == len || line[moment] != '|')
    return false;
  const char *at = line + moment + 1;
  for (size_t i = 0; i < 3; i++) { /* level, pid, process */
    fields[i] = at;
    if (!(at = memchr(at, '|', (size_t)(end - at))))
      return false;
    at++;
  }
  fields[3] = at;
  out->process = fields[2];
  out->process_len = (size_t)(fields[3] - fields[2] - 1);
  out->message = at;
  out->message_len = (size_t)(end - at);
  return read_level(fields[0], (size_t)(fields[1] - fields[0] - 1), &out->level);
}

static bool is_of_word(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool tm_log_has_word(const char *text, size_t len, const char *word)
{
  size_t n = strlen(word);
  const char *end = text + len;
  for (const char *at = text; n > 0 && (at = memmem(at, (size_t)(end - at), word, n)); at++)
    if ((at == text || !is_of_word(at[-1])) && (at + n == end || !is_of_word(at[n])))
      return true;
  return false;
}

int64_t tm_log_mini_batch(const char *message, size_t len)
{
  static const char front[] = "mini-batch ";
  size_t at = sizeof(front) - 1;
  int64_t number = 0;
  if (len <= at || memcmp(message, front, at) != 0)
    return -1;
  size_t first = at;
  for (; at < len && message[at] >= '0' && message[at] <= '9' && at - first < 18; at++)
    number = number * 10 + (message[at] - '0');
  return at > first && at < len && (message[at] == ',' || message[at] == ':') ? number : -1;
}

int64_t tm_log_try_of(const char *message, size_t len)
{
  static const char word[] = "mini-batch ", after[] = ", try ";
  const char *end = message + len, *at = message, *next;
  int64_t number = tm_log_mini_batch(message, len);
  for (; number < 0 && (at = memmem(at, (size_t)(end - at), word, sizeof(word) - 1)); at++) {
    int64_t n = tm_log_mini_batch(at, (size_t)(end - at));
    next = at + sizeof(word) - 1;
    while (next < end && *next >= '0' && *next <= '9')
      next++;
    if (n >= 0 && (size_t)(end - next) >= sizeof(after) - 1 &&
        memcmp(next, after, sizeof(after) - 1) == 0)
      number = n;
  }
  return number;
}

/* The field at *at, unquoted in place; moves *at after its separator, or to NULL. */
static char *take_field(char **at)
{
  char *field = *at, *from = *at, *to = *at;
  if (*from == '"') {
    for (from++; *from && !(from[0] == '"' && from[1] != '"'); from++) {
      from += *from == '"'; /* "" means one quote */
      *to++ = *from;
    }
    from += *from == '"';
  }
  while (*from && *from != ',')
    *to++ = *from++;
  *at = *from ? from + 1 : NULL;
  *to = '\0';
  return field;
}

size_t tm_csv_split(char *row, size_t len, char **fields, size_t max)
{
  tm_require(max > 0);
  size_t n = 0;
  row[len] = '\0';
  for (char *at = row; at && n < max;)
    fields[n++] = take_field(&at);
  return n;
}

/* ---- what follows an error ---- */

static const char stack[] = "stack traceback:\n";

static const char *line_end(const char *at, const char *end)
{
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return stop ? stop : end;
}

/* "mini-batch 3, try 1" as a whole: not in front of "mini-batch 3, try 12". */
static bool names(const char *message, size_t n, const char *words)
{
  size_t len = strlen(words);
  for (const char *at = message, *end = message + n; (size_t)(end - at) >= len; at++) {
    at = memmem(at, (size_t)(end - at), words, len);
    if (!at)
      return false;
    if (at + len == end || at[len] < '0' || at[len] > '9')
      return true;
  }
  return false;
}

static bool is_head(const struct tm_log_line *line, const struct tm_log_error *e)
{
  char words[64];
  if (e->mini_batch < 0)
    return line->message_len > 6 && memcmp(line->message, "init()", 6) == 0;
  snprintf(words, sizeof(words), "mini-batch %" PRId64 ", try %" PRId64, e->mini_batch,
           e->try_number);
  return names(line->message, line->message_len, words);
}

/* Where the next line of the log begins, or the end. */
static const char *next_head(const char *at, const char *end)
{
  struct tm_log_line line;
  while (at < end) {
    const char *stop = line_end(at, end);
    if (tm_log_line_read(at, (size_t)(stop - at), &line))
      return at;
    at = stop < end ? stop + 1 : end;
  }
  return end;
}

static const char *rest_of(const char *at, const char *end, size_t *len)
{
  const char *stop = next_head(at, end);
  const char *trace = at < stop ? memmem(at, (size_t)(stop - at), stack, sizeof(stack) - 1) : NULL;
  if (stop > at && stop[-1] == '\n')
    stop--;
  if (trace && (trace == at || trace[-1] == '\n'))
    at = trace;
  *len = (size_t)(stop - at);
  return at;
}

const char *tm_log_error_rest(const char *text, size_t n, const struct tm_log_error *e, size_t *len)
{
  struct tm_log_line line;
  const char *end = text + n;
  *len = 0;
  for (const char *at = text; at < end;) {
    const char *stop = line_end(at, end);
    const char *next = stop < end ? stop + 1 : end;
    if (tm_log_line_read(at, (size_t)(stop - at), &line) && is_head(&line, e))
      return rest_of(next, end, len);
    at = next;
  }
  return NULL;
}
