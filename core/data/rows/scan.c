/* scan.c - which kernel, and the one that goes byte by byte: the meaning of the others, and all of it on machines for
 * which there is none. */
#include "data/rows/scan.h"

#include <string.h>

#include "base/check.h"
#include "data/rows/scan_own.h"

static void bytes_fields(struct tm_scan *s, const char *p, size_t n, struct tm_marks *out)
{
  tm_scan_bytes_fields(s, p, n, 0, out);
}

static const struct tm_scan_kernel bytes_kernel = { "bytes", tm_scan_bytes_rows,
                                                    tm_scan_bytes_lines, bytes_fields };

static const struct tm_scan_kernel *find_kernel(enum tm_scan_kind kind)
{
  bool has_avx2 = false;
#if defined(__x86_64__)
  has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
#endif
  if (kind == TM_SCAN_AVX2 || (kind == TM_SCAN_BEST && has_avx2 && tm_scan_kernel_avx2() != NULL))
    return has_avx2 ? tm_scan_kernel_avx2() : NULL;
  if (kind == TM_SCAN_SSE2 || (kind == TM_SCAN_BEST && tm_scan_kernel_sse2() != NULL))
    return tm_scan_kernel_sse2();
  return &bytes_kernel;
}

bool tm_scan_init(struct tm_scan *s, const struct tm_dialect *d, enum tm_scan_kind kind)
{
  const struct tm_scan_kernel *kernel = find_kernel(kind);
  *s = (struct tm_scan) {
    .kernel = kernel != NULL ? kernel : &bytes_kernel,
    .separator = d->separator,
    .has_quotes = !d->no_quotes,
    .multi_line = d->multi_line,
  };
  return kernel != NULL;
}

const char *tm_scan_name(const struct tm_scan *s)
{
  return s->kernel->name;
}

size_t tm_scan_rows(struct tm_scan *s, const char *p, size_t n, uint64_t until)
{
  if (s->rows >= until)
    return 0;
  return s->has_quotes && s->multi_line ? s->kernel->rows(s, p, n, until)
                                        : s->kernel->lines(s, p, n, until);
}

void tm_scan_fields(struct tm_scan *s, const char *p, size_t n, struct tm_marks *out)
{
  tm_require(n < UINT32_MAX);
  out->at_len = out->rows_len = 0;
  s->state = TM_SCAN_FIELD;
  s->kernel->fields(s, p, n, out);
}

/* One byte of the machine. True when a field ends with it; s->rows counts when a row does. */
static inline bool step(struct tm_scan *s, char c)
{
  if (s->state == TM_SCAN_QUOTED) {
    if (c == '"')
      s->state = TM_SCAN_CLOSED;
    if (c != '\n' || s->multi_line)
      return false;
    s->unclosed++;
  } else if (c == '"' && s->has_quotes && s->state != TM_SCAN_PLAIN) {
    s->state = TM_SCAN_QUOTED;
    return false;
  }
  if (c != '\n' && c != s->separator) {
    s->state = TM_SCAN_PLAIN;
    return false;
  }
  s->state = TM_SCAN_FIELD;
  s->rows += c == '\n';
  return true;
}

size_t tm_scan_bytes_rows(struct tm_scan *s, const char *p, size_t n, uint64_t until)
{
  size_t at = 0;
  while (at < n && s->rows < until)
    step(s, p[at++]);
  return at;
}

size_t tm_scan_bytes_lines(struct tm_scan *s, const char *p, size_t n, uint64_t until)
{
  size_t at = 0;
  while (at < n && s->rows < until)
    s->rows += p[at++] == '\n';
  return at;
}

void tm_scan_bytes_fields(struct tm_scan *s, const char *p, size_t n, uint32_t from,
                          struct tm_marks *out)
{
  for (size_t i = 0; i < n; i++) {
    s->saw_quote |= p[i] == '"';
    s->saw_high |= (unsigned char)p[i] >= 0x80;
    if (!step(s, p[i]))
      continue;
    out->at[out->at_len++] = from + (uint32_t)i;
    if (p[i] == '\n')
      out->rows[out->rows_len++] = (uint32_t)out->at_len;
  }
}
