/* test_zip_end.c - finds the directory of a zip whatever surrounds it, and only there. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archives.h"
#include "base/mem.h"

static const struct zip_member two[] = { { .name = "a", .text = "first" },
                                         { .name = "b", .text = "second", .method = 8 } };
#define TWO "a 5\nb 6\n"

/* After the end of a zip: a comment. */
static void add_comment(struct tm_buf *zip, const void *comment, size_t n)
{
  zip->data[zip->len - 2] = (char)(n & 0xff);
  zip->data[zip->len - 1] = (char)(n >> 8);
  tm_buf_add(zip, comment, n);
}

/* Gives it a zip64 end and a locator; if both ends agree, a saturated end. */
static void make_zip64(struct tm_buf *zip, int64_t more_entries)
{
  char end[22];
  memcpy(end, zip->data + zip->len - sizeof end, sizeof end);
  zip->len -= sizeof end;
  size_t at = zip->len;
  tm_buf_add(zip, "PK\6\6", 4);
  tm_buf_add_u64(zip, 44);
  tm_buf_add(zip, "\55\0\55\0\0\0\0\0\0\0\0\0", 12);
  int64_t entries = (unsigned char)end[10] + more_entries;
  tm_buf_add_u64(zip, (uint64_t)entries);
  tm_buf_add_u64(zip, (uint64_t)entries);
  tm_buf_add_u64(zip, tm_get_u32(end + 12));
  tm_buf_add_u64(zip, tm_get_u32(end + 16));
  tm_buf_add(zip, "PK\6\7\0\0\0\0", 8);
  tm_buf_add_u64(zip, at);
  tm_buf_add_u32(zip, 1);
  if (more_entries == 0)
    memset(end + 8, 0xff, 12);
  tm_buf_add(zip, end, sizeof end);
}

/* Lists this many bytes of a script followed by the zip, which it frees. Checks for lines, or for a
 * message if lines is NULL. */
static void expect_zip(struct folder *f, struct tm_buf *zip, size_t before, const char *lines,
                       const char *words)
{
  struct tm_buf all = TM_BUF_NONE;
  if (before > 0) {
    memset(tm_buf_extend(&all, before), '\n', before);
    memcpy(all.data, "#!/bin/sh\n", 10);
  }
  tm_buf_add(&all, zip->data, zip->len);
  unlink(folder_file(f, "t.zip"));
  folder_put(f, "t.zip", 0, all.data, all.len);
  char *path = tm_xstrdup(folder_file(f, "t.zip"));
  struct tm_archive_options o = archive_options(path);
  if (lines)
    expect_list(&o, lines);
  else
    expect_refused(&o, words);
  free(path);
  tm_buf_release(&all);
  tm_buf_release(zip);
}

static void a_zip_may_follow_other_bytes(void **state)
{
  struct folder f;
  static const size_t before[] = { 0, 10, 511, 512, 5000, 300000 };
  folder_init(&f);
  for (size_t i = 0; i < TM_COUNT_OF(before); i++) {
    struct tm_buf zip = zip_make(two, 2);
    expect_zip(&f, &zip, before[i], TWO, NULL);
    zip = zip_make(two, 2);
    make_zip64(&zip, 0);
    expect_zip(&f, &zip, before[i], TWO, NULL);
    struct zip_member many[8];
    for (int k = 0; k < 8; k++) {
      static char names[8][2];
      names[k][0] = (char)('a' + k);
      many[k] = (struct zip_member) { .name = names[k], .text = "", .packed = 100, .size = 100 };
    }
    zip = zip_make(many, 8);
    expect_zip(&f, &zip, before[i], NULL, "its entries overlap");
  }
  folder_release(&f);
}

static void marks_of_a_zip_in_names_and_comments_mean_nothing(void **state)
{
  struct folder f;
  static const struct zip_member named[] = {
    { .name = "a", .text = "first" },
    { .name = "PK\6\6PK\5\6PK\1\2", .text = "x" },
    { .name = "PK\6\7xxxxxxxxxxxxxxxx", .text = "where the locator would be" },
  };
  static const char *const comments[] = {
    "PK\5\6",
    "PK\5\6......................................................................",
    "PK\6\6 and PK\6\7 and PK\1\2 and PK\3\4",
  };
  static const char end[22] = "PK\5\6";
  folder_init(&f);
  struct tm_buf zip = zip_make(named, 3);
  expect_zip(&f, &zip, 0, "a 5\nPK\6\6PK\5\6PK\1\2 1\nPK\6\7xxxxxxxxxxxxxxxx 26\n", NULL);
  for (size_t i = 0; i < TM_COUNT_OF(comments); i++) {
    zip = zip_make(two, 2);
    add_comment(&zip, comments[i], strlen(comments[i]));
    expect_zip(&f, &zip, 0, TWO, NULL);
  }
  zip = zip_make(two, 2);
  add_comment(&zip, end, sizeof end); /* an end without entries */
  expect_zip(&f, &zip, 0, TWO, NULL);
  zip = zip_make(two, 2);
  tm_buf_add(&zip, "\n", 1); /* after the end */
  expect_zip(&f, &zip, 0, TWO, NULL);
  folder_release(&f);
}

static void a_zip_that_programs_would_disagree_about_is_refused(void **state)
{
  struct folder f;
  folder_init(&f);
  struct tm_buf inner = zip_make(two, 1), zip = zip_make(two, 2);
  add_comment(&zip, inner.data, inner.len);
  tm_buf_release(&inner);
  expect_zip(&f, &zip, 0, NULL, "it has two ends");
  zip = zip_make(two, 2);
  make_zip64(&zip, -1);
  expect_zip(&f, &zip, 0, NULL, "disagree about the directory");
  zip = zip_make(two, 2);
  zip.data[zip.len - 14] = zip.data[zip.len - 12] = 1;
  expect_zip(&f, &zip, 0, NULL, "more entries than its end says");
  folder_release(&f);
}

static void a_tar_that_ends_as_a_zip_is_a_tar(void **state)
{
  struct folder f;
  static const struct member m[] = { { .name = "of the tar", .text = "x" } };
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t"));
  archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, m, 1);
  struct tm_buf zip = zip_make(two, 2);
  folder_put(&f, "t", folder_size(&f, "t"), zip.data, zip.len);
  tm_buf_release(&zip);
  struct tm_archive_options o = archive_options(path);
  expect_list(&o, "of the tar 1\n");
  free(path);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(a_zip_may_follow_other_bytes),
    cmocka_unit_test(marks_of_a_zip_in_names_and_comments_mean_nothing),
    cmocka_unit_test(a_zip_that_programs_would_disagree_about_is_refused),
    cmocka_unit_test(a_tar_that_ends_as_a_zip_is_a_tar),
});
