/* test_entry_memory.c - which mini-batches of entries are extracted to memory; the others are
 * extracted to disk. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archives.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/archive/entry_load.h"
#include "data/archive/entry_memory.h"

#define MB ((int64_t)1 << 20)

/* The real files, with chosen values for the file system of a folder, and a call that fails. */
struct rig {
  struct tm_fs fs;
  struct tm_volume volume;
  int volume_code;
  int writes_left, opens_left; /* calls before the one that fails */
  int code;
  struct folder f;
  char *scratch, *memory;
  struct tm_buf items;
  struct tm_entry_items given;
  struct tm_buf marks;
  struct tm_entry_loader *loader;
};

static int rig_volume(void *self, const char *path, struct tm_volume *out)
{
  struct rig *g = self;
  (void)path;
  *out = g->volume;
  return g->volume_code;
}

static int rig_open(void *self, const char *path, int flags, int mode)
{
  struct rig *g = self;
  if ((flags & O_CREAT) && g->opens_left-- == 0)
    return g->code;
  return tm_fs_real()->open(tm_fs_real()->self, path, flags, mode);
}

static int64_t rig_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  struct rig *g = self;
  if (g->writes_left-- == 0)
    return g->code;
  return tm_fs_real()->pwrite(tm_fs_real()->self, fd, p, n, at);
}

static void rig_init(struct rig *g)
{
  *g = (struct rig) { .fs = *tm_fs_real(),
                      .writes_left = -1,
                      .opens_left = -1,
                      .code = -ENOSPC,
                      .volume = {
                          .is_memory = true, .free_bytes = 1000 * MB, .free_files = 1000000 } };
  g->fs.self = g;
  g->fs.volume = rig_volume;
  g->fs.open = rig_open;
  g->fs.pwrite = rig_pwrite;
  folder_init(&g->f);
  g->scratch = tm_xstrdup(folder_file(&g->f, "scratch"));
  g->memory = tm_xstrdup(folder_file(&g->f, "memory"));
}

static void rig_release(struct rig *g)
{
  tm_entry_loader_free(g->loader);
  assert_int_equal(folder_size(&g->f, "scratch"), -1);
  tm_buf_release(&g->items);
  tm_buf_release(&g->marks);
  free(g->scratch);
  free(g->memory);
  folder_release(&g->f);
}

/* "one" and "three", and between them an entry with a wrong check sum. */
static void rig_list(struct rig *g)
{
  static const struct zip_member m[] = { { .name = "1", .text = "one" },
                                         { .name = "2", .text = "x", .crc_change = 1 },
                                         { .name = "3", .text = "three" } };
  struct tm_archive_entry e;
  struct tm_err err = TM_ERR_NONE;
  zip_put(&g->f, "t", m, TM_COUNT_OF(m));
  char *path = tm_xstrdup(folder_file(&g->f, "t"));
  struct tm_archive_options o = archive_options(path);
  struct tm_archive *a = tm_archive_open(&o, &err);
  assert_non_null(a);
  while (tm_archive_next(a, &e, &err) > 0) {
    char *name = tm_xprintf("%s/%.*s", path, (int)e.name_len, e.name);
    struct tm_item item = { .path = name,
                            .path_len = strlen(name),
                            .size = o.size,
                            .mtime_ns = o.mtime_ns,
                            .is_entry = true,
                            .is_extracted = true,
                            .archive_len = (uint32_t)strlen(path),
                            .entry = e.place };
    tm_item_add(&g->items, &item);
    free(name);
  }
  tm_archive_close(a);
  free(path);
}

