/* test_commit.c - the order of writes, and what follows a failed write: invariants 1, 2, 4, 5, 6,
 * 8, 9. */
#include "unit.h"

#include <errno.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "commit/commit_own.h"
#include "step.h"
#include "sys/clock.h"

static void keeps_rows_together_in_their_order(void **state) /* 1 */
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  assert_true(s.found.is_new);
  step_list(&s, 4);
  step_done(&s, 2, "c1\nc2\n");
  step_done(&s, 0, "a1\na2\n");
  step_done(&s, 3, "");
  assert_int_equal(tm_commit_output_len(s.commit), 12);
  assert_true(tm_commit_pending(s.commit) > 12);
  assert_int_equal(step_flush(&s), 0);
  assert_int_equal(tm_commit_pending(s.commit), 0);
  step_is_text(&s, "rows.partial", "c1\nc2\na1\na2\n");
  assert_int_equal(tm_commit_state(s.commit, 2), TM_MINI_BATCH_COMMITTED);
  assert_int_equal(tm_commit_state(s.commit, 1), TM_MINI_BATCH_OPEN);
  step_release(&s);
}

static void writes_records_after_rows(void **state) /* 2 */
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 2);
  tm_buf_clear(&s.files.log);
  step_done(&s, 0, "a\n");
  step_failed(&s, 1, "{}\n");
  assert_string_equal(tm_buf_str(&s.files.log), "");
  assert_int_equal(step_flush(&s), 0);
  assert_string_equal(tm_buf_str(&s.files.log), "write:rows.partial write:failures write:journal ");
  step_release(&s);
}

static void has_no_record_of_rows_that_were_not_written(void **state) /* 2, 8 */
{
  static const char *const calls[] = { "write:rows.partial", "write:failures", "write:journal" };
  for (size_t i = 0; i < TM_COUNT_OF(calls); i++) {
    struct step s;
    struct tm_err again = TM_ERR_NONE;
    step_init(&s);
    step_must_open(&s);
    step_list(&s, 2);
    int64_t size = folder_size(&s.folder, "state/journal");
    s.files.fail_on = calls[i];
    s.files.code = -ENOSPC;
    step_done(&s, 0, "a\n");
    step_failed(&s, 1, "{}\n");
    assert_int_equal(step_flush(&s), -ENOSPC);
    assert_non_null(strstr(s.err.text, "cannot write '"));
    assert_int_equal(folder_size(&s.folder, "state/journal"), size);
    s.files.fail_on = NULL; /* there is space again, but too late */
    tm_buf_clear(&s.files.log);
    step_done(&s, 1, "b\n");
    assert_int_equal(tm_commit_flush(s.commit, &again), -ENOSPC);
    assert_string_equal(again.text, s.err.text);
    assert_int_equal(step_sync(&s), 1);
    assert_int_equal(tm_commit_finish(s.commit, true, &again), -ENOSPC);
    assert_string_equal(tm_buf_str(&s.files.log), "");
    step_close(&s);
    step_must_open(&s);
    assert_int_equal(s.found.committed, 0);
    step_release(&s);
  }
}

static void syncs_in_order_and_then_says_so(void **state) /* 4 */
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 2);
  step_done(&s, 0, "a\n");
  assert_int_equal(step_flush(&s), 0);
  tm_buf_clear(&s.files.log);
  assert_int_equal(step_sync(&s), 0);
  assert_string_equal(
      tm_buf_str(&s.files.log),
      "fsync:manifest fsync:failures fsync:files fsync:rows.partial fsync:journal write:journal ");
  assert_int_equal(step_sync(&s), 1); /* no change */
  step_done(&s, 1, "b\n");
  assert_int_equal(step_sync(&s), 1); /* not flushed: no change either */
  assert_int_equal(step_flush(&s), 0);
  assert_int_equal(step_sync(&s), 0);
  step_release(&s);
}

