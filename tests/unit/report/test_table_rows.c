/* test_table_rows.c - the rows of a table that grows: whole, from any place on. */
#include "unit.h"

#include "base/text.h"
#include "report/table_rows.h"
#include "tree.h"

static const char *const names[] = { "Number", "Missing", "Word" };

struct reader {
  char *dir, *path;
  struct tm_buf found;
  int64_t at;
  int most, rows;
  struct tm_table_rows t;
};

static int on_row(void *data, char *const *fields)
{
  struct reader *r = data;
  tm_buf_printf(&r->found, "%s <%s> %s;", fields[0], fields[1], fields[2]);
  return ++r->rows == r->most ? 7 : 0;
}

static void begin(struct reader *r)
{
  *r = (struct reader) { .dir = folder_make() };
  r->path = tm_path_join(r->dir, "table.csv");
  r->t = (struct tm_table_rows) {
    .path = r->path, .names = names, .names_len = 3, .on_row = on_row, .data = r
  };
}

static void expect(struct reader *r, const char *text, int rc, const char *rows)
{
  tm_buf_clear(&r->found);
  r->rows = 0;
  if (text)
    file_put(r->dir, "table.csv", text, 0600);
  assert_int_equal(tm_table_rows_read(&r->t, &r->at, NULL), rc);
  assert_string_equal(tm_buf_str(&r->found), rows);
}

static void end(struct reader *r)
{
  tm_buf_release(&r->found);
  free(r->path);
  folder_remove(r->dir);
}

#define HEADER "Word,Other,Number\n"

static void only_new_rows_are_read_and_only_whole_ones(void **state)
{
  struct reader r;
  begin(&r);
  expect(&r, NULL, 0, "");
  expect(&r, "", 0, "");
  expect(&r, "Word,Oth", 0, "");
  expect(&r, HEADER, 0, "");
  expect(&r, HEADER "a,x,1\nb,", 0, "1 <> a;");
  expect(&r, HEADER "a,x,1\nb,x,2", 0, "");
  expect(&r, HEADER "a,x,1\nb,x,2\n\"c, d\",x,3\n", 0, "2 <> b;3 <> c, d;");
  expect(&r, NULL, 0, "");
  expect(&r, HEADER "e,x,4\n", 0, "4 <> e;"); /* a new file */
  end(&r);
}

static void rows_of_another_form_are_skipped(void **state)
{
  struct reader r;
  begin(&r);
  expect(&r, HEADER "a,1\n\nb,x,2,y\nc,x,3\n", 0, "3 <> c;");
  r.at = 0;
  r.t.front = "c,";
  expect(&r, HEADER "a,x,1\nc,x,3\nd,c,4\nc\n", 0, "3 <> c;");
  end(&r);
}

static void expect_faults(const struct tm_table_faults *f, bool grows, const char *text, int64_t at)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_table_faults_text(&words, f, grows);
  assert_string_equal(tm_buf_str(&words), text);
  assert_int_equal(tm_table_faults_any(f, grows), *text != '\0');
  assert_int_equal(tm_table_faults_at(f, grows), at);
  tm_buf_release(&words);
}

/* The first line has 18 bytes. */
static void what_cannot_be_read_has_its_place(void **state)
{
  struct tm_table_faults f = { 0 };
  struct reader r;
  begin(&r);
  r.t.faults = &f;
  expect(&r, HEADER "a,x,1\n", 0, "1 <> a;");
  expect_faults(&f, false, "", -1);
  expect(&r, HEADER "a,x,1\nb,2\nc,x,3\n\nd,x", 0, "3 <> c;");
  expect_faults(&f, true, "has 2 rows that cannot be read, the first at byte 24", 24);
  expect_faults(&f, false,
                "has 2 rows that cannot be read, the first at byte 24, and ends within the row at "
                "byte 35",
                24);
  expect(&r, HEADER "a,x,1\nb,2\nc,x,3\n\nd,x,4\n", 0, "4 <> d;"); /* each counts once */
  expect_faults(&f, false, "has 2 rows that cannot be read, the first at byte 24", 24);
  expect(&r, HEADER "a,x,1\nb,x", 0, "1 <> a;"); /* a new file */
  expect_faults(&f, false, "ends within the row at byte 24", 24);
  r.at = 0;
  expect(&r, "no line", 0, "");
  expect_faults(&f, false, "has 1 row that cannot be read, at byte 0", 0);
  r.t.path = r.dir;
  r.at = 0;
  int rc = tm_table_rows_read(&r.t, &r.at, NULL);
  assert_true(rc < 0 && f.code == rc);
  f.rows = 0;
  expect_faults(&f, false, "cannot be read: illegal operation on a directory", -1);
  end(&r);
}

