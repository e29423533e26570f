/* test_plugin_record.c - a record of a library differs when another file would be found, or when
 * the file has changed. */
#include "unit.h"

#include "base/mem.h"
#include "folder.h"
#include "sys/plugin_record.h"

static const char *const files[] = { "libanswer.so.1", NULL };
static const struct tm_plugin_kind kind = {
  .name = "Answer", .variable = "ANSWER", .files = files, .get = "", .entry = "answer"
};

/* A process with one variable. */
static const char *value_of(void *data, const char *name)
{
  return strcmp(name, "ANSWER") == 0 ? data : NULL;
}

/* Returns its path, to free(). */
static char *put(struct folder *f, const char *name, const char *text)
{
  folder_put(f, name, 0, text, strlen(text));
  return tm_xstrdup(folder_file(f, name));
}

static bool differs(const struct tm_json *record, const char *variable, const char *wanted)
{
  const struct tm_plugin_variables now = { value_of, (void *)variable };
  struct tm_buf why = TM_BUF_NONE;
  bool yes = tm_plugin_record_differs(record, &now, &why);
  if (yes && !strstr(tm_buf_str(&why), wanted))
    fail_msg("%s", tm_buf_str(&why));
  tm_buf_release(&why);
  return yes;
}

static void it_differs_by_place_and_file(void **state)
{
  struct folder f;
  folder_init(&f);
  const char *const folders[] = { f.path, NULL };
  char *path = put(&f, "libanswer.so.1", "one");
  char *other = put(&f, "other.so", "one");
  const struct tm_plugin p = { .path = path };
  struct tm_json *record = tm_plugin_record(&p, &kind, folders, "1.2");
  assert_false(differs(record, NULL, ""));
  assert_false(differs(record, path, ""));
  assert_true(differs(record, other, "other.so' would be now"));
  assert_true(tm_plugin_record_has_folder(record, f.path));
  assert_false(tm_plugin_record_has_folder(record, "/"));
  free(put(&f, "libanswer.so.1", "longer"));
  assert_true(differs(record, NULL, "Answer 1.2 was used, and its file '"));
  assert_int_equal(unlink(path), 0);
  assert_true(differs(record, NULL, "would not be found now"));
  tm_json_free(record);
  free(path);
  free(other);
  folder_release(&f);
}

/* Where only the loader knows the library, its file is compared. */
static void a_library_of_the_loader_is_compared_by_its_file(void **state)
{
  struct folder f;
  folder_init(&f);
  const char *const none[] = { NULL };
  char *path = put(&f, "libanswer.so.1", "one");
  const struct tm_plugin p = { .path = path, .is_of_loader = true };
  struct tm_json *record = tm_plugin_record(&p, &kind, none, "1.2");
  assert_false(differs(record, NULL, ""));
  assert_int_equal(unlink(path), 0);
  assert_true(differs(record, NULL, "has changed"));
  tm_json_free(record);
  record = tm_json_new(TM_JSON_OBJECT); /* one that nobody wrote */
  assert_true(differs(record, NULL, "would not be found"));
  tm_json_free(record);
  free(path);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(it_differs_by_place_and_file),
    cmocka_unit_test(a_library_of_the_loader_is_compared_by_its_file),
});
