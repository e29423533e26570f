/* charsmap.c - see charsmap.h. */
#include "data/text/charsmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { TOGETHER_MAX = 5 }; /* bytes of a cluster that is looked up as a whole */

struct tm_charsmap {
  uint32_t *units;
  size_t units_len;
  char *replacements; /* of `replacements_len` bytes, and a NUL */
  size_t replacements_len;
};

static int digit_of(char c)
{
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool read_base64(const char *s, size_t len, struct tm_buf *out)
{
  if (len % 4 != 0)
    return false;
  size_t padding = 0;
  while (padding < 2 && padding < len && s[len - padding - 1] == '=')
    padding++;
  uint32_t bits = 0;
  tm_buf_reserve(out, len / 4 * 3);
  for (size_t i = 0; i < len; i++) {
    int digit = i >= len - padding ? 0 : digit_of(s[i]);
    if (digit < 0)
      return false;
    bits = bits << 6 | (uint32_t)digit;
    if (i % 4 == 3) {
      char bytes[3] = { (char)(bits >> 16), (char)(bits >> 8), (char)bits };
      tm_buf_add(out, bytes, 3);
      bits = 0;
    }
  }
  out->len -= padding;
  return true;
}

static struct tm_charsmap *read_map(const struct tm_buf *bytes, struct tm_err *err)
{
  size_t size = bytes->len < 4 ? 0 : tm_get_u32(bytes->data);

  if (size < 4 || size % 4 != 0 || size > bytes->len - 4) {
    tm_err_set(err, TM_EDAMAGE, "the length of its array is wrong");
    return NULL;
  }
  const char *rest = bytes->data + 4 + size;
  size_t rest_len = bytes->len - 4 - size;
  if (!tm_text_is_utf8(rest, rest_len)) {
    tm_err_set(err, TM_EDAMAGE, "its replacements are not UTF-8");
    return NULL;
  }
  struct tm_charsmap *m = TM_NEW(struct tm_charsmap);
  m->units_len = size / 4;
  m->units = tm_xcalloc(m->units_len, sizeof *m->units);
  for (size_t i = 0; i < m->units_len; i++)
    m->units[i] = tm_get_u32(bytes->data + 4 + 4 * i);
  m->replacements = tm_xstrndup(rest, rest_len);
  m->replacements_len = rest_len;
  return m;
}

struct tm_charsmap *tm_charsmap_parse(const char *base64, size_t len, struct tm_err *err)
{
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_charsmap *m = NULL;

  if (read_base64(base64, len, &bytes))
    m = read_map(&bytes, err);
  else
    tm_err_set(err, TM_EDAMAGE, "it is not base64");
  tm_buf_release(&bytes);
  return m;
}

void tm_charsmap_free(struct tm_charsmap *m)
{
  if (!m)
    return;
  free(m->units);
  free(m->replacements);
  free(m);
}

static size_t offset_of(uint32_t unit)
{
  return (size_t)(unit >> 10) << ((unit & 1U << 9) >> 6);
}

/* The replacement of the shortest front of the text that has one; NULL: none has. */
static const char *find(const struct tm_charsmap *m, const char *text, size_t len)
{
  size_t at = offset_of(m->units[0]);

  for (size_t i = 0; i < len && text[i] != '\0'; i++) {
    unsigned char byte = (unsigned char)text[i];
    at ^= byte;
    if (at >= m->units_len || (m->units[at] & (1U << 31 | 0xFF)) != byte)
      return NULL;
    bool has_value = m->units[at] >> 8 & 1;
    at ^= offset_of(m->units[at]);
    if (has_value) {
      if (at >= m->units_len)
        return NULL;
      size_t found = m->units[at] & ~(1U << 31);
      bool is_whole = found < m->replacements_len && (m->replacements[found] & 0xC0) != 0x80;
      return is_whole ? m->replacements + found : NULL;
    }
  }
  return NULL;
}

/* The length of the cluster at the front of the text. */
static size_t cluster_len(const struct tm_utf8proc *u, const char *text, size_t len)
{
  size_t at, step;
  utf8proc_int32_t state = 0;
  int32_t before = tm_char_at(text, &at);

  while (at < len) {
    int32_t c = tm_char_at(text + at, &step);
    if (before < 0x80 && c < 0x80 && !(before == '\r' && c == '\n'))
      break;
    if (u->grapheme_break_stateful(before, c, &state))
      break;
    before = c;
    at += step;
  }
  return at;
}

void tm_charsmap_apply(const struct tm_charsmap *m, const struct tm_utf8proc *u, const char *text,
                       size_t len, size_t max, struct tm_buf *out)
{
  for (size_t i = 0, end = 0; i < len && out->len <= max;) {
    end = i + cluster_len(u, text + i, len - i);
    const char *with = end - i <= TOGETHER_MAX ? find(m, text + i, end - i) : NULL;
    if (with) {
      tm_buf_add_str(out, with);
      i = end;
    }
    for (size_t step; i < end && out->len <= max; i += step) {
      tm_char_at(text + i, &step);
      with = find(m, text + i, step);
      if (with)
        tm_buf_add_str(out, with);
      else
        tm_buf_add(out, text + i, step);
    }
  }
}
