/* normal_form.h - Unicode's normal forms (UAX 15).
 *
 * Takes time linear in the length, also for text that is nothing but marks.
 */
#ifndef TM_DATA_NORMAL_FORM_H
#define TM_DATA_NORMAL_FORM_H

#include "base/mem.h"
#include "data/text/unicode.h"

enum tm_normal_form { TM_NFC, TM_NFD, TM_NFKC, TM_NFKD };

/* Characters of one text; kept between calls for their memory. */
struct tm_chars TM_ARRAY(int32_t);

/* Appends the normal form of `text` to `out`. */
void tm_normal_form(const struct tm_utf8proc *u, enum tm_normal_form form, const char *text,
                    size_t len, struct tm_chars *scratch, struct tm_buf *out);

#endif
