/* test_trust.c - which workspaces and jobs may be used when the program finds them: by owner and
 * mode, by consent, and the message otherwise. */
#include "unit.h"

#include "store_fixture.h"

#include "store/jobs.h"
#include "store/workspace.h"

#define ROOT  0
#define ALICE 1000
#define BOB   1001

static enum tm_trust judge(uint32_t caller, int64_t sudo, uint32_t owner, uint32_t mode)
{
  return tm_trust_judge(&(struct tm_caller) { .uid = caller, .sudo_uid = sudo }, owner, mode);
}

static void ones_own_and_root_s_are_trusted(void **state)
{
  assert_int_equal(judge(ALICE, -1, ALICE, S_IFDIR | 0700), TM_TRUSTED);
  assert_int_equal(judge(ALICE, -1, ALICE, S_IFDIR | 0755), TM_TRUSTED);
  assert_int_equal(judge(ALICE, -1, ROOT, S_IFDIR | 0755), TM_TRUSTED);
  assert_int_equal(judge(ROOT, -1, ROOT, S_IFREG | 0644), TM_TRUSTED);
}

static void another_user_s_is_not_even_for_root(void **state)
{
  assert_int_equal(judge(ALICE, -1, BOB, S_IFDIR | 0700), TM_TRUST_OTHER_OWNER);
  assert_int_equal(judge(ALICE, -1, BOB, S_IFDIR | 0777), TM_TRUST_OTHER_OWNER);
  assert_int_equal(judge(ROOT, -1, BOB, S_IFDIR | 0700), TM_TRUST_OTHER_OWNER);
  assert_int_equal(judge(ROOT, -1, UINT32_MAX, S_IFDIR | 0700), TM_TRUST_OTHER_OWNER);
}

static void root_by_sudo_trusts_its_caller(void **state)
{
  assert_int_equal(judge(ROOT, ALICE, ALICE, S_IFDIR | 0700), TM_TRUSTED);
  assert_int_equal(judge(ROOT, ALICE, BOB, S_IFDIR | 0700), TM_TRUST_OTHER_OWNER);
  assert_int_equal(judge(BOB, ALICE, ALICE, S_IFDIR | 0700), TM_TRUST_OTHER_OWNER);
}

static void a_folder_that_others_can_write_to_is_not_trusted(void **state)
{
  assert_int_equal(judge(ALICE, -1, ALICE, S_IFDIR | 0770), TM_TRUST_OTHERS_WRITE);
  assert_int_equal(judge(ALICE, -1, ALICE, S_IFDIR | 02775), TM_TRUST_OTHERS_WRITE);
  assert_int_equal(judge(ALICE, -1, ALICE, S_IFDIR | 01777), TM_TRUST_OTHERS_WRITE);
  assert_int_equal(judge(ALICE, -1, ROOT, S_IFREG | 0602), TM_TRUST_OTHERS_WRITE);
  assert_int_equal(judge(ALICE, -1, ALICE, S_IFLNK | 0777), TM_TRUSTED);
  assert_int_equal(judge(ALICE, -1, BOB, S_IFLNK | 0777), TM_TRUST_OTHER_OWNER);
}

static void set_mode(const char *dir, const char *name, mode_t mode)
{
  char *path = tm_path_join(dir, name);
  assert_int_equal(chmod(path, mode), 0);
  free(path);
}

/* The messages of tm_workspace_find() and tm_workspace_look() about the workspace in `dir`, named
 * or not. */
static void assert_workspace(const char *dir, bool is_named, bool is_used, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  char *file = tm_path_join(dir, "below/file"), *below = tm_path_join(dir, "below");
  char *named = is_named ? tm_path_join(dir, ".tidemill") : NULL, *looked;
  char *found = tm_workspace_find(tm_fs_real(), file, named, below, &err);
  assert_true(!found == !is_used);
  if (!is_used)
    assert_words(&err, TM_EUSAGE, words);
  int rc = tm_workspace_look(&looked, tm_fs_real(), named, below, TM_TO_USE, &err);
  assert_int_equal(rc, is_used ? 0 : TM_EUSAGE);
  assert_true(!looked == !is_used);
  free(looked);
  assert_int_equal(tm_workspace_look(&looked, tm_fs_real(), named, below, TM_TO_READ, &err), 0);
  assert_non_null(looked);
  free(looked);
  free(found);
  free(named);
  free(below);
  free(file);
}

