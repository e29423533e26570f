/* normal_form.c - see normal_form.h.
 *
 * libutf8proc decomposes single characters and composes runs of them. We put marks in order
 * ourselves, because it does that in quadratic time.
 */
#include "data/text/normal_form.h"

#include <string.h>

#include "base/check.h"

enum {
  FEW = 32,           /* so many marks in a row are sorted by insertion */
  DECOMPOSED_MAX = 32 /* characters; Unicode promises 18 at most */
};

static unsigned class_of(const struct tm_utf8proc *u, int32_t c)
{
  return c < 0x300 ? 0 : u->get_property(c)->combining_class;
}

static void sort_few(const struct tm_utf8proc *u, int32_t *at, size_t n)
{
  for (size_t i = 1; i < n; i++) {
    int32_t c = at[i];
    unsigned class = class_of(u, c);
    size_t k = i;
    for (; k > 0 && class_of(u, at[k - 1]) > class; k--)
      at[k] = at[k - 1];
    at[k] = c;
  }
}

/* By counting the classes; stable, as the order must be. */
static void sort_many(const struct tm_utf8proc *u, int32_t *at, size_t n)
{
  size_t starts[257] = { 0 };
  int32_t *sorted = tm_xmalloc(n * sizeof *sorted);

  for (size_t i = 0; i < n; i++)
    starts[(class_of(u, at[i]) & 0xFF) + 1]++;
  for (size_t class = 1; class < 257; class ++)
    starts[class] += starts[class - 1];
  for (size_t i = 0; i < n; i++)
    sorted[starts[class_of(u, at[i]) & 0xFF]++] = at[i];
  memcpy(at, sorted, n * sizeof *sorted);
  free(sorted);
}

/* Sorts each run of characters by their class; a starter, of class 0, ends a run. */
static void put_in_order(const struct tm_utf8proc *u, int32_t *at, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    size_t first = i;
    while (i < n && class_of(u, at[i]) != 0)
      i++;
    size_t run = i - first;
    if (run > FEW)
      sort_many(u, at + first, run);
    else if (run > 1)
      sort_few(u, at + first, run);
  }
}

static void decompose(const struct tm_utf8proc *u, utf8proc_option_t options, const char *text,
                      size_t len, struct tm_chars *out)
{
  out->len = 0;
  for (size_t i = 0, step; i < len; i += step) {
    int32_t c = tm_char_at(text + i, &step);
    if (c < 0x80) {
      *TM_ARRAY_ADD(out) = c;
      continue;
    }
    int boundary = 0;
    tm_array_reserve((void **)&out->at, out->len + DECOMPOSED_MAX, &out->cap, sizeof *out->at);
    utf8proc_ssize_t n =
        u->decompose_char(c, out->at + out->len, DECOMPOSED_MAX, options, &boundary);
    tm_require(n >= 0 && n <= DECOMPOSED_MAX);
    out->len += (size_t)n;
  }
}

void tm_normal_form(const struct tm_utf8proc *u, enum tm_normal_form form, const char *text,
                    size_t len, struct tm_chars *scratch, struct tm_buf *out)
{
  if (tm_text_is_ascii(text, len)) {
    tm_buf_add(out, text, len);
    return;
  }
  bool is_composed = form == TM_NFC || form == TM_NFKC;
  utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  if (form == TM_NFKC || form == TM_NFKD)
    options |= UTF8PROC_COMPAT;
  decompose(u, options, text, len, scratch);
  put_in_order(u, scratch->at, scratch->len);
  if (is_composed) {
    utf8proc_ssize_t n = u->normalize_utf32(scratch->at, (utf8proc_ssize_t)scratch->len,
                                            UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    tm_require(n >= 0);
    scratch->len = (size_t)n;
  }
  for (size_t i = 0; i < scratch->len; i++)
    tm_char_add(out, scratch->at[i]);
}
