/* test_gpus.c - which devices there are, by variables and by the names in /dev. */
#include "unit.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/machine/gpus.h"

/* The names with blanks between them. */
static void expect(const char *visible, const char *count, size_t devices, const char *names)
{
  struct tm_gpus g;
  struct tm_buf text = TM_BUF_NONE;
  tm_gpus_read(&g, visible, count, devices);
  for (size_t i = 0; i < g.len; i++)
    tm_buf_printf(&text, "%s%s", i > 0 ? " " : "", g.names[i]);
  assert_string_equal(tm_buf_str(&text), names);
  tm_gpus_release(&g);
  tm_buf_release(&text);
}

static void the_variable_goes_before_all_else(void **state)
{
  expect("0,1", "4", 8, "0 1");
  expect("3", NULL, 8, "3");
  expect("2,0", NULL, 0, "2 0"); /* in order */
  expect(" 1 ,\t0 ", NULL, 0, "1 0");
  expect("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,MIG-GPU-8932f937/1/0,MIG-41b35e2c", NULL, 0,
         "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6 MIG-GPU-8932f937/1/0 MIG-41b35e2c");
}

static void each_device_is_listed_once(void **state)
{
  expect("0,0,1", NULL, 0, "0 1");
}

static void variables_that_hide_devices_work(void **state)
{
  expect("", "4", 8, "");
  expect("-1", "4", 8, "");
  expect("NoDevFiles", "4", 8, "");
  expect("0,-1,1", NULL, 8, "0"); /* as CUDA reads it */
  expect("0,,1", NULL, 8, "0");
  expect("0,1,", NULL, 8, "0 1");
}

static void without_it_the_count_decides(void **state)
{
  expect(NULL, "2", 8, "0 1");
  expect(NULL, "0", 8, "");
  expect(NULL, NULL, 3, "0 1 2");
  expect(NULL, NULL, 0, "");
}

static void an_invalid_count_is_ignored(void **state)
{
  expect(NULL, "", 1, "0");
  expect(NULL, "two", 1, "0");
  expect(NULL, "-1", 1, "0");
  expect(NULL, "99999999999999999999", 1, "0");
}

static void a_huge_count_is_cut(void **state)
{
  struct tm_gpus g;
  tm_gpus_read(&g, NULL, "1000000000", 0);
  assert_int_equal(g.len, TM_GPUS_MAX);
  assert_string_equal(g.names[TM_GPUS_MAX - 1], "1023");
  tm_gpus_release(&g);
}

static void devices_are_known_by_their_names(void **state)
{
  assert_true(tm_gpus_is_device("nvidia0"));
  assert_true(tm_gpus_is_device("nvidia15"));
  static const char *const others[] = { "nvidia",   "nvidiactl", "nvidia-uvm",
                                        "nvidia0x", "xnvidia0",  "nvidia-caps",
                                        "" };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_false(tm_gpus_is_device(others[i]));
}

UNIT_TESTS({
    cmocka_unit_test(the_variable_goes_before_all_else),
    cmocka_unit_test(each_device_is_listed_once),
    cmocka_unit_test(variables_that_hide_devices_work),
    cmocka_unit_test(without_it_the_count_decides),
    cmocka_unit_test(an_invalid_count_is_ignored),
    cmocka_unit_test(a_huge_count_is_cut),
    cmocka_unit_test(devices_are_known_by_their_names),
});
