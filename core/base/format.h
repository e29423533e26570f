/* format.h - printf for everything that we write: numbers as in the C locale, whatever the host's
 * is. tm_buf_printf(), tm_xprintf() and tm_err_set() use it.
 */
#ifndef TM_BASE_FORMAT_H
#define TM_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* Like vsnprintf(). It switches the locale of the thread, not of the process, during the call. */
int tm_vformat(char *out, size_t size, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

#endif
