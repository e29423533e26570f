/* test_columns.c - the columns of the output: which frames fit, which are reordered, which are
 * refused. The first record has the header. A recorded header counts in a later session if its
 * mini-batch is committed. */
#include "unit.h"

#include "base/hash.h"
#include "base/mem.h"
#include "commit/columns.h"
#include "step.h"

struct fixture {
  struct step s;
  struct tm_columns c;
  struct tm_buf names, out;
  char *state_dir;
};

static void open_columns(struct fixture *f, bool has_header)
{
  step_must_open(&f->s);
  tm_columns_init(&f->c, tm_fs_real(), f->state_dir, ',', has_header);
  assert_int_equal(tm_columns_open(&f->c, f->s.commit, &f->s.err), 0);
}

static void setup(struct fixture *f, bool has_header)
{
  *f = (struct fixture) { 0 };
  step_init(&f->s);
  f->state_dir = tm_xprintf("%s/state", f->s.folder.path);
  open_columns(f, has_header);
  step_list(&f->s, 8);
}

static void close_columns(struct fixture *f)
{
  tm_columns_release(&f->c);
  step_close(&f->s);
}

static void teardown(struct fixture *f)
{
  tm_columns_release(&f->c);
  step_release(&f->s);
  tm_buf_release(&f->names);
  tm_buf_release(&f->out);
  free(f->state_dir);
}

/* `names`: separated by blanks; "" for an array. */
static int fit(struct fixture *f, const char *names, const char *rows)
{
  struct tm_columns_rows r = { .rows = rows, .rows_len = strlen(rows) };
  tm_buf_clear(&f->names);
  tm_buf_clear(&f->out);
  for (const char *at = names; *at; at += strspn(at, " ")) {
    size_t n = strcspn(at, " ");
    tm_buf_add_bytes32(&f->names, at, n);
    at += n;
  }
  tm_reader_init(&r.names, tm_buf_str(&f->names), f->names.len);
  return tm_columns_fit(&f->c, &r, &f->out, &f->s.err);
}

/* The frame fits; adds it as mini-batch `index`. */
static void add(struct fixture *f, uint64_t index, const char *names, const char *rows)
{
  int rc = fit(f, names, rows);
  bool is_frame = *names;
  assert_in_range(rc, 0, 1);
  assert_int_equal(tm_columns_begin_add(&f->c, f->s.commit, index, is_frame, &f->s.err), 0);
  step_done(&f->s, index, rc == 1 ? f->out.data : rows);
  tm_columns_end_add(&f->c, f->s.commit, is_frame);
}

static void the_first_frame_defines_the_columns(void **state)
{
  struct fixture f;
  setup(&f, true);
  add(&f, 3, "a b c", "1,2,3\n");
  add(&f, 1, "c a b", "\"x\"\"\n,y\",4,5\n,,\n");
  add(&f, 0, "", ""); /* an array without elements */
  assert_int_equal(step_flush(&f.s), 0);
  step_is_text(&f.s, "rows.partial", "a,b,c\n1,2,3\n4,5,\"x\"\"\n,y\"\n,,\n");
  assert_int_equal(fit(&f, "a b", "1,2\n"), TM_ESCRIPT);
  assert_non_null(strstr(f.s.err.text, "the columns a, b; the output has the columns a, b, c"));
  assert_int_equal(fit(&f, "a b d", "1,2,3\n"), TM_ESCRIPT);
  assert_int_equal(fit(&f, "", "x\n"), TM_ESCRIPT);
  assert_non_null(strstr(f.s.err.text, "run() returned an array"));
  teardown(&f);
}

static void arrays_and_frames_may_mix_without_a_header(void **state)
{
  struct fixture f;
  setup(&f, false);
  add(&f, 0, "", "line\n");
  add(&f, 1, "a b", "1,2\n");
  add(&f, 2, "", "line\n");
  add(&f, 4, "b a", "2,1\n");
  assert_int_equal(fit(&f, "a", "1\n"), TM_ESCRIPT);
  assert_int_equal(step_flush(&f.s), 0);
  step_is_text(&f.s, "rows.partial", "line\n1,2\nline\n1,2\n");
  teardown(&f);
}

