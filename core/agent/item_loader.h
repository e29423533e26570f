/* item_loader.h - turns the items of a mini-batch into what run() gets: rows of a table become a
 * data frame, entries of archives become files or names, and paths stay paths.
 *
 * Caller: zero the struct; for each mini-batch tm_items_check() and the function for its kind;
 * tm_item_loader_clear() when run() has ended; tm_item_loader_release().
 */
#ifndef TM_AGENT_ITEM_LOADER_H
#define TM_AGENT_ITEM_LOADER_H

#include "agent/script.h"
#include "data/archive/entry_load.h"
#include "data/table/table_load.h"

struct tm_item_loader {
  struct tm_table_loader *tables;  /* NULL until the first mini-batch of a table */
  struct tm_entry_loader *entries; /* NULL until the first mini-batch of an archive */
  struct tm_data_frame frame;      /* the rows of the last one */
  struct tm_item range;            /* their range */
};

/* Whether the items can be passed to a script (data/item.h), and are as many as the call says. Only
 * the reader of rows knows their number. */
bool tm_items_check(const struct tm_run_call *call, bool *has_rows, bool *has_entries);

/* Opens the tables of the setup, unless they are open. */
void tm_items_open_tables(struct tm_item_loader *b, const struct tm_setup *s);
/* Loads the rows of the call, or of its part. They live until the next load. TM_EINPUT: a file of
 * the user cannot be read as rows. */
int tm_items_load_rows(struct tm_item_loader *b, struct tm_run_call *call, struct tm_err *err);
/* If the call is for a single row, which was isolated: adds where that is, "/in/h.csv, row 57" or
 * "city=Rome, row 7 of the mini-batch", as one line. */
void tm_items_add_row(struct tm_buf *out, const struct tm_item_loader *b,
                      const struct tm_run_call *call);
/* Loads the readable entries into folders of the setup, and marks the others in call->extras. */
int tm_items_load_entries(struct tm_item_loader *b, const struct tm_setup *s,
                          struct tm_run_call *call, struct tm_err *err);
/* Whether nothing is left for run(): a filter left no row, or no entry can be read. */
bool tm_items_are_none(const struct tm_run_call *call);

void tm_item_loader_clear(struct tm_item_loader *b); /* removes extracted files */
void tm_item_loader_release(struct tm_item_loader *b);

#endif
