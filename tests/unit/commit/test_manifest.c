/* test_manifest.c - the list of mini-batches: invariant 11. */
#include "unit.h"

#include "base/hash.h"
#include "commit/manifest.h"
#include "commit/manifest_file.h"
#include "data/item.h"
#include "folder.h"
#include "sys/threads.h"

static struct tm_manifest *open_list(struct folder *f, int64_t stated)
{
  struct tm_manifest *m;
  struct tm_err err = TM_ERR_NONE;
  if (tm_manifest_open(&m, tm_fs_real(), folder_file(f, "list"), stated, &err) < 0)
    fail_msg("%s", err.text);
  assert_int_equal(tm_manifest_cut(m, &err), 0);
  return m;
}

static void items_of(struct tm_buf *out, uint64_t i, const char *dir)
{
  char path[100];
  tm_buf_clear(out);
  for (uint64_t k = 0; k <= i % 4; k++) {
    int len = snprintf(path, sizeof(path), "%s/%d-%d", dir, (int)i, (int)k);
    struct tm_item item = { .path = path, .path_len = (size_t)len, .size = -1 };
    tm_item_add(out, &item);
  }
}

static int add(struct tm_manifest *m, uint64_t i, const char *dir, struct tm_err *err)
{
  struct tm_buf b = TM_BUF_NONE;
  items_of(&b, i, dir);
  int rc = tm_manifest_add(m, (uint32_t)(i % 2), (uint32_t)(i % 4 + 1), b.data, b.len, err);
  tm_buf_release(&b);
  return rc;
}

static void add_all(struct tm_manifest *m, uint64_t from, uint64_t to)
{
  for (uint64_t i = from; i < to; i++)
    assert_int_equal(add(m, i, "/in", NULL), 0);
}

static void is_entry(struct tm_manifest *m, uint64_t i)
{
  struct tm_manifest_entry e;
  struct tm_buf b = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  if (tm_manifest_read(m, i, &e, &err) < 0)
    fail_msg("%s", err.text);
  items_of(&b, i, "/in");
  assert_int_equal(e.index, i);
  assert_int_equal(e.items, i % 4 + 1);
  assert_int_equal(e.dataset, i % 2);
  assert_int_equal(e.len, b.len);
  assert_memory_equal(e.bytes, b.data, b.len);
  tm_buf_release(&b);
}

static void shows_exactly_the_flushed_entries(void **state)
{
  struct folder f;
  folder_init(&f);
  struct tm_manifest *m = open_list(&f, 0);
  add_all(m, 0, 3);
  assert_int_equal(tm_manifest_count(m), 0);
  assert_true(tm_manifest_pending(m) > 0);
  assert_int_equal(tm_manifest_flush(m, NULL), 0);
  assert_int_equal(tm_manifest_pending(m), 0);
  assert_int_equal(tm_manifest_count(m), 3);
  assert_int_equal(tm_manifest_items(m), 1 + 2 + 3);
  assert_false(tm_manifest_has_end(m));
  for (uint64_t i = 0; i < 3; i++)
    is_entry(m, i);
  assert_int_equal(tm_manifest_end(m, NULL), 0);
  assert_true(tm_manifest_has_end(m));
  tm_manifest_close(m);
  folder_release(&f);
}

static void reads_in_any_order(void **state)
{
  struct folder f;
  uint64_t n = 5000, at = 17;
  folder_init(&f);
  struct tm_manifest *m = open_list(&f, 0);
  add_all(m, 0, n);
  assert_int_equal(tm_manifest_end(m, NULL), 0);
  for (uint64_t i = 0; i < n; i += i % 100 == 50 ? 1500 : 1) /* also with holes */
    is_entry(m, i);
  for (int k = 0; k < 2000; k++, at = (at * 5 + 1237) % n)
    is_entry(m, at);
  is_entry(m, n - 1);
  is_entry(m, 0);
  tm_manifest_close(m);
  m = open_list(&f, 0);
  is_entry(m, n - 1);
  is_entry(m, 1023);
  is_entry(m, 1024);
  tm_manifest_close(m);
  folder_release(&f);
}

