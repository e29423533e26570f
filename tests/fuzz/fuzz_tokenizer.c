/* fuzz_tokenizer.c - a tokenizer.json, a NUL, and a text. The file is refused with a message, or
 * all ids of a text are in the vocabulary, and the same again. The bytes of the file are also read
 * as rules of sentencepiece. */
#include "fuzz.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"
#include "data/text/charsmap.h"
#include "data/text/normal_form.h"
#include "data/text/tokenizer.h"

static void check_tokenizer(struct tm_tokenizer *t, const char *text, size_t len)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_token_rows rows = { 0 };
  const struct tm_tokenizer_shape *shape = tm_tokenizer_shape(t);
  int64_t max = shape->max_length, specials = (int64_t)tm_tokenizer_specials(t);
  max = max > 0 && max < specials ? specials : max;
  const struct tm_tokenizer_cut cut = { true, shape->cuts_left, max };
  int first = tm_tokenizer_encode(t, text, len, &cut, NULL, &rows, &err);
  fuzz_require(tm_text_is_utf8(text, len) ? first != TM_EINPUT : first == TM_EINPUT && err.text[0]);
  fuzz_require(tm_tokenizer_encode(t, text, len, &cut, NULL, &rows, &err) == first);
  if (first == 0) {
    size_t n = rows.ends.at[0];
    fuzz_require(rows.ends.len == 2 && rows.ends.at[1] == 2 * n && rows.ids.len == 2 * n);
    fuzz_require(rows.types.len == 2 * n && (max == 0 || n <= (size_t)max));
    for (size_t i = 0; i < 2 * n; i++)
      fuzz_require(rows.ids.at[i] >= 0 && (size_t)rows.ids.at[i] < tm_tokenizer_len(t) &&
                   rows.ids.at[i] == rows.ids.at[i % n]);
  }
  tm_token_rows_release(&rows);
}

static void add_base64(struct tm_buf *out, const uint8_t *p, size_t n)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i + 2 < n; i += 3) {
    uint32_t bits = (uint32_t)p[i] << 16 | (uint32_t)p[i + 1] << 8 | p[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6)
      tm_buf_add_char(out, digits[bits >> shift & 63]);
  }
}

static void check_rules(const uint8_t *data, size_t size)
{
  static const char text[] = "a\u00BD\u200De\u0301 \r\n\uFB01\U0001F600 ABC abc \x01\x7F";
  struct tm_buf base64 = TM_BUF_NONE, out = TM_BUF_NONE;
  add_base64(&base64, data, size);
  struct tm_charsmap *m = tm_charsmap_parse(tm_buf_str(&base64), base64.len, NULL);
  if (m) {
    tm_charsmap_apply(m, tm_utf8proc(NULL), text, sizeof text, 1 << 16, &out);
    fuzz_require(tm_text_is_utf8(tm_buf_str(&out), out.len));
  }
  tm_charsmap_free(m);
  tm_buf_release(&base64);
  tm_buf_release(&out);
}

/* The decomposed form of the composed one is the decomposed form. */
static void check_forms(const char *text, size_t len)
{
  struct tm_chars chars = { 0 };
  struct tm_buf composed = TM_BUF_NONE, again = TM_BUF_NONE, decomposed = TM_BUF_NONE;
  const struct tm_utf8proc *u = tm_utf8proc(NULL);
  tm_normal_form(u, TM_NFC, text, len, &chars, &composed);
  tm_normal_form(u, TM_NFD, tm_buf_str(&composed), composed.len, &chars, &again);
  tm_normal_form(u, TM_NFD, text, len, &chars, &decomposed);
  fuzz_require(again.len == decomposed.len);
  fuzz_require(memcmp(tm_buf_str(&again), tm_buf_str(&decomposed), again.len) == 0);
  TM_ARRAY_RELEASE(&chars);
  tm_buf_release(&composed);
  tm_buf_release(&again);
  tm_buf_release(&decomposed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_err err = TM_ERR_NONE;
  const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
  size_t file = end ? (size_t)(end - data) : size, len = end ? size - file - 1 : 0;
  const char *text = end ? (const char *)end + 1 : "";
  struct tm_tokenizer *t = tm_tokenizer_parse((const char *)data, file, &err);
  if (t)
    check_tokenizer(t, text, len);
  else
    fuzz_require(err.code < 0 && err.text[0]);
  tm_tokenizer_free(t);
  check_rules(data, size);
  if (tm_text_is_utf8(text, len))
    check_forms(text, len);
  return 0;
}
