/* test_snapshot_diff.c - which files of a script have changed since a job copied them. */
#include "unit.h"

#include <stdlib.h>

#include "snapshot/snapshot.h"
#include "tree.h"

struct world {
  char *dir, *to;
  struct tm_config config;
};

static void setup(struct world *w, bool has_folder)
{
  struct tm_snapshot s;
  struct tm_err err = TM_ERR_NONE;
  *w = (struct world) { .dir = folder_make() };
  w->to = tm_path_join(w->dir, "job/script/predict");
  file_put(w->dir, "src/score.lua", "function run() end", 0644);
  file_put(w->dir, "src/lib/tool", "#!/bin/sh\n", 0755);
  w->config.entry_script = tm_path_join(w->dir, "src/score.lua");
  w->config.source_directory = has_folder ? tm_path_join(w->dir, "src") : NULL;
  if (tm_snapshot_take(tm_fs_real(), &w->config, NULL, w->to, &s, &err) < 0)
    fail_msg("%s", err.text);
  tm_snapshot_release(&s);
}

static void teardown(struct world *w)
{
  free(w->config.entry_script);
  free(w->config.source_directory);
  free(w->to);
  folder_remove(w->dir);
}

static void differs(const struct world *w, const char *expected)
{
  struct tm_buf words = TM_BUF_NONE;
  assert_int_equal(tm_snapshot_diff(&words, tm_fs_real(), &w->config, NULL, w->to, NULL), 0);
  assert_string_equal(tm_buf_str(&words), expected);
  tm_buf_release(&words);
}

static void a_changed_script_is_named(void **state)
{
  struct world w;
  setup(&w, false);
  differs(&w, "");
  file_put(w.dir, "src/score.lua", "function run() end ", 0600);
  differs(&w, "'score.lua' has changed");
  teardown(&w);
}

static void changed_and_new_files_of_a_folder_are_named(void **state)
{
  struct world w;
  setup(&w, true);
  differs(&w, "");
  file_put(w.dir, "src/lib/tool", "#!/bin/sh\n", 0600);
  differs(&w, "'lib/tool' has changed");
  file_put(w.dir, "src/new.lua", "", 0600);
  differs(&w, "'lib/tool' has changed, 'new.lua' is new");
  file_put(w.dir, "src/a/1.lua", "", 0600);
  file_put(w.dir, "src/a/2.lua", "", 0600);
  differs(&w, "'a/1.lua' is new, 'a/2.lua' is new, 'lib/tool' has changed and 1 more");
  teardown(&w);
}

/* Workers may have written there. */
static void only_files_of_the_copy_are_named(void **state)
{
  struct world w;
  setup(&w, true);
  file_put(w.to, "made_by_run.txt", "x", 0600);
  differs(&w, "'made_by_run.txt' is gone");
  file_put(w.dir, "src/new.lua", "", 0600);
  differs(&w, "'new.lua' is new");
  teardown(&w);
}

static void without_a_copy_it_fails(void **state)
{
  struct world w;
  struct tm_buf words = TM_BUF_NONE;
  setup(&w, false);
  assert_true(tm_snapshot_diff(&words, tm_fs_real(), &w.config, NULL, "/nonexistent", NULL) < 0);
  assert_int_equal(words.len, 0);
  teardown(&w);
}

UNIT_TESTS({
    cmocka_unit_test(a_changed_script_is_named),
    cmocka_unit_test(changed_and_new_files_of_a_folder_are_named),
    cmocka_unit_test(only_files_of_the_copy_are_named),
    cmocka_unit_test(without_a_copy_it_fails),
});
