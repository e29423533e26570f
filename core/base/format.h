/* format.h - printf for all that is written: numbers as in the C locale, whatever the host's is. tm_buf_printf(), tm_xprintf() and
 * tm_err_set() go through it.
 */
#ifndef TM_BASE_FORMAT_H
#define TM_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf(). The thread has another locale meanwhile; the process's is not touched. */
int tm_vformat(char *out, size_t size, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

#endif
