/* name_table.h - a list that a command prints: one line for each thing, with its name in a column
 * as wide as the longest name.
 *
 * Zero-initialised is empty. Steps: add(); write(), which empties it.
 */
#ifndef TM_CLI_NAME_TABLE_H
#define TM_CLI_NAME_TABLE_H

#include "base/buf.h"
#include "base/mem.h"

struct tm_name_row {
  char *name, *rest;
};

struct tm_name_table {
  struct TM_ARRAY(struct tm_name_row) rows;
  int width; /* of the longest name */
};

/* `rest`: the text after the name, with its line break; takes it over. */
void tm_name_table_add(struct tm_name_table *t, const char *name, char *rest);
/* Adds all lines below a line "name  <heading>"; nothing if there are none. */
void tm_name_table_write(struct tm_name_table *t, const char *heading, struct tm_buf *out);

#endif
