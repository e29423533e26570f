/* test_claims.c - which paths files of context:output_file() take on their way. */
#include "unit.h"

#include <stdio.h>

#include "commit/claims.h"

#define MANY 20000

static enum tm_claim find(const struct tm_claims *c, const char *path)
{
  uint64_t number;
  return tm_claims_find(c, path, &number);
}

static void a_path_is_a_file_or_a_folder_or_below_a_file(void **state)
{
  struct tm_claims c = { 0 };
  uint64_t number = 0;
  assert_int_equal(find(&c, "/out/a"), TM_CLAIM_NONE);
  tm_claims_add(&c, "/out/a/b", 0);
  tm_claims_add(&c, "/out/c", 7);
  assert_int_equal(tm_claims_find(&c, "/out/a/b", &number), TM_CLAIM_FILE);
  assert_int_equal(number, 0);
  assert_int_equal(tm_claims_find(&c, "/out/c", &number), TM_CLAIM_FILE);
  assert_int_equal(number, 7);
  assert_int_equal(find(&c, "/out/a"), TM_CLAIM_FOLDER);
  assert_int_equal(find(&c, "/out"), TM_CLAIM_FOLDER);
  assert_int_equal(find(&c, "/out/c/d/e"), TM_CLAIM_BELOW);
  assert_int_equal(find(&c, "/out/a/bb"), TM_CLAIM_NONE);
  assert_int_equal(find(&c, "/out/cc/d"), TM_CLAIM_NONE);
  assert_int_equal(find(&c, "/ou"), TM_CLAIM_NONE);
  tm_claims_release(&c);
}

static void a_removed_file_leaves_the_folders_that_others_need(void **state)
{
  struct tm_claims c = { 0 };
  tm_claims_add(&c, "/out/a/1", 1);
  tm_claims_add(&c, "/out/a/2", 2);
  tm_claims_remove(&c, "/out/a/2");
  assert_int_equal(find(&c, "/out/a/2"), TM_CLAIM_NONE);
  assert_int_equal(find(&c, "/out/a"), TM_CLAIM_FOLDER);
  tm_claims_add(&c, "/out/b", 3);
  tm_claims_remove(&c, "/out/a/1");
  assert_int_equal(find(&c, "/out/a"), TM_CLAIM_NONE);
  tm_claims_add(&c, "/out/a", 4);
  assert_int_equal(find(&c, "/out/a/1"), TM_CLAIM_BELOW);
  tm_claims_remove(&c, "/out/b");
  tm_claims_remove(&c, "/out/a");
  assert_true(c.files.cap == 0 && c.folders.cap == 0);
  tm_claims_release(&c);
}

static void many_files_share_few_folders(void **state)
{
  struct tm_claims c = { 0 };
  char path[64];
  uint64_t number;
  for (uint64_t i = 0; i < MANY; i++) {
    snprintf(path, sizeof(path), "/out/%u/%u", (unsigned)(i % 10), (unsigned)i);
    assert_int_equal(tm_claims_find(&c, path, &number), TM_CLAIM_NONE);
    tm_claims_add(&c, path, i);
  }
  assert_int_equal(c.len, MANY);
  assert_int_equal(c.folders.len, 11);
  assert_int_equal(tm_claims_find(&c, "/out/9/19999", &number), TM_CLAIM_FILE);
  assert_int_equal(number, 19999);
  tm_claims_release(&c);
}

UNIT_TESTS({
    cmocka_unit_test(a_path_is_a_file_or_a_folder_or_below_a_file),
    cmocka_unit_test(a_removed_file_leaves_the_folders_that_others_need),
    cmocka_unit_test(many_files_share_few_folders),
});
