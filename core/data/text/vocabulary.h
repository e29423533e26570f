/* vocabulary.h - the tokens of a model, by their text and by their id.
 *
 *  (1) Each id from 0 to len - 1 has one token, and no two tokens have the same text.
 */
#ifndef TM_DATA_VOCABULARY_H
#define TM_DATA_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "data/text/token_trie.h"

enum {
  TM_VOCABULARY_MAX = 1 << 24, /* tokens */
  TM_TOKEN_MAX = 8192          /* bytes of one */
};

struct tm_vocabulary {
  struct tm_token_text *tokens; /* by id; they are NUL-ended */
  size_t len, cap;
  size_t most; /* ids of a file, which has no more tokens; TM_VOCABULARY_MAX if that is less */
  struct tm_map ids;
};

/* Adds a token. TM_EDAMAGE if the id is not below `most` or taken, or the text is too long, or
 * there with another id; the same again is a no-op. */
int tm_vocabulary_add(struct tm_vocabulary *v, const char *text, size_t len, int64_t id,
                      struct tm_err *err);
/* TM_EDAMAGE if an id below the highest has no token: keeps (1). */
int tm_vocabulary_check(const struct tm_vocabulary *v, struct tm_err *err);
void tm_vocabulary_release(struct tm_vocabulary *v);
/* -1: there is no such token. */
int32_t tm_vocabulary_id(const struct tm_vocabulary *v, const char *text, size_t len);
/* Of all tokens. */
void tm_vocabulary_trie(const struct tm_vocabulary *v, struct tm_token_trie *out);

#endif