static void continues_a_list_without_an_end(void **state)
{
  struct folder f;
  folder_init(&f);
  struct tm_manifest *m = open_list(&f, 0);
  add_all(m, 0, 2000);
  tm_manifest_flush(m, NULL);
  tm_manifest_close(m);
  m = open_list(&f, 0);
  assert_int_equal(tm_manifest_count(m), 2000);
  is_entry(m, 1999);
  int64_t size = folder_size(&f, "list");
  add_all(m, 0, 2000);
  tm_manifest_flush(m, NULL);
  assert_int_equal(folder_size(&f, "list"), size);
  add_all(m, 2000, 2100);
  assert_int_equal(tm_manifest_end(m, NULL), 0);
  uint64_t chain = tm_manifest_chain(m);
  is_entry(m, 2050);
  tm_manifest_close(m);
  m = open_list(&f, folder_size(&f, "list"));
  assert_true(tm_manifest_has_end(m));
  assert_int_equal(tm_manifest_count(m), 2100);
  assert_true(tm_manifest_chain(m) == chain);
  tm_manifest_close(m);
  folder_release(&f);
}

static void reports_changes(void **state)
{
  struct folder f;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  struct tm_manifest *m = open_list(&f, 0);
  add_all(m, 0, 10);
  tm_manifest_flush(m, NULL);
  tm_manifest_close(m);
  m = open_list(&f, 0);
  add_all(m, 0, 7);
  assert_int_equal(add(m, 7, "/other", &err), TM_ECHANGED);
  assert_non_null(strstr(err.text, "mini-batch 7"));
  assert_non_null(strstr(err.text, "'/in/7-0'"));
  assert_non_null(strstr(err.text, "'/other/7-0'"));
  assert_int_equal(tm_manifest_end(m, &err), TM_ECHANGED); /* three are missing */
  tm_manifest_close(m);
  m = open_list(&f, 0);
  add_all(m, 0, 7);
  struct tm_buf b = TM_BUF_NONE;
  items_of(&b, 7, "/in");
  assert_int_equal(tm_manifest_add(m, 0, 3, b.data, b.len - 27, &err), TM_ECHANGED); /* cut short */
  assert_int_equal(tm_manifest_add(m, 0, 4, b.data, b.len, &err),
                   TM_ECHANGED); /* a different dataset */
  tm_buf_release(&b);
  tm_manifest_close(m);
  folder_release(&f);
}

static void compares_a_complete_list_when_asked(void **state)
{
  struct folder f;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  struct tm_manifest *m = open_list(&f, 0);
  add_all(m, 0, 10);
  tm_manifest_end(m, NULL);
  tm_manifest_close(m);
  for (int n = 9; n <= 11; n++) {
    m = open_list(&f, 0);
    tm_manifest_relist(m);
    add_all(m, 0, n < 10 ? (uint64_t)n : 10);
    int rc = n == 11 ? add(m, 10, "/in", &err) : tm_manifest_end(m, &err);
    assert_int_equal(rc, n == 10 ? 0 : TM_ECHANGED);
    tm_manifest_close(m);
  }
  folder_release(&f);
}

/* Changes every byte after the header and cuts at every length: only what is good before it stays.
 */
