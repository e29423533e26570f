/* pen.c - see pen.h.
 *
 * A job of small mini-batches ends a hundred thousand tries a second, and each is in two files,
 * with moments and three durations. printf, calendar arithmetic and a check of the room for each
 * word would cost more than everything else about a try.
 */
#include "report/pen.h"

#define TEXT_LEN 19 /* "2026-01-31 23:59:58" */
#define DATE_LEN 10

void tm_stamp_init(struct tm_stamp *s)
{
  *s = (struct tm_stamp) { .second = INT64_MIN };
}

static void find_second(struct tm_stamp *s, int64_t wall_ns)
{
  struct tm_buf text = TM_BUF_NONE;
  if (wall_ns / TM_S == s->second)
    return;
  s->second = wall_ns / TM_S;
  tm_time_second(&text, wall_ns);
  memcpy(s->text, text.data, TEXT_LEN);
  tm_buf_release(&text);
}

void tm_pen_add_log(struct tm_pen *p, struct tm_stamp *s, int64_t wall_ns)
{
  wall_ns = wall_ns < 0 ? 0 : wall_ns;
  find_second(s, wall_ns);
  tm_pen_add(p, s->text, TEXT_LEN);
  tm_pen_add_char(p, ',');
  tm_pen_add_digits(p, (uint32_t)(wall_ns % TM_S / TM_MS), 3);
}

void tm_pen_add_iso(struct tm_pen *p, struct tm_stamp *s, int64_t wall_ns)
{
  wall_ns = wall_ns < 0 ? 0 : wall_ns;
  find_second(s, wall_ns);
  tm_pen_add(p, s->text, DATE_LEN);
  tm_pen_add_char(p, 'T');
  tm_pen_add(p, s->text + DATE_LEN + 1, TEXT_LEN - DATE_LEN - 1);
  tm_pen_add_char(p, '.');
  tm_pen_add_digits(p, (uint32_t)(wall_ns % TM_S / 1000), 6);
  tm_pen_add_char(p, 'Z');
}
