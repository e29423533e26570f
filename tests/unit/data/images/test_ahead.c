/* test_ahead.c - sets are decoded in their order, by any number of threads; a picture that
 * cannot be read fails alone; a stop ends all of it. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "data/images/ahead.h"
#include "data/images/image_file.h"
#include "folder.h"

#define PICTURES 20
#define SETS     3

static struct tm_ahead_options options(void)
{
  return (struct tm_ahead_options) {
    .picture = { .sizing = { .width = 2, .height = 2 },
                 .filter = TM_FILTER_BILINEAR,
                 .channels = TM_CHANNELS_GRAY,
                 .scaling = { TM_TENSOR_UINT8, 1, { 0 }, { 1, 1, 1, 1 } },
                 .max_pixels = 1000000,
                 .max_memory = 1 << 20 },
    .max_bytes = 1000,
  };
}

struct sets {
  struct tm_ahead_set sets[SETS];
  struct tm_ahead_picture pictures[SETS][PICTURES];
  char text[SETS][PICTURES][32];
  uint8_t data[SETS][PICTURES][4];
};

/* Picture i of set b has the grey b * 20 + i; number 7 of each is not a picture. */
static void add_all(struct tm_ahead *a, struct sets *s)
{
  for (int b = 0; b < SETS; b++) {
    for (int i = 0; i < PICTURES; i++) {
      size_t len = (size_t)sprintf(s->text[b][i], "%s 1 1 255\n%c", i == 7 ? "X5" : "P5",
                                   1 + b * PICTURES + i);
      s->pictures[b][i] = (struct tm_ahead_picture) {
        .name = "one", .data = (uint8_t *)s->text[b][i], .len = len, .to = s->data[b][i]
      };
    }
    tm_ahead_add(a, &s->sets[b], s->pictures[b], PICTURES);
  }
}

static void check_set(const struct sets *s, int b)
{
  for (int i = 0; i < PICTURES; i++) {
    const struct tm_ahead_picture *p = &s->pictures[b][i];
    if (i == 7) {
      assert_true(p->code < 0);
      assert_non_null(strstr(p->message, "cannot read 'one'"));
    } else {
      assert_int_equal(p->code, 0);
      assert_null(p->message);
      for (int k = 0; k < 4; k++)
        assert_int_equal(s->data[b][i][k], 1 + b * PICTURES + i);
    }
  }
}

static void free_messages(struct sets *s)
{
  for (int b = 0; b < SETS; b++)
    for (int i = 0; i < PICTURES; i++)
      free(s->pictures[b][i].message);
  free(s);
}

static void each_set_is_complete_when_it_is_taken(void **state)
{
  (void)state;
  struct tm_ahead_options o = options();
  for (int threads = 0; threads < 4; threads++) {
    struct sets *s = TM_NEW(struct sets);
    struct tm_ahead *a = tm_ahead_open(&o, threads);
    add_all(a, s);
    for (int b = 0; b < SETS; b++) {
      assert_int_equal(tm_ahead_take(a, &s->sets[b]), 0);
      check_set(s, b);
    }
    tm_ahead_close(a);
    free_messages(s);
  }
}

static void it_can_be_closed_while_it_works(void **state)
{
  (void)state;
  struct tm_ahead_options o = options();
  for (int threads = 0; threads < 3; threads++) {
    struct sets *s = TM_NEW(struct sets);
    struct tm_ahead *a = tm_ahead_open(&o, threads);
    add_all(a, s);
    assert_int_equal(tm_ahead_take(a, &s->sets[0]), 0);
    tm_ahead_close(a);
    free_messages(s);
  }
}

static void a_stop_fails_what_is_left(void **state)
{
  (void)state;
  struct tm_ahead_options o = options();
  struct sets *s = TM_NEW(struct sets);
  struct tm_ahead *a = tm_ahead_open(&o, 0);
  add_all(a, s);
  assert_int_equal(tm_ahead_take(a, &s->sets[0]), 0);
  tm_ahead_stop(a);
  assert_int_equal(tm_ahead_take(a, &s->sets[1]), -ECANCELED);
  assert_int_equal(s->pictures[1][0].code, -ECANCELED);
  tm_ahead_close(a);
  free_messages(s);
}

static void only_regular_files_within_the_limit_are_read(void **state)
{
  (void)state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf text = TM_BUF_NONE;
  struct folder f;
  char want[400];
  folder_init(&f);
  assert_int_equal(tm_image_file_read(f.path, 10, &text, &err), TM_EINPUT);
  assert_non_null(strstr(err.text, ": it is a folder"));
  assert_int_equal(mkfifo(folder_file(&f, "fifo"), 0600), 0);
  assert_int_equal(tm_image_file_read(f.name, 10, &text, &err), TM_EINPUT);
  assert_non_null(strstr(err.text, ": it is not a regular file"));
  assert_int_equal(tm_image_file_read(folder_file(&f, "none"), 10, &text, &err), -ENOENT);
  folder_put(&f, "eleven", 0, "elf bytes..", 11);
  assert_int_equal(tm_image_file_read(f.name, 10, &text, &err), TM_ELIMIT);
  snprintf(want, sizeof want, "cannot read '%s': the file has 11 bytes; 'max_bytes' is 10 bytes",
           f.name);
  assert_string_equal(err.text, want);
  assert_int_equal(tm_image_file_read(f.name, 11, &text, &err), 0);
  assert_int_equal(text.len, 11);
  assert_int_equal(tm_image_file_read_front(f.name, 3, &text, &err), 0);
  assert_int_equal(text.len, 3);
  tm_buf_release(&text);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(each_set_is_complete_when_it_is_taken),
    cmocka_unit_test(it_can_be_closed_while_it_works),
    cmocka_unit_test(a_stop_fails_what_is_left),
    cmocka_unit_test(only_regular_files_within_the_limit_are_read),
});
