/* figures.c - see figures.h. */
#include "page/figures.h"

#include <math.h>

#include "base/text.h"

void tm_figure_number(struct tm_buf *text, double n)
{
  double size = isfinite(n) ? fabs(n) : 0;
  if (size >= 99.95)
    tm_text_grouped(text, (int64_t)llround(fmax(-9e18, fmin(9e18, n))));
  else if (size < 0.005)
    tm_buf_add_str(text, "0");
  else
    tm_buf_printf(text, size >= 9.995 ? "%.1f" : "%.2f", n);
}

void tm_figure_count(struct tm_buf *text, int64_t n, const char *one, const char *more)
{
  tm_text_grouped(text, n);
  tm_buf_printf(text, " %s", tm_text_counted(n, one, more));
}
