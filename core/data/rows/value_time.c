/* value_time.c - parses dates and times. The calendar is Gregorian for all years. */
#include "data/rows/value.h"

#include <string.h>

#define US_SECOND INT64_C(1000000)
#define MINUTE_US (60 * US_SECOND)
#define DAY_US    (86400 * US_SECOND)

struct moment {
  int year, month, day, hour, minute, second;
  int hour_12; /* 1 to 12, or 0: not given */
  bool is_pm;
  int microsecond;
  int zone; /* minutes east of Greenwich */
};

/* Days since 1970-01-01. Years begin in March, so that a leap day is the last of its year. */
static int64_t days_of_date(int year, int month, int day)
{
  int y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
  int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  int days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
  return (int64_t)era * 146097 + days - 719468;
}

static int days_of_month(int year, int month)
{
  static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
  bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (month == 2 && is_leap);
}

static bool to_microseconds(const struct moment *m, int64_t *out)
{
  if (m->year < 1 || m->year > 9999 || m->month < 1 || m->month > 12 || m->day < 1 ||
      m->day > days_of_month(m->year, m->month) || m->hour > 23 || m->minute > 59 || m->second > 59)
    return false;
  *out = days_of_date(m->year, m->month, m->day) * DAY_US + m->hour * 60 * MINUTE_US +
         (m->minute - m->zone) * MINUTE_US + m->second * US_SECOND + m->microsecond;
  return true;
}

static inline bool is_digit(char c)
{
  return (unsigned)(unsigned char)c - '0' <= 9;
}

/* Exactly n digits. */
static inline bool take_exact(const char **p, const char *end, int n, int *out)
{
  int x = 0;
  if (end - *p < n)
    return false;
  for (int i = 0; i < n; i++) {
    if (!is_digit((*p)[i]))
      return false;
    x = x * 10 + ((*p)[i] - '0');
  }
  *p += n;
  *out = x;
  return true;
}

/* At least one, at most n digits. */
static bool take_some(const char **p, const char *end, int n, int *out)
{
  int x = 0, i = 0;
  for (; i < n && *p < end && is_digit(**p); i++)
    x = x * 10 + (*(*p)++ - '0');
  *out = x;
  return i > 0;
}

/* Digits after a point; those after the sixth are ignored. */
static bool take_fraction(const char **p, const char *end, int *out)
{
  int x = 0, i = 0;
  for (; *p < end && is_digit(**p); i++, ++*p)
    if (i < 6)
      x = x * 10 + (**p - '0');
  for (int j = i; j < 6; j++)
    x *= 10;
  *out = x;
  return i > 0;
}

static bool take_char(const char **p, const char *end, char c)
{
  if (*p == end || **p != c)
    return false;
  ++*p;
  return true;
}

/* Z, +hh, +hhmm, +hh:mm */
static bool take_zone(const char **p, const char *end, int *out)
{
  int hours, minutes = 0;
  if (take_char(p, end, 'Z') || take_char(p, end, 'z')) {
    *out = 0;
    return true;
  }
  if (*p == end || (**p != '+' && **p != '-'))
    return false;
  int sign = *(*p)++ == '-' ? -1 : 1;
  if (!take_exact(p, end, 2, &hours))
    return false;
  if (*p < end && (**p == ':' || is_digit(**p))) {
    take_char(p, end, ':');
    if (!take_exact(p, end, 2, &minutes))
      return false;
  }
  *out = sign * (hours * 60 + minutes);
  return hours <= 23 && minutes <= 59;
}

