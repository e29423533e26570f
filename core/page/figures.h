/* figures.h - numbers in the sentences and tables of pictures. Pure. */
#ifndef TM_PAGE_FIGURES_H
#define TM_PAGE_FIGURES_H

#include <stdint.h>

#include "base/buf.h"

/* Three digits are enough to compare: "1,234", "420", "42.1", "0.26". */
void tm_figure_number(struct tm_buf *text, double n);
/* "1 try", "8,286 tries". */
void tm_figure_count(struct tm_buf *text, int64_t n, const char *one, const char *more);

#endif
