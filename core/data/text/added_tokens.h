/* added_tokens.h - tokens that are found in a text before it is cut into words: "[MASK]", "</s>".
 * The "added_tokens" of a tokenizer.json.
 *
 * Those with "normalized": false are found in the text as it is. What is left is normalized, and
 * the others are found there, in their own normal form.
 */
#ifndef TM_DATA_ADDED_TOKENS_H
#define TM_DATA_ADDED_TOKENS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/text/normalizer.h"
#include "data/text/token_trie.h"
#include "data/text/vocabulary.h"

struct tm_added_token {
  int32_t id;
  bool takes_left, takes_right; /* it takes the blanks there, too */
  bool is_word;                 /* it is found only between characters that are not of words */
};

struct tm_added_tokens {
  struct TM_ARRAY(struct tm_added_token) tokens;
  struct tm_token_trie tries[2]; /* [1]: those that are found in normalized text */
  bool begins[2][256];           /* a token of that trie begins with this byte */
};

/* Adds each token to the vocabulary. After an error release it as well. */
int tm_added_tokens_parse(struct tm_added_tokens *a, const struct tm_json *list,
                          struct tm_normalizer *n, const struct tm_utf8proc *u,
                          struct tm_vocabulary *v, struct tm_err *err);
void tm_added_tokens_release(struct tm_added_tokens *a);

/* Steps through a text. Zero-initialise, and set `text` and `len`. */
struct tm_added_scan {
  const char *text;
  size_t len;
  bool is_normalized;      /* which tokens are looked for */
  const atomic_bool *stop; /* tokenizer_part.h */
  size_t at, done;         /* how far the search is, and how far what was found reaches */
  /* What tm_added_next() found: text without tokens, perhaps empty, and the token after it; -1:
   * the text ends there. */
  const char *before;
  size_t before_len;
  int32_t id;
};

/* False: there was nothing left. */
bool tm_added_next(const struct tm_added_tokens *a, const struct tm_utf8proc *u,
                   struct tm_added_scan *s);

#endif
