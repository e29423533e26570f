/* test_inspection.c - what a job's files say about it: counts, the end of the list, and the cost of
 * the read. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commit/manifest_file.h"
#include "inspection_fixture.h"

/* A manifest as its writer makes it; `paths`: the bytes of each entry. */
static void add_entries(struct tm_buf *out, uint64_t n, size_t length, bool has_end)
{
  uint64_t link = 0;
  char head[TM_MANIFEST_HEAD], *bytes = tm_xcalloc(1, length + 8);
  tm_buf_add(out, "tm-list\0\1\0\0\0\0\0\0\0", 16);
  for (uint64_t i = 0; i < n + has_end; i++) {
    struct tm_manifest_head h = { .kind = i < n ? TM_MANIFEST_ENTRY : TM_MANIFEST_END,
                                  .items = i < n ? 3 : 0,
                                  .length = i < n ? (uint32_t)length : 8,
                                  .index = i };
    if (i == n)
      tm_put_u64(bytes, n * 3);
    tm_manifest_head_encode(&h, head);
    h.check = tm_manifest_check(head, bytes, h.length);
    h.chain = link = tm_manifest_link(link, h.check);
    tm_manifest_head_encode(&h, head);
    tm_buf_add(out, head, sizeof(head));
    tm_buf_add(out, bytes, h.length);
  }
  free(bytes);
}

static void assert_extent(const char *dir, const struct tm_buf *file, int64_t mini_batches,
                          int64_t items, bool has_end)
{
  struct tm_manifest_extent e;
  char *path = tm_path_join(dir, "list");
  put_bytes(dir, "list", file->data, file->len);
  assert_int_equal(tm_manifest_look(&e, path, NULL), 0);
  assert_int_equal(e.mini_batches, mini_batches);
  assert_int_equal(e.items, items);
  assert_int_equal(e.has_end, has_end);
  free(path);
}

static void the_end_of_a_list(void **state)
{
  static const size_t lengths[] = { 9, 100, 70000, 300000 };
  for (size_t i = 0; i < TM_COUNT_OF(lengths); i++) {
    struct tm_buf file = TM_BUF_NONE;
    add_entries(&file, 5, lengths[i], true);
    assert_extent(*state, &file, 5, 15, true);
    tm_buf_clear(&file);
    add_entries(&file, 5, lengths[i], false);
    assert_extent(*state, &file, 5, -1, false);
    file.len -= 3; /* the last entry is incomplete or torn */
    assert_extent(*state, &file, 4, -1, false);
    file.len = 16;
    assert_extent(*state, &file, 0, -1, false);
    file.len = 0;
    assert_extent(*state, &file, 0, -1, false);
    tm_buf_release(&file);
  }
}

static void a_missing_list_is_empty(void **state)
{
  struct tm_manifest_extent e;
  char *path = tm_path_join(*state, "none");
  assert_int_equal(tm_manifest_look(&e, path, NULL), 0);
  assert_int_equal(e.mini_batches, 0);
  assert_false(tm_fs_exists(tm_fs_real(), path));
  free(path);
}

static void read_inspection(struct tm_inspection *s, const char *dir)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_inspection_read(s, dir, NOW, &err) < 0)
    fail_msg("%s", err.text);
  tm_inspection_read_details(s);
}

static void a_mini_batch_counts_once(void **state)
{
  struct tm_buf journal = TM_BUF_NONE, list = TM_BUF_NONE;
  struct tm_inspection s;
  put_definition(*state);
  add_session(&journal, 1, NOW - 100 * TM_S);
  add_outcome(&journal, TM_RECORD_COMMITTED, 0, 3);
  add_outcome(&journal, TM_RECORD_FAILED, 1, 0);
  add_outcome(&journal, TM_RECORD_FAILED, 2, 0);
  add_session(&journal, 2, NOW - 50 * TM_S);
  add_outcome(&journal, TM_RECORD_COMMITTED, 1, 2);
  add_outcome(&journal, TM_RECORD_FAILED, 2, 0);
  add_entries(&list, 5, 10, true);
  put_bytes(*state, "score/state/journal", journal.data, journal.len);
  put_bytes(*state, "score/state/manifest", list.data, list.len);
  read_inspection(&s, *state);
  assert_int_equal(s.status, TM_JOB_INTERRUPTED);
  assert_string_equal(s.name, "case");
  assert_int_equal(s.begin_wall_ns, NOW - 100 * TM_S);
  assert_int_equal(s.steps_len, 1);
  assert_int_equal(s.steps[0].total, 5);
  assert_int_equal(s.steps[0].succeeded, 2);
  assert_int_equal(s.steps[0].failed, 1);
  assert_int_equal(s.steps[0].items_total, 15);
  assert_int_equal(s.steps[0].items_succeeded, 5);
  assert_int_equal(s.steps[0].items_failed, 4);
  assert_int_equal(s.steps[0].sessions, 2);
  assert_int_equal(s.steps[0].session_ended, 2);
  assert_int_equal(s.steps[0].damage_at, -1);
  assert_true(tm_inspection_rate(&s, &s.steps[0]) == 0); /* nobody runs it */
  s.status = TM_JOB_RUNNING;
  assert_true(tm_inspection_rate(&s, &s.steps[0]) == 2.0 / 50);
  tm_inspection_release(&s);
  tm_buf_release(&journal);
  tm_buf_release(&list);
}

