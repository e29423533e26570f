/* roff.c - see roff.h. */
#include "cli/help/roff.h"

#include "base/text.h"

/* Decodes a well-formed character of `len` bytes, 2 to 4. */
static unsigned code_point(const char *s, size_t len)
{
  unsigned value = (unsigned char)s[0] & (0xffu >> (len + 1));
  for (size_t i = 1; i < len; i++)
    value = value << 6 | ((unsigned char)s[i] & 0x3f);
  return value;
}

void tm_roff_add(struct tm_buf *out, const char *s, size_t n)
{
  bool is_first = out->len == 0 || out->data[out->len - 1] == '\n';
  for (size_t i = 0, len; i < n; i += len) {
    len = tm_text_utf8_len(s + i, n - i);
    len = len > 0 ? len : 1;
    if (is_first && (s[i] == '.' || s[i] == '\''))
      tm_buf_add_str(out, "\\&");
    is_first = s[i] == '\n';
    if (len > 1)
      tm_buf_printf(out, "\\[u%04X]", code_point(s + i, len));
    else if (s[i] == '\\')
      tm_buf_add_str(out, "\\e");
    else if (s[i] == '-')
      tm_buf_add_str(out, "\\-");
    else
      tm_buf_add_char(out, s[i]);
  }
}

void tm_roff_add_text(struct tm_buf *out, const char *s)
{
  tm_roff_add(out, s, strlen(s));
}

void tm_roff_add_line(struct tm_buf *out, const char *s)
{
  tm_roff_add_text(out, s);
  tm_buf_add_char(out, '\n');
}

void tm_roff_add_term(struct tm_buf *out, const char *dashes, const char *term, const char *value)
{
  tm_buf_add_str(out, ".TP\n\\fB");
  tm_roff_add_text(out, dashes);
  tm_roff_add_text(out, term);
  tm_buf_add_str(out, "\\fR");
  if (value) {
    tm_buf_add_str(out, " \\fI");
    tm_roff_add_text(out, value);
    tm_buf_add_str(out, "\\fR");
  }
  tm_buf_add_char(out, '\n');
}
