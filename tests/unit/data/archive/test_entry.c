/* test_entry.c - reads the contents of entries in any order, reports faults, and extracts
 * mini-batches of them to files. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archives.h"
#include "base/mem.h"
#include "data/archive/entry_load.h"
#include "data/archive/entry_own.h"

#define N 40

/* The entries of an archive as items. */
struct rig {
  struct folder f;
  char *path, *index_dir;
  struct tm_buf paths[N];
  struct tm_item items[N];
  size_t n;
  struct tm_entries *entries;
};

static void rig_list(struct rig *g)
{
  struct tm_archive_options o = archive_options(g->path);
  struct tm_archive_entry e;
  struct tm_err err = TM_ERR_NONE;
  o.index_dir = g->index_dir;
  struct tm_archive *a = tm_archive_open(&o, &err);
  int rc = a ? 0 : err.code;
  g->n = 0;
  while (rc >= 0 && (rc = tm_archive_next(a, &e, &err)) > 0) {
    struct tm_buf *b = &g->paths[g->n];
    tm_buf_clear(b);
    tm_buf_printf(b, "%s/", g->path);
    tm_buf_add(b, e.name, e.name_len);
    g->items[g->n++] = (struct tm_item) { .path = b->data,
                                          .path_len = b->len,
                                          .size = o.size,
                                          .mtime_ns = o.mtime_ns,
                                          .is_entry = true,
                                          .archive_len = (uint32_t)strlen(g->path),
                                          .entry = e.place,
                                          .fault = e.fault ? "a fault" : NULL,
                                          .fault_len = e.fault ? 7 : 0 };
  }
  if (rc < 0)
    print_error("%s\n", err.text);
  assert_int_equal(rc, 0);
  tm_archive_close(a);
}

static void rig_init(struct rig *g)
{
  *g = (struct rig) { .n = 0 };
  folder_init(&g->f);
  g->path = tm_xstrdup(folder_file(&g->f, "t"));
  g->index_dir = tm_xstrdup(folder_file(&g->f, "index"));
  g->entries = tm_entries_new(tm_fs_real(), g->index_dir);
}

static void rig_release(struct rig *g)
{
  tm_entries_free(g->entries);
  for (size_t i = 0; i < N; i++)
    tm_buf_release(&g->paths[i]);
  free(g->path);
  free(g->index_dir);
  folder_release(&g->f);
}

/* Reads its contents in pieces of this size; NULL and a message on failure. The caller frees it. */
static char *contents(struct rig *g, size_t i, size_t piece, struct tm_err *err)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_entry *e = tm_entry_open(g->entries, &g->items[i], err);
  int64_t got = e ? 1 : err->code;
  while (got > 0) {
    size_t before = out.len;
    got = tm_entry_read(e, tm_buf_extend(&out, piece), piece, err);
    out.len = before + (got > 0 ? (size_t)got : 0);
  }
  tm_entry_close(e);
  tm_buf_add_char(&out, '\0');
  if (got == 0)
    return tm_buf_take(&out);
  tm_buf_release(&out);
  return NULL;
}

static void expect_text(struct rig *g, size_t i, size_t piece, const char *text)
{
  struct tm_err err = TM_ERR_NONE;
  char *found = contents(g, i, piece, &err);
  if (!found)
    print_error("%s\n", err.text);
  assert_non_null(found);
  assert_string_equal(found, text);
  free(found);
}

static void expect_error(struct rig *g, size_t i, int code, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  assert_null(contents(g, i, 7, &err));
  if (err.code != code || !strstr(err.text, words))
    print_error("%d: %s, not: %s\n", err.code, err.text, words);
  assert_int_equal(err.code, code);
  assert_non_null(strstr(err.text, words));
}

/* Texts of lengths near the size of a piece; the longest has many blocks. */
static char *text_of(size_t i)
{
  size_t n = i == 7 ? 300000 : i * i * 13 % 2000;
  char *text = tm_xmalloc(n + 1);
  uint32_t seed = (uint32_t)i + 1;
  for (size_t k = 0; k < n; k++) {
    seed = seed * 1664525 + 1013904223;
    text[k] = (char)('a' + (seed >> 24) % 20);
  }
  text[n] = '\0';
  return text;
}