/* The two readable entries are in files below `place`; the third is marked once. */
static void expect_files(struct rig *g, const char *place)
{
  static const char *const texts[] = { "one", "three" };
  struct tm_err err = TM_ERR_NONE;
  struct tm_reader r;
  struct tm_item item;
  if (g->items.len == 0)
    rig_list(g);
  if (!g->loader)
    g->loader = tm_entry_loader_new(&g->fs, g->scratch, g->memory, NULL);
  tm_buf_clear(&g->marks);
  int rc = tm_entry_load(g->loader, g->items.data, g->items.len, &g->given, &g->marks, &err);
  if (rc < 0)
    print_error("%s\n", err.text);
  assert_int_equal(rc, 0);
  assert_int_equal(g->given.items, 2);
  tm_reader_init(&r, g->given.bytes, g->given.bytes_len);
  for (int i = 0; i < 2; i++) {
    struct tm_buf text = TM_BUF_NONE;
    struct stat st;
    assert_true(tm_item_next(&r, &item) && !item.is_entry);
    char *path = tm_xstrndup(item.path, item.path_len);
    if (strncmp(path, place, strlen(place)) != 0)
      print_error("'%s' is not in '%s'\n", path, place);
    assert_true(strncmp(path, place, strlen(place)) == 0 && path[strlen(place)] == '/');
    assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 100, &text, NULL), 0);
    assert_string_equal(tm_buf_str(&text), texts[i]);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    tm_buf_release(&text);
    free(path);
  }
  assert_int_equal(tm_get_u32(g->marks.data), 2);
  struct tm_reader marks;
  size_t len;
  tm_reader_init(&marks, g->marks.data, g->marks.len);
  assert_true(tm_read_u32(&marks) == 2 && tm_read_bytes32(&marks, &len) && marks.at == marks.end);
}

