/* cells.c - see cells.h. */
#include "page/cells.h"

#include "base/text.h"
#include "base/time.h"
#include "page/section.h"

static void put_number(struct tm_html *h, double value, struct tm_buf *text)
{
  tm_html_open(h, "td class='num'");
  tm_html_attrf(h, "data-value", "%.15g", value);
  tm_html_text(h, tm_buf_str(text));
  tm_html_close(h, "td");
  tm_buf_release(text);
}

void tm_cell_count(struct tm_html *h, int64_t n)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_text_grouped(&text, n);
  put_number(h, (double)n, &text);
}

void tm_cell_duration(struct tm_html *h, int64_t ns)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_time_precise(&text, ns);
  put_number(h, (double)ns, &text);
}

void tm_cell_share(struct tm_html *h, double part, double whole)
{
  struct tm_buf text = TM_BUF_NONE;
  double share = whole > 0 ? part / whole : 0;
  tm_text_percent(&text, share);
  put_number(h, share, &text);
}

void tm_cell_bytes(struct tm_html *h, int64_t bytes)
{
  struct tm_buf text = TM_BUF_NONE;
  if (bytes > 0)
    tm_text_bytes(&text, bytes);
  put_number(h, (double)bytes, &text);
}

void tm_cell_name(struct tm_html *h, const char *name)
{
  tm_html_open(h, "td");
  tm_html_name(h, name);
  tm_html_close(h, "td");
}

int64_t tm_page_now(const struct tm_job_page *page)
{
  const struct tm_fact_step *step = tm_page_fact(page);
  return step && step->state == TM_FACT_RUNNING ? page->job->now_ns : 0;
}
