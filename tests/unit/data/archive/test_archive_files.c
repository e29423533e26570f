/* test_archive_files.c - lists several archives as items; archives that cannot be listed are items
 * too. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archives.h"
#include "base/mem.h"
#include "data/archive/archive_files.h"
#include "data/archive/archives.h"
#include "data/archive/entry_name.h"
#include "params/params.h"

static const struct member three[] = { { .name = "a", .text = "one" },
                                       { .name = "d/b", .text = "two" },
                                       { .name = "d/c", .text = "three" } };

static char warning[1000];

static void on_warning(void *data, const char *text)
{
  snprintf(warning, sizeof warning, "%s", text);
}

static int open_denied(void *self, const char *path, int flags, int mode)
{
  return strstr(path, "denied") ? -EACCES : tm_fs_real()->open(NULL, path, flags, mode);
}

static struct tm_archives *archives_from(const struct tm_json *options, struct tm_err *err)
{
  struct tm_json *all = tm_params_settle("Dataset.File.from_archives", options, true, err);
  struct tm_archives *a = all ? tm_archives_from_json(all, err) : NULL;
  tm_json_free(all);
  return a;
}

/* A line for each item of these archives: its path below the folder, and its size or fault. Returns
 * the code of the end. */
static int list(struct folder *f, const char *options, bool skips, const char *const *names,
                struct tm_buf *out, struct tm_err *err)
{
  struct tm_fs fs = *tm_fs_real();
  struct tm_json *json = tm_json_parse(options, strlen(options), NULL);
  struct tm_dataset d = { .kind = TM_DATASET_ARCHIVES, .skip_unreadable = skips };
  struct tm_archive_files_options o = { .on_warning = on_warning };
  size_t below = strlen(folder_file(f, ""));
  int rc = 0;
  fs.open = open_denied;
  *warning = '\0';
  tm_buf_clear(out);
  d.archives = archives_from(json, NULL);
  struct tm_archive_files *a = tm_archive_files_new(&fs, &d, &o);
  for (; rc == 0 && *names; names++) {
    struct tm_stat st;
    struct tm_item item;
    char *path = tm_xstrdup(folder_file(f, *names));
    assert_int_equal(fs.stat(fs.self, path, true, &st), 0);
    struct tm_item file = { .path = path, .path_len = strlen(path), .size = st.size };
    tm_archive_files_begin(a, &file);
    while ((rc = tm_archive_files_next(a, &item, err)) > 0) {
      assert_true(item.is_entry && item.size == st.size && item.archive_len == strlen(path));
      tm_buf_printf(out, "%.*s", (int)(item.path_len - below), item.path + below);
      if (item.fault_len > 0)
        tm_buf_printf(out, " ! %.*s\n", (int)item.fault_len, item.fault);
      else
        tm_buf_printf(out, " %lld\n", (long long)item.entry.size);
    }
    free(path);
  }
  tm_archive_files_free(a);
  tm_archives_free(d.archives);
  tm_json_free(json);
  return rc;
}

static void make(struct folder *f, const char *name, int filter)
{
  archive_make(folder_file(f, name), ARCHIVE_FORMAT_TAR_USTAR, filter, three, TM_COUNT_OF(three));
}

/* Whether a line matches `want`; the text after a '*' may be anywhere in it. */
static bool is_line(const char *want, size_t want_len, const char *got, size_t got_len)
{
  char *pattern = tm_xstrndup(want, want_len), *line = tm_xstrndup(got, got_len);
  char *star = strchr(pattern, '*');
  bool is_good =
      star ? strncmp(pattern, line, (size_t)(star - pattern)) == 0 && strstr(line, star + 1) != NULL
           : strcmp(pattern, line) == 0;
  free(pattern);
  free(line);
  return is_good;
}

