/* test_recover.c - damaged files: damage before the last sync record is reported with file and
 * place; bad bytes after it are cut off (invariants 3, 4, 9). */
#include "unit.h"

#include "base/hash.h"
#include "step.h"

/* Two mini-batches before the last sync record (one committed, one failed) and three after it; then
 * the session is gone. */
static void prepare(struct step *s)
{
  step_init(s);
  step_must_open(s);
  step_list(s, 6);
  step_done(s, 0, "a\n");
  step_failed(s, 1, "{\"mini_batch\":1}\n");
  assert_int_equal(step_flush(s), 0);
  assert_int_equal(step_sync(s), 0);
  step_done(s, 2, "c\n");
  step_failed(s, 3, "{\"mini_batch\":3}\n");
  step_done(s, 4, "e\n");
  assert_int_equal(step_flush(s), 0);
  step_close(s);
}

static void is_kept(struct step *s, uint64_t committed_len, const char *rows)
{
  if (step_open(s) < 0)
    fail_msg("%s", s->err.text);
  assert_int_equal(s->found.committed, committed_len);
  step_is_text(s, "rows.partial", rows);
}

static void is_damage(struct step *s, const char *file, int64_t at)
{
  char want[200];
  assert_int_equal(step_open(s), TM_EDAMAGE);
  assert_null(s->commit);
  snprintf(want, sizeof(want), "%s' is damaged at byte %lld", file, (long long)at);
  if (!strstr(s->err.text, want))
    fail_msg("'%s' is not in: %s", want, s->err.text);
}

static void keeps_good_records(void **state)
{
  struct step s;
  prepare(&s);
  is_kept(&s, 3, "a\nc\ne\n");
  assert_false(s.found.is_new);
  assert_int_equal(s.found.sessions, 1);
  assert_int_equal(s.found.retried, 2);
  assert_int_equal(s.found.items, 6);
  assert_int_equal(s.found.items_succeeded, 6);
  assert_int_equal(s.found.cut_records, 0);
  assert_int_equal(s.found.cut_output_bytes, 0);
  assert_int_equal(tm_commit_state(s.commit, 1), TM_MINI_BATCH_OPEN);
  step_close(&s);
  s.options.keep_failed = true;
  step_must_open(&s);
  assert_int_equal(s.found.failed, 2);
  assert_int_equal(s.found.retried, 0);
  assert_int_equal(s.found.items, 10);
  assert_int_equal(s.found.sessions, 2);
  assert_int_equal(tm_commit_state(s.commit, 1), TM_MINI_BATCH_FAILED);
  step_release(&s);
}

static void counts_uncounted_rows_as_one_item(void **state)
{
  struct step s;
  prepare(&s);
  step_must_open(&s);
  tm_commit_add_failed(s.commit, &(struct tm_outcome) { .index = 1, .try = 1 }, "{}\n", 3);
  tm_commit_add_failed(s.commit, &(struct tm_outcome) { .index = 5, .try = 1 }, "{}\n", 3);
  assert_int_equal(step_flush(&s), 0);
  step_close(&s);
  s.options.keep_failed = true;
  step_must_open(&s);
  assert_int_equal(s.found.failed, 3);
  assert_int_equal(s.found.uncounted, 1); /* 5; an earlier session has counted 2 of 1 */
  assert_int_equal(s.found.items, 6 + 2 + 2 + 1);
  step_close(&s);
  s.options.keep_failed = false;
  step_must_open(&s);
  assert_int_equal(s.found.uncounted, 0);
  step_done(&s, 5, "f\n");
  assert_int_equal(step_flush(&s), 0);
  step_close(&s);
  s.options.keep_failed = true;
  step_must_open(&s);
  assert_int_equal(s.found.failed, 2);
  assert_int_equal(s.found.uncounted, 0);
  assert_int_equal(s.found.items, 8 + 2 + 2);
  step_release(&s);
}

