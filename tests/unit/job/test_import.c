/* test_import.c - copies of another job's steps reach their places, wherever a kill has left
 * them. For what is copied and what is refused, see tests/job/reuse/import_spec.lua; for kills at
 * each call, tests/crash. */
#include "unit.h"

#include <sys/stat.h>

#include "folder.h"

#include "job/import.h"

struct place {
  struct folder f;
  struct tm_job_dir dir;
  struct tm_step steps[3], *list[3];
  struct tm_pipeline pipeline;
  struct tm_definition d;
};

static void make(struct place *p, const char *name)
{
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), folder_file(&p->f, name), 0700, NULL), 0);
}

static void place_init(struct place *p)
{
  static char *names[] = { (char *)"a", (char *)"b", (char *)"c" };
  *p = (struct place) { .pipeline = { .steps = p->list, .steps_len = 3 } };
  folder_init(&p->f);
  for (int i = 0; i < 3; i++) {
    p->steps[i].name = names[i];
    p->list[i] = &p->steps[i];
  }
  p->dir.path = p->f.path;
  p->d = (struct tm_definition) { .fs = tm_fs_real(), .pipeline = &p->pipeline, .dir = &p->dir };
}

static void expect_placed(struct place *p)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_import_place(&p->d, &err), 0);
  assert_true(folder_size(&p->f, "a/state") >= 0);
  assert_true(folder_size(&p->f, "b/state") >= 0);
  assert_int_equal(folder_size(&p->f, "c"), -1);
  assert_int_equal(folder_size(&p->f, TM_IMPORT_DIR), -1);
}

static void copies_get_to_their_places_once(void **state)
{
  struct place p;
  place_init(&p);
  make(&p, TM_IMPORT_DIR "/a/state");
  make(&p, TM_IMPORT_DIR "/b/state");
  expect_placed(&p);
  expect_placed(&p);
  folder_release(&p.f);
}

static void an_interrupted_import_continues(void **state)
{
  struct place p;
  place_init(&p);
  make(&p, "a/state"); /* already renamed */
  make(&p, TM_IMPORT_DIR "/b/state");
  expect_placed(&p);
  make(&p, TM_IMPORT_DIR); /* all have moved, only the folder remains */
  expect_placed(&p);
  folder_release(&p.f);
}

static void copies_never_replace_a_step(void **state)
{
  struct place p;
  struct tm_err err = TM_ERR_NONE;
  place_init(&p);
  make(&p, "a/state");
  make(&p, TM_IMPORT_DIR "/a/output");
  assert_true(tm_import_place(&p.d, &err) < 0);
  assert_non_null(strstr(err.text, "cannot rename"));
  assert_true(folder_size(&p.f, "a/state") >= 0);
  folder_release(&p.f);
}

static void copies_of_a_killed_beginning_are_removed(void **state)
{
  struct place p;
  struct tm_err err = TM_ERR_NONE;
  place_init(&p);
  make(&p, TM_IMPORT_DIR "/a/state");
  assert_int_equal(tm_import_copy(&p.d, &err), 0); /* no step asks for any now */
  assert_int_equal(folder_size(&p.f, TM_IMPORT_DIR), -1);
  folder_release(&p.f);
}

UNIT_TESTS({
    cmocka_unit_test(copies_get_to_their_places_once),
    cmocka_unit_test(an_interrupted_import_continues),
    cmocka_unit_test(copies_never_replace_a_step),
    cmocka_unit_test(copies_of_a_killed_beginning_are_removed),
});
