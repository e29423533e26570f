/* html.h - writes HTML that is escaped by construction: the caller passes tags, names and literals
 * of our source code, and text, which is always escaped.
 *
 *   tm_html_open(h, "td class='num'"); tm_html_text(h, name); tm_html_close(h);
 *
 * Text stays the UTF-8 that it is. Bytes that are not UTF-8 become U+FFFD; control characters
 * become visible (U+2400 and following), and so do characters that change the direction of text.
 */
#ifndef TM_PAGE_HTML_H
#define TM_PAGE_HTML_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TM_HTML_DEPTH 64

struct tm_html {
  struct tm_buf *out;
  const char *open[TM_HTML_DEPTH]; /* what is open: literals */
  int depth;
};
#endif