static void expect(struct folder *f, const char *options, const char *const *names,
                   const char *lines)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  int rc = list(f, options, false, names, &out, &err);
  if (rc < 0)
    fail_msg("%s", err.text);
  const char *got = tm_buf_str(&out);
  for (const char *want = lines; *want; want = strchr(want, '\n') + 1) {
    size_t n = strcspn(got, "\n");
    if (!is_line(want, strcspn(want, "\n"), got, n))
      fail_msg("'%s' in\n%s\nis not\n%s", got, out.data, lines);
    got += n + (got[n] != '\0');
  }
  assert_string_equal(got, "");
  tm_buf_release(&out);
}

static void an_archive_that_cannot_be_listed_is_an_item(void **state)
{
  static const char *const names[] = { "1.tar", "2.tar", "3.tar", "4.tar", NULL };
  struct folder f;
  folder_init(&f);
  make(&f, "1.tar", ARCHIVE_FILTER_NONE);
  folder_put(&f, "2.tar", 0, "no archive", 10);
  make(&f, "3.tar", ARCHIVE_FILTER_NONE);
  folder_cut(&f, "3.tar", 2048 + 100);
  make(&f, "4.tar", ARCHIVE_FILTER_NONE);
  expect(&f, "{}", names,
         "1.tar/a 3\n1.tar/d/b 3\n1.tar/d/c 5\n"
         "2.tar ! the archive '*cannot be listed: it is not an archive; accepted: zip, tar\n"
         "3.tar/a 3\n3.tar/d/b 3\n"
         "3.tar ! *the files before that are read all the same\n"
         "4.tar/a 3\n4.tar/d/b 3\n4.tar/d/c 5\n");
  assert_non_null(strstr(warning, "3.tar' cannot be listed: "));
  assert_non_null(strstr(warning, "read all the same; it is a failed item"));
  /* For any pattern: nobody knows what the archive holds. */
  expect(&f, "{\"entries\":\"a\"}", names,
         "1.tar/a 3\n2.tar ! *it is not an archive\n3.tar/a 3\n3.tar ! *\n4.tar/a 3\n");
  expect(&f, "{\"max_entries\":2}", names,
         "1.tar/a 3\n1.tar/d/b 3\n1.tar ! *it has more than 2 entries\n2.tar ! *\n3.tar/a 3\n"
         "3.tar/d/b 3\n3.tar ! *\n4.tar/a 3\n4.tar/d/b 3\n4.tar ! *it has more than 2 entries\n");
  folder_release(&f);
}

static void entries_before_damage_are_found_in_packed_archives(void **state)
{
  static const int filters[] = { ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD,
                                 ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_LZ4 };
  static const char *const names[] = { "t.tar", NULL };
  static char text[3][3 << 20];
  struct member m[] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };
  struct folder f;
  uint64_t random = 88172645463325252u;
  for (size_t i = 0; i < TM_COUNT_OF(m); i++) {
    for (size_t k = 0; k < sizeof text[i] - 1; k++) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      text[i][k] = (char)('!' + random % 90);
    }
  }
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t.tar"));
  for (size_t i = 0; i < TM_COUNT_OF(filters); i++) {
    bool is_coarse = filters[i] == ARCHIVE_FILTER_LZ4; /* it unpacks 4 MB at once */
    for (size_t k = 0; k < TM_COUNT_OF(m); k++)
      m[k].text = text[k] + (is_coarse ? 0 : 2 << 20);
    archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, filters[i], m, TM_COUNT_OF(m));
    folder_cut(&f, "t.tar", folder_size(&f, "t.tar") - 1000);
    expect(&f, "{}", names,
           is_coarse ? "t.tar/a 3145727\nt.tar/b 3145727\nt.tar/c 3145727\nt.tar ! *truncated\n"
                     : "t.tar/a 1048575\nt.tar/b 1048575\nt.tar/c 1048575\nt.tar ! *'\n");
  }
  free(path);
  folder_release(&f);
}