static void a_file_that_began_with_an_array_gets_no_header(void **state)
{
  struct fixture f;
  setup(&f, true);
  add(&f, 0, "", "line\n");
  assert_int_equal(fit(&f, "a", "1\n"), TM_ESCRIPT);
  assert_non_null(strstr(f.s.err.text, "began with the rows of an array"));
  assert_int_equal(step_flush(&f.s), 0);
  close_columns(&f);
  open_columns(&f, true);
  assert_int_equal(fit(&f, "a", "1\n"), TM_ESCRIPT); /* a later session knows it too */
  teardown(&f);
}

static void a_frame_without_rows_has_columns(void **state)
{
  struct fixture f;
  setup(&f, true);
  add(&f, 0, "a b", "");
  add(&f, 1, "b a", "2,1\n");
  assert_int_equal(step_flush(&f.s), 0);
  step_is_text(&f.s, "rows.partial", "a,b\n1,2\n");
  teardown(&f);
}

static void columns_are_kept_for_the_next_session(void **state)
{
  struct fixture f;
  setup(&f, true);
  add(&f, 2, "a b", "1,2\n");
  assert_int_equal(step_flush(&f.s), 0);
  close_columns(&f);
  open_columns(&f, true);
  assert_int_equal(fit(&f, "a c", ""), TM_ESCRIPT);
  add(&f, 5, "b a", "4,3\n");
  assert_int_equal(step_flush(&f.s), 0);
  step_is_text(&f.s, "rows.partial", "a,b\n1,2\n3,4\n");
  teardown(&f);
}

static void columns_of_uncommitted_rows_do_not_count(void **state)
{
  struct fixture f;
  setup(&f, true);
  add(&f, 2, "a b", "1,2\n"); /* recorded, but never flushed */
  close_columns(&f);
  open_columns(&f, true);
  add(&f, 3, "x", "1\n");
  assert_int_equal(step_flush(&f.s), 0);
  step_is_text(&f.s, "rows.partial", "x\n1\n");
  teardown(&f);
}

static void the_header_goes_before_a_result_in_a_file(void **state)
{
  struct fixture f;
  struct tm_outcome o = { .index = 0, .try = 1, .items = 1, .succeeded = 1, .returned = 1 };
  setup(&f, true);
  for (int bad = 1; bad >= 0; bad--) {
    folder_put(&f.s.folder, "state/spill/r", 0, "1,2\n", 4);
    char *path = tm_xprintf("%s/spill/r", f.state_dir);
    assert_int_equal(fit(&f, "a b", ""), 0);
    assert_int_equal(tm_columns_begin_add(&f.c, f.s.commit, 0, true, &f.s.err), 0);
    assert_int_equal(tm_commit_add_spilled(f.s.commit, &o, path, 4,
                                           tm_hash64("1,2\n", 4) + (unsigned)bad, &f.s.err),
                     bad ? TM_EDAMAGE : 0);
    assert_int_equal(tm_commit_output_len(f.s.commit), bad ? 0 : 8);
    free(path);
  }
  tm_columns_end_add(&f.c, f.s.commit, true);
  add(&f, 1, "a b", "3,4\n");
  assert_int_equal(step_flush(&f.s), 0);
  step_is_text(&f.s, "rows.partial", "a,b\n1,2\n3,4\n");
  close_columns(&f);
  open_columns(&f, true); /* the records have the hashes of these bytes */
  assert_int_equal(f.s.found.committed, 2);
  teardown(&f);
}

