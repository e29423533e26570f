/* unicode.c - see unicode.h. */
#include "data/text/unicode.h"

#include "base/mem.h"
#include "sys/library.h"

#define NAME(name) "utf8proc_" #name,

TM_LIBRARY_TABLE(tm_utf8proc, TM_UTF8PROC_FUNCTIONS(NAME), "libutf8proc.so.2", "libutf8proc2")

struct range {
  int32_t first, last;
};

static bool is_in(const struct range *ranges, size_t n, int32_t c)
{
  for (size_t i = 0; i < n; i++) {
    if (c >= ranges[i].first && c <= ranges[i].last)
      return true;
  }
  return false;
}

void tm_char_add(struct tm_buf *out, int32_t c)
{
  tm_buf_reserve(out, 4);
  char *to = out->data + out->len;
  if (c < 0x80) {
    *to++ = (char)c;
  } else if (c < 0x800) {
    *to++ = (char)(0xC0 | c >> 6);
    *to++ = (char)(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *to++ = (char)(0xE0 | c >> 12);
    *to++ = (char)(0x80 | (c >> 6 & 0x3F));
    *to++ = (char)(0x80 | (c & 0x3F));
  } else {
    *to++ = (char)(0xF0 | c >> 18);
    *to++ = (char)(0x80 | (c >> 12 & 0x3F));
    *to++ = (char)(0x80 | (c >> 6 & 0x3F));
    *to++ = (char)(0x80 | (c & 0x3F));
  }
  *to = '\0';
  out->len = (size_t)(to - out->data);
}

bool tm_text_is_ascii(const char *s, size_t n)
{
  unsigned char all = 0;

  for (size_t i = 0; i < n; i++)
    all |= (unsigned char)s[i];
  return all < 0x80;
}

bool tm_char_is_space(int32_t c)
{
  if (c < 0x80)
    return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool tm_char_is_ideograph(int32_t c)
{
  static const struct range ranges[] = {
    { 0x4E00, 0x9FFF },   { 0x3400, 0x4DBF },   { 0x20000, 0x2A6DF }, { 0x2A700, 0x2B73F },
    { 0x2B740, 0x2B81F }, { 0x2B920, 0x2CEAF }, { 0xF900, 0xFAFF },   { 0x2F800, 0x2FA1F },
  };

  return c >= 0x3400 && is_in(ranges, TM_COUNT_OF(ranges), c);
}

static bool is_ascii_letter(int32_t c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool tm_char_is_letter(const struct tm_utf8proc *u, int32_t c)
{
  if (c < 0x80)
    return is_ascii_letter(c);
  utf8proc_category_t category = u->category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool tm_char_is_number(const struct tm_utf8proc *u, int32_t c)
{
  if (c < 0x80)
    return c >= '0' && c <= '9';
  utf8proc_category_t category = u->category(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool tm_char_is_punctuation(const struct tm_utf8proc *u, int32_t c)
{
  if (c < 0x80)
    return c > ' ' && c < 0x7F && !is_ascii_letter(c) && !(c >= '0' && c <= '9');
  utf8proc_category_t category = u->category(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool tm_char_is_mark(const struct tm_utf8proc *u, int32_t c)
{
  if (c < 0x300)
    return false;
  utf8proc_category_t category = u->category(c);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool tm_char_is_nonspacing_mark(const struct tm_utf8proc *u, int32_t c)
{
  return c >= 0x300 && u->category(c) == UTF8PROC_CATEGORY_MN;
}

bool tm_char_is_control(const struct tm_utf8proc *u, int32_t c)
{
  if (c < 0x80)
    return c < ' ' || c == 0x7F;
  utf8proc_category_t category = u->category(c);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

bool tm_char_is_word(const struct tm_utf8proc *u, int32_t c)
{
  /* Alphabetic symbols (Other_Alphabetic without marks), and Join_Control. */
  static const struct range others[] = {
    { 0x200C, 0x200D },   { 0x24B6, 0x24E9 },   { 0x1F130, 0x1F149 },
    { 0x1F150, 0x1F169 }, { 0x1F170, 0x1F189 },
  };

  if (c < 0x80)
    return is_ascii_letter(c) || (c >= '0' && c <= '9') || c == '_';
  utf8proc_category_t category = u->category(c);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
         category == UTF8PROC_CATEGORY_PC || is_in(others, TM_COUNT_OF(others), c);
}
