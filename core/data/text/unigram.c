/* unigram.c - Unigram: of all ways to cut a word into tokens, the one with the largest sum of
 * scores.
 *
 * A character that is not a token itself may also be unknown, which costs 10 more than the worst
 * token. Unknown characters side by side are one unknown token.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/token_model_own.h"
#include "data/text/unicode.h"

#define UNKNOWN_COST 10.0

/* The best way to cut what comes before a place. */
struct best {
  double score;
  size_t from; /* where its last token begins */
  int32_t id;  /* that token; -1: no token ends here */
};

struct unigram {
  struct tm_token_trie trie;
  struct TM_ARRAY(double) scores;
  double unknown_score;
  int32_t unknown;
  struct TM_ARRAY(struct best) best; /* scratch: one for each place in a word */
};

static void offer(struct unigram *g, size_t from, size_t to, double score, int32_t id)
{
  struct best *at = &g->best.at[to];

  score += g->best.at[from].score;
  if (at->id < 0 || score > at->score)
    *at = (struct best) { score, from, id };
}

static void find_best(struct unigram *g, const char *word, size_t len, const atomic_bool *stop)
{
  for (size_t from = 0, char_len; from < len && !tm_part_is_stopped(stop); from += char_len) {
    bool has_char = false;
    uint32_t node = 0;
    tm_char_at(word + from, &char_len);
    for (size_t i = from; i < len; i++) {
      node = tm_token_trie_step(&g->trie, node, (unsigned char)word[i]);
      if (node == 0)
        break;
      int32_t id = tm_token_trie_id(&g->trie, node);
      if (id < 0)
        continue;
      offer(g, from, i + 1, g->scores.at[id], id);
      has_char |= i + 1 - from == char_len;
    }
    if (!has_char)
      offer(g, from, from + char_len, g->unknown_score, g->unknown);
  }
}

static void encode(void *own, const char *word, size_t len, const atomic_bool *stop,
                   struct tm_token_ids *out)
{
  struct unigram *g = own;
  size_t first = out->len;

  tm_array_reserve((void **)&g->best.at, len + 1, &g->best.cap, sizeof *g->best.at);
  for (size_t i = 0; i <= len; i++)
    g->best.at[i] = (struct best) { .score = 0, .id = -1 };
  find_best(g, word, len, stop);
  for (size_t at = len; at > 0; at = g->best.at[at].from) {
    int32_t id = g->best.at[at].id;
    if (id != g->unknown || out->len == first || out->at[out->len - 1] != id)
      *TM_ARRAY_ADD(out) = id;
  }
  for (size_t a = first, b = out->len; a + 1 < b; a++) {
    int32_t id = out->at[a];
    out->at[a] = out->at[--b];
    out->at[b] = id;
  }
  if (g->best.cap > TM_WORD_SCRATCH_MAX)
    TM_ARRAY_RELEASE(&g->best);
}

static void release(void *own)
{
  struct unigram *g = own;

  tm_token_trie_release(&g->trie);
  TM_ARRAY_RELEASE(&g->scores);
  TM_ARRAY_RELEASE(&g->best);
  free(g);
}

/* [[token, score], ...] */
static int read_vocabulary(struct tm_token_model *m, struct unigram *g, const struct tm_json *part,
                           struct tm_err *err)
{
  const struct tm_json *tokens = tm_json_get(part, "vocab");

  if (tokens->list.len == 0)
    return tm_token_model_refuse(part, "its vocab is empty", err);
  for (size_t i = 0; i < tokens->list.len; i++) {
    const struct tm_json *pair = tokens->list.at[i];
    const struct tm_json *token = tm_json_items(pair) == 2 ? pair->list.at[0] : NULL;
    const struct tm_json *score = token ? pair->list.at[1] : NULL;
    if (!token || token->type != TM_JSON_STRING ||
        (score->type != TM_JSON_NUMBER && score->type != TM_JSON_INT))
      return tm_err_set(err, TM_EDAMAGE,
                        "model 'Unigram': entry %zu of its vocab is not a token "
                        "and a score",
                        i);
    int rc =
        tm_vocabulary_add(&m->vocabulary, token->string.at, token->string.len, (int64_t)i, err);
    if (rc < 0)
      return rc;
    double number = score->type == TM_JSON_INT ? (double)score->integer : score->number;
    if (number > 0)
      return tm_err_set(err, TM_EDAMAGE,
                        "model 'Unigram': the score in entry %zu of its vocab is above 0, the "
                        "logarithm of 1",
                        i);
    *TM_ARRAY_ADD(&g->scores) = number;
  }
  return 0;
}

int tm_unigram_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "unk_id", TM_PART_INTEGER },
    { "vocab", TM_PART_LIST },
    { "byte_fallback", TM_PART_FLAG | TM_PART_ABSENT },
  };
  struct unigram *g = TM_NEW(struct unigram);
  int64_t unknown = tm_json_int(part, "unk_id", -1);

  m->own = g;
  m->encode = encode;
  m->release = release;
  int rc = tm_token_model_check(part, settings, TM_COUNT_OF(settings), err);
  if (rc == 0)
    rc = read_vocabulary(m, g, part, err);
  if (rc < 0)
    return rc;
  if (unknown < 0 || unknown >= (int64_t)m->vocabulary.len)
    return tm_token_model_refuse(part, "its unk_id is not in the vocabulary", err);
  if (tm_part_is_on(part, "byte_fallback"))
    return tm_token_model_refuse(part, "byte_fallback is not supported", err);
  g->unknown = (int32_t)unknown;
  double worst = g->scores.at[0];
  for (size_t i = 1; i < g->scores.len; i++)
    worst = fmin(worst, g->scores.at[i]);
  g->unknown_score = worst - UNKNOWN_COST;
  tm_vocabulary_trie(&m->vocabulary, &g->trie);
  return 0;
}
