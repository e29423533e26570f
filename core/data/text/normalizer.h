/* normalizer.h - what is done to a text before it is cut into words: the "normalizer" of a
 * tokenizer.json.
 *
 * BERT's is several steps here; the names of all are in normalizer.c.
 */
#ifndef TM_DATA_NORMALIZER_H
#define TM_DATA_NORMALIZER_H

#include <stdatomic.h>

#include "base/json.h"
#include "data/text/charsmap.h"
#include "data/text/normal_form.h"

/* Bytes of a text between two steps, and of an added token, of which a file may have many. */
enum { TM_NORMALIZED_MAX = 1 << 24, TM_NORMALIZED_TOKEN_MAX = 1 << 14 };

struct tm_normalizer {
  struct tm_normal_step *steps;
  size_t len, cap;
  struct tm_chars chars;  /* scratch */
  struct tm_buf texts[2]; /* scratch */
};

/* `part` may be NULL or null: nothing is done. After an error release it as well. */
int tm_normalizer_parse(struct tm_normalizer *n, const struct tm_json *part, struct tm_err *err);
void tm_normalizer_release(struct tm_normalizer *n);
/* Frees its scratch memory. */
void tm_normalizer_trim(struct tm_normalizer *n);
/* The text after all steps: *out and *out_len, valid until the next call; perhaps `text` itself.
 * TM_ELIMIT: it became longer than `max`. If *stop (tokenizer_part.h), the text is of no use. */
int tm_normalize(struct tm_normalizer *n, const struct tm_utf8proc *u, const char *text, size_t len,
                 size_t max, const atomic_bool *stop, const char **out, size_t *out_len,
                 struct tm_err *err);

#endif