static void a_bad_record_ends_the_count(void **state)
{
  struct tm_buf journal = TM_BUF_NONE;
  struct tm_inspection s;
  put_definition(*state);
  add_session(&journal, 1, NOW);
  for (uint64_t i = 0; i < 4; i++)
    add_outcome(&journal, TM_RECORD_COMMITTED, i, 3);
  journal.data[3 * TM_RECORD_SIZE + 9] ^= 1;
  put_bytes(*state, "score/state/journal", journal.data, journal.len);
  read_inspection(&s, *state);
  assert_int_equal(s.steps[0].succeeded, 2);
  assert_int_equal(s.steps[0].damage_at, 3 * TM_RECORD_SIZE);
  tm_inspection_release(&s);
  tm_buf_release(&journal);
}

/* Two mini-batches, whose messages name the item that was read last. */
static void a_reason_is_one_for_all_items_and_numbers(void **state)
{
  struct tm_inspection s;
  put_definition(*state);
  put(*state, "job_result.json",
      "{\"status\":\"Failed\",\"steps\":[{\"name\":\"score\",\"status\":\"Failed\","
      "\"mini_batches\":{\"total\":2,\"succeeded\":0,\"failed\":2},"
      "\"items\":{\"total\":4,\"succeeded\":0,\"failed\":4}}]}");
  put(*state, "score/failed_items.jsonl",
      "{\"mini_batch\":1,\"item\":\"/in/a\",\"error\":\"/in/b: byte 7\"}\n"
      "{\"mini_batch\":1,\"item\":\"/in/b\",\"error\":\"/in/b: byte 7\"}\n"
      "{\"mini_batch\":2,\"item\":\"/in/c\",\"error\":\"/in/d: byte 12\"}\n"
      "{\"mini_batch\":2,\"item\":\"/in/d\",\"error\":\"/in/d: byte 12\"}\n");
  read_inspection(&s, *state);
  assert_int_equal(s.steps[0].errors_len, 1);
  assert_string_equal(s.steps[0].errors[0].pattern, "<item>: byte <n>");
  assert_string_equal(s.steps[0].errors[0].message, "/in/b: byte 7");
  assert_string_equal(s.steps[0].errors[0].item, "/in/b");
  assert_true(s.steps[0].errors[0].is_mixed);
  assert_int_equal(s.steps[0].errors[0].items, 4);
  tm_inspection_release(&s);
}

/* As the groups at the end of a job. */
static void exit_statuses_make_a_difference(void **state)
{
  struct tm_inspection s;
  put_definition(*state);
  put(*state, "job_result.json",
      "{\"status\":\"Failed\",\"steps\":[{\"name\":\"score\",\"status\":\"Failed\","
      "\"mini_batches\":{\"total\":2,\"succeeded\":0,\"failed\":2},"
      "\"items\":{\"total\":4,\"succeeded\":0,\"failed\":4}}]}");
  put(*state, "score/failed_items.jsonl",
      "{\"mini_batch\":1,\"item\":\"/a\",\"status\":\"PROCESS_DIED\",\"error\":"
      "\"exited with status 8 in run() after 9.00 s\"}\n"
      "{\"mini_batch\":2,\"item\":\"/b\",\"status\":\"PROCESS_DIED\",\"error\":"
      "\"exited with status 7 in run() after 2 min 3 s\"}\n"
      "{\"mini_batch\":3,\"item\":\"/c\",\"status\":\"PROCESS_DIED\",\"error\":"
      "\"exited with status 7 in run() after 0.00 s\"}\n"
      "{\"mini_batch\":4,\"item\":\"/d\",\"names\":\"/e.f\",\"error\":\"bad e.f\"}\n");
  read_inspection(&s, *state);
  assert_int_equal(s.steps[0].errors_len, 3);
  assert_string_equal(s.steps[0].errors[0].pattern, "bad <item>");
  assert_string_equal(s.steps[0].errors[1].pattern, "exited with status 7 in run()");
  assert_int_equal(s.steps[0].errors[1].items, 2);
  assert_string_equal(s.steps[0].errors[2].pattern, "exited with status 8 in run()");
  tm_inspection_release(&s);
}

