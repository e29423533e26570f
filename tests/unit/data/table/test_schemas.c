/* test_schemas.c - state/schema.json: reading returns what was written, and reports missing or
 * damaged files.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/table/schemas.h"
#include "tree_fixture.h"

static void written_values_are_read_back(void **state)
{
  static const char *const formats[] = { "%d.%m.%Y" };
  struct tm_schemas out, in;
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_path_join(*state, "schema.json");
  tm_schemas_init(&out, 2);
  tm_schemas_init(&in, 2);
  assert_int_equal(tm_schemas_read(&in, tm_fs_real(), path, &err), 0); /* the file is missing */
  assert_int_equal(in.at[1].len, 0);
  tm_schema_set_type(tm_schema_add(&out.at[1], "day", 3), TM_COLUMN_DATETIME, formats, 1);
  tm_schema_add(&out.at[1], "Path", 4)->of_file = true;
  assert_int_equal(tm_schemas_write(&out, tm_fs_real(), path, &err), 0);
  assert_int_equal(tm_schemas_read(&in, tm_fs_real(), path, &err), 0);
  assert_int_equal(in.at[0].len, 0);
  assert_true(tm_schema_is_equal(&in.at[1], &out.at[1]));
  tm_schemas_release(&out);
  tm_schemas_release(&in);
  free(path);
}

static void invalid_ones_are_refused(void **state)
{
  static const struct {
    const char *text;
    int code;
  } cases[] = {
    { "", TM_EDAMAGE },
    { "{\"version\":1,\"inputs\":[null]}", TM_EVERSION },
    { "{\"version\":3,\"inputs\":[null]}", TM_EVERSION },
    { "{\"version\":2,\"inputs\":[null]}", TM_EDAMAGE },
    { "{\"version\":2,\"inputs\":[null],\"check\":\"0000000000000000\"}", TM_EDAMAGE },
    { "{\"version\":2}", TM_EDAMAGE },
    { "{\"version\":2,\"inputs\":[null,null]}", TM_EDAMAGE },
    { "{\"version\":2,\"inputs\":[{\"columns\":7}]}", TM_EDAMAGE },
    { "{\"version\":2,\"inputs\":[{\"columns\":[{\"name\":\"a\",\"type\":\"?\"}]}]}", TM_EDAMAGE },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_schemas s;
    struct tm_err err = TM_ERR_NONE;
    char *path = tm_path_join(*state, "schema.json");
    tree_file(*state, "schema.json", cases[i].text, strlen(cases[i].text));
    tm_schemas_init(&s, 1);
    assert_int_equal(tm_schemas_read(&s, tm_fs_real(), path, &err), cases[i].code);
    assert_non_null(strstr(err.text, "schema.json' "));
    assert_non_null(strstr(err.text, "restore the file, or start a new job"));
    tm_schemas_release(&s);
    free(path);
  }
}

/* Flips one bit of every byte: reading returns what was written, or refuses the file. */
static void no_change_goes_unnoticed(void **state)
{
  static const char *const formats[] = { "%d.%m.%Y" };
  struct tm_schemas out;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(*state, "schema.json");
  int refused = 0;
  tm_schemas_init(&out, 1);
  tm_schema_set_type(tm_schema_add(&out.at[0], "day", 3), TM_COLUMN_DATETIME, formats, 1);
  tm_schema_add(&out.at[0], "amount", 6);
  assert_int_equal(tm_schemas_write(&out, tm_fs_real(), path, &err), 0);
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1 << 20, &text, &err) >= 0);
  for (size_t i = 0; i < text.len; i++) {
    struct tm_schemas in;
    tm_schemas_init(&in, 1);
    text.data[i] ^= 1;
    tree_file(*state, "schema.json", text.data, text.len);
    text.data[i] ^= 1;
    if (tm_schemas_read(&in, tm_fs_real(), path, &err) < 0)
      refused++;
    else
      assert_true(tm_schema_is_equal(&in.at[0], &out.at[0]));
    tm_schemas_release(&in);
  }
  assert_true(refused > (int)text.len / 2);
  tm_schemas_release(&out);
  tm_buf_release(&text);
  free(path);
}

UNIT_HOOKS(.setup = tree_setup, .teardown = tree_teardown);
UNIT_TESTS({
    cmocka_unit_test(written_values_are_read_back),
    cmocka_unit_test(invalid_ones_are_refused),
    cmocka_unit_test(no_change_goes_unnoticed),
});
