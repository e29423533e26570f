/* pen.h - fast formatting for the lines about every try: it reserves room once for a whole line,
 * computes the calendar once per second, and writes digits one by one. Other code uses base/buf.h
 * and base/time.h.
 *
 * Caller: start with enough room (adding more than that overwrites memory); add; stop.
 */
#ifndef TM_REPORT_PEN_H
#define TM_REPORT_PEN_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/time.h"

#define TM_PEN_INT     20 /* bytes: the maximum length of a number */
#define TM_PEN_SECONDS 27
#define TM_PEN_MOMENT  27

struct tm_pen {
  struct tm_buf *out;
  char *at, *end;
};

static inline void tm_pen_start(struct tm_pen *p, struct tm_buf *out, size_t room)
{
  tm_buf_reserve(out, room);
  p->out = out;
  p->at = out->data + out->len;
  p->end = p->at + room;
}

static inline void tm_pen_stop(struct tm_pen *p)
{
  tm_require(p->at <= p->end);
  p->out->len = (size_t)(p->at - p->out->data);
  *p->at = '\0';
}

static inline void tm_pen_add(struct tm_pen *p, const void *text, size_t n)
{
  memcpy(p->at, text, n);
  p->at += n;
}

#define TM_PEN_ADD(p, literal) tm_pen_add(p, literal, sizeof(literal) - 1)

static inline void tm_pen_add_char(struct tm_pen *p, char c)
{
  *p->at++ = c;
}

/* `count` digits, with leading zeros. */
static inline void tm_pen_add_digits(struct tm_pen *p, uint32_t n, int count)
{
  for (int i = count; i-- > 0; n /= 10)
    p->at[i] = (char)('0' + n % 10);
  p->at += count;
}

static inline void tm_pen_add_int(struct tm_pen *p, int64_t n)
{
  uint64_t rest = n < 0 ? -(uint64_t)n : (uint64_t)n;
  char digits[TM_PEN_INT];
  int at = TM_PEN_INT;
  if (n >= 0 && n < 10) { /* most are */
    tm_pen_add_char(p, (char)('0' + n));
    return;
  }
  do
    digits[--at] = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  if (n < 0)
    tm_pen_add_char(p, '-');
  tm_pen_add(p, digits + at, (size_t)(TM_PEN_INT - at));
}

/* "12.345678", truncated, not rounded; 0 if negative. */
static inline void tm_pen_add_seconds(struct tm_pen *p, int64_t ns)
{
  ns = ns < 0 ? 0 : ns;
  tm_pen_add_int(p, ns / TM_S);
  tm_pen_add_char(p, '.');
  tm_pen_add_digits(p, (uint32_t)(ns % TM_S / 1000), 6);
}

/* Moments. Those before the epoch are shown as the epoch. */
struct tm_stamp {
  int64_t second; /* since the epoch: the second of `text` */
  char text[20];  /* "2026-01-31 23:59:58" */
};

void tm_stamp_init(struct tm_stamp *s);
void tm_pen_add_log(struct tm_pen *p, struct tm_stamp *s, int64_t wall_ns); /* "...:58,123" */
/* "2026-01-31T23:59:58.123456Z" */
void tm_pen_add_iso(struct tm_pen *p, struct tm_stamp *s, int64_t wall_ns);

#endif
