/* plain_try.c - the usual row of processed_mini-batches.csv: see try_rows.h. */
#include "report/try_rows.h"

#include <string.h>

#include "base/buf.h"
#include "base/time.h"
#include "report/log_line.h"
#include "report/table_rows.h"

#define LINE_MAX    2048 /* bytes */
#define DIGITS_MAX  18   /* of an integer */
#define SECONDS_MAX 9    /* digits before the point */

static const char outcome[] = "RUN_DONE,,,"; /* Status, Error Category, Error Message */
static const char last[] = ",,,";            /* Signal, Script Line, Error Item */

#define STATUS_LEN  8
#define OUTCOME_LEN (sizeof(outcome) - 1)
#define LAST_LEN    (sizeof(last) - 1)
/* Bytes from a moment, or from seconds, to the end of the shortest row: take_six() stays within. */
#define FROM_MOMENT  64
#define FROM_SECONDS 24

enum field { PICKED, PROCESS, BEGAN, TOTAL, SUCCEEDED, FAILED, ELAPSED, CPU, RUN, STATUS, DETAIL };

struct cursor {
  char *at, *end;
  char *begins[DETAIL + 1]; /* of the fields behind the first one */
  size_t len;
};

static inline bool is_digit(char c)
{
  return (unsigned char)(c - '0') < 10;
}

/* The field ends with the comma at `comma`, which becomes its end. */
static inline bool next(struct cursor *c, char *comma)
{
  if (*comma != ',')
    return false;
  *comma = '\0';
  c->at = c->begins[c->len++] = comma + 1;
  return true;
}

/* The row is not plain after all. */
static bool give_back(const struct cursor *c)
{
  for (size_t i = 0; i < c->len; i++)
    c->begins[i][-1] = ',';
  return false;
}

static inline bool take_int(struct cursor *c, int64_t *out)
{
  char *s = c->at;
  int64_t n = 0;
  for (; is_digit(*s) && s - c->at < DIGITS_MAX; s++)
    n = n * 10 + (*s - '0');
  *out = n;
  return s > c->at && next(c, s);
}

/* Six digits, all at once: eight bytes are read, the first digit as the lowest byte. */
static inline bool take_six(const char *s, int64_t *out)
{
  uint64_t n = tm_get_u64(s) << 16 | 0x3030; /* "00" before them */
  if ((n & 0xF0F0F0F0F0F0F0F0) != 0x3030303030303030 ||
      ((n + 0x0606060606060606) & 0xF0F0F0F0F0F0F0F0) != 0x3030303030303030)
    return false;
  n -= 0x3030303030303030;
  n = n * 10 + (n >> 8); /* pairs, in each second byte */
  n = (n & 0x000000FF000000FF) * 0x000F424000000064 +
      (n >> 16 & 0x000000FF000000FF) * 0x0000271000000001;
  *out = (int64_t)(n >> 32);
  return true;
}

/* "0.001089," */
static inline bool take_seconds(struct cursor *c, int64_t *ns)
{
  char *s = c->at;
  int64_t whole = 0, micros;
  if (c->end - s < FROM_SECONDS)
    return false;
  for (; is_digit(*s) && s - c->at < SECONDS_MAX; s++)
    whole = whole * 10 + (*s - '0');
  if (s == c->at || *s != '.' || !take_six(s + 1, &micros))
    return false;
  *ns = whole * TM_S + micros * 1000;
  return next(c, s + 7);
}

/* "2026-01-31T23:59:58.123456Z," */
static inline bool take_moment(struct tm_plain_tries *p, struct cursor *c, int64_t *wall_ns)
{
  char *s = c->at, *second = s + TM_PLAIN_MINUTE;
  int64_t micros;
  if (c->end - s < FROM_MOMENT || s[10] != 'T' || !is_digit(second[0]) || !is_digit(second[1]) ||
      second[2] != '.' || !take_six(second + 3, &micros) || second[9] != 'Z')
    return false;
  int64_t after_ns = ((second[0] - '0') * 10 + second[1] - '0') * TM_S + micros * 1000;
  if (after_ns > 60 * TM_S)
    return false;
  if (memcmp(p->minute, s, TM_PLAIN_MINUTE) != 0) {
    size_t len = (size_t)(second + 10 - s);
    if (tm_log_moment(s, len, wall_ns) != len)
      return false;
    memcpy(p->minute, s, TM_PLAIN_MINUTE);
    p->minute_ns = *wall_ns - after_ns;
  }
  *wall_ns = p->minute_ns + after_ns;
  return next(c, second + 10);
}

/* Visible ASCII. */
static inline bool take_word(struct cursor *c)
{
  char *s = c->at;
  while (*s > ' ' && *s < 0x7f && *s != ',' && *s != '"')
    s++;
  return s - c->at <= TM_TABLE_NAME_MAX && next(c, s);
}

static inline bool take_outcome(struct cursor *c)
{
  if ((size_t)(c->end - c->at) < OUTCOME_LEN || memcmp(c->at, outcome, OUTCOME_LEN) != 0)
    return false;
  return next(c, c->at + OUTCOME_LEN - 1);
}

/* The columns behind the detail, from the end: ",NODE,BYTES,,,". */
struct end {
  char *node, *bytes;
};

static bool find_end(const struct cursor *c, struct end *e)
{
  char *s = c->end - LAST_LEN;
  if (s <= c->at || memcmp(s, last, LAST_LEN) != 0)
    return false;
  while (s > c->at && s[-1] != ',')
    s--;
  e->bytes = s;
  for (s -= s > c->at; s > c->at && s[-1] != ',';)
    s--;
  e->node = s;
  return s > c->at && e->node < e->bytes;
}

/* The detail is one field, which is read as it is. */
static bool take_end(struct cursor *c, struct end *e, int64_t *bytes)
{
  struct cursor rest;
  if (!find_end(c, e))
    return false;
  size_t detail = (size_t)(e->node - 1 - c->at);
  if (*c->at == '"' || memchr(c->at, ',', detail) || memchr(c->at, '\0', detail))
    return false;
  rest = (struct cursor) { .at = e->node, .end = c->end };
  if (!take_word(&rest) || !take_int(&rest, bytes) || rest.at != c->end - LAST_LEN + 1)
    return give_back(&rest);
  e->node[-1] = c->begins[STATUS][STATUS_LEN] = '\0';
  return true;
}

bool tm_plain_try_read(struct tm_plain_tries *p, char *line, size_t len, struct tm_try_row *out)
{
  struct cursor c = { .at = line, .end = line + len };
  struct end e;
  int64_t items;
  if (len > LINE_MAX || !take_int(&c, &out->mini_batch) || !take_int(&c, &out->picked) ||
      !take_word(&c) || !take_moment(p, &c, &out->begin_wall_ns) || !take_int(&c, &items) ||
      !take_int(&c, &items) || !take_int(&c, &items) || !take_seconds(&c, &out->elapsed_ns) ||
      !take_seconds(&c, &out->cpu_ns) || !take_seconds(&c, &out->run_ns) || !take_outcome(&c) ||
      !take_end(&c, &e, &out->bytes))
    return give_back(&c);
  out->process = c.begins[PROCESS];
  out->began = c.begins[BEGAN];
  out->total = c.begins[TOTAL];
  out->succeeded = c.begins[SUCCEEDED];
  out->failed = c.begins[FAILED];
  out->elapsed = c.begins[ELAPSED];
  out->run = c.begins[RUN];
  out->status = c.begins[STATUS];
  out->detail = c.begins[DETAIL];
  out->node = e.node;
  out->category = out->message = out->where = out->item = "";
  out->signal = 0;
  return true;
}