static void states_the_lengths_at_the_begin_of_the_fsyncs(void **state) /* 4 */
{
  struct step s;
  struct tm_sync sync;
  struct tm_record r;
  char b[TM_RECORD_SIZE];
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 3);
  step_done(&s, 0, "a\n");
  assert_int_equal(step_flush(&s), 0);
  int64_t journal_len = folder_size(&s.folder, "state/journal");
  assert_true(tm_commit_sync_begin(s.commit, &sync));
  tm_sync_run(&sync);
  step_done(&s, 1, "bb\n");
  assert_int_equal(step_flush(&s), 0);
  assert_int_equal(tm_commit_sync_end(s.commit, &sync, NULL), 0);
  int64_t at = step_record_at(&s, TM_RECORD_SYNC, 1);
  assert_int_equal(at, journal_len + TM_RECORD_SIZE);
  int fd = tm_fs_open(tm_fs_real(), folder_file(&s.folder, "state/journal"), O_RDONLY, 0, NULL);
  assert_int_equal(tm_fs_read_at(tm_fs_real(), fd, "journal", b, sizeof(b), at, NULL), sizeof(b));
  tm_fs_close(tm_fs_real(), fd);
  assert_int_equal(tm_record_decode(&r, b), 0);
  assert_int_equal(r.journal_len, journal_len);
  assert_int_equal(r.output_len, 2);
  assert_int_equal(r.failures_len, 0);
  assert_int_equal(r.manifest_len, folder_size(&s.folder, "state/manifest"));
  assert_int_equal(step_sync(&s), 0); /* the second one still needs a sync */
  step_release(&s);
}

static void never_repeats_a_failed_fsync(void **state) /* 5 */
{
  static const char *const calls[] = { "fsync:manifest", "fsync:failures", "fsync:rows.partial",
                                       "fsync:journal" };
  for (size_t i = 0; i < TM_COUNT_OF(calls); i++) {
    struct step s;
    step_init(&s);
    step_must_open(&s);
    step_list(&s, 1);
    step_done(&s, 0, "a\n");
    assert_int_equal(step_flush(&s), 0);
    s.files.fail_on = calls[i];
    s.files.code = -EIO;
    assert_int_equal(step_sync(&s), -EIO);
    assert_non_null(strstr(s.err.text, "cannot sync '"));
    assert_int_equal(step_record_at(&s, TM_RECORD_SYNC, 1), -1);
    s.files.fail_on = NULL;
    tm_buf_clear(&s.files.log);
    assert_int_equal(step_sync(&s), 1);
    assert_int_equal(tm_commit_finish(s.commit, true, &s.err), -EIO);
    assert_string_equal(tm_buf_str(&s.files.log), "");
    step_release(&s);
  }
}

static void syncs_recovered_data_before_it_writes(void **state) /* 5 */
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 1);
  step_done(&s, 0, "a\n");
  assert_int_equal(step_flush(&s), 0);
  step_close(&s);
  tm_buf_clear(&s.files.log);
  assert_int_equal(step_open(&s), 0);
  const char *log = tm_buf_str(&s.files.log);
  const char *first = strstr(
      log,
      "fsync:manifest fsync:failures fsync:files fsync:rows.partial fsync:journal fsync:state ");
  assert_non_null(first);
  const char *record = strstr(first, "write:journal fsync:journal ");
  assert_non_null(record);
  assert_null(strstr(first, "write:rows.partial"));
  assert_non_null(strstr(log, "write:journal")); /* the tail again, before the fsyncs */
  assert_true(strstr(log, "write:journal") < first);
  step_release(&s);
}

static void put_owner(struct step *s, const char *epoch)
{
  char text[100];
  snprintf(text, sizeof(text), "{\"pid\":1,\"host\":\"h\",\"epoch\":\"%s\"}", epoch);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), folder_file(&s->folder, "owner"), text,
                                    strlen(text), 0600, NULL),
                   0);
}

/* A session with epoch 0xaa and n mini-batches; `epoch`: in its owner file. To free. */
static char *open_owned(struct step *s, const char *epoch, int n)
{
  step_init(s);
  char *owner = tm_xstrdup(folder_file(&s->folder, "owner"));
  s->options.owner_file = owner;
  s->options.epoch = 0xaa;
  put_owner(s, epoch);
  step_must_open(s);
  step_list(s, n);
  return owner;
}

