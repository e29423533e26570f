/* test_snapshot_text.c - the copy of a script that is part of the program: as that of a file. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot/snapshot.h"
#include "tree.h"

static struct tm_snapshot taken(const struct tm_config *config, const char *to)
{
  struct tm_snapshot s;
  struct tm_err err = TM_ERR_NONE;
  if (tm_snapshot_take(tm_fs_real(), config, NULL, to, &s, &err) < 0)
    fail_msg("%s", err.text);
  return s;
}

static void a_text_is_copied_as_a_file_is(void **state)
{
  char *dir = folder_make(), *to = tm_path_join(dir, "copy"), hash[17];
  file_put(dir, "score.lua", "function run() end", 0600);
  struct tm_config file = { .entry_script = tm_path_join(dir, "score.lua") };
  struct tm_config text = { .entry_script = tm_path_join(dir, "none/score.lua"),
                            .script_text = "function run() end" };
  struct tm_snapshot first = taken(&file, to), second = taken(&text, to);
  assert_string_equal(second.hash, first.hash);
  char *found = file_text(to, "score.lua");
  assert_string_equal(found, text.script_text);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &text, NULL, hash, NULL), 0);
  assert_string_equal(hash, first.hash);
  assert_int_equal(tm_snapshot_hash_dir(tm_fs_real(), to, hash, NULL), 0);
  assert_string_equal(hash, first.hash);
  assert_int_equal(second.files, first.files);
  assert_int_equal(second.bytes, first.bytes);
  struct tm_buf words = TM_BUF_NONE;
  assert_int_equal(tm_snapshot_diff(&words, tm_fs_real(), &text, NULL, to, NULL), 0);
  assert_int_equal(words.len, 0);
  text.script_text = "function run(x) end";
  assert_int_equal(tm_snapshot_diff(&words, tm_fs_real(), &text, NULL, to, NULL), 0);
  assert_string_equal(tm_buf_str(&words), "'score.lua' has changed");
  tm_buf_release(&words);
  free(found);
  tm_snapshot_release(&first);
  tm_snapshot_release(&second);
  free(file.entry_script);
  free(text.entry_script);
  free(to);
  folder_remove(dir);
}

static void a_text_and_a_file_of_one_name_are_two_sources(void **state)
{
  struct tm_config a = { .entry_script = (char *)"/s.lua", .script_text = "x" }, b = a;
  assert_true(tm_snapshot_is_same(&a, &b));
  b.script_text = NULL;
  assert_false(tm_snapshot_is_same(&a, &b));
}

UNIT_TESTS({
    cmocka_unit_test(a_text_is_copied_as_a_file_is),
    cmocka_unit_test(a_text_and_a_file_of_one_name_are_two_sources),
});
