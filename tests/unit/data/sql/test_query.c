/* test_query.c - queries of tables: the questions to the database, and what becomes of its answers.
 * A table in this file is the database, behind the struct of functions that real ones use. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "data/sql/query.h"
#include "params/params.h"
#include "tree.h"

#define COLUMNS_MAX 8

struct tm_sql {
  const char *names[COLUMNS_MAX], *declared[COLUMNS_MAX];
  size_t columns;
  const struct tm_sql_value (*rows)[COLUMNS_MAX];
  size_t len, at;
  char asked[400];
  size_t length;
  int64_t numbers[2];
  size_t numbers_len;
};

static int fake_ask(struct tm_sql *db, const char *text, const int64_t *numbers, size_t n,
                    double timeout_s, struct tm_err *err)
{
  snprintf(db->asked, sizeof(db->asked), "%s", text);
  db->length = strcspn(text, ";") + (strchr(text, ';') != NULL);
  db->numbers_len = n;
  for (size_t i = 0; i < n; i++)
    db->numbers[i] = numbers[i];
  db->at = 0;
  return timeout_s > 0 ? 0 : tm_err_set(err, TM_EINUSE, "locked");
}

static size_t fake_length(const struct tm_sql *db)
{
  return db->length;
}

static int fake_next(struct tm_sql *db, struct tm_err *err)
{
  return db->at < db->len ? (int)(++db->at > 0) : 0;
}

static size_t fake_columns(const struct tm_sql *db)
{
  return db->columns;
}

static const char *fake_column(const struct tm_sql *db, size_t i)
{
  return db->names[i];
}

static const char *fake_declared(const struct tm_sql *db, size_t i)
{
  return db->declared[i];
}

static void fake_value(const struct tm_sql *db, size_t i, struct tm_sql_value *out)
{
  *out = db->rows[db->at - 1][i];
}

static const struct tm_sql_driver fake = { .name = "fake",
                                           .ask = fake_ask,
                                           .length = fake_length,
                                           .next = fake_next,
                                           .columns = fake_columns,
                                           .column = fake_column,
                                           .declared = fake_declared,
                                           .value = fake_value };

#define NUL                                                                                        \
  {                                                                                                \
    .type = TM_SQL_NULL                                                                            \
  }
#define INT(v)                                                                                     \
  {                                                                                                \
    .type = TM_SQL_INT, .integer = (v)                                                             \
  }
#define NUM(v)                                                                                     \
  {                                                                                                \
    .type = TM_SQL_DOUBLE, .number = (v)                                                           \
  }
#define TEXT(v)                                                                                    \
  {                                                                                                \
    .type = TM_SQL_TEXT, .at = (v), .len = sizeof(v) - 1                                           \
  }

static struct tm_sql_query *query_of(const char *options)
{
  struct tm_json *v = tree(NULL, NULL, options);
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *all = tm_params_settle("Dataset.Tabular.from_sql_query", v, true, &err);
  struct tm_sql_query *q = all ? tm_sql_query_from_json(all, &err) : NULL;
  if (!q)
    fail_msg("%s", err.text);
  tm_json_free(all);
  tm_json_free(v);
  return q;
}

static void a_piece_is_a_part_of_the_query(void **state)
{
  struct tm_sql db = { .names = { "id \"x\"" }, .columns = 1 };
  struct tm_sql_query *q = query_of("{'query':'SELECT 1 ; -- all','key_column':'id \\\"x\\\"',"
                                    "'key_from':-3,'key_to':10}");
  struct tm_sql_source s = { .query = q, .driver = &fake, .db = &db };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_sql_source_count(&s, 2, 5, false, &err), 0);
  assert_string_equal(db.asked, "SELECT * FROM (\nSELECT 1\n) WHERE \"id \"\"x\"\"\" >= ?1 AND "
                                "\"id \"\"x\"\"\" < ?2");
  assert_int_equal(db.numbers[0], -1);
  assert_int_equal(db.numbers[1], 2);
  assert_int_equal(tm_sql_source_check(&s, &err), 0);
  db.names[0] = "ids";
  assert_int_equal(tm_sql_source_check(&s, &err), TM_EUSAGE);
  assert_string_equal(err.text,
                      "'key_column': there is no column 'id \"x\"'; the columns are 'ids'");
  tm_sql_query_free(q);
}

static void all_of_it_is_asked_as_it_is(void **state)
{
  static const struct tm_sql_value rows[][COLUMNS_MAX] = { { INT(7) } };
  struct tm_sql db = { .names = { "n" }, .columns = 1, .rows = rows, .len = 1 };
  struct tm_sql_query *q = query_of("{'query':'SELECT 1; -- all'}");
  struct tm_sql_source s = { .query = q, .driver = &fake, .db = &db };
  assert_int_equal(tm_sql_source_count(&s, 0, 0, false, NULL), 1);
  assert_string_equal(db.asked, "SELECT 1; -- all");
  assert_int_equal(tm_sql_source_count(&s, 0, 0, true, NULL), 7);
  assert_string_equal(db.asked, "SELECT count(*) FROM (\nSELECT 1\n)");
  assert_int_equal(db.numbers_len, 0);
  tm_sql_query_free(q);
}

static void types_are_those_of_the_values_and_the_declaration(void **state)
{
  static const struct tm_sql_value rows[][COLUMNS_MAX] = {
    { INT(1), INT(1), TEXT("2026-01-31"), TEXT("12"), INT(5), NUL, TEXT("2026-01-31"), INT(0) },
    { NUM(2.5), INT(0), TEXT("2026-02-01 10:00"), TEXT("x"), TEXT("a"), NUL, TEXT("soon"), INT(2) },
    { NUL, NUL, NUL, NUL, NUL, NUL, NUL, NUL },
  };
  struct tm_sql db = { .names = { "a", "b", "c", "d", "e", "f", "g", "h" },
                       .declared = { "INTEGER", "boolean", "DATETIME", "VARCHAR(9)", NULL, "REAL",
                                     "date", "BOOL" },
                       .columns = 8,
                       .rows = rows,
                       .len = 3 };
  static const enum tm_column_type wanted[] = { TM_COLUMN_DOUBLE,   TM_COLUMN_BOOL,
                                                TM_COLUMN_DATETIME, TM_COLUMN_STRING,
                                                TM_COLUMN_STRING,   TM_COLUMN_DOUBLE,
                                                TM_COLUMN_STRING,   TM_COLUMN_LONG };
  struct tm_sql_query *q = query_of("{'query':'SELECT 1'}");
  struct tm_sql_source s = { .query = q, .driver = &fake, .db = &db };
  struct tm_schema schema = { 0 };
  struct tm_column_setting setting = { .name = "d", .type = TM_COLUMN_LONG },
                           none = { .name = "z" };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_sql_source_find_schema(&s, NULL, 0, &schema, &err), 0);
  for (size_t i = 0; i < 8; i++)
    assert_int_equal(schema.columns[i].type, wanted[i]);
  tm_schema_release(&schema);
  assert_int_equal(tm_sql_source_find_schema(&s, &setting, 1, &schema, &err), 0);
  assert_int_equal(schema.columns[3].type, TM_COLUMN_LONG);
  tm_schema_release(&schema);
  assert_int_equal(tm_sql_source_find_schema(&s, &none, 1, &schema, &err), TM_EUSAGE);
  tm_schema_release(&schema);
  tm_sql_query_free(q);
}

/* One value in a column of this type: its text, "null", or "misfit". */
static const char *as(enum tm_column_type type, struct tm_sql_value value, char *out, size_t size)
{
  const struct tm_sql_value rows[][COLUMNS_MAX] = { { value } };
  struct tm_sql db = { .names = { "a" }, .columns = 1, .rows = rows, .len = 1 };
  struct tm_sql_query *q = query_of("{'query':'SELECT 1'}");
  struct tm_sql_source s = { .query = q, .driver = &fake, .db = &db };
  struct tm_schema schema = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_row_counts counts;
  struct tm_data_frame f;
  tm_schema_set_type(tm_schema_add(&schema, "a", 1), type, NULL, 0);
  assert_int_equal(tm_sql_source_load(&s, 0, 0, &schema, &arena, &counts, &f, NULL), 0);
  assert_int_equal(f.len, 1);
  const struct tm_column *c = &f.columns[0];
  size_t n;
  if (tm_column_is_null(c, 0))
    snprintf(out, size, "%s", counts.faults[TM_FAULT_VALUE] > 0 ? "misfit" : "null");
  else if (type == TM_COLUMN_STRING) {
    const char *p = tm_column_string(c, 0, &n);
    snprintf(out, size, "%.*s", (int)n, p);
  } else if (type == TM_COLUMN_DOUBLE)
    snprintf(out, size, "%g", c->f64[0]);
  else
    snprintf(out, size, "%lld", (long long)(type == TM_COLUMN_BOOL ? c->b8[0] : c->i64[0]));
  tm_arena_release(&arena);
  tm_schema_release(&schema);
  tm_sql_query_free(q);
  return out;
}

