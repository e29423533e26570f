/* manual_man.c - writes a page of the manual as tidemill-NAME(7), in roff's man macros. It has no
 * date, so that the same program writes the same bytes. */

#include "cli/help/cmd_manual.h"
#include "cli/help/markdown.h"
#include "cli/help/roff.h"

/* Writes a link to another page of the manual as a reference; any other link only as text. */
static void add_target(struct tm_buf *out, const struct tm_md_span *span)
{
  size_t len = span->target_len > 3 ? span->target_len - 3 : 0; /* ".md" */
  char *name = tm_xstrndup(span->target, len);
  if (tm_manual_find(name))
    tm_buf_printf(out, " (\\fBtidemill\\-%s\\fR(7))", name);
  free(name);
}

static void add_spans(struct tm_buf *out, const char *text)
{
  struct tm_md_span span;
  while (tm_md_span(&text, &span)) {
    bool is_bold = span.style == TM_MD_LITERAL || span.style == TM_MD_BOLD;
    if (is_bold)
      tm_buf_add_str(out, "\\fB");
    tm_roff_add(out, span.text, span.len);
    if (is_bold)
      tm_buf_add_str(out, "\\fR");
    if (span.style == TM_MD_LINK)
      add_target(out, &span);
  }
}

static void add_line(struct tm_buf *out, const char *before, const char *text)
{
  tm_buf_add_str(out, before);
  add_spans(out, text);
  tm_buf_add_char(out, '\n');
}

/* A row of two columns is a term and its text. In wider tables, the column's name comes before each
 * cell that is not empty. */
static void add_row(struct tm_buf *out, const struct tm_md *m, size_t first)
{
  bool is_first = true;
  add_line(out, ".TP\n", *m->cells.at[first] ? m->cells.at[first] : "\\&");
  for (size_t i = 1; i < m->columns; i++) {
    const char *cell = m->cells.at[first + i];
    if (*cell == '\0' && !(is_first && i + 1 == m->columns)) /* a term needs a text */
      continue;
    if (!is_first)
      tm_buf_add_str(out, ".br\n");
    if (m->columns > 2) {
      add_spans(out, m->cells.at[i]);
      tm_buf_add_str(out, ": ");
    }
    add_line(out, "", *cell ? cell : "\\&");
    is_first = false;
  }
}

static void add_table(struct tm_buf *out, const struct tm_md *m)
{
  for (size_t first = m->columns; first < m->cells.len; first += m->columns)
    add_row(out, m, first);
}

static void add_block(struct tm_buf *out, const struct tm_md *m)
{
  const char *text = tm_buf_str(&m->text);
  switch (m->kind) {
  case TM_MD_HEADING: add_line(out, m->level > 2 ? ".SS " : ".SH ", text); break;
  case TM_MD_PARAGRAPH: add_line(out, ".PP\n", text); break;
  case TM_MD_ITEM: add_line(out, ".IP \\(bu 2\n", text); break;
  case TM_MD_CODE:
    tm_buf_add_str(out, ".PP\n.RS 4\n.nf\n");
    tm_roff_add_text(out, text);
    tm_buf_add_str(out, ".fi\n.RE\n");
    break;
  case TM_MD_TABLE: add_table(out, m); break;
  }
}

static void add_see_also(struct tm_buf *out, const struct tm_manual_page *page)
{
  tm_buf_add_str(out, ".SH SEE ALSO\n\\fBtidemill\\fR(1)");
  for (const struct tm_manual_page *p = tm_manual_pages; p->name; p++)
    if (p != page)
      tm_buf_printf(out, ",\n\\fBtidemill\\-%s\\fR(7)", p->name);
  tm_buf_add_char(out, '\n');
}

void tm_manual_write_man(struct tm_buf *out, const struct tm_manual_page *page)
{
  struct tm_md m;
  struct tm_buf about = TM_BUF_NONE;
  tm_manual_add_about(&about, page);
  tm_buf_add_str(out, ".TH TIDEMILL\\-");
  for (const char *c = page->name; *c; c++)
    tm_buf_add_char(out, (char)(*c - 'a' + 'A'));
  tm_buf_printf(out, " 7 \"\" \"tidemill " TM_VERSION "\" \"Manual\"\n.SH NAME\ntidemill\\-%s \\- ",
                page->name);
  tm_roff_add_line(out, tm_buf_str(&about));
  tm_buf_add_str(out, ".SH DESCRIPTION\n");
  tm_md_init(&m, page->text);
  tm_md_next(&m); /* the title */
  while (tm_md_next(&m))
    add_block(out, &m);
  tm_md_release(&m);
  add_see_also(out, page);
  tm_buf_release(&about);
}
