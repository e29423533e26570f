/* assets.h - report.css and report.js, which are compiled in. Each ends in a NUL, not counted. */
#ifndef TM_PAGE_ASSETS_H
#define TM_PAGE_ASSETS_H

#include <stddef.h>

extern const char tm_text_report_css[], tm_text_report_js[];
extern const size_t tm_text_report_css_len, tm_text_report_js_len;

#endif
