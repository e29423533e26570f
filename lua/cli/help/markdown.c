/* markdown.c - see markdown.h. */
#include "cli/help/markdown.h"

#include <ctype.h>
#include <string.h>

#define FENCE  "```"
#define INDENT "    "

struct line {
  const char *at;
  size_t len;
};

void tm_md_init(struct tm_md *m, const char *text)
{
  *m = (struct tm_md) { .at = text };
}

static void clear(struct tm_md *m)
{
  tm_buf_clear(&m->text);
  for (size_t i = 0; i < m->cells.len; i++)
    free(m->cells.at[i]);
  m->cells.len = 0;
}

void tm_md_release(struct tm_md *m)
{
  clear(m);
  TM_ARRAY_RELEASE(&m->cells);
  tm_buf_release(&m->text);
}

/* ---- lines ---- */

static bool peek(const struct tm_md *m, struct line *out)
{
  *out = (struct line) { m->at, strcspn(m->at, "\n") };
  return *m->at != '\0';
}

static void skip(struct tm_md *m, const struct line *line)
{
  m->at = line->at + line->len + (line->at[line->len] == '\n');
}

static bool starts(const struct line *line, const char *with)
{
  return line->len >= strlen(with) && strncmp(line->at, with, strlen(with)) == 0;
}

static bool is_blank(const struct line *line)
{
  return strspn(line->at, " ") >= line->len;
}

/* Whether a line ends the paragraph or the item above it. */
static bool begins_block(const struct line *line)
{
  return is_blank(line) || starts(line, "#") || starts(line, "- ") || starts(line, "|") ||
         starts(line, FENCE);
}

/* Adds a line to the text of a paragraph, with one blank between the two. */
static void add_joined(struct tm_md *m, const struct line *line)
{
  size_t skipped = strspn(line->at, " ");
  if (m->text.len > 0)
    tm_buf_add_char(&m->text, ' ');
  tm_buf_add(&m->text, line->at + skipped, line->len - skipped);
}

/* ---- blocks: each function reads its lines, the first of which is `line` ---- */

static void read_heading(struct tm_md *m, struct line *line)
{
  skip(m, line);
  m->kind = TM_MD_HEADING;
  m->level = (int)strspn(line->at, "#");
  line->at += m->level;
  line->len -= (size_t)m->level;
  add_joined(m, line);
}

static void read_fenced(struct tm_md *m, struct line *line)
{
  m->kind = TM_MD_CODE;
  for (skip(m, line); peek(m, line) && !starts(line, FENCE); skip(m, line)) {
    tm_buf_add(&m->text, line->at, line->len);
    tm_buf_add_char(&m->text, '\n');
  }
  skip(m, line);
}

static void read_indented(struct tm_md *m, struct line *line)
{
  m->kind = TM_MD_CODE;
  for (; peek(m, line) && starts(line, INDENT); skip(m, line)) {
    tm_buf_add(&m->text, line->at + strlen(INDENT), line->len - strlen(INDENT));
    tm_buf_add_char(&m->text, '\n');
  }
}

static void read_text(struct tm_md *m, struct line *line, enum tm_md_kind kind)
{
  m->kind = kind;
  if (kind == TM_MD_ITEM) {
    line->at += 2; /* "- " */
    line->len -= 2;
  }
  do {
    add_joined(m, line);
    skip(m, line);
  } while (peek(m, line) && !begins_block(line));
}

/* The end of the cell at `at`: the next '|' that is not within `code`. */
static const char *cell_end(const char *at, const char *end)
{
  for (bool is_code = false; at < end && (is_code || *at != '|'); at++)
    is_code ^= *at == '`';
  return at;
}

static size_t add_row(struct tm_md *m, const struct line *line)
{
  const char *end = line->at + line->len;
  size_t n = 0;
  for (const char *at = line->at + 1; at < end; n++) {
    const char *stop = cell_end(at, end), *last = stop;
    at += strspn(at, " ");
    while (last > at && last[-1] == ' ')
      last--;
    *TM_ARRAY_ADD(&m->cells) =
        tm_xstrndup(at < last ? at : "", at < last ? (size_t)(last - at) : 0);
    at = stop + 1;
  }
  return n;
}

