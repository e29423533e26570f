/* test_pack.c - packs a folder into one file and unpacks it; refuses contents that no folder has.
 */
#include "unit.h"

#include "store_fixture.h"

#include <archive.h>
#include <archive_entry.h>

#include "base/hash.h"
#include "data/archive/pack.h"

static char *at(const char *dir, const char *name)
{
  return tm_path_join(dir, name);
}

static void put_folder(const char *dir)
{
  char *program = at(dir, "in/a/program"), *link = at(dir, "in/link"), *empty = at(dir, "in/none");
  store_put(dir, "in/a/program", "#!/bin/sh\n", 1);
  store_put(dir, "in/a/\xff\xfe name", "bytes that are not UTF8", 1);
  store_put(dir, "in/.hidden", "x", 1);
  store_put(dir, "in/empty", "", 1);
  assert_int_equal(chmod(program, 0755), 0);
  assert_int_equal(symlink("a/program", link), 0);
  assert_int_equal(mkdir(empty, 0700), 0);
  free(program);
  free(link);
  free(empty);
}

static void assert_text(const char *dir, const char *name, const char *text)
{
  struct tm_buf found = TM_BUF_NONE;
  char *path = at(dir, name);
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1000, &found, NULL) >= 0);
  assert_string_equal(tm_buf_str(&found), text);
  tm_buf_release(&found);
  free(path);
}

static char *packed(const char *dir, const char *name)
{
  char *from = at(dir, "in"), *to = at(dir, name);
  struct tm_err err = TM_ERR_NONE;
  if (tm_pack_write(tm_fs_real(), from, to, &err) < 0)
    fail_msg("%s", err.text);
  free(from);
  return to;
}

static char *new_folder(const char *dir, const char *name)
{
  char *path = at(dir, name);
  assert_int_equal(mkdir(path, 0700), 0);
  return path;
}

static void a_folder_comes_back(void **state)
{
  char *to, *out, leads_to[100] = "";
  struct stat st;
  put_folder(*state);
  to = packed(*state, "p.tar.zst");
  out = new_folder(*state, "out");
  assert_int_equal(tm_pack_read(tm_fs_real(), to, out, NULL), 0);
  assert_text(out, "a/program", "#!/bin/sh\n");
  assert_text(out, "a/\xff\xfe name", "bytes that are not UTF8");
  assert_text(out, ".hidden", "x");
  assert_text(out, "empty", "");
  char *program = at(out, "a/program"), *link = at(out, "link"), *none = at(out, "none");
  assert_int_equal(stat(program, &st), 0);
  assert_true(st.st_mode & S_IXUSR);
  assert_true(readlink(link, leads_to, sizeof(leads_to) - 1) > 0);
  assert_string_equal(leads_to, "a/program");
  assert_int_equal(stat(none, &st), 0);
  free(program);
  free(link);
  free(none);
  free(to);
  free(out);
}

static void the_same_folder_gives_the_same_bytes(void **state)
{
  struct tm_buf a = TM_BUF_NONE, b = TM_BUF_NONE;
  char *first, *second;
  put_folder(*state);
  first = packed(*state, "1");
  store_put(*state, "in/empty", "", 1000); /* at a different time */
  second = packed(*state, "2");
  assert_true(tm_fs_read_file(tm_fs_real(), first, 1u << 20, &a, NULL) >= 0);
  assert_true(tm_fs_read_file(tm_fs_real(), second, 1u << 20, &b, NULL) >= 0);
  assert_int_equal(a.len, b.len);
  assert_memory_equal(a.data, b.data, a.len);
  tm_buf_release(&a);
  tm_buf_release(&b);
  free(first);
  free(second);
}

static void a_torn_file_is_damage(void **state)
{
  struct tm_buf all = TM_BUF_NONE;
  char *to, *cut = at(*state, "cut");
  put_folder(*state);
  to = packed(*state, "p");
  assert_true(tm_fs_read_file(tm_fs_real(), to, 1u << 20, &all, NULL) >= 0);
  for (size_t n = 0; n < all.len; n += 1 + all.len / 40) {
    char *name = tm_xprintf("out%zu", n), *out = new_folder(*state, name);
    struct tm_err err = TM_ERR_NONE;
    assert_int_equal(tm_fs_write_file(tm_fs_real(), cut, all.data, n, 0600, NULL), 0);
    assert_true(tm_pack_read(tm_fs_real(), cut, out, &err) < 0);
    assert_non_null(strstr(err.text, cut));
    free(name);
    free(out);
  }
  tm_buf_release(&all);
  free(cut);
  free(to);
}

/* A tar with a folder "a", a link "l" that leads outside, and then an entry with this name. */
static void write_hostile(const char *path, const char *name, const char *outside)
{
  struct archive *a = archive_write_new();
  struct archive_entry *e = archive_entry_new();
  archive_write_set_format_pax_restricted(a);
  archive_write_add_filter_zstd(a);
  assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
  archive_entry_set_pathname(e, "l");
  archive_entry_set_filetype(e, AE_IFLNK);
  archive_entry_set_symlink(e, outside);
  assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
  archive_entry_clear(e);
  archive_entry_set_pathname(e, name);
  archive_entry_set_filetype(e, AE_IFREG);
  archive_entry_set_perm(e, 0600);
  archive_entry_set_size(e, 4);
  assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
  assert_int_equal(archive_write_data(a, "evil", 4), 4);
  archive_entry_free(e);
  assert_int_equal(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
}

static void nothing_is_written_outside(void **state)
{
  static const char *const names[] = { "/etc/passwd-x", "../evil", "a/../../evil",
                                       "l/evil",        "a//b",    "./x" };
  char *path = at(*state, "hostile"), *outside = new_folder(*state, "outside");
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    char *name = tm_xprintf("out%zu", i), *out = new_folder(*state, name);
    struct tm_err err = TM_ERR_NONE;
    write_hostile(path, names[i], outside);
    assert_int_equal(tm_pack_read(tm_fs_real(), path, out, &err), TM_EDAMAGE);
    free(name);
    free(out);
  }
  char *evil = at(*state, "evil"), *within = at(outside, "evil");
  assert_false(tm_fs_exists(tm_fs_real(), evil));
  assert_false(tm_fs_exists(tm_fs_real(), within));
  free(evil);
  free(within);
  free(path);
  free(outside);
}

static void special_files_are_refused(void **state)
{
  char *from = new_folder(*state, "in"), *pipe = at(from, "pipe"), *to = at(*state, "p");
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(mkfifo(pipe, 0600), 0);
  assert_int_equal(tm_pack_write(tm_fs_real(), from, to, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, pipe));
  assert_false(tm_fs_exists(tm_fs_real(), to));
  free(from);
  free(pipe);
  free(to);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(a_folder_comes_back),
    TEST(the_same_folder_gives_the_same_bytes),
    TEST(a_torn_file_is_damage),
    TEST(nothing_is_written_outside),
    TEST(special_files_are_refused),
});