static void cuts_a_torn_tail_but_not_stated_entries(void **state)
{
  struct folder f;
  struct tm_manifest *m;
  struct tm_err err = TM_ERR_NONE;
  int64_t ends[5] = { TM_MANIFEST_FILE_HEAD };
  folder_init(&f);
  m = open_list(&f, 0);
  for (uint64_t i = 0; i < 4; i++) {
    add_all(m, i, i + 1);
    tm_manifest_flush(m, NULL);
    ends[i + 1] = tm_manifest_length(m);
  }
  tm_manifest_close(m);
  char *good = folder_text(&f, "list");
  for (int64_t at = 0; at < ends[4]; at++) {
    uint64_t want = 0;
    while (want < 4 && ends[want + 1] <= at)
      want++;
    for (int cut = 0; cut < 2; cut++) {
      folder_cut(&f, "list", 0);
      folder_put(&f, "list", 0, good, (size_t)ends[4]);
      if (cut)
        folder_cut(&f, "list", at);
      else
        folder_flip(&f, "list", at);
      assert_int_equal(tm_manifest_open(&m, tm_fs_real(), folder_file(&f, "list"), ends[4], &err),
                       TM_EDAMAGE);
      assert_non_null(strstr(err.text, at > 0 || !cut ? "list' is damaged at byte"
                                                      : "list' has been removed or emptied"));
      tm_manifest_close(m);
      m = open_list(&f, at < TM_MANIFEST_FILE_HEAD ? 0 : ends[want]);
      assert_int_equal(tm_manifest_count(m), at < TM_MANIFEST_FILE_HEAD ? 0 : want);
      add_all(m, 0, 4); /* existing entries are compared, the others are added */
      assert_int_equal(tm_manifest_end(m, NULL), 0);
      for (uint64_t i = 0; i < 4; i++)
        is_entry(m, i);
      tm_manifest_close(m);
    }
  }
  free(good);
  folder_release(&f);
}

static void refuses_another_version(void **state)
{
  struct folder f;
  struct tm_manifest *m;
  struct tm_err err = TM_ERR_NONE;
  char head[TM_MANIFEST_FILE_HEAD] = "tm-list";
  folder_init(&f);
  tm_put_u32(head + 8, TM_MANIFEST_VERSION + 1);
  tm_put_u32(head + 12, (uint32_t)tm_hash64(head, 12));
  folder_put(&f, "list", 0, head, sizeof(head));
  assert_int_equal(tm_manifest_open(&m, tm_fs_real(), folder_file(&f, "list"), 0, &err),
                   TM_EVERSION);
  tm_manifest_close(m);
  folder_release(&f);
}

static void finds_damage_when_it_reads(void **state)
{
  struct folder f;
  struct tm_manifest_entry e;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  struct tm_manifest *m = open_list(&f, 0);
  add_all(m, 0, 3);
  tm_manifest_flush(m, NULL);
  folder_flip(&f, "list", tm_manifest_length(m) - 1);
  is_entry(m, 0);
  m->forward.have = 0;
  is_entry(m, 1);
  assert_int_equal(tm_manifest_read(m, 2, &e, &err), TM_EDAMAGE);
  tm_manifest_close(m);
  folder_release(&f);
}

static void add_many(void *data)
{
  struct tm_manifest *m = data;
  for (uint64_t i = 0; i < 20000; i++) {
    add(m, i, "/in", NULL);
    if (i % 37 == 0)
      tm_manifest_flush(m, NULL);
  }
  tm_manifest_end(m, NULL);
}

static void is_read_while_it_is_written(void **state)
{
  struct folder f;
  struct tm_thread t;
  folder_init(&f);
  struct tm_manifest *m = open_list(&f, 0);
  assert_int_equal(tm_thread_start(&t, add_many, m, NULL), 0);
  for (uint64_t next = 0; next < 20000;)
    for (uint64_t count = tm_manifest_count(m); next < count; next++) {
      is_entry(m, next);
      if (next % 1000 == 999)
        is_entry(m, next / 2);
    }
  tm_thread_join(&t);
  assert_true(tm_manifest_has_end(m));
  assert_int_equal(tm_manifest_count(m), 20000);
  tm_manifest_close(m);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(shows_exactly_the_flushed_entries),
    cmocka_unit_test(reads_in_any_order),
    cmocka_unit_test(continues_a_list_without_an_end),
    cmocka_unit_test(reports_changes),
    cmocka_unit_test(compares_a_complete_list_when_asked),
    cmocka_unit_test(cuts_a_torn_tail_but_not_stated_entries),
    cmocka_unit_test(refuses_another_version),
    cmocka_unit_test(finds_damage_when_it_reads),
    cmocka_unit_test(is_read_while_it_is_written),
});
