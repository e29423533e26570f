/* token_model.c - see token_model.h. */
#include "data/text/token_model.h"

#include <string.h>

#include "data/text/token_model_own.h"
#include "data/text/tokenizer_part.h"

enum {
  KNOWN_LEN = 64,   /* the longest word that is remembered, in bytes */
  KNOWN_MAX = 20000 /* words; then all are forgotten */
};

static const char what[] = "model";

int tm_token_model_check(const struct tm_json *part, const struct tm_part_setting *settings,
                         size_t n, struct tm_err *err)
{
  return tm_part_check(what, part, settings, n, err);
}

int tm_token_model_refuse(const struct tm_json *part, const char *words, struct tm_err *err)
{
  return tm_part_refuse(what, part, words, err);
}

int tm_token_model_named(const struct tm_token_model *m, const struct tm_json *part,
                         const char *key, int32_t *id, struct tm_err *err)
{
  const struct tm_json *token = tm_json_get(part, key);

  *id = -1;
  if (tm_part_is_blank(part, key)) /* files of GPT-2 have "" */
    return 0;
  if (token->type == TM_JSON_STRING)
    *id = tm_vocabulary_id(&m->vocabulary, token->string.at, token->string.len);
  if (*id >= 0)
    return 0;
  return tm_err_set(err, TM_EDAMAGE, "model '%s': its %s is not in the vocabulary",
                    tm_part_type(part), key);
}

/* { token: id } */
static int read_vocabulary(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err)
{
  const struct tm_json *tokens = tm_json_get(part, "vocab");

  if (!tokens || tokens->type != TM_JSON_OBJECT || tokens->list.len == 0)
    return tm_token_model_refuse(part, "its vocab must be an object of tokens and their ids", err);
  for (size_t i = 0; i < tokens->list.len; i++) {
    const char *token = tokens->keys[i];
    const struct tm_json *id = tokens->list.at[i];
    if (id->type != TM_JSON_INT)
      return tm_err_set(err, TM_EDAMAGE,
                        "model '%s': entry %zu of its vocab has an id that is not an integer",
                        tm_part_type(part), i);
    int rc = tm_vocabulary_add(&m->vocabulary, token, strlen(token), id->integer, err);
    if (rc < 0)
      return rc;
  }
  return 0;
}

int tm_token_model_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err)
{
  const char *type = tm_part_type(part);
  bool is_pieces = strcmp(type, "WordPiece") == 0;

  if (strcmp(type, "Unigram") == 0)
    return tm_unigram_parse(m, part, err);
  if (!is_pieces && strcmp(type, "BPE") != 0)
    return tm_part_refuse_type(what, part, "BPE (of bytes), Unigram, WordPiece", err);
  int rc = read_vocabulary(m, part, err);
  if (rc < 0)
    return rc;
  return is_pieces ? tm_word_piece_parse(m, part, err) : tm_byte_pairs_parse(m, part, err);
}

static void add_ids(struct tm_token_ids *out, const int32_t *ids, size_t n)
{
  tm_array_reserve((void **)&out->at, out->len + n, &out->cap, sizeof *out->at);
  memcpy(out->at + out->len, ids, n * sizeof *ids);
  out->len += n;
}

/* A word has at most as many tokens as bytes, so the number takes 8 bits. What is remembered must
 * be complete, so a short word is never stopped. */
void tm_token_model_encode(struct tm_token_model *m, const char *word, size_t len,
                           const atomic_bool *stop, struct tm_token_ids *out)
{
  if (len > KNOWN_LEN) {
    m->encode(m->own, word, len, stop, out);
    return;
  }
  const uint64_t *found = tm_map_find(&m->known, word, len);
  if (found) {
    add_ids(out, m->tokens.at + (*found >> 8), *found & 0xFF);
    return;
  }
  if (m->known.len >= KNOWN_MAX) {
    tm_map_release(&m->known);
    m->tokens.len = 0;
  }
  size_t first = out->len;
  m->encode(m->own, word, len, NULL, out);
  *tm_map_add(&m->known, word, len, NULL) = (uint64_t)m->tokens.len << 8 | (out->len - first);
  add_ids(&m->tokens, out->at + first, out->len - first);
}

void tm_token_model_release(struct tm_token_model *m)
{
  if (m->release)
    m->release(m->own);
  tm_vocabulary_release(&m->vocabulary);
  tm_map_release(&m->known);
  TM_ARRAY_RELEASE(&m->tokens);
  *m = (struct tm_token_model) { 0 };
}
