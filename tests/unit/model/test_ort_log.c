/* test_ort_log.c - the library's log: bounded, plain text, and the nodes of each provider. */
#include "unit.h"

#include <string.h>

#include "model/ort_api.h"
#include "model/ort_log.h"

static struct tm_ort_log l;

static int setup(void **state)
{
  tm_ort_log_init(&l);
  return 0;
}

static int teardown(void **state)
{
  tm_ort_log_release(&l);
  return 0;
}

static void add(int level, const char *message)
{
  tm_ort_log_add(&l, level, "onnxruntime", "", "a.cc:1 f", message);
}

/* What is in it, and how many lines were lost. */
static void has(const char *lines, int64_t lost)
{
  struct tm_buf text = TM_BUF_NONE;
  assert_true(tm_ort_log_is_empty(&l) == (*lines == '\0'));
  assert_int_equal(tm_ort_log_take(&l, &text), lost);
  assert_string_equal(tm_buf_str(&text), lines);
  tm_buf_release(&text);
}

static void lines_come_out_once_in_order_with_their_levels(void **state)
{
  add(TM_ORT_WARNING, "first");
  add(TM_ORT_FATAL, "second");
  has("2first\n3second\n", 0);
  has("", 0);
}

static void more_lines_are_only_counted(void **state)
{
  struct tm_buf expected = TM_BUF_NONE;
  for (int i = 0; i < TM_ORT_LOG_LINES + 36; i++)
    add(TM_ORT_WARNING, "again");
  for (int i = 0; i < TM_ORT_LOG_LINES; i++)
    tm_buf_add_str(&expected, "2again\n");
  has(tm_buf_str(&expected), 36);
  has("", 0);
  tm_buf_release(&expected);
}

static void colours_and_control_characters_are_dropped(void **state)
{
  add(TM_ORT_ERROR, "\033[1;31mred\033[m and\ta\nbreak\033[0");
  has("3red and a break\n", 0);
}

static void a_long_line_is_cut_between_characters(void **state)
{
  char text[2 * TM_ORT_LOG_LINE_MAX + 1];
  struct tm_buf line = TM_BUF_NONE;
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  memcpy(text + TM_ORT_LOG_LINE_MAX - 2, "\xc3\xa4", 2);
  add(TM_ORT_ERROR, text);
  assert_int_equal(tm_ort_log_take(&l, &line), 0);
  assert_int_equal(line.len, 1 + TM_ORT_LOG_LINE_MAX - 2 + 1);
  tm_buf_release(&line);
}

static void of_details_only_the_nodes_of_providers_are_kept(void **state)
{
  struct tm_ort_placed placed[TM_ORT_PLACED_MAX];
  add(TM_ORT_VERBOSE, " All nodes placed on [CPUExecutionProvider]. Number of nodes: 12");
  add(TM_ORT_INFO, "Creating a session");
  add(TM_ORT_VERBOSE, "placed on [");
  assert_int_equal(tm_ort_log_placed(&l, placed), 1);
  assert_string_equal(placed[0].provider, "CPUExecutionProvider");
  assert_int_equal(placed[0].nodes, 12);
  for (int i = 0; i < TM_ORT_PLACED_MAX + 3; i++)
    add(TM_ORT_VERBOSE, " Node(s) placed on [ALongNameALongNameALongNameALongNameALongNameALongName"
                        "ALongName]. Number of nodes: 3");
  assert_int_equal(tm_ort_log_placed(&l, placed), TM_ORT_PLACED_MAX);
  assert_int_equal(placed[1].nodes, 3);
  tm_ort_log_begin_session(&l);
  assert_int_equal(tm_ort_log_placed(&l, placed), 0);
  has("", 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS({
    CASE(lines_come_out_once_in_order_with_their_levels),
    CASE(more_lines_are_only_counted),
    CASE(colours_and_control_characters_are_dropped),
    CASE(a_long_line_is_cut_between_characters),
    CASE(of_details_only_the_nodes_of_providers_are_kept),
});
