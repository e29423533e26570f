/* time.c - moments and durations as text.
 *
 * The calendar arithmetic is our own, in the proleptic Gregorian calendar and UTC: gmtime() has
 * limits, and neither locale nor time zone of the host may change what a job writes. Divisions
 * round down, so that a moment before 1970 counts forward within its second like any other. Every
 * int64_t is a moment (the years 1677 to 2262).
 *
 * The calendar counts in eras of 400 years (146,097 days) that begin on a first of March: the leap
 * day is then the last day of its year.
 */
#include "base/time.h"

#include <inttypes.h>

#include "base/buf.h"

enum {
  DAY_SECONDS = 86400,
  ERA_DAYS = 146097,
  ERA_SHIFT = 719468 /* days from 0000-03-01 to 1970 */
};

struct moment {
  int year, month, day, hour, minute, second;
  int ns;
};

static int64_t div_down(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

static void date_of_days(int64_t days, struct moment *m)
{
  days += ERA_SHIFT;
  int64_t era = div_down(days, ERA_DAYS);
  int day = (int)(days - era * ERA_DAYS); /* within the era */
  int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  day -= 365 * year + year / 4 - year / 100; /* within the year, from March on */
  int month = (5 * day + 2) / 153;           /* 0 is March */
  m->day = day - (153 * month + 2) / 5 + 1;
  m->month = month < 10 ? month + 3 : month - 9;
  m->year = (int)(era * 400) + year + (m->month <= 2);
}

int64_t tm_time_days(int year, int month, int day)
{
  int64_t y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
  return 365 * y + div_down(y, 4) - div_down(y, 100) + div_down(y, 400) + (153 * m + 2) / 5 + day -
         1 - ERA_SHIFT;
}

static struct moment moment_of(int64_t wall_ns)
{
  struct moment m;
  int64_t seconds = div_down(wall_ns, TM_S);
  int64_t days = div_down(seconds, DAY_SECONDS);
  int left = (int)(seconds - days * DAY_SECONDS);
  date_of_days(days, &m);
  m.hour = left / 3600;
  m.minute = left / 60 % 60;
  m.second = left % 60;
  m.ns = (int)(wall_ns % TM_S + (wall_ns % TM_S < 0 ? TM_S : 0));
  return m;
}

void tm_time_second(struct tm_buf *out, int64_t wall_ns)
{
  struct moment m = moment_of(wall_ns);
  tm_buf_printf(out, "%04d-%02d-%02d %02d:%02d:%02d", m.year, m.month, m.day, m.hour, m.minute,
                m.second);
}

void tm_time_log(struct tm_buf *out, int64_t wall_ns)
{
  struct moment m = moment_of(wall_ns);
  tm_buf_printf(out, "%04d-%02d-%02d %02d:%02d:%02d,%03d", m.year, m.month, m.day, m.hour, m.minute,
                m.second, m.ns / 1000000);
}

void tm_time_iso(struct tm_buf *out, int64_t wall_ns)
{
  struct moment m = moment_of(wall_ns);
  tm_buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", m.year, m.month, m.day, m.hour,
                m.minute, m.second, m.ns / 1000);
}

void tm_time_compact(struct tm_buf *out, int64_t wall_ns)
{
  struct moment m = moment_of(wall_ns);
  tm_buf_printf(out, "%04d%02d%02d-%02d%02d%02d", m.year, m.month, m.day, m.hour, m.minute,
                m.second);
}

static uint64_t size_of(int64_t ns)
{
  return ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns; /* INT64_MIN has no positive int64_t */
}

/* In units of `unit` ns, rounded half up. */
static int64_t rounded(uint64_t size, int64_t unit)
{
  return (int64_t)((size + (uint64_t)unit / 2) / (uint64_t)unit);
}

/* The rounded value selects the form: 59.96 s is "1 min 00 s", never "60.0 s". */
void tm_time_duration(struct tm_buf *out, int64_t ns)
{
  uint64_t size = size_of(ns);
  int64_t hundredths = rounded(size, TM_S / 100);
  int64_t tenths = rounded(size, TM_S / 10);
  int64_t seconds = rounded(size, TM_S);
  int64_t minutes = rounded(size, 60 * TM_S);

  if (ns < 0 && hundredths > 0)
    tm_buf_add_char(out, '-');
  if (hundredths < 1000)
    tm_buf_printf(out, "%d.%02d s", (int)(hundredths / 100), (int)(hundredths % 100));
  else if (tenths < 600)
    tm_buf_printf(out, "%d.%d s", (int)(tenths / 10), (int)(tenths % 10));
  else if (seconds < 3600)
    tm_buf_printf(out, "%d min %02d s", (int)(seconds / 60), (int)(seconds % 60));
  else
    tm_buf_printf(out, "%d h %02d min", (int)(minutes / 60), (int)(minutes % 60));
}

void tm_time_precise(struct tm_buf *out, int64_t ns)
{
  uint64_t size = size_of(ns);
  int64_t micros = rounded(size, TM_US);
  int64_t tenths = rounded(size, TM_MS / 10);

  if (rounded(size, TM_MS) >= 100) {
    tm_time_duration(out, ns);
    return;
  }
  if (ns < 0 && micros > 0)
    tm_buf_add_char(out, '-');
  if (micros < 1000)
    tm_buf_printf(out, "%d µs", (int)micros);
  else if (tenths < 100)
    tm_buf_printf(out, "%d.%d ms", (int)(tenths / 10), (int)(tenths % 10));
  else
    tm_buf_printf(out, "%d ms", (int)rounded(size, TM_MS));
}

void tm_time_clock(struct tm_buf *out, int64_t ns)
{
  int64_t seconds = ns < 0 ? 0 : ns / TM_S;

  tm_buf_printf(out, "%02" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
                (int)(seconds % 60));
}
