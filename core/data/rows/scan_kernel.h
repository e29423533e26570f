/* scan_kernel.h - the body of a kernel, included once by each file that implements one: that file
 * classifies 64 bytes with its instructions, the rest is the same.
 *
 * Define before including it: struct tm_masks classify(p, separator), uint64_t prefix_xor(x), and
 * KERNEL_NAME.
 *
 * In a block, bit i is byte i. `in` has the bits of the bytes inside quotes, including the opening
 * quote, by parity. Parity is right if every opening quote is where a field begins, or right after
 * a closing one (an escaped quote), and no row ends inside quotes.
 */
#include "data/rows/scan_own.h"

struct block {
  uint64_t ends;  /* separators and line breaks outside quotes */
  uint64_t lines; /* of these, the line breaks */
  enum tm_scan_state state;
};

/* The state after a byte, each argument 0 or 1: it is inside quotes; it ends a field, if it is not;
 * it closes quotes. Without branches, which could not be predicted; TM_SCAN_FIELD is 0. */
static inline enum tm_scan_state state_after(uint64_t is_in, uint64_t is_end, uint64_t closes)
{
  uint64_t outside = (TM_SCAN_PLAIN + closes * (TM_SCAN_CLOSED - TM_SCAN_PLAIN)) & (is_end - 1);
  return (enum tm_scan_state)((outside & (is_in - 1)) | is_in * TM_SCAN_QUOTED);
}

/* False: handle the block byte by byte; nothing has changed. */
static inline bool find_ends(const struct tm_scan *s, enum tm_scan_state state, struct tm_masks m,
                             struct block *out)
{
  uint64_t quotes = s->has_quotes ? m.quote : 0;
  uint64_t in = prefix_xor(quotes) ^ (state == TM_SCAN_QUOTED ? ~UINT64_C(0) : 0);
  uint64_t opening = quotes & in, closing = quotes & ~in, ends = m.separator | m.line;
  uint64_t before = (ends | closing) << 1 | (state == TM_SCAN_FIELD || state == TM_SCAN_CLOSED);
  if (__builtin_expect((opening & ~before) | (s->multi_line ? 0 : m.line & in), 0) != 0)
    return false;
  out->ends = ends & ~in;
  out->lines = m.line & ~in;
  out->state = state_after(in >> 63, ends >> 63, closing >> 63);
  return true;
}

/* The position after the k-th bit, k from 1. */
static inline size_t behind_bit(uint64_t bits, uint64_t k)
{
  for (; k > 1; k--)
    bits &= bits - 1;
  return (size_t)__builtin_ctzll(bits) + 1;
}

static size_t kernel_rows(struct tm_scan *s, const char *p, size_t n, uint64_t until)
{
  size_t at = 0;
  for (; n - at >= 64 && s->rows < until; at += 64) {
    struct block b;
    if (!find_ends(s, s->state, classify(p + at, s->separator), &b)) {
      size_t got = tm_scan_bytes_rows(s, p + at, 64, until);
      if (got < 64)
        return at + got;
      continue;
    }
    uint64_t count = (uint64_t)__builtin_popcountll(b.lines);
    if (count >= until - s->rows) {
      at += behind_bit(b.lines, until - s->rows);
      s->rows = until;
      s->state = TM_SCAN_FIELD;
      return at;
    }
    s->rows += count;
    s->state = b.state;
  }
  return at + tm_scan_bytes_rows(s, p + at, n - at, until);
}

static size_t kernel_lines(struct tm_scan *s, const char *p, size_t n, uint64_t until)
{
  size_t at = 0;
  for (; n - at >= 64 && s->rows < until; at += 64) {
    uint64_t lines = classify_lines(p + at);
    uint64_t count = (uint64_t)__builtin_popcountll(lines);
    if (count >= until - s->rows) {
      at += behind_bit(lines, until - s->rows);
      s->rows = until;
      return at;
    }
    s->rows += count;
  }
  return at + tm_scan_bytes_lines(s, p + at, n - at, until);
}

/* Writes four at a time without a check: the next call overwrites what is beyond the count. The
 * highest bit only defines the result when no end is left. */
static inline void put_ends(struct tm_marks *out, uint64_t ends, uint32_t from)
{
  uint32_t *to = out->at + out->at_len;
  int count = __builtin_popcountll(ends);
  out->at_len += (size_t)count;
  for (int done = 0; done < count; done += 4, to += 4)
    for (int i = 0; i < 4; i++) {
      to[i] = from + (uint32_t)__builtin_ctzll(ends | UINT64_C(1) << 63);
      ends &= ends - 1;
    }
}

static inline void put_rows(struct tm_marks *out, const struct block *b)
{
  for (uint64_t lines = b->lines; lines != 0; lines &= lines - 1) {
    uint64_t before = (lines & (~lines + 1)) - 1;
    out->rows[out->rows_len++] =
        (uint32_t)out->at_len + (uint32_t)__builtin_popcountll(b->ends & before) + 1;
  }
}

static size_t kernel_fields(struct tm_scan *s, const char *p, size_t n, size_t from,
                            struct tm_marks *out)
{
  size_t at = from;
  uint64_t quotes = 0, high = 0;
  enum tm_scan_state state = s->state;
  for (; n - at >= 64 && out->cap - out->at_len >= TM_MARKS_FREE; at += 64) {
    struct tm_masks m = classify(p + at, s->separator);
    struct block b;
    quotes |= m.quote;
    high |= m.high;
    if (!find_ends(s, state, m, &b)) {
      s->state = state;
      tm_scan_bytes_block(s, p, at, at + 64, out);
      state = s->state;
      continue;
    }
    if (b.lines != 0)
      put_rows(out, &b);
    put_ends(out, b.ends, (uint32_t)at);
    state = b.state;
  }
  s->state = state;
  s->saw_quote |= quotes != 0;
  s->saw_high |= high != 0;
  if (n - at >= 64 || out->cap - out->at_len < TM_MARKS_FREE)
    return at;
  tm_scan_bytes_block(s, p, at, n, out);
  return n;
}

static const struct tm_scan_kernel kernel = { KERNEL_NAME, kernel_rows, kernel_lines,
                                              kernel_fields };
