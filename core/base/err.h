/* err.h - codes and messages of errors.
 *
 * A function that can fail returns int: 0 or more, or a negative code. libuv's codes (which are
 * negated errno values) pass through unchanged; ours begin below them. The message travels in a
 * `struct tm_err`, a fixed buffer of the caller's: it is filled once, where the cause is known, and
 * wrapped on the way up. The struct and our codes are public, with longer names: tidemill/error.h.
 *
 * A message is in lower case, says first what failed, has the subject in single quotes and no full
 * stop; what the user can do comes after. "cannot open 'x': no such file or directory".
 */
#ifndef TM_BASE_ERR_H
#define TM_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

#include <tidemill/error.h>
#include <tidemill/version.h>

/* Short names for the public ones. */
#define tm_err tidemill_error
enum tm_code {
#define TM_XX(name, code, text) TM_##name = TIDEMILL_##name,
  TIDEMILL_ERROR_MAP(TM_XX)
#undef TM_XX
};

/* clang-format off */
#define TM_ERR_NONE { 0, { 0 } }
/* `err`; if it is NULL, one of the enclosing block, for code that looks at what was set. */
#define TM_ERR_OWN(err) ((err) ? (err) : &(struct tm_err)TM_ERR_NONE)
/* clang-format on */

/* Fills `err` (may be NULL) and returns `code`, which must be negative. */
int tm_err_set(struct tm_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int tm_err_vset(struct tm_err *err, int code, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* Like tm_err_set(); ": " and the text of `code` (libuv's or ours) are appended. */
int tm_err_system(struct tm_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<fmt>: " before the message. `err` is not NULL. Returns err->code. */
int tm_err_wrap(struct tm_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends `words` to the message. */
void tm_err_append(struct tm_err *err, const char *words);

/* "EUSAGE", "ENOENT", or "UNKNOWN". */
const char *tm_code_name(int code);
/* "wrong usage or definition", "no such file or directory". */
const char *tm_code_text(int code);

/* The exit status for an error: 2 for errors that the user can mend, 3 for errors of the system. */
int tm_exit_status_of(int code);

#endif
