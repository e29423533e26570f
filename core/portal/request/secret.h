/* secret.h - tokens: 256 random bits as text, and comparing them. */
#ifndef TM_PORTAL_REQUEST_SECRET_H
#define TM_PORTAL_REQUEST_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define TM_SECRET_LEN 64 /* digits */

/* Random digits 0-9 and a-f, `len` of them and a NUL. */
int tm_secret_make(char *out, size_t len, struct tm_err *err);
/* Whether `given`, n bytes, is `secret`. Takes the same time wherever they differ. */
bool tm_secret_is(const char *secret, const char *given, size_t n);
bool tm_secret_is_digits(const char *text, size_t len); /* exactly `len` of these digits */

#endif
