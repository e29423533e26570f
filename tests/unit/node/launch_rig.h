/* launch_rig.h - what tests of commands share that a real keeper launches (rig.h). */
#ifndef TM_TESTS_LAUNCH_RIG_H
#define TM_TESTS_LAUNCH_RIG_H

#include "rig.h"

static inline struct tm_launch_ended launch_wait_ended(struct rig *r, uint32_t number)
{
  struct tm_launch_ended e;
  const struct tm_msg *f = rig_wait(r, TM_MSG_LAUNCH_ENDED, number);
  assert_int_equal(tm_launch_ended_decode(&e, f->payload, f->length, NULL), 0);
  assert_true(e.lived_ns > 0);
  return e;
}

/* The next line that it writes, in static memory. */
static inline const char *launch_read_line(int fd)
{
  static char line[4096];
  size_t len = 0;
  struct pollfd p = { .fd = fd, .events = POLLIN };
  do {
    assert_true(len + 1 < sizeof line);
    assert_int_equal(poll(&p, 1, (int)(RIG_LIMIT / TM_MS)), 1);
    assert_int_equal(read(fd, line + len, 1), 1);
  } while (line[len++] != '\n');
  line[len - 1] = '\0';
  return line;
}

static inline void launch_expect_end_of_keeper(struct rig *r)
{
  while (!r->has_ended)
    rig_turn(r);
  rig_close(r);
}

#endif
