/* markdown.h - reads the Markdown of the manual, block by block, and the spans within a block.
 *
 * It reads only what the pages of lua/manual use: headings, paragraphs, items of a flat list
 * ("- "), code (fenced, or indented by four blanks), tables; and in their text `code`, **bold**,
 * *emphasis* and [links](target). The text is our own, so a mistake in it becomes text, never an
 * error.
 *
 * Caller: init, next until it returns false, release.
 */
#ifndef TM_CLI_HELP_MARKDOWN_H
#define TM_CLI_HELP_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/mem.h"

enum tm_md_kind { TM_MD_HEADING, TM_MD_PARAGRAPH, TM_MD_ITEM, TM_MD_CODE, TM_MD_TABLE };

struct tm_md {
  enum tm_md_kind kind; /* of the block that next() read */
  int level;            /* of a heading, from 1 */
  /* of every block except a table; lines of code end in '\n' */
  struct tm_buf text;
  struct TM_ARRAY(char *) cells; /* of a table, row by row; the first row has the names */
  size_t columns;                /* of a table */
  const char *at;                /* the next line */
};

void tm_md_init(struct tm_md *m, const char *text); /* the caller keeps the text */
bool tm_md_next(struct tm_md *m);                   /* false: the end of the text */
void tm_md_release(struct tm_md *m);

enum tm_md_style { TM_MD_PLAIN, TM_MD_LITERAL, TM_MD_BOLD, TM_MD_LINK };

struct tm_md_span {
  enum tm_md_style style;
  const char *text, *target; /* in the block's text; target: of a link */
  size_t len, target_len;
};

/* Reads the next span of a block's text; moves *at. False: the end of the text. */
bool tm_md_span(const char **at, struct tm_md_span *out);

#endif