/* Every byte of every record. */
static void tells_damage_from_a_torn_tail(void **state)
{
  struct step s;
  prepare(&s);
  int64_t line = step_record_at(&s, TM_RECORD_SYNC, 1),
          size = folder_size(&s.folder, "state/journal");
  char *good = folder_text(&s.folder, "state/journal"),
       *rows = folder_text(&s.folder, "rows.partial");
  for (int64_t at = 0; at < size; at += 7) {
    int64_t record = at - at % TM_RECORD_SIZE;
    folder_cut(&s.folder, "state/journal", 0);
    folder_put(&s.folder, "state/journal", 0, good, (size_t)size);
    folder_put(&s.folder, "rows.partial", 0, rows, 6);
    folder_put(&s.folder, "state/failures", 0, "{\"mini_batch\":1}\n{\"mini_batch\":3}\n", 34);
    folder_flip(&s.folder, "state/journal", at);
    if (record < line) {
      is_damage(&s, "state/journal", record);
    } else {
      is_kept(&s,
              record > line + 3 * TM_RECORD_SIZE ? 3
              : record > line + TM_RECORD_SIZE   ? 2
                                                 : 1,
              record > line + 3 * TM_RECORD_SIZE ? "a\nc\ne\n"
              : record > line + TM_RECORD_SIZE   ? "a\nc\n"
                                                 : "a\n");
      assert_int_equal(s.found.cut_records, (size - record) / TM_RECORD_SIZE);
      step_close(&s);
    }
  }
  free(good);
  free(rows);
  step_release(&s);
}

static void ends_the_log_where_rows_differ_from_the_record(void **state)
{
  struct step s;
  prepare(&s);
  folder_flip(&s.folder, "rows.partial", 2);
  is_kept(&s, 1, "a\n");
  assert_int_equal(s.found.cut_records, 3);
  assert_int_equal(s.found.cut_output_bytes, 4);
  step_release(&s);
  prepare(&s);
  folder_flip(&s.folder, "state/failures", 20); /* of mini-batch 3, which is before 4 */
  is_kept(&s, 2, "a\nc\n");
  assert_int_equal(folder_size(&s.folder, "state/failures"), 17);
  step_release(&s);
}

static void takes_files_that_are_too_long_or_too_short(void **state)
{
  struct step s;
  prepare(&s);
  folder_put(&s.folder, "rows.partial", 6, "torn", 4);
  is_kept(&s, 3, "a\nc\ne\n");
  assert_int_equal(s.found.cut_output_bytes, 4);
  step_close(&s);
  folder_cut(&s.folder, "rows.partial", 5); /* the session has synced what it kept */
  is_damage(&s, "rows.partial", 5);
  step_release(&s);
  prepare(&s);
  folder_cut(&s.folder, "rows.partial", 5);
  is_kept(&s, 2, "a\nc\n");
  step_release(&s);
  prepare(&s);
  folder_cut(&s.folder, "rows.partial", 1);
  is_damage(&s, "rows.partial", 1);
  folder_cut(&s.folder, "rows.partial", 2);
  folder_cut(&s.folder, "state/failures", 16);
  is_damage(&s, "state/failures", 16);
  step_release(&s);
  prepare(&s);
  folder_cut(&s.folder, "state/manifest", 20);
  is_damage(&s, "state/manifest", 16);
  step_release(&s);
}

static void says_which_file_is_gone(void **state)
{
  static const char *const names[] = { "rows.partial", "state/failures", "state/manifest",
                                       "state/journal" };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    struct step s;
    char want[120];
    prepare(&s);
    assert_int_equal(remove(folder_file(&s.folder, names[i])), 0);
    assert_int_equal(step_open(&s), TM_EDAMAGE);
    snprintf(want, sizeof(want), "%s' has been removed or emptied; ", names[i]);
    if (!strstr(s.err.text, want))
      fail_msg("'%s' is not in: %s", want, s.err.text);
    step_release(&s);
  }
}

static void cuts_half_a_record(void **state)
{
  struct step s;
  prepare(&s);
  int64_t size = folder_size(&s.folder, "state/journal");
  folder_cut(&s.folder, "state/journal", size - 1);
  is_kept(&s, 2, "a\nc\n");
  assert_int_equal(s.found.cut_records, 1);
  assert_int_equal(s.found.cut_output_bytes, 2);
  step_done(&s, 4, "e\n"); /* once more, and only once */
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0);
  step_is_text(&s, "rows", "a\nc\ne\n");
  step_release(&s);
}

