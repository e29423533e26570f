/* page_pieces.c - what several pages write: states, bars, times, lines of a log. */
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "portal/pages/pages.h"

void tm_piece_state(struct tm_html *h, const struct tm_page_state *state)
{
  tm_html_open(h, "span");
  tm_html_attrf(h, "class", "phase %s", state->tone);
  tm_html_put(h, "i aria-hidden='true'", state->symbol);
  tm_html_text(h, state->word);
  tm_html_close(h, "span");
}

static void add_part(struct tm_html *h, double from, double width, bool is_failed)
{
  tm_html_open(h, "rect y='0' height='100%'");
  tm_html_attr(h, "class", is_failed ? "failed" : "done");
  tm_html_attr(h, "fill", is_failed ? "url(#hatch)" : "#2a6f97");
  tm_html_attr_percent(h, "x", from);
  tm_html_attr_percent(h, "width", width);
  tm_html_close(h, "rect");
}

/* A share that exists is never rounded to nothing. */
static double share_of(int64_t n, int64_t all)
{
  double share = all > 0 ? 100.0 * (double)n / (double)all : 0;
  return n > 0 && share < 1 ? 1 : share;
}

void tm_piece_bar(struct tm_html *h, int64_t succeeded, int64_t failed, int64_t created)
{
  double done = share_of(succeeded, created), bad = share_of(failed, created);
  done = done + bad > 100 ? 100 - bad : done;
  tm_html_open(h, "svg class='pbar' width='190' height='9' role='img'");
  tm_html_attrf(h, "aria-label", "%.0f %% done, %.1f %% failed",
                created > 0 ? 100.0 * (double)succeeded / (double)created : 0.0,
                created > 0 ? 100.0 * (double)failed / (double)created : 0.0);
  tm_html_open(h, "rect class='idle' width='100%' height='100%' fill='#d9d6cf'");
  tm_html_close(h, "rect");
  if (succeeded > 0)
    add_part(h, 0, done, false);
  if (failed > 0)
    add_part(h, done, bad, true);
  tm_html_close(h, "svg");
}

void tm_piece_time(struct tm_html *h, int64_t ns)
{
  struct tm_buf iso = TM_BUF_NONE, text = TM_BUF_NONE;
  if (ns <= 0)
    return;
  tm_time_iso(&iso, ns);
  tm_time_second(&text, ns);
  tm_html_open(h, "time");
  tm_html_attr(h, "datetime", iso.data);
  tm_html_textf(h, "%s UTC", text.data);
  tm_html_close(h, "time");
  tm_buf_release(&iso);
  tm_buf_release(&text);
}

void tm_piece_duration(struct tm_html *h, int64_t ns)
{
  struct tm_buf text = TM_BUF_NONE;
  if (ns >= 0)
    tm_time_precise(&text, ns);
  tm_html_text(h, tm_buf_str(&text));
  tm_buf_release(&text);
}

void tm_piece_bytes(struct tm_html *h, int64_t n)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_text_bytes(&text, n);
  tm_html_text(h, tm_buf_str(&text));
  tm_buf_release(&text);
}

void tm_piece_command(struct tm_html *h, const char *command)
{
  tm_html_open(h, "p class='cmd'");
  tm_html_put(h, "code", command);
  tm_html_open(h, "button type='button' hidden");
  tm_html_attr(h, "data-copy", command);
  tm_html_text(h, "Copy");
  tm_html_close(h, "button");
  tm_html_close(h, "p");
}

/* Leaves out colours and movements of a terminal; tm_html_text_n() makes the rest visible. */
void tm_piece_line(struct tm_html *h, const char *source, const char *text, size_t len,
                   int64_t more)
{
  tm_html_open(h, "div");
  if (source && *source)
    tm_html_put(h, "b", source);
  tm_html_open(h, "span");
  tm_html_text_n(h, text, len);
  if (len == 0 && more == 0)
    tm_html_void(h, "br"); /* a line without text has a height */
  if (more > 0)
    tm_html_textf(h, " … %lld more bytes", (long long)more);
  tm_html_close(h, "span");
  tm_html_close(h, "div");
}