static void a_small_mini_batch_is_in_memory_and_leaves_nothing(void **state)
{
  struct rig g;
  struct stat st;
  rig_init(&g);
  for (int again = 0; again < 2; again++) {
    expect_files(&g, g.memory);
    assert_int_equal(stat(g.memory, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(folder_size(&g.f, "scratch"), -1);
  }
  tm_entry_loader_clear(g.loader);
  assert_int_equal(folder_size(&g.f, "memory"), -1);
  rig_release(&g);
}

static void memory_that_does_not_suit_is_left_alone(void **state)
{
  static const struct tm_volume volumes[] = {
    { .is_memory = false, .free_bytes = 1000 * MB, .free_files = 1000000 },
    { .is_memory = true, .is_no_exec = true, .free_bytes = 1000 * MB, .free_files = 1000000 },
    { .is_memory = true, .is_read_only = true, .free_bytes = 1000 * MB, .free_files = 1000000 },
    { .is_memory = true, .free_bytes = 8 << 10, .free_files = 1000000 },
    { .is_memory = true, .free_bytes = 1000 * MB, .free_files = 10 },
  };
  for (size_t i = 0; i < TM_COUNT_OF(volumes) + 2; i++) {
    struct rig g;
    rig_init(&g);
    if (i < TM_COUNT_OF(volumes))
      g.volume = volumes[i];
    else if (i == TM_COUNT_OF(volumes))
      g.volume_code = -ENOENT;
    else
      assert_int_equal(chmod(g.f.path, 0777), 0); /* anybody could rename its files */
    expect_files(&g, g.scratch);
    assert_int_equal(folder_size(&g.f, "memory"), -1);
    rig_release(&g);
  }
}

static void a_folder_that_all_can_write_to_must_be_sticky(void **state)
{
  struct rig g;
  rig_init(&g);
  assert_int_equal(chmod(g.f.path, 01777), 0);
  expect_files(&g, g.memory);
  rig_release(&g);
}

static void a_name_that_is_taken_is_neither_used_nor_touched(void **state)
{
  for (int kind = 0; kind < 3; kind++) {
    struct rig g;
    rig_init(&g);
    char *other = tm_xstrdup(folder_file(&g.f, "other")), *there = tm_path_join(other, "1");
    assert_int_equal(mkdir(other, 0700), 0);
    if (kind == 0)
      assert_int_equal(symlink(other, g.memory), 0);
    else if (kind == 1)
      assert_int_equal(mkdir(g.memory, 0777), 0);
    else
      assert_int_equal(symlink("nowhere", g.memory), 0);
    expect_files(&g, g.scratch);
    tm_entry_loader_clear(g.loader);
    assert_int_equal(access(there, F_OK), -1);
    assert_int_equal(rmdir(other), 0);                                   /* it is empty */
    assert_int_equal(kind == 1 ? rmdir(g.memory) : unlink(g.memory), 0); /* and still exists */
    assert_int_equal(folder_size(&g.f, "nowhere"), -1);
    free(other);
    free(there);
    rig_release(&g);
  }
}

/* Fails each write and each creation of a file; the last ones are on the disk. */
static void a_failure_in_memory_falls_back_to_disk(void **state)
{
  static const int codes[] = { -ENOSPC, -EDQUOT, -EACCES, -ENOMEM, -EROFS, -EIO };
  for (size_t c = 0; c < TM_COUNT_OF(codes); c++)
    for (int at = 0; at < 4; at++) {
      struct rig g;
      rig_init(&g);
      g.code = codes[c];
      *(at % 2 ? &g.writes_left : &g.opens_left) = at / 2;
      expect_files(&g, g.scratch);
      assert_int_equal(folder_size(&g.f, "memory"), -1);
      expect_files(&g, g.memory); /* the next mini-batch tries it again */
      rig_release(&g);
    }
}

static void memory_that_was_taken_away_is_not_used_again(void **state)
{
  struct rig g;
  rig_init(&g);
  expect_files(&g, g.memory);
  assert_false(tm_entry_loader_has_lost(g.loader));
  assert_int_equal(tm_tree_remove(g.memory, NULL), 0);
  assert_true(tm_entry_loader_has_lost(g.loader));
  assert_false(tm_entry_loader_has_lost(g.loader)); /* it was reported */
  expect_files(&g, g.scratch);
  assert_false(tm_entry_loader_has_lost(g.loader));
  assert_int_equal(folder_size(&g.f, "memory"), -1);
  rig_release(&g);
}

static void a_failure_on_both_fails_the_mini_batch(void **state)
{
  struct rig g;
  struct tm_err err = TM_ERR_NONE;
  rig_init(&g);
  rig_list(&g);
  g.loader = tm_entry_loader_new(&g.fs, g.scratch, g.memory, NULL);
  unlink(folder_file(&g.f, "t"));
  assert_int_equal(tm_entry_load(g.loader, g.items.data, g.items.len, &g.given, &g.marks, &err),
                   -ENOENT);
  assert_non_null(strstr(err.text, "/t'"));
  assert_int_equal(g.marks.len, 0);
  rig_release(&g);
}

static int64_t need_of(int n, int64_t size, bool is_extracted)
{
  struct tm_buf b = TM_BUF_NONE;
  for (int i = 0; i < n; i++) {
    struct tm_item item = { .path = "/a.zip/b",
                            .path_len = 8,
                            .is_entry = true,
                            .is_extracted = is_extracted,
                            .archive_len = 6,
                            .entry = { .size = size } };
    tm_item_add(&b, &item);
  }
  int64_t need = tm_entry_memory_need(tm_buf_str(&b), b.len);
  tm_buf_release(&b);
  return need;
}

static void the_bound_is_kept(void **state)
{
  struct rig g;
  rig_init(&g);
  assert_int_equal(need_of(10, 1000, false), 0);
  assert_true(need_of(1, 1, true) > 4096);
  assert_true(need_of(200, 1024, true) < TM_ENTRY_MEMORY_MAX);
  assert_true(need_of(16, MB, true) > TM_ENTRY_MEMORY_MAX);
  assert_true(need_of(2, INT64_MAX, true) >
              TM_ENTRY_MEMORY_MAX); /* and no more than can be counted */
  assert_false(tm_entry_memory_suits(&g.fs, g.memory, 0));
  assert_true(tm_entry_memory_suits(&g.fs, g.memory, TM_ENTRY_MEMORY_MAX));
  assert_false(tm_entry_memory_suits(&g.fs, g.memory, TM_ENTRY_MEMORY_MAX + 1));
  g.volume.free_bytes = TM_ENTRY_MEMORY_SHARE * MB;
  assert_true(tm_entry_memory_suits(&g.fs, g.memory, MB));
  assert_false(tm_entry_memory_suits(&g.fs, g.memory, MB + 1));
  rig_release(&g);
}

UNIT_TESTS({
    cmocka_unit_test(a_small_mini_batch_is_in_memory_and_leaves_nothing),
    cmocka_unit_test(memory_that_does_not_suit_is_left_alone),
    cmocka_unit_test(a_folder_that_all_can_write_to_must_be_sticky),
    cmocka_unit_test(a_name_that_is_taken_is_neither_used_nor_touched),
    cmocka_unit_test(a_failure_in_memory_falls_back_to_disk),
    cmocka_unit_test(memory_that_was_taken_away_is_not_used_again),
    cmocka_unit_test(a_failure_on_both_fails_the_mini_batch),
    cmocka_unit_test(the_bound_is_kept),
});