static void values_become_those_of_their_column(void **state)
{
  static const struct {
    enum tm_column_type type;
    struct tm_sql_value value;
    const char *wanted;
  } cases[] = {
    { TM_COLUMN_LONG, INT(5), "5" },
    { TM_COLUMN_LONG, NUM(5.0), "5" },
    { TM_COLUMN_LONG, NUM(5.5), "misfit" },
    { TM_COLUMN_LONG, NUM(1e300), "misfit" },
    { TM_COLUMN_LONG, TEXT("12"), "12" },
    { TM_COLUMN_LONG, TEXT("x"), "misfit" },
    { TM_COLUMN_LONG, NUL, "null" },
    { TM_COLUMN_DOUBLE, INT(5), "5" },
    { TM_COLUMN_DOUBLE, TEXT("2.5"), "2.5" },
    { TM_COLUMN_DOUBLE, TEXT(""), "misfit" },
    { TM_COLUMN_BOOL, INT(1), "1" },
    { TM_COLUMN_BOOL, INT(2), "misfit" },
    { TM_COLUMN_BOOL, TEXT("false"), "0" },
    { TM_COLUMN_DATETIME, TEXT("1970-01-01T00:00:01Z"), "1000000" },
    { TM_COLUMN_DATETIME, INT(2), "2000000" },
    { TM_COLUMN_DATETIME, NUM(1e300), "misfit" },
    { TM_COLUMN_DATETIME, TEXT("soon"), "misfit" },
    { TM_COLUMN_STRING, INT(5), "5" },
    { TM_COLUMN_STRING, NUM(2.5), "2.5" },
    { TM_COLUMN_STRING, TEXT("x"), "x" },
    { TM_COLUMN_STRING, TEXT(""), "" },
  };
  char out[64];
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_string_equal(as(cases[i].type, cases[i].value, out, sizeof(out)), cases[i].wanted);
}