static void entries_are_read_in_any_order(void **state)
{
  static const struct {
    int format, filter;
  } kinds[] = {
    { ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE },
    { ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_GZIP },
    { ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD },
    { ARCHIVE_FORMAT_CPIO_SVR4_NOCRC, ARCHIVE_FILTER_NONE },
    { ARCHIVE_FORMAT_7ZIP, ARCHIVE_FILTER_NONE },
    { ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE },
  };
  struct member m[12] = { { .name = NULL } };
  char names[12][8];
  for (size_t i = 0; i < 12; i++) {
    snprintf(names[i], sizeof names[i], "f%02zu", i);
    m[i] = (struct member) { .name = names[i], .text = text_of(i + 1) };
  }
  for (size_t k = 0; k < TM_COUNT_OF(kinds); k++) {
    struct rig g;
    rig_init(&g);
    archive_make(g.path, kinds[k].format, kinds[k].filter, m, 12);
    rig_list(&g);
    assert_int_equal(g.n, 12);
    static const size_t order[] = { 0, 1, 2, 6, 3, 11, 6, 6, 5, 0, 10, 9, 4, 7, 8, 11 };
    for (size_t i = 0; i < TM_COUNT_OF(order); i++)
      expect_text(&g, order[i], i % 2 ? 1000 : 100000, m[order[i]].text);
    rig_release(&g);
  }
  for (size_t i = 0; i < 12; i++)
    free((char *)(uintptr_t)m[i].text);
}

static void two_are_read_at_the_same_time(void **state)
{
  static const int formats[] = { ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FORMAT_7ZIP,
                                 ARCHIVE_FORMAT_ZIP };
  static const struct member m[] = { { .name = "a", .text = "abcdefghij" },
                                     { .name = "b", .text = "0123456789" } };
  for (size_t k = 0; k < TM_COUNT_OF(formats); k++) {
    struct rig g;
    struct tm_err err = TM_ERR_NONE;
    char left[11] = "", right[11] = "";
    rig_init(&g);
    archive_make(g.path, formats[k], ARCHIVE_FILTER_NONE, m, 2);
    rig_list(&g);
    struct tm_entry *a = tm_entry_open(g.entries, &g.items[0], &err);
    struct tm_entry *b = tm_entry_open(g.entries, &g.items[1], &err);
    assert_true(a && b && tm_entry_size(a) == 10);
    for (int i = 0; i < 5; i++) {
      assert_int_equal(tm_entry_read(a, left + 2 * i, 2, &err), 2);
      assert_int_equal(tm_entry_read(b, right + 2 * i, 2, &err), 2);
    }
    assert_string_equal(left, "abcdefghij");
    assert_string_equal(right, "0123456789");
    assert_int_equal(tm_entry_read(a, left, 2, &err), 0);
    tm_entry_close(a);
    tm_entry_close(b);
    rig_release(&g);
  }
}

static void faults_of_an_entry_are_reported(void **state)
{
  struct rig g;
  static const struct zip_member m[] = {
    { .name = "crc", .text = "some text", .method = 8, .crc_change = 1 },
    { .name = "crc-stored", .text = "some text", .crc_change = 1 },
    { .name = "longer", .text = "some text, more of it", .method = 8, .size = 4 },
    { .name = "shorter", .text = "some text", .method = 8, .size = 50 },
    { .name = "cut", .text = "some text", .method = 8, .packed = 4 },
    { .name = "place", .text = "some text", .place = 3 },
    { .name = "secret", .text = "x", .flags = 1 },
    { .name = "good", .text = "some text", .method = 8 },
    { .name = "empty, it says", .text = "some text", .method = 8, .empty = true },
    { .name = "empty", .text = "", .method = 8 },
    { .name = "bzip2", .text = "some text", .method = 12 },
    { .name = "bzip2-crc", .text = "some text", .method = 12, .crc_change = 1 },
    { .name = "bzip2-longer", .text = "some text", .method = 12, .size = 4 },
    { .name = "padding, so that places fit", .text = "................................" },
  };
  rig_init(&g);
  zip_put(&g.f, "t", m, TM_COUNT_OF(m));
  rig_list(&g);
  expect_error(&g, 0, TM_EDAMAGE, "its check sum is wrong");
  expect_error(&g, 1, TM_EDAMAGE, "cannot read 'crc-stored' of '");
  expect_error(&g, 2, TM_EDAMAGE, "it holds more than the directory of the archive says");
  expect_error(&g, 3, TM_EDAMAGE, "its data end too early");
  expect_error(&g, 4, TM_EDAMAGE, "its data end too early");
  expect_error(&g, 5, TM_EDAMAGE, "there is no header where the directory of the archive says");
  expect_error(&g, 6, TM_EINPUT, "a fault");
  expect_text(&g, 7, 100, "some text");
  expect_error(&g, 8, TM_EDAMAGE, "it holds more than the directory of the archive says");
  expect_text(&g, 9, 100, "");
  expect_text(&g, 10, 100, "some text");
  expect_error(&g, 11, TM_EINPUT, "bad CRC");
  expect_error(&g, 12, TM_EDAMAGE, "it holds more than the directory of the archive says");
  rig_release(&g);
}

/* Reads the only entry of a zip in pieces of this size; fails the test unless it gets exactly the
 * text. */