static void a_workspace_that_is_found_is_judged_and_one_that_is_named_is_not(void **state)
{
  const char *const parts[] = { ".tidemill", ".tidemill/jobs", ".tidemill/workspace.db" };
  store_put(*state, "below/x", "", 1);
  store_put(*state, ".tidemill/jobs/job/job.json", "{}", 1);
  store_put(*state, ".tidemill/workspace.db", "", 1);
  assert_workspace(*state, false, true, NULL);
  for (size_t i = 0; i < TM_COUNT_OF(parts); i++) {
    char *bad = tm_path_join(*state, parts[i]);
    char *words = i == 0 ? tm_xprintf("other users can write to it (mode 0720)")
                         : tm_xprintf("other users can write to '%s' (mode 0720)", bad);
    char *consent = tm_xprintf("set TIDEMILL_WORKSPACE=%s/.tidemill;", (char *)*state);
    set_mode(*state, parts[i], 0720);
    assert_workspace(*state, false, false, words);
    assert_workspace(*state, false, false, consent);
    assert_workspace(*state, true, true, NULL);
    set_mode(*state, parts[i], 0700);
    free(consent);
    free(words);
    free(bad);
  }
  assert_workspace(*state, false, true, NULL);
}

/* The message of tm_jobs_find() about `given`; `words` NULL: it is found. */
static void assert_job(const char *dir, const char *given, const char *named, enum tm_use use,
                       const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  char *found = tm_jobs_find(tm_fs_real(), given, named, dir, use, &err);
  if (words)
    assert_words(&err, TM_EUSAGE, words);
  else if (!found)
    fail_msg("%s", err.text);
  assert_true(!found == !!words);
  free(found);
}

static void a_job_is_used_when_it_is_trusted_or_named_by_its_path(void **state)
{
  const char *const parts[] = { "", "/job.json", "/script" };
  char *path = tm_path_join(*state, ".tidemill/jobs/job"),
       *named = tm_path_join(*state, ".tidemill");
  store_put(*state, ".tidemill/jobs/job/job.json", "{}", 1);
  store_put(*state, ".tidemill/jobs/job/script/one/score.lua", "", 1);
  for (size_t i = 0; i < TM_COUNT_OF(parts); i++) {
    char *part = tm_xprintf(".tidemill/jobs/job%s", parts[i]);
    set_mode(*state, part, 0702);
    for (int latest = 0; latest < 2; latest++) {
      const char *given = latest ? "latest" : "job";
      assert_job(*state, given, NULL, TM_TO_USE, "other users can write to ");
      assert_job(*state, given, NULL, TM_TO_USE, path);
      assert_job(*state, given, NULL, TM_TO_READ, NULL);
      assert_job(*state, given, named, TM_TO_USE, NULL);
    }
    assert_job(*state, path, NULL, TM_TO_USE, NULL);
    assert_job(*state, ".tidemill/jobs/job", NULL, TM_TO_USE, NULL);
    set_mode(*state, part, 0700);
    assert_job(*state, "latest", NULL, TM_TO_USE, NULL);
    free(part);
  }
  free(named);
  free(path);
}

/* Anybody may have created a folder with this name above the user's files. */
static void a_folder_named_without_a_slash_is_judged_like_one_that_was_found(void **state)
{
  char *named = tm_path_join(*state, "workspace");
  store_put(*state, "latest/job.json", "{}", 1);
  store_put(*state, "workspace/jobs/job/job.json", "{}", 1);
  assert_job(*state, "latest", named, TM_TO_USE, NULL);
  set_mode(*state, "latest", 0777);
  assert_job(*state, "latest", named, TM_TO_USE, "other users can write to it (mode 0777)");
  assert_job(*state, "latest", NULL, TM_TO_USE, "name it by its path: ");
  assert_job(*state, "./latest", NULL, TM_TO_USE, NULL);
  free(named);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    cmocka_unit_test(ones_own_and_root_s_are_trusted),
    cmocka_unit_test(another_user_s_is_not_even_for_root),
    cmocka_unit_test(root_by_sudo_trusts_its_caller),
    cmocka_unit_test(a_folder_that_others_can_write_to_is_not_trusted),
    TEST(a_workspace_that_is_found_is_judged_and_one_that_is_named_is_not),
    TEST(a_job_is_used_when_it_is_trusted_or_named_by_its_path),
    TEST(a_folder_named_without_a_slash_is_judged_like_one_that_was_found),
});
