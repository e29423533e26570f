/* scan.c - selects the kernel, and has the one that works byte by byte: it defines the results of
 * the others, and is the only one on other machines. */
#include "data/rows/scan.h"

#include "base/check.h"
#include "base/mem.h"
#include "data/rows/scan_own.h"

#define MARKS_MIN 4096

static void reserve(struct tm_marks *m);

static size_t bytes_fields(struct tm_scan *s, const char *p, size_t n, size_t from,
                           struct tm_marks *out)
{
  size_t at = from;
  while (at < n && out->cap - out->at_len >= TM_MARKS_FREE) {
    size_t to = n - at > 64 ? at + 64 : n;
    tm_scan_bytes_block(s, p, at, to, out);
    at = to;
  }
  return at;
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
  for (size_t at = 0;;) {
    reserve(out);
    if (at == n)
      return;
    at = s->kernel->fields(s, p, n, at, out);
  }
}

/* Ensures room for a block and one mark more, by doubling, so that the marks of long fields take
 * little memory. */
static void reserve(struct tm_marks *m)
{
  if (m->cap - m->at_len > TM_MARKS_FREE)
    return;
  m->cap = m->cap == 0 ? MARKS_MIN : m->cap * 2;
  uint32_t *all = tm_xrealloc(m->at == NULL ? NULL : m->at - 1, (m->cap + 1) * sizeof *all);
  all[0] = UINT32_MAX;
  m->at = all + 1;
  m->rows = tm_xrealloc(m->rows, m->cap * sizeof *m->rows);
}

void tm_marks_release(struct tm_marks *m)
{
  free(m->at == NULL ? NULL : m->at - 1);
  free(m->rows);
  *m = (struct tm_marks) { 0 };
}

/* One byte of the state machine. True if a field ends with it; s->rows counts the end of a row. */
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

size_t tm_scan_count_fields(struct tm_scan *s, const char *p, size_t n, uint64_t *fields,
                            uint64_t until)
{
  size_t at = 0;
  while (at < n && s->rows == 0 && *fields < until)
    *fields += step(s, p[at++]);
  return at;
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

void tm_scan_bytes_block(struct tm_scan *s, const char *p, size_t from, size_t to,
                         struct tm_marks *out)
{
  for (size_t i = from; i < to; i++) {
    s->saw_quote |= p[i] == '"';
    s->saw_high |= (unsigned char)p[i] >= 0x80;
    if (!step(s, p[i]))
      continue;
    out->at[out->at_len++] = (uint32_t)i;
    if (p[i] == '\n')
      out->rows[out->rows_len++] = (uint32_t)out->at_len;
  }
}