/* Replaces record `to` by a copy of record `from`. */
static void copy_record(struct step *s, int64_t from, int64_t to)
{
  char *bytes = folder_text(&s->folder, "state/journal");
  folder_put(&s->folder, "state/journal", to, bytes + from, TM_RECORD_SIZE);
  free(bytes);
}

static void takes_no_mini_batch_twice(void **state) /* 9 */
{
  struct step s;
  prepare(&s);
  int64_t first = step_record_at(&s, TM_RECORD_COMMITTED, 0),
          second = step_record_at(&s, TM_RECORD_COMMITTED, 1);
  copy_record(&s, first, second); /* after the sync record */
  is_kept(&s, 1, "a\n");
  step_release(&s);
  prepare(&s);
  copy_record(&s, first, first + TM_RECORD_SIZE); /* before it */
  is_damage(&s, "state/journal", first + TM_RECORD_SIZE);
  assert_non_null(strstr(s.err.text, "committed twice"));
  step_release(&s);
}

static void put_record(struct step *s, int64_t at, const struct tm_record *r)
{
  char b[TM_RECORD_SIZE];
  tm_record_encode(r, b);
  folder_put(&s->folder, "state/journal", at, b, sizeof(b));
}

static void refuses_records_that_cannot_be(void **state)
{
  struct tm_record r = { .kind = TM_RECORD_COMMITTED };
  struct step s;
  prepare(&s);
  int64_t first = step_record_at(&s, TM_RECORD_COMMITTED, 0),
          size = folder_size(&s.folder, "state/journal");
  r.index = 6; /* not in the manifest */
  r.output_end = 6;
  r.failures_end = 34;
  put_record(&s, size, &r);
  is_kept(&s, 3, "a\nc\ne\n");
  assert_int_equal(s.found.cut_records, 1);
  step_close(&s);
  r.index = 5;
  r.output_end = 5; /* it ends before it begins */
  put_record(&s, folder_size(&s.folder, "state/journal"), &r);
  is_kept(&s, 3, "a\nc\ne\n");
  step_close(&s);
  put_record(&s, first, &r);
  r.index = 600;
  put_record(&s, first, &r);
  is_damage(&s, "state/journal", first);
  step_release(&s);
}

static void refuses_another_version(void **state)
{
  struct step s;
  char b[TM_RECORD_SIZE];
  prepare(&s);
  char *bytes = folder_text(&s.folder, "state/journal");
  memcpy(b, bytes, sizeof(b));
  free(bytes);
  b[1]++;
  tm_put_u64(b + 56, tm_hash64(b, 56));
  folder_put(&s.folder, "state/journal", 0, b, sizeof(b));
  assert_int_equal(step_open(&s), TM_EVERSION);
  assert_non_null(strstr(s.err.text, "another version"));
  step_release(&s);
}

static void changes_nothing_if_there_is_damage(void **state)
{
  struct step s;
  prepare(&s);
  folder_put(&s.folder, "rows.partial", 6, "torn", 4);
  folder_flip(&s.folder, "state/journal", 3);
  tm_buf_clear(&s.files.log);
  is_damage(&s, "state/journal", 0);
  assert_null(strstr(tm_buf_str(&s.files.log), "write:"));
  assert_int_equal(folder_size(&s.folder, "rows.partial"), 10);
  step_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(keeps_good_records),
    cmocka_unit_test(counts_uncounted_rows_as_one_item),
    cmocka_unit_test(tells_damage_from_a_torn_tail),
    cmocka_unit_test(ends_the_log_where_rows_differ_from_the_record),
    cmocka_unit_test(takes_files_that_are_too_long_or_too_short),
    cmocka_unit_test(says_which_file_is_gone),
    cmocka_unit_test(cuts_half_a_record),
    cmocka_unit_test(takes_no_mini_batch_twice),
    cmocka_unit_test(refuses_records_that_cannot_be),
    cmocka_unit_test(refuses_another_version),
    cmocka_unit_test(changes_nothing_if_there_is_damage),
});
