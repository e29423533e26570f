/* token_model.h - words to tokens: the "model" of a tokenizer.json.
 *
 * WordPiece (word_piece.c), byte-level BPE (byte_pairs.c) and Unigram (unigram.c). Each has the
 * vocabulary of the file, to which the tokenizer adds its added tokens. The tokens of short words
 * are remembered, because words come again.
 */
#ifndef TM_DATA_TOKEN_MODEL_H
#define TM_DATA_TOKEN_MODEL_H

#include <stdatomic.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "data/text/vocabulary.h"

struct tm_token_ids TM_ARRAY(int32_t);

struct tm_token_model {
  struct tm_vocabulary vocabulary;
  bool is_byte_level;  /* words are bytes (pre_tokenizer.h), else UTF-8 */
  struct tm_map known; /* words: where their tokens are in `tokens`, and their number */
  struct tm_token_ids tokens;
  /* What follows belongs to the model's own file. */
  void *own;
  void (*encode)(void *own, const char *word, size_t len, const atomic_bool *stop,
                 struct tm_token_ids *out);
  void (*release)(void *own);
};

/* After an error release it as well. */
int tm_token_model_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err);
void tm_token_model_release(struct tm_token_model *m);
/* Appends the tokens of a word, which is not empty. If *stop (tokenizer_part.h), they are of no
 * use. */
void tm_token_model_encode(struct tm_token_model *m, const char *word, size_t len,
                           const atomic_bool *stop, struct tm_token_ids *out);

#endif