static void expect_exact(const struct tm_buf *zip, const char *text, size_t n, size_t piece)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_zip_entry *spare = NULL;
  struct tm_entry_place place = { .how = TM_ENTRY_IN_ZIP,
                                  .method = 8,
                                  .crc = tm_get_u32(zip->data + 14),
                                  .packed = tm_get_u32(zip->data + 18),
                                  .size = (int64_t)n };
  struct tm_stream *s = tm_stream_of_bytes(zip->data, zip->len);
  struct tm_zip_entry *z = tm_zip_entry_open(s, "t.zip", &place, &spare, &err);
  char *p = tm_xmalloc(piece);
  int64_t at = 0, got;
  while ((got = tm_zip_entry_read(z, p, piece, &err)) > 0) {
    assert_true(at + got <= (int64_t)n);
    assert_memory_equal(p, text + at, (size_t)got);
    at += got;
  }
  if (got < 0)
    fail_msg("%zu bytes in pieces of %zu, after %lld: %s", n, piece, (long long)at, err.text);
  assert_int_equal(at, n);
  tm_zip_entry_close(z, NULL);
  tm_stream_close(s);
  free(p);
}

/* Repeated bytes compress so well that the decoder still holds output when its input has ended.
 * TM_LONG=1: up to 1.1 MB. */
static void an_entry_of_any_length_is_read_to_its_end(void **state)
{
  enum { STEP = 4099 };
  size_t longest = getenv("TM_LONG") ? 1100000 : 300000;
  static const char *const patterns[] = { "\0", " ", "one line, repeated: 0123456789 abcdef\n" };
  static const size_t lengths[] = { 1, 1, 38 };
  char *text = tm_xmalloc(longest);
  for (size_t k = 0; k < TM_COUNT_OF(patterns); k++) {
    for (size_t i = 0; i < longest; i++)
      text[i] = patterns[k][i % lengths[k]];
    for (size_t n = 1; n < longest; n += STEP) {
      struct zip_member m = { .name = "t", .text = text, .method = 8, .len = n };
      struct tm_buf zip = zip_make(&m, 1);
      expect_exact(&zip, text, n, 8192);
      expect_exact(&zip, text, n, 262144);
      tm_buf_release(&zip);
    }
  }
  free(text);
}

static void a_changed_archive_is_reported(void **state)
{
  struct rig g;
  static const struct zip_member m[] = { { .name = "a", .text = "text" } };
  rig_init(&g);
  zip_put(&g.f, "t", m, 1);
  rig_list(&g);
  folder_put(&g.f, "t", folder_size(&g.f, "t"), "more", 4);
  expect_error(&g, 0, TM_ECHANGED, "has changed since it was listed");
  unlink(g.path);
  expect_error(&g, 0, -ENOENT, "cannot open");
  rig_release(&g);
}

/* ---- mini-batches ---- */

static void load(struct rig *g, struct tm_entry_loader *l, bool is_extracted,
                 struct tm_entry_items *out, struct tm_buf *marks)
{
  static struct tm_buf bytes;
  struct tm_err err = TM_ERR_NONE;
  tm_buf_clear(&bytes);
  tm_buf_clear(marks);
  for (size_t i = 0; i < g->n; i++) {
    g->items[i].is_extracted = is_extracted;
    tm_item_add(&bytes, &g->items[i]);
  }
  assert_true(tm_entry_load_is_for(bytes.data, bytes.len));
  int rc = tm_entry_load(l, bytes.data, bytes.len, out, marks, &err);
  if (rc < 0)
    print_error("%s\n", err.text);
  assert_int_equal(rc, 0);
  tm_buf_release(&bytes);
}

/* "path = contents" for each file that run() would get below the scratch folder. */
static void describe(const struct tm_entry_items *b, const char *scratch, struct tm_buf *out)
{
  struct tm_reader r;
  struct tm_item item;
  tm_buf_clear(out);
  tm_reader_init(&r, b->bytes, b->bytes_len);
  while (tm_item_next(&r, &item)) {
    char *path = tm_xstrndup(item.path, item.path_len);
    struct tm_buf text = TM_BUF_NONE;
    assert_false(item.is_entry);
    assert_memory_equal(path, scratch, strlen(scratch));
    assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 1 << 20, &text, NULL), 0);
    tm_buf_printf(out, "%s = %s\n", path + strlen(scratch), tm_buf_str(&text));
    tm_buf_release(&text);
    free(path);
  }
  assert_false(r.bad);
}

