/* Trees of stacks, from files of collapsed stacks. */
#include "unit.h"

#include <string.h>

#include "base/buf.h"
#include "page/stacks.h"

static void read_all(struct tm_stacks *s, const char *text)
{
  tm_stacks_init(s);
  tm_stacks_add(s, text, strlen(text));
  tm_stacks_settle(s);
}

static void frames_have_the_samples_of_all_below_them(void **state)
{
  (void)state;
  struct tm_stacks s;
  read_all(&s, "a:1;b:2 10\na:1;c:3 0000000030\na:1 5\n");
  assert_int_equal(s.nodes.at[0].samples, 45);
  const struct tm_stack_node *a = &s.nodes.at[s.nodes.at[0].child];
  assert_string_equal(a->name, "a:1");
  assert_int_equal(a->samples, 45);
  assert_int_equal(a->self, 5);
  const struct tm_stack_node *c = &s.nodes.at[a->child]; /* most samples first */
  assert_string_equal(c->name, "c:3");
  assert_string_equal(s.nodes.at[c->next].name, "b:2");
  assert_int_equal(s.bad_lines, 0);
  tm_stacks_release(&s);
}

static void files_add_up(void **state)
{
  (void)state;
  struct tm_stacks s;
  tm_stacks_init(&s);
  tm_stacks_add(&s, "a 1\n", 4);
  tm_stacks_add(&s, "a 2", 3); /* the end of a file that was cut */
  tm_stacks_settle(&s);
  assert_int_equal(s.nodes.len, 2);
  assert_int_equal(s.nodes.at[1].samples, 3);
  tm_stacks_release(&s);
}

static void lines_of_other_programs_are_counted(void **state)
{
  (void)state;
  struct tm_stacks s;
  read_all(&s, "{\"json\": 1}\n\n17\n a\na;b -5x\nok 3\nno number \nbig 99999999999999999999\n");
  assert_int_equal(s.nodes.at[0].samples, 3);
  assert_int_equal(s.bad_lines, 6);
  tm_stacks_release(&s);
}

static void deep_stacks_are_cut(void **state)
{
  (void)state;
  struct tm_stacks s;
  struct tm_buf text = TM_BUF_NONE;
  for (int i = 0; i < 5000; i++)
    tm_buf_printf(&text, "f:%d;", i);
  tm_buf_add_str(&text, "last 7\n");
  read_all(&s, tm_buf_str(&text));
  assert_int_equal(s.nodes.len, TM_STACK_DEPTH + 1);
  assert_int_equal(s.nodes.at[0].samples, 7);
  assert_int_equal(s.nodes.at[TM_STACK_DEPTH].self, 7);
  tm_buf_release(&text);
  tm_stacks_release(&s);
}

/* A function that calls itself is in a stack several times, and counts once. */
static void hot_lines_count_each_stack_once(void **state)
{
  (void)state;
  struct tm_stacks s;
  size_t len;
  read_all(&s, "a;b;a;b 4\na;c 3\n");
  struct tm_stack_line *hot = tm_stacks_hot(&s, 2, &len);
  assert_int_equal(len, 2);
  assert_string_equal(hot[0].name, "b");
  assert_int_equal(hot[0].self, 4);
  assert_int_equal(hot[0].samples, 4);
  assert_string_equal(hot[1].name, "c");
  free(hot);
  hot = tm_stacks_hot(&s, 9, &len);
  assert_int_equal(len, 3);
  assert_string_equal(hot[2].name, "a");
  assert_int_equal(hot[2].samples, 7);
  free(hot);
  tm_stacks_release(&s);
}

static void sums_stop_at_the_largest_number(void **state)
{
  (void)state;
  struct tm_stacks s;
  struct tm_buf text = TM_BUF_NONE;
  for (int i = 0; i < 60; i++)
    tm_buf_printf(&text, "a;b%d 999999999999999999\n", i);
  read_all(&s, tm_buf_str(&text));
  assert_true(s.nodes.at[0].samples > 0);
  tm_buf_release(&text);
  tm_stacks_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(frames_have_the_samples_of_all_below_them),
    cmocka_unit_test(files_add_up),
    cmocka_unit_test(lines_of_other_programs_are_counted),
    cmocka_unit_test(deep_stacks_are_cut),
    cmocka_unit_test(hot_lines_count_each_stack_once),
    cmocka_unit_test(sums_stop_at_the_largest_number),
});
