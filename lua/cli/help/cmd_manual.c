/* cmd_manual.c - see cmd_manual.h.
 *
 * Headings begin at the left edge, everything else is indented. Text is wrapped; code is not. A
 * table of two columns with short first cells stays a table; any other has a paragraph for each
 * cell.
 */
#include "cli/help/cmd_manual.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help/markdown.h"

#define INDENT       2
#define TERM_MAX     26 /* columns of the first cell in a table that stays a table */
#define LITERAL_KEPT 30 /* bytes of `code` that never breaks */
#define BOLD         "\033[1m"
#define NO_BOLD      "\033[22m"

const struct tm_manual_page *tm_manual_find(const char *name)
{
  for (const struct tm_manual_page *p = tm_manual_pages; p->name; p++)
    if (strcmp(p->name, name) == 0)
      return p;
  return NULL;
}

void tm_manual_add_about(struct tm_buf *out, const struct tm_manual_page *page)
{
  size_t len = strcspn(page->text, "\n");
  const char *colon = memchr(page->text, ':', len);
  if (colon)
    tm_buf_add(out, colon + 2, len - (size_t)(colon + 2 - page->text));
}

struct tm_manual_look tm_manual_look_here(const struct tm_cli *cli)
{
  struct winsize size;
  const char *term = getenv("TERM");
  struct tm_manual_look look = { .cli = cli, .width = 80 };
  if (!isatty(STDOUT_FILENO))
    return look;
  look.has_bold = term && strcmp(term, "dumb") != 0;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    look.width = size.ws_col < 40 ? 40 : size.ws_col > 100 ? 100 : size.ws_col;
  return look;
}

/* Wrapping: words come one by one, with their escape sequences. */

struct flow {
  struct tm_buf *out;
  const struct tm_manual_look *look;
  int indent;    /* of the following lines */
  int column;    /* of the current line */
  bool has_word; /* there is a word on some line */
  struct tm_buf word;
  int word_width;
};

static int width_of(const char *s, size_t n)
{
  int width = 0;
  for (size_t i = 0; i < n; i++)
    width += ((unsigned char)s[i] & 0xc0) != 0x80;
  return width;
}

static void end_word(struct flow *f)
{
  if (f->word_width > 0) {
    if (f->has_word && f->column + 1 + f->word_width > f->look->width) {
      tm_buf_printf(f->out, "\n%*s", f->indent, "");
      f->column = f->indent;
    } else if (f->has_word) {
      tm_buf_add_char(f->out, ' ');
      f->column++;
    }
    f->column += f->word_width;
    f->has_word = true;
  }
  tm_buf_add(f->out, tm_buf_str(&f->word), f->word.len);
  tm_buf_clear(&f->word);
  f->word_width = 0;
}

static void add_bold(struct flow *f, const char *sequence)
{
  if (f->look->has_bold)
    tm_buf_add_str(&f->word, sequence);
}

static void add_text(struct flow *f, const char *s, size_t n, bool is_kept)
{
  for (size_t i = 0; i < n;) {
    size_t part = i;
    while (part < n && (is_kept || s[part] != ' '))
      part++;
    tm_buf_add(&f->word, s + i, part - i);
    f->word_width += width_of(s + i, part - i);
    if (part < n)
      end_word(f);
    i = part + (part < n);
  }
}

/* Adds where a link leads: to another page that help can show, or nothing. */
static void add_target(struct flow *f, const struct tm_md_span *span)
{
  size_t len = span->target_len > 3 ? span->target_len - 3 : 0; /* ".md" */
  char *name = tm_xstrndup(span->target, len);
  if (tm_manual_find(name)) {
    char *words = tm_xprintf(" (tidemill help %s%s)", name,
                             tm_command_find(f->look->cli, name) ? " --manual" : "");
    add_text(f, words, strlen(words), false);
    free(words);
  }
  free(name);
}

static void add_spans(struct flow *f, const char *text)
{
  struct tm_md_span span;
  while (tm_md_span(&text, &span)) {
    bool is_bold = span.style == TM_MD_LITERAL || span.style == TM_MD_BOLD;
    if (is_bold)
      add_bold(f, BOLD);
    add_text(f, span.text, span.len, span.style == TM_MD_LITERAL && span.len <= LITERAL_KEPT);
    if (is_bold)
      add_bold(f, NO_BOLD);
    if (span.style == TM_MD_LINK)
      add_target(f, &span);
  }
}

/* Writes text from column `at` on, in lines indented by `indent`. The current line is written up to
 * `at`. */
