/* test_journal.c - records as bytes, and their file. */
#include "unit.h"

#include "base/hash.h"
#include "commit/journal.h"
#include "folder.h"

static struct tm_record outcome(uint64_t index)
{
  struct tm_record r = { .kind = TM_RECORD_COMMITTED };
  r.index = index;
  r.try = 3;
  r.items = 10;
  r.succeeded = 8;
  r.returned = 12;
  r.output_end = INT64_C(0x123456789a);
  r.failures_end = 77;
  r.output_hash = UINT64_C(0xfedcba9876543210);
  r.failures_hash = 5;
  return r;
}

static void reads_every_kind_as_it_was_written(void **state)
{
  struct tm_record in = outcome(UINT64_C(1) << 40), out;
  char b[TM_RECORD_SIZE];
  tm_record_encode(&in, b);
  assert_int_equal(tm_record_decode(&out, b), 0);
  assert_memory_equal(&in, &out, sizeof(in));
  in = (struct tm_record) { .kind = TM_RECORD_SESSION };
  in.number = 2;
  in.epoch = UINT64_MAX;
  in.wall_ns = -1;
  tm_record_encode(&in, b);
  assert_int_equal(tm_record_decode(&out, b), 0);
  assert_true(out.kind == TM_RECORD_SESSION && out.number == 2 && out.epoch == UINT64_MAX &&
              out.wall_ns == -1);
  in = (struct tm_record) { .kind = TM_RECORD_SYNC };
  in.journal_len = 1;
  in.manifest_len = 2;
  in.output_len = 3;
  in.failures_len = 4;
  tm_record_encode(&in, b);
  assert_int_equal(tm_record_decode(&out, b), 0);
  assert_true(out.journal_len == 1 && out.manifest_len == 2 && out.output_len == 3 &&
              out.failures_len == 4);
}

static void has_its_fields_where_the_format_says(void **state)
{
  struct tm_record r = outcome(0x0102030405060708);
  unsigned char b[TM_RECORD_SIZE];
  tm_record_encode(&r, b);
  assert_int_equal(b[0], 2);
  assert_int_equal(b[1], TM_RECORD_VERSION);
  assert_int_equal(b[2], 3);
  assert_int_equal(b[4], 12);
  assert_int_equal(b[8], 8);
  assert_int_equal(b[15], 1);
  assert_int_equal(b[16], 10);
  assert_int_equal(b[20], 8);
  assert_int_equal(b[24], 0x9a);
  assert_int_equal(b[28], 0x12);
  assert_int_equal(b[32], 77);
  assert_int_equal(b[40], 0x10);
  assert_int_equal(b[48], 5);
  assert_true(tm_get_u64(b + 56) == tm_hash64(b, 56));
  r.try = 100000;
  tm_record_encode(&r, b);
  assert_int_equal(tm_record_decode(&r, b), 0);
  assert_int_equal(r.try, 65535);
}

static void refuses_a_record_with_any_bit_changed(void **state)
{
  struct tm_record r = outcome(1);
  char b[TM_RECORD_SIZE], zeros[TM_RECORD_SIZE] = { 0 };
  tm_record_encode(&r, b);
  for (int bit = 0; bit < TM_RECORD_SIZE * 8; bit++) {
    b[bit / 8] ^= (char)(1 << bit % 8);
    assert_int_equal(tm_record_decode(&r, b), TM_EDAMAGE);
    b[bit / 8] ^= (char)(1 << bit % 8);
  }
  assert_int_equal(tm_record_decode(&r, zeros), TM_EDAMAGE);
}

static void seal(char *b)
{
  tm_put_u64(b + 56, tm_hash64(b, 56));
}

static void tells_another_version_from_damage(void **state)
{
  struct tm_record r = outcome(1);
  char b[TM_RECORD_SIZE];
  tm_record_encode(&r, b);
  b[1] = TM_RECORD_VERSION + 1;
  seal(b);
  assert_int_equal(tm_record_decode(&r, b), TM_EVERSION);
  b[1] = TM_RECORD_VERSION;
  b[0] = 9;
  seal(b);
  assert_int_equal(tm_record_decode(&r, b), TM_EDAMAGE);
  b[0] = TM_RECORD_SESSION; /* without its type */
  seal(b);
  assert_int_equal(tm_record_decode(&r, b), TM_EDAMAGE);
}

static void walks_over_bad_records_and_half_ones(void **state)
{
  struct folder f;
  struct tm_journal j = { 0 };
  struct tm_journal_walk w;
  struct tm_record r;
  folder_init(&f);
  assert_int_equal(tm_journal_open(&j, tm_fs_real(), folder_file(&f, "j"), NULL), 0);
  assert_int_equal(tm_journal_make(&j, NULL), 0);
  for (uint64_t i = 0; i < 3000; i++) { /* more than one block */
    r = outcome(i);
    tm_journal_add(&j, &r);
  }
  assert_int_equal(tm_journal_flush(&j, NULL), 0);
  assert_int_equal(j.len, 3000 * TM_RECORD_SIZE);
  folder_flip(&f, "j", 1500 * TM_RECORD_SIZE + 9);
  folder_put(&f, "j", j.len, "half", 4);
  j.len += 4;
  tm_journal_walk_init(&w, &j, 0);
  for (uint64_t i = 0; i < 3000; i++) {
    int rc = tm_journal_walk_next(&w, &r, NULL);
    assert_int_equal(rc, i == 1500 ? TM_EDAMAGE : 1);
    assert_int_equal(w.at, i * TM_RECORD_SIZE);
    assert_true(i == 1500 || r.index == i);
  }
  assert_int_equal(tm_journal_walk_next(&w, &r, NULL), TM_EDAMAGE);
  assert_int_equal(tm_journal_walk_next(&w, &r, NULL), 0);
  tm_journal_walk_release(&w);
  assert_int_equal(tm_journal_cut(&j, 10 * TM_RECORD_SIZE, NULL), 0);
  assert_int_equal(folder_size(&f, "j"), 10 * TM_RECORD_SIZE);
  tm_journal_close(&j);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(reads_every_kind_as_it_was_written),
    cmocka_unit_test(has_its_fields_where_the_format_says),
    cmocka_unit_test(refuses_a_record_with_any_bit_changed),
    cmocka_unit_test(tells_another_version_from_damage),
    cmocka_unit_test(walks_over_bad_records_and_half_ones),
});
