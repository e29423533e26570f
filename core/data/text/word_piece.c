/* word_piece.c - WordPiece: the longest token at the front of a word, then the longest of those
 * that continue one ("##ing"), and so on. A word that is not covered so is one unknown token.
 */
#include <stdlib.h>
#include <string.h>

#include "data/text/token_model_own.h"
#include "data/text/unicode.h"

struct word_piece {
  struct tm_token_trie trie;
  uint32_t continued; /* the node of the prefix of tokens that continue a word; 0 if none does */
  bool has_prefix;
  int32_t unknown;
  size_t chars_max; /* a longer word is unknown */
};

static bool is_too_long(const struct word_piece *p, const char *word, size_t len)
{
  size_t chars = 0;

  if (len <= p->chars_max)
    return false;
  for (size_t i = 0; i < len; i++)
    chars += ((unsigned char)word[i] & 0xC0) != 0x80;
  return chars > p->chars_max;
}

static void encode(void *own, const char *word, size_t len, const atomic_bool *stop,
                   struct tm_token_ids *out)
{
  const struct word_piece *p = own;
  size_t before = out->len;
  bool is_known = !is_too_long(p, word, len);

  for (size_t at = 0, n; is_known && at < len && !tm_part_is_stopped(stop); at += n) {
    int32_t id = 0;
    bool is_dead = at > 0 && p->has_prefix && p->continued == 0;
    n = is_dead
            ? 0
            : tm_token_trie_longest(&p->trie, at > 0 ? p->continued : 0, word + at, len - at, &id);
    is_known = n > 0;
    if (is_known)
      *TM_ARRAY_ADD(out) = id;
  }
  if (!is_known) {
    out->len = before;
    *TM_ARRAY_ADD(out) = p->unknown;
  }
}

static void release(void *own)
{
  struct word_piece *p = own;

  tm_token_trie_release(&p->trie);
  free(p);
}

static void find_prefix(struct word_piece *p, const struct tm_json *prefix)
{
  p->has_prefix = prefix->string.len > 0;
  for (size_t i = 0; i < prefix->string.len; i++) {
    p->continued = tm_token_trie_step(&p->trie, p->continued, (unsigned char)prefix->string.at[i]);
    if (p->continued == 0)
      return;
  }
}

int tm_word_piece_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "unk_token", TM_PART_TEXT },
    { "continuing_subword_prefix", TM_PART_TEXT },
    { "max_input_chars_per_word", TM_PART_INTEGER },
    { "vocab", TM_PART_OBJECT },
  };
  const struct tm_json *prefix = tm_json_get(part, "continuing_subword_prefix");
  int64_t chars_max = tm_json_int(part, "max_input_chars_per_word", 0);
  struct word_piece *p = TM_NEW(struct word_piece);

  m->own = p;
  m->encode = encode;
  m->release = release;
  int rc = tm_token_model_check(part, settings, TM_COUNT_OF(settings), err);
  if (rc == 0)
    rc = tm_token_model_named(m, part, "unk_token", &p->unknown, err);
  if (rc < 0)
    return rc;
  if (p->unknown < 0)
    return tm_token_model_refuse(part, "it needs an unk_token", err);
  if (chars_max < 0)
    return tm_token_model_refuse(part, "its max_input_chars_per_word is negative", err);
  p->chars_max = (size_t)chars_max;
  tm_vocabulary_trie(&m->vocabulary, &p->trie);
  find_prefix(p, prefix);
  return 0;
}
