/* html.c - the only code that adds to a page. All but literals, numbers and files of our source
 * tree goes through add_text(). */
#include "page/html.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

/* Text. Escaped for content and for an attribute in double quotes alike. */

static void add_code_point(struct tm_buf *out, uint32_t c)
{
  tm_buf_printf(out, "[U+%04X]", c);
}

/* The length of "ESC [ parameters letter", which a terminal does not show; 0: it is not one. */
static size_t terminal_sequence(const char *s, size_t n)
{
  size_t i = 2;
  if (n < 3 || s[1] != '[')
    return 0;
  while (i < n && s[i] >= 0x20 && s[i] <= 0x3F)
    i++;
  return i < n && s[i] >= 0x40 && s[i] <= 0x7E ? i + 1 : 0;
}

/* A control character in ASCII; returns how many bytes it takes. */
static size_t add_control(struct tm_buf *out, const char *s, size_t n)
{
  unsigned char c = (unsigned char)*s;
  size_t len = c == 0x1B ? terminal_sequence(s, n) : 0;
  if (len > 0)
    return len;
  if (c == '\r' && n > 1 && s[1] == '\n')
    return 1;
  uint32_t picture = c == 0x7F ? 0x2421 : 0x2400u + c;
  tm_buf_add_char(out, (char)(0xE0 | picture >> 12));
  tm_buf_add_char(out, (char)(0x80 | (picture >> 6 & 0x3F)));
  tm_buf_add_char(out, (char)(0x80 | (picture & 0x3F)));
  return 1;
}