static void the_caller_may_end_it_and_go_on_later(void **state)
{
  struct reader r;
  begin(&r);
  r.most = 2;
  expect(&r, HEADER "a,x,1\nb,x,2\nc,x,3\n", 7, "1 <> a;2 <> b;");
  expect(&r, NULL, 0, "3 <> c;");
  end(&r);
}

/* "x" cannot be compared. */
static int compare(void *data, char *const *fields)
{
  const int *wanted = data;
  return fields[0][0] == 'x' ? 0 : atoi(fields[0]) < *wanted ? -1 : 1;
}

/* Rows of all lengths; the row of number n is followed by one that cannot be compared. */
static void the_place_of_a_row_is_found_in_a_table_in_order(void **state)
{
  static const int lengths[] = { 0, 1, 7, 3000 };
  for (size_t l = 0; l < TM_COUNT_OF(lengths); l++) {
    struct reader r;
    struct tm_buf text = TM_BUF_NONE;
    int wanted, rows = lengths[l];
    begin(&r);
    tm_buf_add_str(&text, HEADER);
    for (int i = 0; i < rows; i++)
      tm_buf_printf(&text, "%*s,y,%d\nw,y,x\n", 1 + i * 7919 % 200, "w", 2 * i);
    tm_buf_add_str(&text, "w,y,1"); /* is being written */
    file_put(r.dir, "table.csv", tm_buf_str(&text), 0600);
    for (wanted = -1; wanted <= 2 * rows + 1; wanted += rows > 100 ? 97 : 1) {
      struct tm_table_rows find = {
        .path = r.path, .names = names, .names_len = 3, .on_row = compare, .data = &wanted
      };
      char first[40] = "";
      assert_int_equal(tm_table_rows_find(&find, &r.at, NULL), 0);
      r.most = 2;
      tm_buf_clear(&r.found);
      r.rows = 0;
      (void)tm_table_rows_read(&r.t, &r.at, NULL);
      int number = wanted < 0 ? 0 : (wanted + 1) / 2 * 2;
      if (number < 2 * rows)
        snprintf(first, sizeof first, "%d <>", number);
      assert_non_null(strstr(tm_buf_str(&r.found), first));
      assert_true(number >= 2 * rows || r.rows > 0);
    }
    tm_buf_release(&text);
    end(&r);
  }
}

static void a_device_in_its_place_has_no_rows(void **state)
{
  struct reader r;
  begin(&r);
  r.t.path = "/dev/urandom";
  expect(&r, NULL, 0, "");
  r.t.path = r.dir;
  assert_true(tm_table_rows_read(&r.t, &r.at, NULL) <= 0);
  end(&r);
}

/* Rows and their pieces do not end at the same places. */
static void a_large_table_is_read_in_pieces(void **state)
{
  struct reader r;
  struct tm_buf text = TM_BUF_NONE;
  begin(&r);
  tm_buf_add_str(&text, HEADER);
  for (int i = 0; i < 100000; i++)
    tm_buf_printf(&text, "word%d,x,%d\n", i % 1000, i);
  file_put(r.dir, "table.csv", tm_buf_str(&text), 0600);
  assert_int_equal(tm_table_rows_read(&r.t, &r.at, NULL), 0);
  assert_int_equal(r.rows, 100000);
  assert_int_equal(r.at, text.len);
  assert_non_null(strstr(tm_buf_str(&r.found), ";99999 <> word999;"));
  tm_buf_release(&text);
  end(&r);
}

