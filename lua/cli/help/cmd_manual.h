/* cmd_manual.h - the pages of the manual (lua/manual), which are compiled in: on a terminal, as
 * plain text, and as man pages.
 *
 * The first line of a page is its title and what it is about: "# Tables: rows of CSV files".
 */
#ifndef TM_CLI_HELP_CMD_MANUAL_H
#define TM_CLI_HELP_CMD_MANUAL_H

#include <stdbool.h>

#include "base/buf.h"

struct tm_manual_page {
  const char *name; /* "tables" */
  const char *text; /* Markdown */
};

/* Sorted by name; ends with a NULL name (written by embed.c). */
extern const struct tm_manual_page tm_manual_pages[];

const struct tm_manual_page *tm_manual_find(const char *name); /* or NULL */
/* The subject of the page, from its first line: "rows of CSV files". */
void tm_manual_add_about(struct tm_buf *out, const struct tm_manual_page *page);

struct tm_cli;

struct tm_manual_look {
  const struct tm_cli *cli; /* help needs --manual for a page that has the name of a command */
  int width;                /* columns, at least 40 */
  bool has_bold;            /* escape sequences for bold text */
};

/* The look for standard output: a terminal's own width up to 100 columns, otherwise plain text of
 * 80 columns. */
struct tm_manual_look tm_manual_look_here(const struct tm_cli *cli);
void tm_manual_write(struct tm_buf *out, const struct tm_manual_page *page,
                     const struct tm_manual_look *look);
/* tidemill-NAME(7), as roff (manual_man.c). */
void tm_manual_write_man(struct tm_buf *out, const struct tm_manual_page *page);

#endif