static bool is_hidden(uint32_t c)
{
  return (c >= 0x80 && c <= 0x9F) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

/* A character that is not in ASCII; returns how many bytes it takes. */
static size_t add_wide(struct tm_buf *out, const char *s, size_t n)
{
  const unsigned char *b = (const unsigned char *)s;
  size_t len = tm_text_utf8_len(s, n);
  uint32_t c = len == 2   ? (b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu)
               : len == 3 ? (b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu)
                          : 0;
  if (len == 0)
    tm_buf_add_str(out, "\xEF\xBF\xBD");
  else if (is_hidden(c))
    add_code_point(out, c);
  else
    tm_buf_add(out, s, len);
  return len == 0 ? 1 : len;
}

static bool is_plain(char c)
{
  unsigned char b = (unsigned char)c;
  return (b >= 0x20 && b < 0x7F && b != '<' && b != '>' && b != '&' && b != '"' && b != '\'') ||
         b == '\n' || b == '\t';
}

static const char *entity(char c)
{
  switch (c) {
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '&': return "&amp;";
  case '"': return "&quot;";
  case '\'': return "&#39;";
  default: return NULL;
  }
}

static void add_text(struct tm_buf *out, const char *s, size_t n)
{
  for (size_t i = 0; i < n;) {
    size_t from = i;
    while (i < n && is_plain(s[i]))
      i++;
    tm_buf_add(out, s + from, i - from);
    if (i == n)
      break;
    if (entity(s[i]))
      tm_buf_add_str(out, entity(s[i++]));
    else if ((unsigned char)s[i] < 0x80)
      i += add_control(out, s + i, n - i);
    else
      i += add_wide(out, s + i, n - i);
  }
}

/* At most two digits behind the point, without zeros at the end. */
static void add_number(struct tm_buf *out, double n)
{
  int64_t hundredths = isfinite(n) && fabs(n) < 1e15 ? llround(n * 100) : 0;
  if (hundredths < 0)
    tm_buf_add_char(out, '-');
  uint64_t a = hundredths < 0 ? (uint64_t)-hundredths : (uint64_t)hundredths;
  tm_buf_add_int(out, (int64_t)(a / 100));
  if (a % 100 == 0)
    return;
  tm_buf_add_char(out, '.');
  tm_buf_add_char(out, (char)('0' + a % 100 / 10));
  if (a % 10 != 0)
    tm_buf_add_char(out, (char)('0' + a % 10));
}

/* Elements. */

static void end_tag(struct tm_html *h)
{
  if (h->at != TM_HTML_CONTENT)
    tm_buf_add_str(h->out, h->at == TM_HTML_TAG ? ">" : "/>");
  h->at = TM_HTML_CONTENT;
}

static size_t name_len(const char *tag)
{
  return strcspn(tag, " ");
}

static void start_tag(struct tm_html *h, const char *tag)
{
  end_tag(h);
  tm_buf_add_char(h->out, '<');
  tm_buf_add_str(h->out, tag);
}

void tm_html_init(struct tm_html *h, struct tm_buf *out)
{
  *h = (struct tm_html) { .out = out };
}

void tm_html_finish(struct tm_html *h)
{
  end_tag(h);
  tm_require(h->depth == 0);
}

size_t tm_html_bytes(const struct tm_html *h)
{
  return h->out->len;
}

void tm_html_doctype(struct tm_html *h)
{
  tm_buf_add_str(h->out, "<!doctype html>\n");
}

void tm_html_open_tag(struct tm_html *h, const char *tag)
{
  tm_require(h->depth < TM_HTML_DEPTH);
  start_tag(h, tag);
  h->open[h->depth++] = tag;
  h->at = TM_HTML_TAG;
}

void tm_html_void_tag(struct tm_html *h, const char *tag)
{
  start_tag(h, tag);
  h->at = TM_HTML_VOID_TAG;
}

void tm_html_close_tag(struct tm_html *h, const char *name)
{
  tm_require(h->depth > 0);
  const char *tag = h->open[--h->depth];
  tm_require(name_len(tag) == strlen(name) && strncmp(tag, name, strlen(name)) == 0);
  end_tag(h);
  tm_buf_add_str(h->out, "</");
  tm_buf_add_str(h->out, name);
  tm_buf_add_char(h->out, '>');
}

void tm_html_put_tag(struct tm_html *h, const char *tag, const char *text)
{
  start_tag(h, tag);
  tm_buf_add_char(h->out, '>');
  tm_html_text(h, text);
  tm_buf_add_str(h->out, "</");
  tm_buf_add(h->out, tag, name_len(tag));
  tm_buf_add_char(h->out, '>');
}

/* Attributes. */

static bool acts(const char *name)
{
  static const char *const refused[] = { "style",  "src",    "href",       "srcdoc",
                                         "srcset", "action", "formaction", "xlink:href" };
  for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
    if (strcmp(name, refused[i]) == 0)
      return true;
  return strncmp(name, "on", 2) == 0;
}

static void begin_attribute(struct tm_html *h, const char *name)
{
  tm_require(h->at != TM_HTML_CONTENT);
  tm_buf_add_char(h->out, ' ');
  tm_buf_add_str(h->out, name);
  tm_buf_add_str(h->out, "=\"");
}

void tm_html_attr_pieces(struct tm_html *h, const char *name)
{
  tm_require(!acts(name));
  begin_attribute(h, name);
}

void tm_html_attr_piece(struct tm_html *h, char letter, double n)
{
  if (letter != '\0') {
    tm_require(isalpha((unsigned char)letter) || letter == ' ' || letter == ',' || letter == '#');
    tm_buf_add_char(h->out, letter);
  }
  add_number(h->out, n);
}

void tm_html_attr_end(struct tm_html *h)
{
  tm_buf_add_char(h->out, '"');
}

static void add_attribute(struct tm_html *h, const char *name, const char *text, size_t n)
{
  tm_html_attr_pieces(h, name);
  add_text(h->out, text, n);
  tm_html_attr_end(h);
}

void tm_html_attr_text(struct tm_html *h, const char *name, const char *text)
{
  if (text)
    add_attribute(h, name, text, strlen(text));
}

void tm_html_attr_format(struct tm_html *h, const char *name, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  add_attribute(h, name, tm_buf_str(&text), text.len);
  tm_buf_release(&text);
}

void tm_html_attr_number(struct tm_html *h, const char *name, double n)
{
  tm_html_attr_pieces(h, name);
  add_number(h->out, n);
  tm_html_attr_end(h);
}

void tm_html_attr_share(struct tm_html *h, const char *name, double n)
{
  tm_html_attr_pieces(h, name);
  add_number(h->out, n);
  tm_buf_add_str(h->out, "%\"");
}

/* Links. What a URL cannot hold, and what has a meaning in one, becomes %XX. */

static void add_url(struct tm_buf *out, const char *s)
{
  for (; *s; s++)
    if (isalnum((unsigned char)*s) || strchr("-._~/", *s))
      tm_buf_add_char(out, *s);
    else
      tm_buf_printf(out, "%%%02X", (unsigned char)*s);
}

void tm_html_href_path(struct tm_html *h, const char *path)
{
  begin_attribute(h, "href");
  if (path[0] == '/') /* "//..." would name a machine */
    tm_buf_add_str(h->out, "file://");
  add_url(h->out, path);
  tm_html_attr_end(h);
}

void tm_html_href_id(struct tm_html *h, const char *id)
{
  begin_attribute(h, "href");
  tm_buf_add_char(h->out, '#');
  add_url(h->out, id);
  tm_html_attr_end(h);
}

void tm_html_href_idf(struct tm_html *h, const char *fmt, ...)
{
  struct tm_buf id = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&id, fmt, ap);
  va_end(ap);
  tm_html_href_id(h, tm_buf_str(&id));
  tm_buf_release(&id);
}

