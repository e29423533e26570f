/* secret.c - see secret.h. */
#include "portal/request/secret.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static const char digits[] = "0123456789abcdef";

int tm_secret_make(char *out, size_t len, struct tm_err *err)
{
  unsigned char bytes[TM_SECRET_LEN];
  if (getrandom(bytes, len, 0) != (ssize_t)len)
    return tm_err_system(err, -errno, "cannot get random bytes");
  for (size_t i = 0; i < len; i++)
    out[i] = digits[bytes[i] & 15];
  out[len] = '\0';
  return 0;
}

bool tm_secret_is(const char *secret, const char *given, size_t n)
{
  size_t len = strlen(secret);
  volatile unsigned char differs = n != len || len == 0;
  for (size_t i = 0; i < len; i++)
    differs |= (unsigned char)(secret[i] ^ (i < n ? given[i] : 0));
  return differs == 0;
}

bool tm_secret_is_digits(const char *text, size_t len)
{
  return strlen(text) == len && strspn(text, digits) == len;
}
