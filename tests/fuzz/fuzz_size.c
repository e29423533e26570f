/* fuzz_size.c - numbers and sizes in user input.
 *
 *  (1) A size is accepted if and only if it has the right form and fits into 64 bits. Its value
 *      equals that of a slow parser with more bits.
 *  (2) An accepted integer reads back the same after printing; so does a number printed in full.
 *  (3) A refused value does not change *out.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <strings.h>

#include "base/text.h"

#define UNTOUCHED INT64_C(0x5a5a5a5a5a5a5a5a)

/* Digits, then nothing or a unit: an optional blank, one of kmgt, and b. -1: the form is wrong, or
 * the value is too large. */
static int64_t slow_size(const char *s)
{
  static const char *const units[] = { "kb", "mb", "gb", "tb" };
  size_t digits = strspn(s, "0123456789");
  unsigned __int128 n = 0, limit = (unsigned __int128)INT64_MAX;
  int shift = 0;
  for (size_t i = 0; i < digits; i++)
    if (n <= limit)
      n = n * 10 + (unsigned)(s[i] - '0');
  if (digits == 0)
    return -1;
  s += digits;
  if (*s != '\0') {
    s += *s == ' ';
    for (int u = 0; u < 4; u++)
      shift = strcasecmp(s, units[u]) == 0 ? 10 * (u + 1) : shift;
    if (shift == 0)
      return -1;
  }
  return n > limit || n << shift > limit ? -1 : (int64_t)(n << shift);
}

static void check_size(const char *s)
{
  int64_t got = UNTOUCHED, expected = slow_size(s);
  bool is_accepted = tm_text_size(s, &got);
  fuzz_require(is_accepted == (expected >= 0));              /* (1) */
  fuzz_require(got == (is_accepted ? expected : UNTOUCHED)); /* (3) */
}

static void check_int(const char *s)
{
  int64_t got = UNTOUCHED, again = 0;
  char text[32];
  if (!tm_text_int(s, &got)) {
    fuzz_require(got == UNTOUCHED);
    return;
  }
  snprintf(text, sizeof(text), "%" PRId64, got);
  fuzz_require(tm_text_int(text, &again) && again == got); /* (2) */
}

static void check_number(const char *s)
{
  double got = -12345.0, again = 0;
  char text[64];
  if (!tm_text_number(s, &got)) {
    fuzz_require(memcmp(&got, &(double) { -12345.0 }, sizeof(got)) == 0);
    return;
  }
  snprintf(text, sizeof(text), "%.17g", got);
  fuzz_require(tm_text_number(text, &again) && memcmp(&got, &again, sizeof(got)) == 0); /* (2) */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);
  if (size > 0)
    memcpy(text, data, size);
  text[size] = '\0';
  check_size(text);
  check_int(text);
  check_number(text);
  free(text);
  return 0;
}