/* Content. */

void tm_html_text_n(struct tm_html *h, const char *text, size_t n)
{
  end_tag(h);
  add_text(h->out, text, n);
}

void tm_html_text(struct tm_html *h, const char *text)
{
  tm_html_text_n(h, tm_text_or_empty(text), strlen(tm_text_or_empty(text)));
}

void tm_html_textf(struct tm_html *h, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  tm_html_text_n(h, tm_buf_str(&text), text.len);
  tm_buf_release(&text);
}

void tm_html_int(struct tm_html *h, int64_t n)
{
  end_tag(h);
  tm_text_grouped(h->out, n);
}

void tm_html_name(struct tm_html *h, const char *name)
{
  tm_html_put_tag(h, "bdi", name);
}

bool tm_html_long(struct tm_html *h, const char *text)
{
  size_t n = strlen(tm_text_or_empty(text));
  if (n <= TM_HTML_LONG) {
    tm_html_text(h, text);
    return false;
  }
  for (n = TM_HTML_LONG; n > TM_HTML_LONG - 4 && ((unsigned char)text[n] & 0xC0) == 0x80;)
    n--;
  tm_html_text_n(h, text, n);
  tm_html_text(h, "…");
  return true;
}

void tm_html_part(struct tm_html *h, const struct tm_buf *part)
{
  end_tag(h);
  tm_buf_add(h->out, tm_buf_str(part), part->len);
}

/* Files of the source tree, and data for the script. */

static void add_source(struct tm_html *h, const char *tag, const char *nonce, const char *source,
                       size_t len)
{
  tm_require(!strstr(source, "</") && !strstr(source, "<!--") && strlen(source) == len);
  tm_html_open_tag(h, tag);
  tm_html_attr_text(h, "nonce", nonce);
  end_tag(h);
  tm_buf_add(h->out, source, len);
  tm_html_close_tag(h, tag);
}

void tm_html_style(struct tm_html *h, const char *nonce, const char *css, size_t len)
{
  add_source(h, "style", nonce, css, len);
}

void tm_html_script(struct tm_html *h, const char *nonce, const char *js, size_t len)
{
  add_source(h, "script", nonce, js, len);
}

void tm_html_print_margin(struct tm_html *h, const char *nonce, const char *name)
{
  for (const char *c = tm_text_or_empty(name); *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr(".-_", *c))
      return;
  tm_html_open_tag(h, "style");
  tm_html_attr_text(h, "nonce", nonce);
  end_tag(h);
  tm_buf_add_str(h->out, "@page{@bottom-left{content:\"");
  tm_buf_add_str(h->out, tm_text_or_empty(name));
  tm_buf_add_str(h->out, "\";font:8pt sans-serif;color:#55514a}}");
  tm_html_close_tag(h, "style");
}

void tm_html_json_data(struct tm_html *h, const char *class_name, const char *json, size_t len)
{
  tm_html_open_tag(h, "script type='application/json'");
  tm_html_attr_text(h, "class", class_name);
  end_tag(h);
  for (size_t i = 0; i < len;) {
    const char *mark = memchr(json + i, '<', len - i);
    size_t n = mark ? (size_t)(mark - json) - i : len - i;
    tm_buf_add(h->out, json + i, n);
    i += n;
    if (mark) {
      tm_buf_add_str(h->out, "\\u003c");
      i++;
    }
  }
  tm_html_close_tag(h, "script");
}