static void stops_when_another_owns_the_job(void **state) /* 6 */
{
  static const char *const others[] = { "00000000000000ab", "", "00000000000000aa0" };
  for (size_t i = 0; i < TM_COUNT_OF(others); i++) {
    struct step s;
    char *owner = open_owned(&s, "00000000000000aa", 2);
    step_done(&s, 0, "a\n");
    assert_int_equal(step_flush(&s), 0);
    assert_int_equal(step_sync(&s), 0);
    step_done(&s, 1, "b\n");
    assert_int_equal(step_flush(&s), 0);
    put_owner(&s, others[i]);
    tm_buf_clear(&s.files.log);
    if (i == 0)
      assert_int_equal(step_sync(&s), TM_EINUSE);
    assert_int_equal(tm_commit_finish(s.commit, true, &s.err), TM_EINUSE);
    assert_non_null(strstr(s.err.text, "another owner"));
    assert_null(strstr(tm_buf_str(&s.files.log), "write:"));
    assert_null(strstr(tm_buf_str(&s.files.log), "rename:"));
    step_release(&s);
    free(owner);
  }
}

/* A write of rows that hangs until another session owns the job. */
static int64_t pwrite_hangs(void *self, int fd, const void *p, size_t n, int64_t at)
{
  struct step *s = (struct step *)((char *)self - offsetof(struct step, files));
  int64_t begin = tm_clock_mono_ns();
  if (strcmp(s->files.names[fd], "rows.partial") == 0) {
    put_owner(s, "00000000000000ab");
    while (tm_clock_mono_ns() - begin < 20 * TM_MS)
      tm_clock_pause(TM_MS);
  }
  return watched_pwrite(self, fd, p, n, at);
}

static void writes_no_record_for_another_owner(void **state) /* 6 */
{
  struct step s;
  char *owner = open_owned(&s, "00000000000000aa", 2);
  step_done(&s, 0, "a\n");
  assert_int_equal(step_flush(&s), 0);
  step_done(&s, 1, "b\n");
  s.files.fs.pwrite = pwrite_hangs;
  tm_buf_clear(&s.files.log);
  assert_int_equal(step_flush(&s), TM_EINUSE);
  assert_non_null(strstr(s.err.text, "another owner"));
  assert_null(strstr(tm_buf_str(&s.files.log), "write:journal"));
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), TM_EINUSE);
  step_release(&s);
  free(owner);
}

static void copies_no_rows_for_another_owner(void **state) /* 6 */
{
  struct step s;
  struct tm_outcome o = { .index = 0, .try = 1, .items = 1, .succeeded = 1, .returned = 1 };
  size_t n = TM_COMMIT_PIECE + 1;
  char *rows = tm_xmalloc(n);
  char *owner = open_owned(&s, "00000000000000ab", 1);
  s.commit->owned_ns = 0; /* it was read long ago */
  memset(rows, 'r', n);
  folder_put(&s.folder, "state/spill/1", 0, rows, n);
  char *path = tm_path_join(tm_commit_spill_dir(s.commit), "1");
  tm_buf_clear(&s.files.log);
  assert_false(
      tm_commit_copy_ahead(s.commit, path, n, tm_hash64(rows, n), &(struct tm_buf)TM_BUF_NONE));
  assert_false(tm_commit_copy_more(s.commit));
  assert_int_equal(tm_commit_add_spilled(s.commit, &o, path, n, tm_hash64(rows, n), &s.err),
                   TM_EINUSE);
  assert_non_null(strstr(s.err.text, "another owner"));
  assert_null(strstr(tm_buf_str(&s.files.log), "write:"));
  step_release(&s);
  free(owner);
  free(rows);
  free(path);
}

static void adds_no_file_for_another_owner(void **state) /* 6 */
{
  struct step s;
  struct tm_outcome o = { .index = 0, .try = 1, .items = 1, .succeeded = 1, .returned = 1 };
  char *owner = open_owned(&s, "00000000000000ab", 1);
  s.commit->owned_ns = 0; /* it was read long ago */
  folder_put(&s.folder, "state/spill/1", 0, "b\n", 2);
  char *path = tm_path_join(tm_commit_spill_dir(s.commit), "1");
  tm_buf_clear(&s.files.log);
  assert_int_equal(tm_commit_add_spilled(s.commit, &o, path, 2, tm_hash64("b\n", 2), &s.err),
                   TM_EINUSE);
  assert_null(strstr(tm_buf_str(&s.files.log), "write:"));
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), TM_EINUSE);
  step_release(&s);
  free(owner);
  free(path);
}