static void links_to_one_entry_are_counted(void **state)
{
  static const char *const names[] = { "t.tar", NULL };
  static char text[17 << 20], link_names[400][8];
  struct member links[TM_COUNT_OF(link_names)] = { { .name = "a", .text = text } };
  struct folder f;
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  memset(text, '0', sizeof text - 1);
  for (size_t i = 1; i < TM_COUNT_OF(links); i++) {
    snprintf(link_names[i], sizeof link_names[i], "%zu", i);
    links[i] = (struct member) { .name = link_names[i], .hardlink = "a" };
  }
  folder_init(&f);
  archive_make(folder_file(&f, "t.tar"), ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, links,
               TM_COUNT_OF(links));
  assert_int_equal(list(&f, "{}", false, names, &out, &err), 0);
  assert_non_null(strstr(out.data, "t.tar/150 17825791\n"));
  assert_non_null(strstr(out.data, "it holds more than 200 times its own"));
  assert_null(strstr(out.data, "t.tar/300 "));
  assert_int_equal(list(&f, "{\"max_ratio\":500}", false, names, &out, &err), 0);
  assert_non_null(strstr(out.data, "t.tar/399 17825791\n"));
  tm_buf_release(&out);
  folder_release(&f);
}

/* Only unpacking shows the check sum. */
static void bytes_after_the_end_are_counted(void **state)
{
  static const char *const names[] = { "t.tgz", NULL };
  static const char zeros[1 << 20];
  struct folder f;
  folder_init(&f);
  make(&f, "t.tar", ARCHIVE_FILTER_NONE);
  char *tar = folder_text(&f, "t.tar");
  gzFile file = gzopen(folder_file(&f, "t.tgz"), "w");
  assert_int_equal(gzwrite(file, tar, (unsigned)folder_size(&f, "t.tar")),
                   folder_size(&f, "t.tar"));
  for (int i = 0; i < 200; i++)
    assert_int_equal(gzwrite(file, zeros, sizeof zeros), sizeof zeros);
  assert_int_equal(gzclose(file), Z_OK);
  expect(&f, "{}", names,
         "t.tgz/a 3\nt.tgz/d/b 3\nt.tgz/d/c 5\nt.tgz ! *it holds more than 200 times its own\n");
  expect(&f, "{\"max_ratio\":2000}", names, "t.tgz/a 3\nt.tgz/d/b 3\nt.tgz/d/c 5\n");
  free(tar);
  folder_release(&f);
}

/* Each is small enough alone. */
static void all_of_a_zip_is_counted(void **state)
{
  static const char *const names[] = { "t.zip", NULL };
  static char text[12 << 20];
  struct zip_member m[] = { { .name = "a", .text = text, .method = 8 },
                            { .name = "b", .text = text, .method = 8 } };
  struct folder f;
  memset(text, '0', sizeof text - 1);
  folder_init(&f);
  zip_put(&f, "t.zip", m, TM_COUNT_OF(m));
  expect(&f, "{}", names, "t.zip/a 12582911\nt.zip ! *it holds more than 200 times its own\n");
  expect(&f, "{\"max_ratio\":2000}", names, "t.zip/a 12582911\nt.zip/b 12582911\n");
  folder_release(&f);
}

static void one_that_may_not_be_opened_is_like_a_folder(void **state)
{
  static const char *const names[] = { "denied.tar", "t.tar", NULL };
  struct folder f;
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  make(&f, "denied.tar", ARCHIVE_FILTER_NONE);
  make(&f, "t.tar", ARCHIVE_FILTER_NONE);
  assert_int_equal(list(&f, "{}", false, names, &out, &err), -EACCES);
  assert_non_null(strstr(err.text, "denied.tar'"));
  assert_non_null(strstr(err.text, "; on_unreadable = \"skip\" leaves it out"));
  assert_int_equal(list(&f, "{}", true, names, &out, &err), 0);
  assert_string_equal(out.data, "t.tar/a 3\nt.tar/d/b 3\nt.tar/d/c 5\n");
  assert_non_null(strstr(warning, "denied.tar'"));
  assert_non_null(strstr(warning, "; it is left out"));
  tm_buf_release(&out);
  folder_release(&f);
}

static struct tm_archives *archives_of(struct tm_json *patterns)
{
  struct tm_json *options = tm_json_new(TM_JSON_OBJECT);
  struct tm_err err = TM_ERR_NONE;
  tm_json_set(options, "entries", patterns);
  struct tm_archives *a = archives_from(options, &err);
  assert_string_equal(err.text, "");
  tm_json_free(options);
  return a;
}

