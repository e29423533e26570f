/* unicode.h - classes of characters, and UTF-8 one character at a time.
 *
 * libutf8proc has the tables. It is loaded when a tokenizer first needs it (sys/library.h).
 * All text is UTF-8 that was checked before (base/text.h).
 */
#ifndef TM_DATA_UNICODE_H
#define TM_DATA_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <utf8proc.h>

#include "base/buf.h"
#include "base/err.h"

/* Without "utf8proc_". */
#define TM_UTF8PROC_FUNCTIONS(X)                                                                   \
  X(category)                                                                                      \
  X(decompose_char)                                                                                \
  X(get_property)                                                                                  \
  X(grapheme_break_stateful)                                                                       \
  X(normalize_utf32)                                                                               \
  X(tolower)                                                                                       \
  X(unicode_version)                                                                               \
  X(version)

struct tm_utf8proc {
#define TM_UTF8PROC_FUNCTION(name) __typeof__(utf8proc_##name) *name;
  TM_UTF8PROC_FUNCTIONS(TM_UTF8PROC_FUNCTION)
#undef TM_UTF8PROC_FUNCTION
};

/* Static; NULL with a message if the library cannot be loaded. On any thread. */
const struct tm_utf8proc *tm_utf8proc(struct tm_err *err);

/* The character at s, of `*len` bytes (1 to 4). */
static inline int32_t tm_char_at(const char *s, size_t *len)
{
  const unsigned char *u = (const unsigned char *)s;

  if (u[0] < 0x80) {
    *len = 1;
    return u[0];
  }
  if (u[0] < 0xE0) {
    *len = 2;
    return (u[0] & 0x1F) << 6 | (u[1] & 0x3F);
  }
  if (u[0] < 0xF0) {
    *len = 3;
    return (u[0] & 0x0F) << 12 | (u[1] & 0x3F) << 6 | (u[2] & 0x3F);
  }
  *len = 4;
  return (u[0] & 0x07) << 18 | (u[1] & 0x3F) << 12 | (u[2] & 0x3F) << 6 | (u[3] & 0x3F);
}

/* Where the character begins that ends before `end`; `start` < `end`. */
static inline const char *tm_char_before(const char *start, const char *end)
{
  do
    end--;
  while (end > start && ((unsigned char)*end & 0xC0) == 0x80);
  return end;
}

void tm_char_add(struct tm_buf *out, int32_t c);
bool tm_text_is_ascii(const char *s, size_t n);

/* Unicode's property White_Space. */
bool tm_char_is_space(int32_t c);
/* A unified or compatibility ideograph, as BERT has it. */
bool tm_char_is_ideograph(int32_t c);
/* The categories of `u`. */
bool tm_char_is_letter(const struct tm_utf8proc *u, int32_t c); /* L */
bool tm_char_is_number(const struct tm_utf8proc *u, int32_t c); /* N */
/* P, and ASCII's "$+<=>^`|~". */
bool tm_char_is_punctuation(const struct tm_utf8proc *u, int32_t c);
bool tm_char_is_mark(const struct tm_utf8proc *u, int32_t c);            /* M */
bool tm_char_is_nonspacing_mark(const struct tm_utf8proc *u, int32_t c); /* Mn */
bool tm_char_is_control(const struct tm_utf8proc *u, int32_t c);         /* Cc, Cf, Co */
/* \w of regular expressions (UTS 18): Alphabetic, marks, Nd, Pc, Join_Control. */
bool tm_char_is_word(const struct tm_utf8proc *u, int32_t c);

#endif
