/* added_tokens.c - see added_tokens.h. */
#include "data/text/added_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/tokenizer_part.h"

/* What the token looks like in a text; TM_ELIMIT as tm_normalize(). */
static int shape_of(const struct tm_json *part, struct tm_normalizer *n,
                    const struct tm_utf8proc *u, bool is_normalized, struct tm_token_text *out,
                    struct tm_err *err)
{
  const struct tm_json *content = tm_json_get(part, "content");

  out->at = content->string.at;
  out->len = content->string.len;
  if (!is_normalized)
    return 0;
  return tm_normalize(n, u, content->string.at, content->string.len, TM_NORMALIZED_TOKEN_MAX, NULL,
                      &out->at, &out->len, err);
}

/* The tokens of a file, while they are read. */
struct reading {
  struct tm_added_tokens *to;
  struct tm_normalizer *n;
  const struct tm_utf8proc *u;
  struct tm_vocabulary *v;
  struct texts {
    struct tm_token_text *at;
    size_t len, cap;
  } texts[2]; /* for the tries, in memory of their own */
};

static int check(const struct tm_json *part, size_t i, struct tm_err *err)
{
  enum { FLAG = TM_PART_FLAG | TM_PART_ABSENT };
  static const struct tm_part_setting settings[] = {
    { "id", TM_PART_INTEGER }, { "content", TM_PART_TEXT }, { "single_word", FLAG },
    { "lstrip", FLAG },        { "rstrip", FLAG },          { "normalized", FLAG },
    { "special", FLAG },
  };
  char what[60];

  snprintf(what, sizeof what, "entry %zu of added_tokens", i);
  return tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);
}

static int take(struct reading *r, const struct tm_json *part, size_t i, struct tm_err *err)
{
  struct tm_added_tokens *a = r->to;
  const struct tm_json *content = tm_json_get(part, "content");
  int64_t id = tm_json_int(part, "id", -1);
  bool is_normalized = tm_json_bool(part, "normalized", !tm_part_is_on(part, "special"));
  struct tm_token_text shape;
  int rc = tm_vocabulary_add(r->v, content->string.at, content->string.len, id, err);

  if (rc == 0)
    rc = shape_of(part, r->n, r->u, is_normalized, &shape, err);
  if (rc < 0)
    return tm_err_wrap(err, "entry %zu of added_tokens", i);
  shape.at = tm_xstrndup(shape.at, shape.len);
  shape.id = (int32_t)a->tokens.len;
  *TM_ARRAY_ADD(&r->texts[is_normalized]) = shape;
  *TM_ARRAY_ADD(&a->tokens) = (struct tm_added_token) {
    .id = (int32_t)id,
    .takes_left = tm_part_is_on(part, "lstrip"),
    .takes_right = tm_part_is_on(part, "rstrip"),
    .is_word = tm_part_is_on(part, "single_word"),
  };
  return 0;
}

static void build(struct tm_added_tokens *a, int which, struct texts *texts)
{
  tm_token_trie_build(&a->tries[which], texts->at, texts->len);
  for (size_t i = 0; i < texts->len; i++) {
    if (texts->at[i].len > 0)
      a->begins[which][(unsigned char)texts->at[i].at[0]] = true;
    free((char *)texts->at[i].at);
  }
  TM_ARRAY_RELEASE(texts);
}

int tm_added_tokens_parse(struct tm_added_tokens *a, const struct tm_json *list,
                          struct tm_normalizer *n, const struct tm_utf8proc *u,
                          struct tm_vocabulary *v, struct tm_err *err)
{
  struct reading r = { .to = a, .n = n, .u = u, .v = v };
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < tm_json_items(list); i++)
    rc = check(list->list.at[i], i, err);
  /* Of those that look the same in a text, the first one is found, special ones before others. */
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; rc == 0 && i < tm_json_items(list); i++) {
      if (tm_part_is_on(list->list.at[i], "special") == (pass == 0))
        rc = take(&r, list->list.at[i], i, err);
    }
  }
  build(a, 0, &r.texts[0]);
  build(a, 1, &r.texts[1]);
  return rc;
}

void tm_added_tokens_release(struct tm_added_tokens *a)
{
  TM_ARRAY_RELEASE(&a->tokens);
  tm_token_trie_release(&a->tries[0]);
  tm_token_trie_release(&a->tries[1]);
}

static bool is_word_before(const struct tm_utf8proc *u, const char *text, size_t at)
{
  size_t n;

  return at > 0 && tm_char_is_word(u, tm_char_at(tm_char_before(text, text + at), &n));
}

static bool is_word_after(const struct tm_utf8proc *u, const char *text, size_t len, size_t at)
{
  size_t n;

  return at < len && tm_char_is_word(u, tm_char_at(text + at, &n));
}

/* Whether the token, which is the next n bytes, may stand there. */
static bool may_stand(const struct tm_added_token *token, const struct tm_utf8proc *u,
                      const struct tm_added_scan *s, size_t n)
{
  return !token->is_word ||
         (!is_word_before(u, s->text, s->at) && !is_word_after(u, s->text, s->len, s->at + n));
}

/* Finds the next token from s->at on: where it is, blanks left out. NULL: there is none, and *start
 * and *stop are as they were. */
static const struct tm_added_token *find(const struct tm_added_tokens *a,
                                         const struct tm_utf8proc *u, struct tm_added_scan *s,
                                         size_t *start, size_t *stop)
{
  const struct tm_token_trie *trie = &a->tries[s->is_normalized];

  for (size_t n; s->at < s->len; s->at += n) {
    int32_t i = 0;
    n = 1;
    if (!a->begins[s->is_normalized][(unsigned char)s->text[s->at]])
      continue;
    if (tm_part_is_stopped(s->stop))
      return NULL;
    size_t found = tm_token_trie_longest(trie, 0, s->text + s->at, s->len - s->at, &i);
    n = found > 0 ? found : 1;
    if (found > 0 && may_stand(&a->tokens.at[i], u, s, n)) {
      *start = s->at;
      *stop = s->at += n;
      return &a->tokens.at[i];
    }
  }
  return NULL;
}

bool tm_added_next(const struct tm_added_tokens *a, const struct tm_utf8proc *u,
                   struct tm_added_scan *s)
{
  size_t start = s->len, stop = s->len, n;
  const struct tm_added_token *token = find(a, u, s, &start, &stop);

  if (!token && s->done >= s->len)
    return false;
  while (token && token->takes_left && start > s->done) {
    const char *before = tm_char_before(s->text, s->text + start);
    if (!tm_char_is_space(tm_char_at(before, &n)))
      break;
    start = (size_t)(before - s->text);
  }
  while (token && token->takes_right && stop < s->len &&
         tm_char_is_space(tm_char_at(s->text + stop, &n)))
    stop += n;
  s->id = token ? token->id : -1;
  s->before = s->text + s->done;
  s->before_len = start > s->done ? start - s->done : 0;
  s->done = stop > s->done ? stop : s->done;
  return true;
}