/* What one pattern wants, without an index. */
static bool wants(const char *pattern, const char *name)
{
  struct tm_glob glob;
  assert_int_equal(tm_glob_init(&glob, pattern, NULL), 0);
  bool is_wanted = strcmp(pattern, name) == 0 || tm_entry_name_matches(&glob, name);
  tm_glob_release(&glob);
  return is_wanted;
}

static bool wants_bad(const char *pattern, const char *name)
{
  const char *last = strrchr(pattern, '/'), *base = strrchr(name, '/');
  last = last ? last + 1 : pattern;
  base = base ? base + 1 : name;
  return strcmp(pattern, name) == 0 || strcmp(last, "**") == 0 || tm_glob_match_name(last, base);
}

static void a_list_of_patterns_wants_what_each_of_them_wants(void **state)
{
  static const char *const patterns[] = {
    "a",     "d/b",   "d",      "d/",    "./d//b", "d/.",         "x\\*", "x\\*/", "x*",  "*",
    "d/b\\", "d\\/b", "{a,d}",  "{a}",   "[a",     "\\.h",        ".h",   "d/.h",  "**",  "d/**",
    "*/b",   "../up", "d/../b", "a\\,b", "q?",     "\\{a\\,d\\}", "{a,d", ".",     "d/d", "",
  };
  static const char *const names[] = {
    "a",     "a/b",  "d",      "d/b",  "d/b/c", "d/.h",  "d/.h/c", ".h", ".h/a",
    "x*",    "x*/y", "xy",     "x\\*", "{a}",   "{a,d}", "{a,d",   "[a", "d/b\\",
    "../up", "/a",   "d/../b", "a,b",  "q?",    "up",    "d/d/d",
  };
  for (size_t p = 0; *patterns[p]; p++) {
    struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
    tm_json_add(list, tm_json_new_string(patterns[p]));
    tm_json_add(list, tm_json_new_string("no such name"));
    struct tm_archives *a = archives_of(list);
    for (size_t n = 0; n < TM_COUNT_OF(names); n++) {
      if (tm_archives_want(a, names[n]) != wants(patterns[p], names[n]) ||
          tm_archives_want_bad(a, names[n]) != wants_bad(patterns[p], names[n]))
        fail_msg("pattern '%s' and name '%s'", patterns[p], names[n]);
    }
    tm_archives_free(a);
  }
}

/* Trying each of them would take longer than the limit. */
static void as_many_names_as_entries_may_be_wanted(void **state)
{
  enum { MANY = 60000 };
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  char name[32];
  for (int i = 0; i < MANY; i++) {
    snprintf(name, sizeof name, "d\\[/%d.txt", i);
    tm_json_add(list, tm_json_new_string(name));
  }
  struct tm_archives *a = archives_of(list);
  for (int i = 0; i < MANY; i++) {
    snprintf(name, sizeof name, "d[/%d.txt", i);
    assert_true(tm_archives_want(a, name));
    snprintf(name, sizeof name, "d[/%d.csv", i);
    assert_false(tm_archives_want(a, name));
    assert_false(tm_archives_want_bad(a, name));
  }
  tm_archives_free(a);
}

UNIT_HOOKS(.limit_s = 100);
UNIT_TESTS({
    cmocka_unit_test(an_archive_that_cannot_be_listed_is_an_item),
    cmocka_unit_test(entries_before_damage_are_found_in_packed_archives),
    cmocka_unit_test(links_to_one_entry_are_counted),
    cmocka_unit_test(bytes_after_the_end_are_counted),
    cmocka_unit_test(all_of_a_zip_is_counted),
    cmocka_unit_test(one_that_may_not_be_opened_is_like_a_folder),
    cmocka_unit_test(a_list_of_patterns_wants_what_each_of_them_wants),
    cmocka_unit_test(as_many_names_as_entries_may_be_wanted),
});