static void count_fault(const char *text, bool fatal, void *data)
{
  assert_false(fatal);
  ++*(int *)data;
}

static void commits_each_once(void **state) /* 9 */
{
  struct step s;
  int faults = 0;
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 2);
  step_done(&s, 0, "a\n");
  tm_set_on_fault(count_fault, &faults);
  step_done(&s, 0, "again\n");
  step_failed(&s, 0, "{}\n");
  step_done(&s, 2, "not in the manifest\n");
  tm_set_on_fault(NULL, NULL);
  assert_int_equal(faults, 3);
  assert_int_equal(step_flush(&s), 0);
  step_is_text(&s, "rows.partial", "a\n");
  assert_int_equal(folder_size(&s.folder, "state/failures"), 0);
  step_release(&s);
}

static void takes_spilled_rows(void **state)
{
  struct step s;
  struct tm_outcome o = { .index = 1, .try = 1, .items = 2, .succeeded = 1, .returned = 1 };
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 3);
  step_done(&s, 0, "a\n");
  char *path = tm_path_join(tm_commit_spill_dir(s.commit), "1");
  folder_put(&s.folder, "state/spill/1", 0, "wrong\n", 6);
  tm_commit_note_failures(s.commit, "{\"mini_batch\":1}\n", 17);
  assert_int_equal(tm_commit_add_spilled(s.commit, &o, path, 6, 1, &s.err), TM_EDAMAGE);
  assert_int_equal(folder_size(&s.folder, "state/spill/1"), -1);
  assert_int_equal(tm_commit_state(s.commit, 1), TM_MINI_BATCH_OPEN);
  folder_put(&s.folder, "state/spill/1", 0, "b\n", 2);
  tm_commit_note_failures(s.commit, "{\"mini_batch\":1,\"item\":2}\n", 26);
  assert_int_equal(tm_commit_add_spilled(s.commit, &o, path, 2, tm_hash64("b\n", 2), &s.err), 0);
  step_done(&s, 2, "c\n");
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0);
  step_is_text(&s, "rows", "a\nb\nc\n"); /* no rows of the wrong session after it */
  step_is_text(&s, "failed_items.jsonl", "{\"mini_batch\":1,\"item\":2}\n");
  free(path);
  step_release(&s);
}

static void removes_leftovers_of_spilled_rows(void **state)
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  folder_put(&s.folder, "state/spill/left", 0, "b\n", 2);
  step_close(&s);
  step_must_open(&s);
  assert_int_equal(folder_size(&s.folder, "state/spill/left"), -1);
  step_release(&s);
}

static void lists_items_that_still_count_as_failed(void **state)
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 4);
  step_failed(&s, 0, "{\"mini_batch\":0,\"session\":1}\n");
  tm_commit_note_failures(s.commit, "{\"mini_batch\":1,\"session\":1}\n", 29);
  step_done(&s, 1, "b\n");
  step_failed(&s, 2, "{\"mini_batch\":2,\"session\":1}\n");
  step_failed(&s, 3, "{\"mini_batch\":3,\"session\":1}\n");
  assert_int_equal(tm_commit_finish(s.commit, false, &s.err), 0);
  step_is_text(&s, "failed_items.jsonl",
               "{\"mini_batch\":0,\"session\":1}\n{\"mini_batch\":1,\"session\":1}\n"
               "{\"mini_batch\":2,\"session\":1}\n{\"mini_batch\":3,\"session\":1}\n");
  step_is_text(&s, "rows.partial", "b\n");
  step_close(&s);
  step_must_open(&s);
  assert_int_equal(s.found.retried, 3);
  assert_int_equal(s.found.failed, 0);
  step_done(&s, 0, "a\n");
  step_failed(&s, 2, "{\"mini_batch\":2,\"session\":2}\n");
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0); /* 3 has not been tried again */
  step_is_text(&s, "failed_items.jsonl",
               "{\"mini_batch\":1,\"session\":1}\n{\"mini_batch\":3,\"session\":1}\n{\"mini_"
               "batch\":2,\"session\":2}\n");
  step_release(&s);
}