/* A file without an end of line must not be read into memory, nor again each time. */
static void a_row_that_is_too_long_is_skipped(void **state)
{
  struct reader r;
  struct tm_buf text = TM_BUF_NONE;
  begin(&r);
  tm_buf_add_str(&text, HEADER "a,x,1\nlong");
  memset(tm_buf_extend(&text, 9 << 20), 0, 9 << 20);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), r.path, text.data, text.len, 0600, NULL), 0);
  expect(&r, NULL, 0, "1 <> a;");
  assert_true(r.at > 8 << 20);
  tm_buf_add_str(&text, "b,x,2\nc,x,3\n");
  assert_int_equal(tm_fs_write_file(tm_fs_real(), r.path, text.data, text.len, 0600, NULL), 0);
  expect(&r, NULL, 0, "3 <> c;");
  assert_int_equal(r.at, text.len);
  r.at = 0;
  expect(&r, NULL, 0, "1 <> a;3 <> c;");
  tm_buf_release(&text);
  end(&r);
}

static void a_field_that_is_too_long_is_cut(void **state)
{
  struct reader r;
  struct tm_buf text = TM_BUF_NONE;
  begin(&r);
  tm_buf_add_str(&text, HEADER);
  for (int i = 0; i < 6000; i++)
    tm_buf_add_str(&text, "\u20ac"); /* 3 bytes: the limit is within one */
  tm_buf_add_str(&text, ",x,1\na,x,2\n");
  file_put(r.dir, "table.csv", tm_buf_str(&text), 0600);
  assert_int_equal(tm_table_rows_read(&r.t, &r.at, NULL), 0);
  assert_int_equal(r.found.len, strlen("1 <> ;2 <> a;") + TM_TABLE_FIELD_MAX / 3 * 3);
  assert_true(tm_text_is_utf8(r.found.data, r.found.len));
  assert_string_equal(r.found.data + r.found.len - strlen("\u20ac;2 <> a;"), "\u20ac;2 <> a;");
  tm_buf_release(&text);
  end(&r);
}

static void a_place_within_a_row_is_the_end_of_that_row(void **state)
{
  struct reader r;
  begin(&r);
  expect(&r, HEADER "a,x,1\n", 0, "1 <> a;");
  expect(&r, HEADER "a,xxxx,11\nb,x,2\n", 0, "2 <> b;"); /* another table */
  end(&r);
}

static void rows_are_counted_by_their_lines(void **state)
{
  static const struct {
    const char *text;
    int64_t rows;
  } cases[] = { { NULL, 0 },
                { "", 0 },
                { "Number,Word", 0 },
                { "Number,Word\n", 0 },
                { "Number,Word\n1,a\n2,b\n3,cu", 2 } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    char *dir = folder_make(), *path = tm_path_join(dir, "table.csv");
    if (cases[i].text)
      file_put(dir, "table.csv", cases[i].text, 0600);
    assert_int_equal(tm_table_rows_count(path, NULL), cases[i].rows);
    free(path);
    folder_remove(dir);
  }
}

UNIT_TESTS({
    cmocka_unit_test(rows_are_counted_by_their_lines),
    cmocka_unit_test(only_new_rows_are_read_and_only_whole_ones),
    cmocka_unit_test(rows_of_another_form_are_skipped),
    cmocka_unit_test(what_cannot_be_read_has_its_place),
    cmocka_unit_test(the_caller_may_end_it_and_go_on_later),
    cmocka_unit_test(the_place_of_a_row_is_found_in_a_table_in_order),
    cmocka_unit_test(a_device_in_its_place_has_no_rows),
    cmocka_unit_test(a_large_table_is_read_in_pieces),
    cmocka_unit_test(a_row_that_is_too_long_is_skipped),
    cmocka_unit_test(a_field_that_is_too_long_is_cut),
    cmocka_unit_test(a_place_within_a_row_is_the_end_of_that_row),
});