static void entries_become_files_for_their_mini_batch_alone(void **state)
{
  struct rig g;
  struct tm_entry_items given;
  struct tm_buf marks = TM_BUF_NONE, out = TM_BUF_NONE;
  static const struct zip_member m[] = {
    { .name = "d/1", .text = "one" },
    { .name = "../2", .text = "two" },
    { .name = "d", .text = "file, not d/" },
    { .name = "d/3/3", .text = "three", .method = 8 },
    { .name = "bad", .text = "x", .crc_change = 1 },
  };
  rig_init(&g);
  zip_put(&g.f, "t", m, TM_COUNT_OF(m));
  rig_list(&g);
  char *scratch = tm_xstrdup(folder_file(&g.f, "scratch"));
  struct tm_entry_loader *l = tm_entry_loader_new(tm_fs_real(), scratch, NULL, NULL);
  for (int again = 0; again < 2; again++) {
    load(&g, l, true, &given, &marks);
    describe(&given, scratch, &out);
    assert_string_equal(out.data, "/1/t/d/1 = one\n/2/t/d = file, not d/\n/3/t/d/3/3 = three\n");
    assert_int_equal(given.items, 3);
    assert_true(given.numbers[0] == 1 && given.numbers[1] == 3 && given.numbers[2] == 4);
    assert_int_equal(tm_get_u32(marks.data), 2);
    assert_non_null(memmem(marks.data, marks.len, "its check sum is wrong", 22));
  }
  tm_entry_loader_clear(l);
  assert_int_equal(folder_size(&g.f, "scratch"), -1);
  assert_int_equal(folder_size(&g.f, "2"), -1);
  tm_entry_loader_free(l);
  tm_buf_release(&marks);
  tm_buf_release(&out);
  free(scratch);
  rig_release(&g);
}

static void entries_stay_names_where_they_are_not_wanted_as_files(void **state)
{
  struct rig g;
  struct tm_entry_items given;
  struct tm_buf marks = TM_BUF_NONE;
  static const struct zip_member m[] = { { .name = "1", .text = "one" },
                                         { .name = "/2", .text = "two" } };
  rig_init(&g);
  zip_put(&g.f, "t", m, 2);
  rig_list(&g);
  struct tm_entry_loader *l =
      tm_entry_loader_new(tm_fs_real(), folder_file(&g.f, "scratch"), NULL, NULL);
  load(&g, l, false, &given, &marks);
  assert_int_equal(given.items, 1);
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, given.bytes, given.bytes_len);
  assert_true(tm_item_next(&r, &item) && item.is_entry);
  struct tm_err err = TM_ERR_NONE;
  struct tm_entry *e = tm_entry_open(tm_entry_loader_entries(l), &item, &err);
  char text[10];
  assert_int_equal(tm_entry_read(e, text, 10, &err), 3);
  assert_memory_equal(text, "one", 3);
  tm_entry_close(e);
  assert_int_equal(folder_size(&g.f, "scratch"), -1);
  tm_entry_loader_free(l);
  tm_buf_release(&marks);
  rig_release(&g);
}

static int full_disk(void *self, int fd, const void *p, size_t n, int64_t at)
{
  (void)self, (void)fd, (void)p, (void)n, (void)at;
  return -ENOSPC;
}

static int64_t no_room(void *self, int fd, const void *p, size_t n, int64_t at)
{
  return full_disk(self, fd, p, n, at);
}

static void an_io_error_fails_the_mini_batch(void **state)
{
  struct rig g;
  struct tm_fs fs = *tm_fs_real();
  struct tm_entry_items given;
  struct tm_buf marks = TM_BUF_NONE, bytes = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  static const struct zip_member m[] = { { .name = "1", .text = "one" } };
  rig_init(&g);
  zip_put(&g.f, "t", m, 1);
  rig_list(&g);
  fs.pwrite = no_room;
  struct tm_entry_loader *l = tm_entry_loader_new(&fs, folder_file(&g.f, "scratch"), NULL, NULL);
  g.items[0].is_extracted = true;
  tm_item_add(&bytes, &g.items[0]);
  assert_int_equal(tm_entry_load(l, bytes.data, bytes.len, &given, &marks, &err), -ENOSPC);
  assert_int_equal(marks.len, 0);
  tm_entry_loader_free(l);
  assert_int_equal(folder_size(&g.f, "scratch"), -1);
  tm_buf_release(&bytes);
  tm_buf_release(&marks);
  rig_release(&g);
}

UNIT_TESTS({
    cmocka_unit_test(entries_are_read_in_any_order),
    cmocka_unit_test(two_are_read_at_the_same_time),
    cmocka_unit_test(faults_of_an_entry_are_reported),
    cmocka_unit_test(an_entry_of_any_length_is_read_to_its_end),
    cmocka_unit_test(a_changed_archive_is_reported),
    cmocka_unit_test(entries_become_files_for_their_mini_batch_alone),
    cmocka_unit_test(entries_stay_names_where_they_are_not_wanted_as_files),
    cmocka_unit_test(an_io_error_fails_the_mini_batch),
});