static void a_result_says_it_all(void **state)
{
  struct tm_inspection s;
  put_definition(*state);
  put(*state, "job_result.json",
      "{\"status\":\"Failed\",\"cause\":\"why\",\"steps\":[{\"name\":\"score\",\"status\":"
      "\"Failed\","
      "\"mini_batches\":{\"total\":9,\"succeeded\":7,\"failed\":2},"
      "\"items\":{\"total\":90,\"succeeded\":70,\"failed\":20},\"output\":\"/o\"}]}");
  put(*state, "score/failed_items.jsonl",
      "{\"mini_batch\":1,\"item\":\"/a\",\"error\":\"first\",\"log\":\"/l\"}\n"
      "{\"mini_batch\":2,\"item\":\"/b\",\"error\":\"second\"}\n"
      "{\"mini_batch\":2,\"item\":\"/c\",\"error\":\"second\"}\n");
  read_inspection(&s, *state);
  assert_int_equal(s.status, TM_JOB_FAILED);
  assert_string_equal(s.cause, "why");
  assert_int_equal(s.steps[0].total, 9);
  assert_int_equal(s.steps[0].items_failed, 20);
  assert_string_equal(s.steps[0].output, "/o");
  assert_int_equal(s.steps[0].errors_len, 2);
  assert_string_equal(s.steps[0].errors[0].message, "second");
  assert_string_equal(s.steps[0].errors[0].item, "/b"); /* the first of them */
  assert_int_equal(s.steps[0].errors[0].items, 2);
  assert_int_equal(s.steps[0].errors[0].mini_batch, 2);
  assert_false(s.steps[0].errors_cut);
  assert_null(s.steps[0].errors[0].log);
  assert_string_equal(s.steps[0].errors[1].log, "/l");
  tm_inspection_release(&s);
}

static void assert_inspection_fails(const char *dir, int code, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_inspection s;
  assert_int_equal(tm_inspection_read(&s, dir, NOW, &err), code);
  if (!strstr(err.text, words))
    fail_msg("'%s' is not in: %s", words, err.text);
  tm_inspection_release(&s);
}

static void damaged_files_and_other_versions_are_named(void **state)
{
  put(*state, "job.json", "{\"version\":1,");
  assert_inspection_fails(*state, TM_EDAMAGE, "job.json' is damaged");
  put(*state, "job.json", "{\"version\":2}");
  assert_inspection_fails(*state, TM_EVERSION, "version 2");
  put(*state, "job.json", "{\"version\":1}");
  assert_inspection_fails(*state, TM_EDAMAGE, "no list of steps");
  put_definition(*state);
  put(*state, "job_result.json", "{\"status\":\"Complet");
  assert_inspection_fails(*state, TM_EDAMAGE, "job_result.json' is damaged");
  put(*state, "job_result.json", "{\"status\":\"Splendid\"}");
  assert_inspection_fails(*state, TM_EDAMAGE, "'Splendid'");
}

/* CPU time, because other programs hardly lengthen it; under a sanitizer it would not be what users
 * have. */
static void a_million_tries_take_a_moment(void **state)
{
  struct tm_buf journal = TM_BUF_NONE, list = TM_BUF_NONE;
  struct tm_inspection s;
  clock_t begin, took;
  put_definition(*state);
  add_session(&journal, 1, NOW - TM_S);
  for (uint64_t i = 0; i < 1000000; i++)
    add_outcome(&journal, TM_RECORD_COMMITTED, i, 3);
  add_entries(&list, 1000000, 1, false);
  put_bytes(*state, "score/state/journal", journal.data, journal.len);
  put_bytes(*state, "score/state/manifest", list.data, list.len);
  tm_buf_release(&journal);
  tm_buf_release(&list);
  begin = clock();
  read_inspection(&s, *state);
  took = clock() - begin;
  print_message("%.1f ms\n", (double)took * 1000 / CLOCKS_PER_SEC);
  assert_int_equal(s.steps[0].succeeded, 1000000);
  assert_int_equal(s.steps[0].total, 1000000);
  assert_true(took < 20 * CLOCKS_PER_SEC); /* takes 0.02 s; a search per entry would take hours */
  tm_inspection_release(&s);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_dir, close_dir)

UNIT_TESTS({
    CASE(the_end_of_a_list),
    CASE(a_missing_list_is_empty),
    CASE(a_mini_batch_counts_once),
    CASE(a_bad_record_ends_the_count),
    CASE(a_reason_is_one_for_all_items_and_numbers),
    CASE(exit_statuses_make_a_difference),
    CASE(a_result_says_it_all),
    CASE(damaged_files_and_other_versions_are_named),
    CASE(a_million_tries_take_a_moment),
});
