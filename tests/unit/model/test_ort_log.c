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

static void lines_come_out_once_in_order_with_their_levels(void **state)
{
  size_t n;
  int64_t lost;
  add(TM_ORT_WARNING, "first");
  add(TM_ORT_FATAL, "second");
  struct tm_ort_line *lines = tm_ort_log_take(&l, &n, &lost);
  assert_int_equal(n, 2);
  assert_int_equal(lost, 0);
  assert_string_equal(lines[0].text, "first");
  assert_int_equal(lines[0].level, TM_WARNING);
  assert_string_equal(lines[1].text, "second");
  assert_int_equal(lines[1].level, TM_ERROR);
  free(lines);
  assert_null(tm_ort_log_take(&l, &n, &lost));
}

static void more_lines_are_only_counted(void **state)
{
  size_t n;
  int64_t lost;
  for (int i = 0; i < TM_ORT_LOG_LINES + 36; i++)
    add(TM_ORT_WARNING, "again");
  free(tm_ort_log_take(&l, &n, &lost));
  assert_int_equal(n, TM_ORT_LOG_LINES);
  assert_int_equal(lost, 36);
}

static void colours_and_control_characters_are_dropped(void **state)
{
  size_t n;
  int64_t lost;
  add(TM_ORT_ERROR, "\033[1;31mred\033[m and\ta\nbreak\033[0");
  struct tm_ort_line *lines = tm_ort_log_take(&l, &n, &lost);
  assert_string_equal(lines[0].text, "red and a break");
  free(lines);
}

static void a_long_line_is_cut_between_characters(void **state)
{
  char text[2 * TM_ORT_LOG_LINE_MAX + 1];
  size_t n;
  int64_t lost;
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  memcpy(text + TM_ORT_LOG_LINE_MAX - 2, "\xc3\xa4", 2);
  add(TM_ORT_ERROR, text);
  struct tm_ort_line *lines = tm_ort_log_take(&l, &n, &lost);
  assert_int_equal(strlen(lines[0].text), TM_ORT_LOG_LINE_MAX - 2);
  free(lines);
}

static void of_details_only_the_nodes_of_providers_are_kept(void **state)
{
  struct tm_ort_placed placed[TM_ORT_PLACED_MAX];
  size_t n;
  int64_t lost;
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
  assert_null(tm_ort_log_take(&l, &n, &lost));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS({
    CASE(lines_come_out_once_in_order_with_their_levels),
    CASE(more_lines_are_only_counted),
    CASE(colours_and_control_characters_are_dropped),
    CASE(a_long_line_is_cut_between_characters),
    CASE(of_details_only_the_nodes_of_providers_are_kept),
});
