/* name_table.c - see name_table.h. */
#include "cli/name_table.h"

#include <stdlib.h>
#include <string.h>

#define NAME "name"

static void widen(struct tm_name_table *t, const char *name)
{
  int n = (int)strlen(name);
  t->width = n > t->width ? n : t->width;
}

void tm_name_table_add(struct tm_name_table *t, const char *name, char *rest)
{
  widen(t, name);
  *TM_ARRAY_ADD(&t->rows) = (struct tm_name_row) { .name = tm_xstrdup(name), .rest = rest };
}

void tm_name_table_write(struct tm_name_table *t, const char *heading, struct tm_buf *out)
{
  widen(t, NAME);
  if (t->rows.len > 0)
    tm_buf_printf(out, "%-*s  %s\n", t->width, NAME, heading);
  for (size_t i = 0; i < t->rows.len; i++) {
    tm_buf_printf(out, "%-*s  %s", t->width, t->rows.at[i].name, t->rows.at[i].rest);
    free(t->rows.at[i].name);
    free(t->rows.at[i].rest);
  }
  TM_ARRAY_RELEASE(&t->rows);
  *t = (struct tm_name_table) { .width = 0 };
}