/* The same in pieces. */
static void the_header_goes_before_a_large_result(void **state)
{
  struct fixture f;
  struct tm_outcome o = { .index = 0, .try = 1, .items = 1, .succeeded = 1, .returned = 1 };
  struct tm_buf header = TM_BUF_NONE;
  size_t n = TM_COMMIT_PIECE + 4;
  char *rows = tm_xmalloc(n);
  memset(rows, '7', n);
  memcpy(rows + n - 4, ",2\n", 4 - 1);
  rows[n - 1] = '\n';
  setup(&f, true);
  folder_put(&f.s.folder, "state/spill/r", 0, rows, n);
  char *path = tm_xprintf("%s/spill/r", f.state_dir);
  uint64_t hash = tm_hash64(rows, n);
  assert_int_equal(fit(&f, "a b", ""), 0);
  tm_columns_add_header(&f.c, f.s.commit, true, &header);
  assert_string_equal(tm_buf_str(&header), "a,b\n");
  assert_false(tm_commit_copy_ahead(f.s.commit, path, TM_COMMIT_PIECE, hash, &header));
  assert_true(tm_commit_copy_ahead(f.s.commit, path, n, hash, &header));
  assert_true(tm_commit_copy_more(f.s.commit));
  assert_int_equal(step_flush(&f.s), 0);
  assert_false(tm_commit_copy_more(f.s.commit));
  assert_int_equal(tm_commit_output_len(f.s.commit), 0);
  assert_int_equal(tm_columns_begin_add(&f.c, f.s.commit, 0, true, &f.s.err), 0);
  assert_int_equal(tm_commit_add_spilled(f.s.commit, &o, path, n, hash, &f.s.err), 0);
  tm_columns_end_add(&f.c, f.s.commit, true);
  assert_int_equal(step_flush(&f.s), 0);
  assert_int_equal(tm_commit_output_len(f.s.commit), n + 4);
  close_columns(&f);
  open_columns(&f, true); /* the records have the hashes of these bytes */
  assert_int_equal(f.s.found.committed, 1);
  tm_buf_release(&header);
  free(path);
  free(rows);
  teardown(&f);
}

static void a_result_in_a_file_is_put_in_order(void **state)
{
  struct fixture f;
  setup(&f, true);
  add(&f, 0, "a b", "1,2\n");
  folder_put(&f.s.folder, "state/spill/r", 0, "4,3\n", 4);
  char *path = tm_xprintf("%s/spill/r", f.state_dir);
  struct tm_columns_rows r = { .spilled = path, .length = 4, .hash = tm_hash64("4,3\n", 4) };
  tm_buf_clear(&f.names);
  tm_buf_add_bytes32(&f.names, "b", 1);
  tm_buf_add_bytes32(&f.names, "a", 1);
  tm_reader_init(&r.names, f.names.data, f.names.len);
  r.hash++;
  assert_int_equal(tm_columns_fit(&f.c, &r, &f.out, &f.s.err), TM_EDAMAGE);
  r.hash--;
  assert_int_equal(tm_columns_fit(&f.c, &r, &f.out, &f.s.err), 1);
  assert_int_equal(f.out.len, 4);
  assert_memory_equal(f.out.data, "3,4\n", 4);
  assert_false(tm_fs_exists(tm_fs_real(), path));
  free(path);
  teardown(&f);
}

static void damage_is_reported(void **state)
{
  static const char junk[] = "\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0a12345678";
  struct fixture f;
  struct tm_columns_rows r = { .rows = "" };
  setup(&f, true);
  tm_reader_init(&r.names, "\5\0\0\0a", 5);
  assert_int_equal(tm_columns_fit(&f.c, &r, &f.out, &f.s.err), TM_EPROTOCOL);
  for (size_t n = 1; n < sizeof junk; n++) {
    tm_columns_release(&f.c);
    folder_put(&f.s.folder, "state/columns", 0, junk, n);
    truncate(folder_file(&f.s.folder, "state/columns"), (off_t)n);
    tm_columns_init(&f.c, tm_fs_real(), f.state_dir, ',', true);
    assert_int_equal(tm_columns_open(&f.c, f.s.commit, &f.s.err), TM_EDAMAGE);
    assert_non_null(strstr(f.s.err.text, "state/columns' is damaged"));
  }
  teardown(&f);
}

UNIT_TESTS({
    cmocka_unit_test(the_first_frame_defines_the_columns),
    cmocka_unit_test(arrays_and_frames_may_mix_without_a_header),
    cmocka_unit_test(a_file_that_began_with_an_array_gets_no_header),
    cmocka_unit_test(a_frame_without_rows_has_columns),
    cmocka_unit_test(columns_are_kept_for_the_next_session),
    cmocka_unit_test(columns_of_uncommitted_rows_do_not_count),
    cmocka_unit_test(the_header_goes_before_a_result_in_a_file),
    cmocka_unit_test(the_header_goes_before_a_large_result),
    cmocka_unit_test(a_result_in_a_file_is_put_in_order),
    cmocka_unit_test(damage_is_reported),
});
