/* vocabulary.c - see vocabulary.h. */
#include "data/text/vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

static int refuse_token(struct tm_err *err, const char *text, size_t len, const char *words,
                        int64_t id)
{
  struct tm_buf shown = TM_BUF_NONE;

  tm_text_one_line(&shown, text, len, 60);
  tm_err_set(err, TM_EDAMAGE, "the token '%s' %s %lld", tm_buf_str(&shown), words, (long long)id);
  tm_buf_release(&shown);
  return TM_EDAMAGE;
}

static int refuse_id(struct tm_err *err, const char *text, size_t len, size_t most, int64_t id)
{
  char words[100];

  snprintf(words, sizeof words,
           "has an id that is not in 0 to %zu, those of the %zu tokens:", most > 0 ? most - 1 : 0,
           most);
  return refuse_token(err, text, len, words, id);
}

int tm_vocabulary_add(struct tm_vocabulary *v, const char *text, size_t len, int64_t id,
                      struct tm_err *err)
{
  if (id < 0 || (uint64_t)id >= v->most)
    return refuse_id(err, text, len, v->most, id);
  if (len > TM_TOKEN_MAX)
    return refuse_token(err, text, len, "has more than 8192 bytes; it has the id", id);
  bool is_new;
  uint64_t *known = tm_map_add(&v->ids, text, len, &is_new);
  if (!is_new && (int64_t)*known == id)
    return 0;
  if (!is_new)
    return refuse_token(err, text, len, "has two ids, one of which is", id);
  *known = (uint64_t)id;
  size_t i = (size_t)id;
  if (i >= v->len) {
    tm_array_reserve((void **)&v->tokens, i + 1, &v->cap, sizeof *v->tokens);
    memset(v->tokens + v->len, 0, (i + 1 - v->len) * sizeof *v->tokens);
    v->len = i + 1;
  }
  if (v->tokens[i].at)
    return refuse_token(err, text, len, "has the id of another token:", id);
  v->tokens[i] = (struct tm_token_text) { tm_xstrndup(text, len), len, (int32_t)id };
  return 0;
}

int tm_vocabulary_check(const struct tm_vocabulary *v, struct tm_err *err)
{
  for (size_t id = 0; id < v->len; id++) {
    if (!v->tokens[id].at)
      return tm_err_set(err, TM_EDAMAGE, "the vocabulary has holes: no token has the id %zu of %zu",
                        id, v->len);
  }
  return 0;
}

void tm_vocabulary_release(struct tm_vocabulary *v)
{
  for (size_t id = 0; id < v->len; id++)
    free((char *)v->tokens[id].at);
  free(v->tokens);
  tm_map_release(&v->ids);
  *v = (struct tm_vocabulary) { 0 };
}

int32_t tm_vocabulary_id(const struct tm_vocabulary *v, const char *text, size_t len)
{
  const uint64_t *id = tm_map_find(&v->ids, text, len);

  return id ? (int32_t)*id : -1;
}

void tm_vocabulary_trie(const struct tm_vocabulary *v, struct tm_token_trie *out)
{
  struct tm_token_text *texts = tm_xcalloc(v->len ? v->len : 1, sizeof *texts);

  if (v->len > 0)
    memcpy(texts, v->tokens, v->len * sizeof *texts);
  tm_token_trie_build(out, texts, v->len);
  free(texts);
}