/* Reads the names, a line of dashes, and the rows. Fills a short row, and cuts a long one. */
static void read_table(struct tm_md *m, struct line *line)
{
  m->kind = TM_MD_TABLE;
  m->columns = add_row(m, line);
  skip(m, line);
  if (peek(m, line) && starts(line, "| -"))
    skip(m, line);
  for (; peek(m, line) && starts(line, "|"); skip(m, line)) {
    size_t n = add_row(m, line);
    for (; n < m->columns; n++)
      *TM_ARRAY_ADD(&m->cells) = tm_xstrdup("");
    for (; n > m->columns; n--)
      free(m->cells.at[--m->cells.len]);
  }
}

bool tm_md_next(struct tm_md *m)
{
  struct line line;
  clear(m);
  while (peek(m, &line) && is_blank(&line))
    skip(m, &line);
  if (!peek(m, &line))
    return false;
  if (starts(&line, "#"))
    read_heading(m, &line);
  else if (starts(&line, FENCE))
    read_fenced(m, &line);
  else if (starts(&line, INDENT))
    read_indented(m, &line);
  else if (starts(&line, "|"))
    read_table(m, &line);
  else
    read_text(m, &line, starts(&line, "- ") ? TM_MD_ITEM : TM_MD_PARAGRAPH);
  return true;
}

/* ---- spans ---- */

/* Reads a span between two marks: "`code`". */
static bool read_marked(const char **at, const char *mark, enum tm_md_style style,
                        struct tm_md_span *out)
{
  const char *text = *at + strlen(mark);
  const char *end = strncmp(*at, mark, strlen(mark)) == 0 ? strstr(text, mark) : NULL;
  if (!end)
    return false;
  *out = (struct tm_md_span) { .style = style, .text = text, .len = (size_t)(end - text) };
  *at = end + strlen(mark);
  return true;
}

static bool read_link(const char **at, struct tm_md_span *out)
{
  const char *middle = **at == '[' ? strstr(*at, "](") : NULL;
  const char *end = middle ? strchr(middle, ')') : NULL;
  if (!end || memchr(*at + 1, '[', (size_t)(middle - *at - 1)))
    return false;
  *out = (struct tm_md_span) { .style = TM_MD_LINK,
                               .text = *at + 1,
                               .len = (size_t)(middle - *at - 1),
                               .target = middle + 2,
                               .target_len = (size_t)(end - middle - 2) };
  *at = end + 1;
  return true;
}

/* *A word*: marks that have letters inside of them, so that "2 * 3" is text. */
static bool read_emphasis(const char **at, struct tm_md_span *out)
{
  const char *look = *at;
  if (*look != '*' || !isalpha((unsigned char)look[1]) || !read_marked(&look, "*", TM_MD_BOLD, out))
    return false;
  if (!isalpha((unsigned char)look[-2]) || memchr(out->text, '`', out->len))
    return false;
  *at = look;
  return true;
}

static bool read_any(const char **at, struct tm_md_span *out)
{
  return read_marked(at, "`", TM_MD_LITERAL, out) || read_marked(at, "**", TM_MD_BOLD, out) ||
         read_emphasis(at, out) || read_link(at, out);
}

bool tm_md_span(const char **at, struct tm_md_span *out)
{
  const char *start = *at;
  if (*start == '\0')
    return false;
  if (read_any(at, out))
    return true;
  for (const char *next = start + 1;; next += strcspn(next + 1, "`*[") + 1) {
    struct tm_md_span following;
    const char *look = next;
    if (*next != '\0' && !read_any(&look, &following))
      continue;
    *out = (struct tm_md_span) { .text = start, .len = (size_t)(next - start) };
    *at = next;
    return true;
  }
}