static void other_columns_than_at_the_beginning_are_a_change(void **state)
{
  struct tm_sql db = { .names = { "a", "b" }, .columns = 2 };
  struct tm_sql_query *q = query_of("{'query':'SELECT 1','query_timeout':1}");
  struct tm_sql_source s = { .query = q, .driver = &fake, .db = &db };
  struct tm_schema schema = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_row_counts counts;
  struct tm_data_frame f;
  struct tm_err err = TM_ERR_NONE;
  tm_schema_add(&schema, "a", 1);
  assert_int_equal(tm_sql_source_load(&s, 0, 0, &schema, &arena, &counts, &f, &err), TM_ECHANGED);
  q->timeout_s = 0;
  assert_int_equal(tm_sql_source_load(&s, 0, 0, &schema, &arena, &counts, &f, &err), TM_EINUSE);
  tm_arena_release(&arena);
  tm_schema_release(&schema);
  tm_sql_query_free(q);
}

UNIT_TESTS({
    cmocka_unit_test(a_piece_is_a_part_of_the_query),
    cmocka_unit_test(all_of_it_is_asked_as_it_is),
    cmocka_unit_test(types_are_those_of_the_values_and_the_declaration),
    cmocka_unit_test(values_become_those_of_their_column),
    cmocka_unit_test(other_columns_than_at_the_beginning_are_a_change),
});
