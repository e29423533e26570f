/* test_lines.c - line numbers are right wherever they are asked for, and no line is counted twice.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/rows/lines.h"
#include "random.h"

#define MB ((int64_t)1 << 20)

/* A simulated file with lines of 64 bytes each, which records how much of it was read. */
struct endless {
  struct tm_stream stream;
  int64_t bytes;
};

static int64_t endless_read(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  char *out = p;
  (void)err;
  memset(out, 'x', n);
  for (int64_t i = (63 - at % 64) % 64; i < (int64_t)n; i += 64)
    out[i] = '\n';
  ((struct endless *)s)->bytes += (int64_t)n;
  return (int64_t)n;
}

static int64_t find(struct tm_lines *l, struct endless *e, int64_t at)
{
  return tm_lines_find(l, &e->stream, TM_ENCODING_UTF8, false, at);
}

static void any_byte_is_in_its_line(void **state)
{
  enum { SIZE = 5000 };
  char text[SIZE];
  struct random r = { 3 };
  struct tm_lines l = { 0 };
  for (int i = 0; i < SIZE; i++)
    text[i] = random_below(&r, 7) == 0 ? '\n' : 'a';
  struct tm_stream *s = tm_stream_of_bytes(text, SIZE);
  tm_lines_begin(&l, "/a", SIZE);
  for (int k = 0; k < 2000; k++) {
    int64_t at = (int64_t)random_below(&r, SIZE), line = 1;
    for (int64_t i = 0; i < at; i++)
      line += text[i] == '\n';
    if (k % 10 == 0)
      tm_lines_note(&l, at, line - 1);
    else
      assert_int_equal(tm_lines_find(&l, s, TM_ENCODING_UTF8, false, at), line);
  }
  tm_lines_begin(&l, "/b", SIZE); /* forgets what it knew about another file */
  assert_int_equal(tm_lines_find(&l, s, TM_ENCODING_UTF8, false, 0), 1);
  tm_stream_close(s);
  tm_lines_release(&l);
}

static void far_lines_are_counted_once(void **state)
{
  struct endless e = { .stream = { .read = endless_read, .size = INT64_MAX } };
  struct tm_lines l = { 0 };
  tm_lines_begin(&l, "/a", 0);
  for (int64_t at = 150 * MB; at < 600 * MB; at += 7 * MB)
    assert_int_equal(find(&l, &e, at), at / 64 + 1);
  assert_true(e.bytes < 600 * MB);
  assert_int_equal(find(&l, &e, 300 * MB + 5), 300 * MB / 64 + 1); /* back again */
  assert_true(e.bytes < 700 * MB);
  tm_lines_release(&l);
}

static void lines_of_packed_files_are_counted_near_the_begin(void **state)
{
  struct endless e = { .stream = { .read = endless_read, .size = -1 } };
  struct tm_lines l = { 0 };
  tm_lines_begin(&l, "/a", 0);
  assert_int_equal(find(&l, &e, 10000 * MB), 0);
  tm_lines_note(&l, 9999 * MB, 9999 * MB / 64);
  assert_int_equal(find(&l, &e, 10000 * MB), 10000 * MB / 64 + 1);
  e.stream.is_in_order = true; /* it would start at the beginning again */
  assert_int_equal(find(&l, &e, 10000 * MB + 1), 0);
  assert_true(e.bytes <= 2 * MB);
  tm_lines_release(&l);
}

UNIT_TESTS({
    cmocka_unit_test(any_byte_is_in_its_line),
    cmocka_unit_test(far_lines_are_counted_once),
    cmocka_unit_test(lines_of_packed_files_are_counted_near_the_begin),
});