static void write_flow(struct tm_buf *out, const struct tm_manual_look *look, int at, int indent,
                       const char *text, bool is_bold)
{
  struct flow f = { .out = out, .look = look, .indent = indent, .column = at };
  if (is_bold)
    add_bold(&f, BOLD);
  add_spans(&f, text);
  if (is_bold)
    add_bold(&f, NO_BOLD);
  end_word(&f);
  tm_buf_add_char(out, '\n');
  tm_buf_release(&f.word);
}

/* ---- blocks ---- */

static void write_code(struct tm_buf *out, const char *text)
{
  for (; *text; text += strcspn(text, "\n") + 1)
    tm_buf_printf(out, "%*s%.*s\n", *text == '\n' ? 0 : INDENT + 4, "", (int)strcspn(text, "\n"),
                  text);
}

/* The width of a cell without its marks, in columns. */
static int cell_width(const char *text)
{
  struct tm_md_span span;
  int width = 0;
  while (tm_md_span(&text, &span))
    width += width_of(span.text, span.len);
  return width;
}

static int term_width(const struct tm_md *m)
{
  int width = 0;
  for (size_t i = 0; i < m->cells.len; i += m->columns) {
    int w = cell_width(m->cells.at[i]);
    width = w > width ? w : width;
  }
  return width;
}

static void write_columns(struct tm_buf *out, const struct tm_md *m, int width,
                          const struct tm_manual_look *look)
{
  int second = INDENT + width + 2;
  for (size_t i = 0; i < m->cells.len; i += 2) {
    struct flow f = { .out = out, .look = look, .indent = INDENT, .column = INDENT };
    tm_buf_printf(out, "%*s", INDENT, "");
    if (i == 0)
      add_bold(&f, BOLD);
    add_spans(&f, m->cells.at[i]);
    if (i == 0)
      add_bold(&f, NO_BOLD);
    end_word(&f);
    tm_buf_printf(out, "%*s", second - INDENT - cell_width(m->cells.at[i]), "");
    tm_buf_release(&f.word);
    write_flow(out, look, second, second, m->cells.at[i + 1], i == 0);
  }
}

static void write_cells(struct tm_buf *out, const struct tm_md *m,
                        const struct tm_manual_look *look)
{
  for (size_t i = m->columns; i < m->cells.len; i++) {
    size_t column = i % m->columns;
    int indent = column == 0 ? INDENT : INDENT + 4;
    const char *name = m->cells.at[column];
    if (column > 0 && *m->cells.at[i] == '\0')
      continue;
    char *text = column > 0 && m->columns > 2 ? tm_xprintf("%s: %s", name, m->cells.at[i])
                                              : tm_xstrdup(m->cells.at[i]);
    tm_buf_printf(out, "%*s", indent, "");
    write_flow(out, look, indent, indent + (column == 0 ? 2 : 0), text, column == 0);
    free(text);
  }
}

static void write_table(struct tm_buf *out, const struct tm_md *m,
                        const struct tm_manual_look *look)
{
  int width = term_width(m);
  if (m->columns == 2 && width <= TERM_MAX)
    write_columns(out, m, width, look);
  else
    write_cells(out, m, look);
}

static void write_block(struct tm_buf *out, const struct tm_md *m,
                        const struct tm_manual_look *look)
{
  switch (m->kind) {
  case TM_MD_HEADING: write_flow(out, look, 0, 0, tm_buf_str(&m->text), true); break;
  case TM_MD_PARAGRAPH:
    tm_buf_printf(out, "%*s", INDENT, "");
    write_flow(out, look, INDENT, INDENT, tm_buf_str(&m->text), false);
    break;
  case TM_MD_ITEM:
    tm_buf_printf(out, "%*s- ", INDENT, "");
    write_flow(out, look, INDENT + 2, INDENT + 2, tm_buf_str(&m->text), false);
    break;
  case TM_MD_CODE: write_code(out, tm_buf_str(&m->text)); break;
  case TM_MD_TABLE: write_table(out, m, look); break;
  }
}

void tm_manual_write(struct tm_buf *out, const struct tm_manual_page *page,
                     const struct tm_manual_look *look)
{
  struct tm_md m;
  enum tm_md_kind last = TM_MD_HEADING;
  tm_md_init(&m, page->text);
  for (bool is_first = true; tm_md_next(&m); is_first = false) {
    if (!is_first && !(last == TM_MD_ITEM && m.kind == TM_MD_ITEM))
      tm_buf_add_char(out, '\n');
    write_block(out, &m, look);
    last = m.kind;
  }
  tm_md_release(&m);
}
