/* portal_assets.c - see portal_assets.h. The texts are compiled in by tm_embed_text(). */
#include "portal/portal_assets.h"

#include "page/assets.h"

extern const char tm_text_portal_css[], tm_text_portal_js[], tm_text_portal_svg[];
extern const size_t tm_text_portal_css_len, tm_text_portal_js_len, tm_text_portal_svg_len;

const struct tm_asset tm_assets[] = {
  { "portal.css", TM_ANSWER_STYLE, tm_text_portal_css, &tm_text_portal_css_len },
  { "portal.js", TM_ANSWER_SCRIPT, tm_text_portal_js, &tm_text_portal_js_len },
  { "report.css", TM_ANSWER_STYLE, tm_text_report_css, &tm_text_report_css_len },
  { "report.js", TM_ANSWER_SCRIPT, tm_text_report_js, &tm_text_report_js_len },
  { "portal.svg", TM_ANSWER_PICTURE, tm_text_portal_svg, &tm_text_portal_svg_len },
  { NULL, TM_ANSWER_STYLE, NULL, NULL },
};
