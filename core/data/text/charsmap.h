/* charsmap.h - the rules of sentencepiece that replace characters: the normalizer "Precompiled".
 *
 * A base64 text holds the length of a double array (Darts-clone), the array, and the replacements,
 * each ended by a NUL. The array maps the bytes of a character, or of several, to a replacement.
 * What is read is never trusted: an index that leads nowhere finds nothing.
 */
#ifndef TM_DATA_CHARSMAP_H
#define TM_DATA_CHARSMAP_H

#include "data/text/unicode.h"

struct tm_charsmap;

/* NULL with a message if it is not such a map. */
struct tm_charsmap *tm_charsmap_parse(const char *base64, size_t len, struct tm_err *err);
void tm_charsmap_free(struct tm_charsmap *m); /* NULL: a no-op */
/* Appends the text to `out` with each character replaced that has a rule. Several characters that
 * form one for a reader (a grapheme cluster) of at most 5 bytes are replaced together if their
 * front has a rule. Stops when `out` is longer than `max`. */
void tm_charsmap_apply(const struct tm_charsmap *m, const struct tm_utf8proc *u, const char *text,
                       size_t len, size_t max, struct tm_buf *out);

#endif
