/* table_look.c - see table_look.h. */
#include "entry/table_look.h"

#include <string.h>

#include "base/text.h"
#include "data/frame/frame_text.h"

#define VALUE_MAX 40 /* shown bytes of a value */

static void add_row(struct tm_buf *out, const struct tm_data_frame *f, int64_t row)
{
  struct tm_buf value = TM_BUF_NONE;
  for (size_t i = 0; i < f->n; i++) {
    const struct tm_column *c = &f->columns[i];
    tm_buf_clear(&value);
    if (tm_column_is_null(c, row))
      tm_buf_add_str(&value, "null");
    else
      tm_frame_add_value(&value, c, row);
    tm_buf_add_str(out, i ? ", " : "");
    tm_text_one_line(out, tm_buf_str(&value), value.len, VALUE_MAX);
  }
  tm_buf_release(&value);
}

void tm_table_look_add(struct tm_buf *out, const struct tm_data_frame *f, int64_t rows,
                       const char *indent)
{
  tm_buf_printf(out, "%scolumns: ", indent);
  for (size_t i = 0; i < f->n; i++) {
    tm_buf_add_str(out, i ? ", " : "");
    /* names come from a file, too */
    tm_text_one_line(out, f->names[i], strlen(f->names[i]), VALUE_MAX);
    tm_buf_printf(out, " %s", tm_column_type_name(f->columns[i].type));
  }
  tm_buf_add_char(out, '\n');
  for (int64_t i = 0; i < rows && i < f->len; i++) {
    tm_buf_printf(out, "%s%s ", indent, i == 0 ? "rows:   " : "        ");
    add_row(out, f, i);
    tm_buf_add_char(out, '\n');
  }
}
