/* partition.c - see partition.h.
 *
 * The format becomes a list of signs. A path is matched from its last names, sign by sign, with
 * backtracking: a string and a '*' take as little as they can, and more if the rest does not fit.
 * Pairs of sign and position that failed are kept as bits, so that no path takes longer than signs
 * times characters.
 */
#include "data/files/partition.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"

enum sign_kind { SIGN_CHAR, SIGN_ONE, SIGN_ANY, SIGN_STRING, SIGN_FIELD, SIGN_END };
enum field { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FIELDS };
static const char *const field_names[FIELDS] = { "yyyy", "MM", "dd", "HH", "mm", "ss" };

struct sign {
  enum sign_kind kind;
  char c;
  size_t key;
  enum field field;
};

struct column {
  char *name;
  enum tm_key_type type;
  unsigned fields; /* bits: fields of a datetime */
  bool is_coded;   /* %2F means '/' */
};

struct tm_partition {
  char *format;
  struct TM_ARRAY(struct sign) signs;
  struct TM_ARRAY(struct column) columns;
  size_t slashes;

  /* Of the current path. */
  const char *at;
  size_t len, furthest;
  struct tm_buf decoded;
  struct tm_buf failed; /* bits: sign * (len + 1) + position */
  struct {
    size_t begin, end; /* of a string */
    int fields[FIELDS];
  } values[TM_PARTITION_KEYS_MAX];
};

/* The format ----------------------------------------------------------------------------------- */

static void add_sign(struct tm_partition *p, enum sign_kind kind, char c)
{
  *TM_ARRAY_ADD(&p->signs) =
      (struct sign) { .kind = kind, .c = c, .key = p->columns.len ? p->columns.len - 1 : 0 };
  p->slashes += kind == SIGN_CHAR && c == '/';
}

static int refuse_field(const char *at, const struct column *c, struct tm_err *err)
{
  size_t n = 0;
  char word[32];
  while ((at[n] | 32) >= 'a' && (at[n] | 32) <= 'z' && n < sizeof(word) - 1)
    n++;
  snprintf(word, sizeof(word), "%.*s", (int)n, at);
  const char *nearest = tm_text_nearest(word, field_names, FIELDS);
  return tm_err_set(
      err, TM_EUSAGE,
      "'%s' in '{%s:...}' is not a field of a datetime%s%s%s; accepted: yyyy, MM, dd, "
      "HH, mm, ss",
      word, c->name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
      nearest ? "'?" : "");
}

/* 1: added a field; 0: there is none here. */
static int add_field(struct tm_partition *p, struct column *c, const char **at, struct tm_err *err)
{
  for (enum field f = 0; f < FIELDS; f++) {
    size_t n = strlen(field_names[f]);
    if (strncmp(*at, field_names[f], n) != 0)
      continue;
    if (c->fields >> f & 1)
      return tm_err_set(err, TM_EUSAGE, "'{%s:...}' has '%s' twice", c->name, field_names[f]);
    c->fields |= 1u << f;
    add_sign(p, SIGN_FIELD, 0);
    p->signs.at[p->signs.len - 1].field = f;
    *at += n;
    return 1;
  }
  return 0;
}

