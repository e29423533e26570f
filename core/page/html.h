/* html.h - writes HTML and SVG that is escaped by construction: tags and names of attributes are
 * literals of our source code, which the compiler checks; everything else is text, which is always
 * escaped, or a number.
 *
 *   tm_html_open(h, "td class='num'"); tm_html_attr(h, "title", message);
 *   tm_html_text(h, name); tm_html_close(h, "td");
 *
 * Attributes come right after the tag. An attribute that runs something, loads something or leads
 * somewhere (on..., style, src, href) cannot be written by tm_html_attr(): links have functions of
 * their own.
 *
 * Text stays the UTF-8 that it is, with these exceptions, in attributes too:
 *  - a byte that is not UTF-8 becomes U+FFFD,
 *  - the colours and movements of a terminal (ESC [ ...) are left out,
 *  - other control characters become visible: U+2400 and following; line breaks and tabs stay,
 *  - characters that change the direction of other text (U+202A to U+202E, U+2066 to U+2069), that
 *    break lines invisibly (U+2028, U+2029) or control a terminal (U+0080 to U+009F) become
 *    "[U+202E]".
 *
 * Only html.c adds to `out`: tests/lint sees to that. An element that is not closed, or that is
 * closed by another name, is a fault.
 */
#ifndef TM_PAGE_HTML_H
#define TM_PAGE_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TM_HTML_DEPTH 64
#define TM_HTML_LONG  4096 /* bytes of a message at most */

struct tm_html {
  struct tm_buf *out;
  const char *open[TM_HTML_DEPTH]; /* the tags that are open: literals */
  int depth;
  enum { TM_HTML_CONTENT, TM_HTML_TAG, TM_HTML_VOID_TAG } at; /* in a tag: attributes may follow */
};

void tm_html_init(struct tm_html *h, struct tm_buf *out);
void tm_html_finish(struct tm_html *h); /* everything must be closed */
void tm_html_doctype(struct tm_html *h);
size_t tm_html_bytes(const struct tm_html *h); /* written so far, for limits */

/* Elements. `tag`: a literal, with constant attributes if there are any: "td class='num'". A void
 * element has no content and is not closed. */
#define tm_html_open(h, tag)   tm_html_open_tag(h, "" tag)
#define tm_html_void(h, tag)   tm_html_void_tag(h, "" tag)
#define tm_html_close(h, name) tm_html_close_tag(h, "" name)
/* An element that has nothing but this text. */
#define tm_html_put(h, tag, text) tm_html_put_tag(h, "" tag, text)
void tm_html_open_tag(struct tm_html *h, const char *tag);
void tm_html_void_tag(struct tm_html *h, const char *tag);
void tm_html_close_tag(struct tm_html *h, const char *name);
void tm_html_put_tag(struct tm_html *h, const char *tag, const char *text);

/* Attributes of the tag just opened. `name`: a literal. NULL as the text writes nothing. */
#define tm_html_attr(h, name, text)      tm_html_attr_text(h, "" name, text)
#define tm_html_attrf(h, name, ...)      tm_html_attr_format(h, "" name, __VA_ARGS__)
#define tm_html_attr_num(h, name, n)     tm_html_attr_number(h, "" name, n)
#define tm_html_attr_percent(h, name, n) tm_html_attr_share(h, "" name, n)
void tm_html_attr_text(struct tm_html *h, const char *name, const char *text);
void tm_html_attr_format(struct tm_html *h, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* At most two digits behind the point; 0 for what is not finite. */
void tm_html_attr_number(struct tm_html *h, const char *name, double n);
void tm_html_attr_share(struct tm_html *h, const char *name, double n); /* 12.5 is "12.5%" */
/* The value of an attribute in pieces: a letter of our source code (or '\0') and a number each. */
#define tm_html_attr_begin(h, name) tm_html_attr_pieces(h, "" name)
void tm_html_attr_pieces(struct tm_html *h, const char *name);
void tm_html_attr_piece(struct tm_html *h, char letter, double n);
void tm_html_attr_end(struct tm_html *h);

/* Links: href of a file, by its path relative to the page's folder (or "/..."), with what a URL
 * cannot hold escaped, so that it is never a URL with a scheme; href of a place in the page. */
void tm_html_href_path(struct tm_html *h, const char *path);
void tm_html_href_id(struct tm_html *h, const char *id);
void tm_html_href_idf(struct tm_html *h, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Text. NULL is "". */
void tm_html_text(struct tm_html *h, const char *text);
void tm_html_text_n(struct tm_html *h, const char *text, size_t n);
void tm_html_textf(struct tm_html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void tm_html_int(struct tm_html *h, int64_t n); /* 1,234,567 */
/* A name that somebody else chose, in an element of its own: its direction changes nothing else. */
void tm_html_name(struct tm_html *h, const char *name);
/* At most TM_HTML_LONG bytes of a message, cut between characters. Returns whether it was cut; then
 * the caller says which file has the whole. */
bool tm_html_long(struct tm_html *h, const char *text);

/* What another writer of this kind has written to `part`, and has finished. */
void tm_html_part(struct tm_html *h, const struct tm_buf *part);

/* A file of our source tree in a <style> or <script> element with a nonce (NULL: without). */
void tm_html_style(struct tm_html *h, const char *nonce, const char *css, size_t len);
void tm_html_script(struct tm_html *h, const char *nonce, const char *js, size_t len);
/* The name in the margin of each printed page; nothing if it has other characters than letters of
 * ASCII, digits, '.', '-' and '_'. */
void tm_html_print_margin(struct tm_html *h, const char *nonce, const char *name);
/* Data for the script: complete JSON, in an element of this class, which is a literal: a page may
 * have several. Each "<" in it becomes \u003c, so nothing in it ends the element. */
#define tm_html_json(h, class_name, json, len) tm_html_json_data(h, "" class_name, json, len)
void tm_html_json_data(struct tm_html *h, const char *class_name, const char *json, size_t len);

#endif
