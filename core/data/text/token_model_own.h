/* token_model_own.h - what the models share; only their files include it. */
#ifndef TM_DATA_TOKEN_MODEL_OWN_H
#define TM_DATA_TOKEN_MODEL_OWN_H

#include "data/text/token_model.h"
#include "data/text/tokenizer_part.h"

enum { TM_WORD_SCRATCH_MAX = 1 << 18 }; /* elements that a model keeps after a long word */

/* Each sets `own`, `encode` and `release`, also if it fails. WordPiece and BPE find the vocabulary
 * read; Unigram reads its own. */
int tm_word_piece_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err);
int tm_byte_pairs_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err);
int tm_unigram_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err);

/* The id of the token that the part's setting `key` names, or -1 if it names none. TM_EDAMAGE: it
 * is not in the vocabulary. */
int tm_token_model_named(const struct tm_token_model *m, const struct tm_json *part,
                         const char *key, int32_t *id, struct tm_err *err);
int tm_token_model_check(const struct tm_json *part, const struct tm_part_setting *settings,
                         size_t n, struct tm_err *err);
int tm_token_model_refuse(const struct tm_json *part, const char *words, struct tm_err *err);

#endif