static bool is_letter(char c)
{
  return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* A letter that ISO 8601 puts between fields. */
static bool is_mark(const char *at)
{
  bool is_before_field = false;
  for (enum field f = 0; f < FIELDS; f++)
    is_before_field |= strncmp(at + 1, field_names[f], strlen(field_names[f])) == 0;
  return (*at == 'T' || *at == 'Z') && (is_before_field || !is_letter(at[1]));
}

/* Parses the part between ':' and '}'. */
static int read_fields(struct tm_partition *p, const char *at, const char *end, struct tm_err *err)
{
  struct column *c = &p->columns.at[p->columns.len - 1];
  while (at < end) {
    int rc = add_field(p, c, &at, err);
    if (rc < 0)
      return rc;
    if (rc > 0)
      continue;
    if (is_letter(*at) && !is_mark(at))
      return refuse_field(at, c, err);
    add_sign(p, SIGN_CHAR, *at++);
  }
  if (c->fields == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "'{%s:}' has no fields; accepted: '{%s}' for a string, or fields as in "
                      "'{%s:yyyy/MM/dd}'",
                      c->name, c->name, c->name);
  if (c->fields & (c->fields + 1)) /* a gap: 0b1011 */
    for (enum field f = 0; f < FIELDS; f++)
      if (!(c->fields >> f & 1))
        return tm_err_set(err, TM_EUSAGE,
                          "'{%s:...}' lacks '%s', which its other fields are parts of; '{%s}' is a "
                          "string",
                          c->name, field_names[f], c->name);
  return 0;
}

static bool is_known(const struct tm_partition *p, const char *name)
{
  for (size_t i = 0; i < p->columns.len; i++)
    if (strcmp(p->columns.at[i].name, name) == 0)
      return true;
  return false;
}

static int add_column(struct tm_partition *p, const char *at, size_t n, bool is_datetime,
                      struct tm_err *err)
{
  char *name = tm_xstrndup(at, n);
  int rc = 0;
  if (n == 0)
    rc = tm_err_set(err, TM_EUSAGE, "a key has no name; accepted: '{name}'");
  else if (strcspn(name, "{/*?") != n)
    rc = tm_err_set(err, TM_EUSAGE, "the key '{%s}' has a sign in its name that none has: { / * ?",
                    name);
  else if (is_known(p, name))
    rc = tm_err_set(err, TM_EUSAGE, "the key '%s' occurs twice", name);
  else if (p->columns.len == TM_PARTITION_KEYS_MAX)
    rc = tm_err_set(err, TM_EUSAGE, "there are more than %d keys", TM_PARTITION_KEYS_MAX);
  if (rc < 0) {
    free(name);
    return rc;
  }
  *TM_ARRAY_ADD(&p->columns) =
      (struct column) { .name = name, .type = is_datetime ? TM_KEY_DATETIME : TM_KEY_STRING };
  return 0;
}

/* From '{' to after '}'. */
static int read_key(struct tm_partition *p, const char **at, struct tm_err *err)
{
  const char *begin = *at + 1, *end = strchr(begin, '}');
  if (!end)
    return tm_err_set(err, TM_EUSAGE, "'{' is not closed");
  const char *colon = memchr(begin, ':', (size_t)(end - begin));
  bool is_coded = colon && end - colon == 2 && colon[1] == '%';
  int rc = add_column(p, begin, (size_t)((colon ? colon : end) - begin), colon && !is_coded, err);
  if (rc < 0)
    return rc;
  *at = end + 1;
  p->columns.at[p->columns.len - 1].is_coded = is_coded;
  if (colon && !is_coded)
    return read_fields(p, colon + 1, end, err);
  if (p->signs.len > 0 && p->signs.at[p->signs.len - 1].kind == SIGN_STRING)
    return tm_err_set(err, TM_EUSAGE, "there is nothing between '{%s}' and '{%s}'",
                      p->columns.at[p->columns.len - 2].name,
                      p->columns.at[p->columns.len - 1].name);
  add_sign(p, SIGN_STRING, 0);
  return 0;
}

static int read_format(struct tm_partition *p, struct tm_err *err)
{
  const char *at = p->format + strspn(p->format, "/");
  while (*at) {
    int rc = 0;
    if (at[0] == '*' && at[1] == '*')
      rc = tm_err_set(err, TM_EUSAGE,
                      "'**' is any number of folders; a format has one name for each: '*'");
    else if (*at == '}')
      rc = tm_err_set(err, TM_EUSAGE, "'}' closes nothing");
    else if (*at == '{')
      rc = read_key(p, &at, err);
    else
      add_sign(p, *at == '*' ? SIGN_ANY : *at == '?' ? SIGN_ONE : SIGN_CHAR, *at), at++;
    if (rc < 0)
      return rc;
  }
  add_sign(p, SIGN_END, 0);
  return p->columns.len > 0
             ? 0
             : tm_err_set(err, TM_EUSAGE,
                          "it has no key; accepted: for example '{store}/{date:yyyy/MM/dd}/"
                          "*.csv'");
}

struct tm_partition *tm_partition_new(const char *format, struct tm_err *err)
{
  tm_require(format);
  struct tm_partition *p = TM_NEW(struct tm_partition);
  p->format = tm_xstrdup(format);
  if (read_format(p, err) == 0)
    return p;
  tm_partition_free(p);
  return NULL;
}

void tm_partition_free(struct tm_partition *p)
{
  if (!p)
    return;
  for (size_t i = 0; i < p->columns.len; i++)
    free(p->columns.at[i].name);
  TM_ARRAY_RELEASE(&p->columns);
  TM_ARRAY_RELEASE(&p->signs);
  tm_buf_release(&p->failed);
  tm_buf_release(&p->decoded);
  free(p->format);
  free(p);
}

size_t tm_partition_len(const struct tm_partition *p)
{
  return p->columns.len;
}

const char *tm_partition_key(const struct tm_partition *p, size_t i)
{
  return p->columns.at[i].name;
}

enum tm_key_type tm_partition_type(const struct tm_partition *p, size_t i)
{
  return p->columns.at[i].type;
}

/* A path --------------------------------------------------------------------------------------- */

static bool has_failed(struct tm_partition *p, size_t sign, size_t place, bool set)
{
  size_t bit = sign * (p->len + 1) + place;
  bool was = p->failed.data[bit / 8] >> bit % 8 & 1;
  if (set)
    p->failed.data[bit / 8] = (char)(p->failed.data[bit / 8] | 1 << bit % 8);
  return was;
}

static bool read_digits(const char *at, size_t n, int *out)
{
  *out = 0;
  for (size_t i = 0; i < n; i++) {
    if (at[i] < '0' || at[i] > '9')
      return false;
    *out = *out * 10 + (at[i] - '0');
  }
  return true;
}

static bool is_in_range(enum field f, int v)
{
  static const int least[FIELDS] = { 1, 1, 1, 0, 0, 0 },
                   most[FIELDS] = { 9999, 12, 31, 23, 59, 59 };
  return v >= least[f] && v <= most[f];
}

static int days_of_month(int year, int month)
{
  static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && is_leap ? 29 : days[month - 1];
}

/* Whether all days exist: not the 30th of February. */
static bool has_good_days(const struct tm_partition *p)
{
  for (size_t i = 0; i < p->columns.len; i++) {
    const int *f = p->values[i].fields;
    if ((p->columns.at[i].fields >> DAY & 1) && f[DAY] > days_of_month(f[YEAR], f[MONTH]))
      return false;
  }
  return true;
}

static bool fit(struct tm_partition *p, size_t sign, size_t place);

/* A string or a '*': from `least` characters on, up to the end of the name. */
static bool fit_run(struct tm_partition *p, size_t sign, size_t place, size_t least)
{
  const struct sign *s = &p->signs.at[sign];
  size_t most = place;
  while (most < p->len && p->at[most] != '/')
    most++;
  for (size_t end = place + least; end <= most; end++) {
    if (s->kind == SIGN_STRING) {
      p->values[s->key].begin = place;
      p->values[s->key].end = end;
    }
    if (fit(p, sign + 1, end))
      return true;
  }
  return false;
}

static bool fit_field(struct tm_partition *p, const struct sign *s, size_t sign, size_t place)
{
  size_t n = strlen(field_names[s->field]);
  int *v = &p->values[s->key].fields[s->field];
  return p->len - place >= n && read_digits(p->at + place, n, v) && is_in_range(s->field, *v) &&
         fit(p, sign + 1, place + n);
}

static bool fit_one(struct tm_partition *p, size_t sign, size_t place)
{
  size_t n = tm_text_utf8_len(p->at + place, p->len - place);
  return place < p->len && p->at[place] != '/' && fit(p, sign + 1, place + (n ? n : 1));
}

/* Whether the signs from `sign` on match the text from `place` on. Recurses up to the number of
 * signs. */
static bool fit(struct tm_partition *p, size_t sign, size_t place)
{
  const struct sign *s = &p->signs.at[sign];
  bool fits = false;
  if (place > p->furthest)
    p->furthest = place;
  if (has_failed(p, sign, place, false))
    return false;
  switch (s->kind) {
  case SIGN_CHAR:
    fits = place < p->len && p->at[place] == s->c && fit(p, sign + 1, place + 1);
    break;
  case SIGN_ONE: fits = fit_one(p, sign, place); break;
  case SIGN_ANY: fits = fit_run(p, sign, place, 0); break;
  case SIGN_STRING: fits = fit_run(p, sign, place, 1); break;
  case SIGN_FIELD: fits = fit_field(p, s, sign, place); break;
  case SIGN_END: fits = place == p->len && has_good_days(p); break;
  }
  if (!fits)
    has_failed(p, sign, place, true);
  return fits;
}

static int64_t moment_of(const struct column *c, const int *f)
{
  int64_t days = tm_time_days(f[YEAR], c->fields >> MONTH & 1 ? f[MONTH] : 1,
                              c->fields >> DAY & 1 ? f[DAY] : 1);
  int64_t seconds = days * 86400;
  seconds += c->fields >> HOUR & 1 ? f[HOUR] * 3600 : 0;
  seconds += c->fields >> MINUTE & 1 ? f[MINUTE] * 60 : 0;
  seconds += c->fields >> SECOND & 1 ? f[SECOND] : 0;
  return seconds * 1000000;
}

/* Takes the last names of the path, as many as the format has; false if the path has fewer. */
static bool take_end(struct tm_partition *p, const char *path, size_t len)
{
  size_t slashes = 0, begin = len;
  while (begin > 0 && (path[begin - 1] != '/' || slashes < p->slashes))
    slashes += path[--begin] == '/';
  if (slashes < p->slashes || (begin == 0 && len > 0 && path[0] == '/'))
    return false;
  p->at = path + begin;
  p->len = len - begin;
  return true;
}

static int refuse_path(const struct tm_partition *p, const char *path, size_t len, bool is_short,
                       struct tm_err *err)
{
  struct tm_buf shown = TM_BUF_NONE, rest = TM_BUF_NONE;
  tm_text_one_line(&shown, path, len, 600);
  if (!is_short)
    tm_text_one_line(&rest, p->at + p->furthest, p->len - p->furthest, 200);
  tm_err_set(err, TM_EINPUT,
             "'%s' does not fit partition_format '%s'%s%s%s; leave the file out of "
             "the dataset's path, or mend the format",
             tm_buf_str(&shown), p->format,
             is_short   ? ", which has more folders"
             : rest.len ? ", from '"
                        : ", which has more",
             tm_buf_str(&rest), rest.len ? "' on" : "");
  tm_buf_release(&shown);
  tm_buf_release(&rest);
  return TM_EINPUT;
}

/* Names of {name:%} ---------------------------------------------------------------------------- */

static const char hex_digits[] = "0123456789ABCDEF";
static const char null_name[] = "%null", empty_name[] = "%empty";

void tm_partition_add_name(struct tm_buf *out, const char *value, size_t n)
{
  if (value == NULL || n == 0)
    tm_buf_add_str(out, value == NULL ? null_name : empty_name);
  for (size_t i = 0; value != NULL && i < n; i++) {
    unsigned char c = (unsigned char)value[i];
    if (c < 0x20 || c == 0x7f || c == '/' || c == '%' || (c == '.' && i == 0)) {
      tm_buf_add_char(out, '%');
      tm_buf_add_char(out, hex_digits[c >> 4]);
      tm_buf_add_char(out, hex_digits[c & 15]);
    } else {
      tm_buf_add_char(out, (char)c);
    }
  }
}

static int hex_value(char c)
{
  const char *at = c ? strchr(hex_digits, c >= 'a' && c <= 'f' ? c - 32 : c) : NULL;
  return at ? (int)(at - hex_digits) : -1;
}

static bool is_name(const char *p, size_t n, const char *name)
{
  return n == strlen(name) && memcmp(p, name, n) == 0;
}

/* Decodes the value to the end of `decoded`, which has room for the whole path. */
static void decode(struct tm_partition *p, struct tm_key *key)
{
  const char *from = key->string.at;
  size_t n = key->string.len, begin = p->decoded.len;
  if (is_name(from, n, null_name)) {
    *key = (struct tm_key) { .name = key->name, .name_len = key->name_len, .type = TM_KEY_NULL };
    return;
  }
  for (size_t i = is_name(from, n, empty_name) ? n : 0; i < n; i++) {
    bool is_code =
        from[i] == '%' && n - i > 2 && hex_value(from[i + 1]) >= 0 && hex_value(from[i + 2]) >= 0;
    tm_buf_add_char(&p->decoded, is_code
                                     ? (char)(hex_value(from[i + 1]) << 4 | hex_value(from[i + 2]))
                                     : from[i]);
    i += is_code ? 2 : 0;
  }
  key->string.at = p->decoded.data + begin;
  key->string.len = p->decoded.len - begin;
}

int tm_partition_match(struct tm_partition *p, const char *path, size_t len, struct tm_key *out,
                       struct tm_err *err)
{
  if (!take_end(p, path, len))
    return refuse_path(p, path, len, true, err);
  size_t bytes = p->signs.len * (p->len + 1) / 8 + 1;
  tm_buf_clear(&p->failed);
  memset(tm_buf_extend(&p->failed, bytes), 0, bytes);
  p->furthest = 0;
  if (!fit(p, 0, 0))
    return refuse_path(p, path, len, false, err);
  tm_buf_clear(&p->decoded);
  tm_buf_reserve(&p->decoded, p->len);
  for (size_t i = 0; i < p->columns.len; i++) {
    const struct column *c = &p->columns.at[i];
    out[i] = (struct tm_key) { .name = c->name, .name_len = strlen(c->name), .type = c->type };
    if (c->type == TM_KEY_DATETIME) {
      out[i].integer = moment_of(c, p->values[i].fields);
    } else {
      out[i].string.at = p->at + p->values[i].begin;
      out[i].string.len = p->values[i].end - p->values[i].begin;
      if (c->is_coded)
        decode(p, &out[i]);
    }
  }
  return 0;
}
