/* table.h - converts frames to text, and text to schemas. Include it after cmocka.h. */
#ifndef TM_TESTS_TABLE_H
#define TM_TESTS_TABLE_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/frame/frame.h"
#include "data/rows/schema.h"

/* "name:type name:type" */
static inline void table_schema(struct tm_schema *s, const char *columns)
{
  char *list = tm_xstrdup(columns);
  for (char *one = strtok(list, " "); one != NULL; one = strtok(NULL, " ")) {
    char *type = strchr(one, ':');
    *type++ = '\0';
    int of = tm_column_type_of(type);
    assert_true(of > 0);
    tm_schema_add(s, one, strlen(one))->type = (enum tm_column_type)of;
  }
  free(list);
}

/* Converts a schema back to the same text. */
static inline void table_write_schema(struct tm_buf *out, const struct tm_schema *s)
{
  for (size_t i = 0; i < s->len; i++)
    tm_buf_printf(out, "%s%s:%s", i > 0 ? " " : "", s->columns[i].name,
                  tm_column_type_name(s->columns[i].type));
}

static inline void table_write_value(struct tm_buf *out, const struct tm_column *c, int64_t row)
{
  size_t n;
  if (tm_column_is_null(c, row)) {
    tm_buf_add_char(out, '-');
    return;
  }
  switch (c->type) {
  case TM_COLUMN_BOOL: tm_buf_add_str(out, c->b8[row] ? "true" : "false"); break;
  case TM_COLUMN_DOUBLE: tm_buf_printf(out, "%.17g", c->f64[row]); break;
  case TM_COLUMN_STRING: {
    const char *p = tm_column_string(c, row, &n);
    tm_buf_add(out, p, n);
    break;
  }
  default: tm_buf_printf(out, "%" PRId64, c->i64[row]); break;
  }
}

/* One row per line, '|' between the values, '-' for null. */
static inline void table_write(struct tm_buf *out, const struct tm_data_frame *frame)
{
  for (int64_t row = 0; row < frame->len; row++)
    for (size_t i = 0; i < frame->n; i++) {
      table_write_value(out, &frame->columns[i], row);
      tm_buf_add_char(out, i + 1 < frame->n ? '|' : '\n');
    }
}

#endif