static void leaves_no_list_without_failures(void **state)
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 1);
  step_failed(&s, 0, "{\"mini_batch\":0}\n");
  assert_int_equal(tm_commit_finish(s.commit, false, &s.err), 0);
  assert_true(folder_size(&s.folder, "failed_items.jsonl") > 0);
  step_close(&s);
  step_must_open(&s);
  step_done(&s, 0, "a\n");
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0);
  assert_int_equal(folder_size(&s.folder, "failed_items.jsonl"), -1);
  assert_int_equal(folder_size(&s.folder, "failed_items.jsonl.tmp"), -1);
  step_release(&s);
}

static void goes_back_to_its_partial_name(void **state)
{
  struct step s;
  step_init(&s);
  step_must_open(&s);
  step_list(&s, 1);
  step_done(&s, 0, "a\n");
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0);
  assert_int_equal(folder_size(&s.folder, "rows.partial"), -1);
  step_close(&s);
  step_must_open(&s);
  assert_int_equal(s.found.committed, 1);
  assert_int_equal(s.found.items, 2);
  assert_int_equal(folder_size(&s.folder, "rows"), -1);
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0);
  step_is_text(&s, "rows", "a\n");
  step_release(&s);
}

static void leaves_anothers_output_alone(void **state)
{
  static const char *const names[] = { "rows", "rows.partial" };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    struct step s;
    step_init(&s);
    folder_put(&s.folder, names[i], 0, "mine\n", 5);
    assert_int_equal(step_open(&s), TM_EUSAGE);
    assert_null(s.commit);
    assert_non_null(strstr(s.err.text, names[i]));
    step_is_text(&s, names[i], "mine\n");
    s.options.overwrite = true;
    step_must_open(&s);
    step_list(&s, 1);
    step_done(&s, 0, "a\n");
    assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0);
    step_is_text(&s, "rows", "a\n");
    step_release(&s);
  }
}

static void needs_no_output_for_summary_only(void **state)
{
  struct step s;
  step_init(&s);
  s.options.output_name = NULL;
  step_must_open(&s);
  step_list(&s, 2);
  step_done(&s, 0, "ignored\n");
  assert_int_equal(step_flush(&s), 0);
  step_close(&s);
  step_must_open(&s);
  assert_int_equal(s.found.committed, 1);
  step_done(&s, 1, "");
  assert_int_equal(tm_commit_finish(s.commit, true, &s.err), 0);
  assert_int_equal(folder_size(&s.folder, "rows.partial"), -1);
  assert_int_equal(folder_size(&s.folder, "rows"), -1);
  step_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(keeps_rows_together_in_their_order),
    cmocka_unit_test(writes_records_after_rows),
    cmocka_unit_test(has_no_record_of_rows_that_were_not_written),
    cmocka_unit_test(syncs_in_order_and_then_says_so),
    cmocka_unit_test(states_the_lengths_at_the_begin_of_the_fsyncs),
    cmocka_unit_test(never_repeats_a_failed_fsync),
    cmocka_unit_test(syncs_recovered_data_before_it_writes),
    cmocka_unit_test(stops_when_another_owns_the_job),
    cmocka_unit_test(writes_no_record_for_another_owner),
    cmocka_unit_test(copies_no_rows_for_another_owner),
    cmocka_unit_test(adds_no_file_for_another_owner),
    cmocka_unit_test(commits_each_once),
    cmocka_unit_test(takes_spilled_rows),
    cmocka_unit_test(removes_leftovers_of_spilled_rows),
    cmocka_unit_test(lists_items_that_still_count_as_failed),
    cmocka_unit_test(leaves_no_list_without_failures),
    cmocka_unit_test(goes_back_to_its_partial_name),
    cmocka_unit_test(leaves_anothers_output_alone),
    cmocka_unit_test(needs_no_output_for_summary_only),
});