static void trim(const char **p, const char **end)
{
  while (*p < *end && (**p == ' ' || **p == '\t'))
    ++*p;
  while (*p < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
    --*end;
}

static bool take_clock(const char **p, const char *end, struct moment *m)
{
  if (!take_exact(p, end, 2, &m->hour) || !take_char(p, end, ':') ||
      !take_exact(p, end, 2, &m->minute))
    return false;
  if (!take_char(p, end, ':'))
    return true;
  if (!take_exact(p, end, 2, &m->second))
    return false;
  return (!take_char(p, end, '.') && !take_char(p, end, ',')) ||
         take_fraction(p, end, &m->microsecond);
}

bool tm_value_datetime(const char *p, size_t n, int64_t *out)
{
  const char *end = p + n;
  struct moment m = { .year = 0 };
  trim(&p, &end);
  if (!take_exact(&p, end, 4, &m.year) || !take_char(&p, end, '-') ||
      !take_exact(&p, end, 2, &m.month) || !take_char(&p, end, '-') ||
      !take_exact(&p, end, 2, &m.day))
    return false;
  if (p < end && (*p == 'T' || *p == 't' || *p == ' ') && end - p > 1 && is_digit(p[1])) {
    p++;
    if (!take_clock(&p, end, &m))
      return false;
  }
  if (p < end && *p == ' ')
    p++;
  if (p < end && !take_zone(&p, end, &m.zone))
    return false;
  return p == end && to_microseconds(&m, out);
}

bool tm_value_is_date(const char *p, size_t n)
{
  const char *end = p + n;
  int64_t us;
  trim(&p, &end);
  return end - p == 10 && tm_value_datetime(p, 10, &us);
}

/* By a format ---------------------------------------------------------------------------------- */

static bool take_month(const char **p, const char *end, bool is_short, int *out)
{
  static const char *const names[] = { "january",   "february", "march",    "april",
                                       "may",       "june",     "july",     "august",
                                       "september", "october",  "november", "december" };
  for (int i = 0; i < 12; i++) {
    size_t n = is_short ? 3 : strlen(names[i]), same = 0;
    while (same < n && *p + same < end && ((*p)[same] | 0x20) == names[i][same])
      same++;
    if (same < n)
      continue;
    *p += n;
    *out = i + 1;
    return true;
  }
  return false;
}

static bool take_half(const char **p, const char *end, bool *is_pm)
{
  if (end - *p < 2 || ((*p)[1] | 0x20) != 'm' ||
      (((*p)[0] | 0x20) != 'a' && ((*p)[0] | 0x20) != 'p'))
    return false;
  *is_pm = ((*p)[0] | 0x20) == 'p';
  *p += 2;
  return true;
}

static bool take_short_year(const char **p, const char *end, int *out)
{
  int y;
  if (!take_some(p, end, 2, &y))
    return false;
  *out = y >= 69 ? 1900 + y : 2000 + y;
  return true;
}

static bool take_by(char directive, const char **p, const char *end, struct moment *m)
{
  switch (directive) {
  case 'Y': return take_some(p, end, 4, &m->year);
  case 'y': return take_short_year(p, end, &m->year);
  case 'm': return take_some(p, end, 2, &m->month);
  case 'b': return take_month(p, end, true, &m->month);
  case 'B': return take_month(p, end, false, &m->month);
  case 'd': return take_some(p, end, 2, &m->day);
  case 'H': return take_some(p, end, 2, &m->hour);
  case 'I': return take_some(p, end, 2, &m->hour_12) && m->hour_12 >= 1 && m->hour_12 <= 12;
  case 'M': return take_some(p, end, 2, &m->minute);
  case 'S': return take_some(p, end, 2, &m->second);
  case 'f': return take_fraction(p, end, &m->microsecond);
  case 'p': return take_half(p, end, &m->is_pm);
  case 'z': return take_zone(p, end, &m->zone);
  default: return take_char(p, end, directive); /* "%%" */
  }
}

bool tm_value_datetime_by(const char *format, const char *p, size_t n, int64_t *out)
{
  const char *end = p + n;
  struct moment m = { .year = 1970, .month = 1, .day = 1 };
  trim(&p, &end);
  for (; *format != '\0'; format++) {
    bool ok = *format == '%' && format[1] != '\0' ? take_by(*++format, &p, end, &m)
                                                  : take_char(&p, end, *format);
    if (!ok)
      return false;
  }
  if (m.hour_12 > 0)
    m.hour = m.hour_12 % 12 + (m.is_pm ? 12 : 0);
  return p == end && to_microseconds(&m, out);
}

const char *tm_value_bad_format(const char *format)
{
  for (; *format != '\0'; format++)
    if (*format == '%' && (format[1] == '\0' || strchr("YymbBdHIMSfpz%", *++format) == NULL))
      return format;
  return NULL;
}
