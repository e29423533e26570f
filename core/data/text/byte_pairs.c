/* byte_pairs.c - byte-level BPE: a word is its bytes, each a token; of all neighbours that the list
 * of merges has, those that come first in it become one token, the left-most first, until there are
 * none.
 *
 * In the file, each byte is written as a printable character: those that are printable in Latin-1
 * as themselves, the others as U+0100 and what follows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/heap.h"
#include "data/text/token_model_own.h"
#include "data/text/unicode.h"

/* A merge, in a table with open addressing; `left` -1: a free slot. */
struct merge {
  int32_t left, right, rank, id;
};

/* A token of a word, in a list; a token that was merged into the one before it has the id -1. */
struct symbol {
  int32_t id, before, after; /* indexes, or -1 */
};

/* Two neighbours that may be merged. It is out of date if the symbols have changed since. */
struct pair {
  int32_t rank, at; /* the left symbol */
  int32_t left, right, id;
};

struct byte_pairs {
  int32_t of_byte[256]; /* its token; unknown */
  struct merge *merges;
  size_t mask; /* slots - 1, a power of two less 1 */
  struct TM_ARRAY(struct symbol) symbols;
  struct tm_heap heap;
};

static size_t slot_of(const struct byte_pairs *b, int32_t left, int32_t right)
{
  uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;

  key *= UINT64_C(0x9E3779B97F4A7C15);
  size_t i = (size_t)(key >> 32) & b->mask;
  while (b->merges[i].left >= 0 && (b->merges[i].left != left || b->merges[i].right != right))
    i = (i + 1) & b->mask;
  return i;
}

static bool pair_is_before(const void *left, const void *right)
{
  const struct pair *a = left, *b = right;

  return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

/* Adds the symbol and the one after it to the heap, if there is a merge for them. */
static void offer(struct byte_pairs *b, int32_t at)
{
  int32_t after = at < 0 ? -1 : b->symbols.at[at].after;

  if (after < 0)
    return;
  int32_t left = b->symbols.at[at].id, right = b->symbols.at[after].id;
  const struct merge *m = &b->merges[slot_of(b, left, right)];
  if (m->left < 0)
    return;
  struct pair pair = { m->rank, at, left, right, m->id };
  tm_heap_add(&b->heap, &pair);
}

static void merge(struct byte_pairs *b, const struct pair *pair)
{
  struct symbol *left = &b->symbols.at[pair->at];

  if (left->id != pair->left || left->after < 0 || b->symbols.at[left->after].id != pair->right)
    return; /* out of date */
  struct symbol *right = &b->symbols.at[left->after];
  left->id = pair->id;
  left->after = right->after;
  right->id = -1;
  if (left->after >= 0)
    b->symbols.at[left->after].before = pair->at;
  offer(b, left->before);
  offer(b, pair->at);
}

static void encode(void *own, const char *word, size_t len, const atomic_bool *stop,
                   struct tm_token_ids *out)
{
  struct byte_pairs *b = own;
  struct pair pair;

  b->symbols.len = 0;
  b->heap.len = 0;
  for (size_t i = 0; i < len; i++) {
    *TM_ARRAY_ADD(&b->symbols) =
        (struct symbol) { b->of_byte[(unsigned char)word[i]], (int32_t)i - 1,
                          i + 1 < len ? (int32_t)i + 1 : -1 };
  }
  for (int32_t i = 0; i + 1 < (int32_t)len; i++)
    offer(b, i);
  while (b->heap.len > 0 && !tm_part_is_stopped(stop)) {
    tm_heap_remove(&b->heap, 0, &pair);
    merge(b, &pair);
  }
  for (int32_t i = 0; i >= 0; i = b->symbols.at[i].after)
    *TM_ARRAY_ADD(out) = b->symbols.at[i].id;
  if (b->symbols.cap > TM_WORD_SCRATCH_MAX) {
    TM_ARRAY_RELEASE(&b->symbols);
    tm_heap_release(&b->heap);
  }
}

static void release(void *own)
{
  struct byte_pairs *b = own;

  free(b->merges);
  TM_ARRAY_RELEASE(&b->symbols);
  tm_heap_release(&b->heap);
  free(b);
}

/* The two tokens of a merge: "a b", or ["a", "b"]. */
static bool read_pair(const struct tm_json *merge, struct tm_token_text pair[2])
{
  if (merge->type == TM_JSON_STRING) {
    const char *blank = memchr(merge->string.at, ' ', merge->string.len);
    if (!blank)
      return false;
    size_t first = (size_t)(blank - merge->string.at);
    pair[0] = (struct tm_token_text) { merge->string.at, first, 0 };
    pair[1] = (struct tm_token_text) { blank + 1, merge->string.len - first - 1, 0 };
    return true;
  }
  for (size_t i = 0; i < 2; i++) {
    const struct tm_json *token = tm_json_items(merge) == 2 ? merge->list.at[i] : NULL;
    if (!token || token->type != TM_JSON_STRING)
      return false;
    pair[i] = (struct tm_token_text) { token->string.at, token->string.len, 0 };
  }
  return true;
}

static int add_merge(struct tm_token_model *m, const struct tm_json *merge, size_t rank,
                     struct tm_err *err)
{
  struct byte_pairs *b = m->own;
  struct tm_token_text pair[2];
  struct tm_buf whole = TM_BUF_NONE;

  if (!read_pair(merge, pair))
    return tm_err_set(err, TM_EDAMAGE, "model 'BPE': entry %zu of its merges is not two tokens",
                      rank);
  for (int i = 0; i < 2; i++) {
    pair[i].id = tm_vocabulary_id(&m->vocabulary, pair[i].at, pair[i].len);
    tm_buf_add(&whole, pair[i].at, pair[i].len);
  }
  int32_t id = tm_vocabulary_id(&m->vocabulary, tm_buf_str(&whole), whole.len);
  tm_buf_release(&whole);
  if (id < 0 || pair[0].id < 0 || pair[1].id < 0)
    return tm_err_set(err, TM_EDAMAGE,
                      "model 'BPE': a token of entry %zu of its merges is not in the vocabulary",
                      rank);
  struct merge *to = &b->merges[slot_of(b, pair[0].id, pair[1].id)];
  *to = (struct merge) { pair[0].id, pair[1].id, (int32_t)rank, id };
  return 0;
}

static int read_merges(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err)
{
  struct byte_pairs *b = m->own;
  const struct tm_json *merges = tm_json_get(part, "merges");

  if (merges->list.len >= TM_VOCABULARY_MAX)
    return tm_token_model_refuse(part, "it has more than 16777215 merges", err);
  size_t slots = 16;
  while (slots < merges->list.len * 2)
    slots *= 2;
  b->mask = slots - 1;
  b->merges = tm_xmalloc(slots * sizeof *b->merges);
  for (size_t i = 0; i < slots; i++)
    b->merges[i].left = -1;
  int rc = 0;
  for (size_t i = 0; rc == 0 && i < merges->list.len; i++)
    rc = add_merge(m, merges->list.at[i], i, err);
  return rc;
}

static int read_bytes(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err)
{
  struct byte_pairs *b = m->own;
  struct tm_buf shown = TM_BUF_NONE;
  int32_t unknown, other = 0x100;
  int rc = tm_token_model_named(m, part, "unk_token", &unknown, err);

  for (int32_t byte = 0; rc == 0 && byte < 256; byte++) {
    bool is_printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    tm_buf_clear(&shown);
    tm_char_add(&shown, is_printable ? byte : other++);
    int32_t id = tm_vocabulary_id(&m->vocabulary, shown.data, shown.len);
    b->of_byte[byte] = id < 0 ? unknown : id;
    if (b->of_byte[byte] < 0)
      rc = tm_err_set(err, TM_EDAMAGE,
                      "model 'BPE': its vocabulary lacks '%s', which stands for the byte %d, and "
                      "there is no unk_token",
                      shown.data, (int)byte);
  }
  tm_buf_release(&shown);
  return rc;
}

static int check_settings(const struct tm_json *part, struct tm_err *err)
{
  enum {
    TEXT = TM_PART_TEXT | TM_PART_NULL | TM_PART_ABSENT,
    FLAG = TM_PART_FLAG | TM_PART_ABSENT
  };
  static const struct tm_part_setting settings[] = {
    { "dropout", TM_PART_NUMBER | TM_PART_NULL | TM_PART_ABSENT },
    { "unk_token", TEXT },
    { "continuing_subword_prefix", TEXT },
    { "end_of_word_suffix", TEXT },
    { "fuse_unk", FLAG },
    { "byte_fallback", FLAG },
    { "ignore_merges", FLAG },
    { "vocab", TM_PART_OBJECT },
    { "merges", TM_PART_LIST },
  };
  int rc = tm_token_model_check(part, settings, TM_COUNT_OF(settings), err);

  if (rc < 0)
    return rc;
  if (tm_json_num(part, "dropout", 0) != 0)
    return tm_token_model_refuse(part, "dropout is not supported: tokens would be random", err);
  if (!tm_part_is_blank(part, "continuing_subword_prefix"))
    return tm_token_model_refuse(part, "continuing_subword_prefix is not supported", err);
  if (!tm_part_is_blank(part, "end_of_word_suffix"))
    return tm_token_model_refuse(part, "end_of_word_suffix is not supported", err);
  static const char *const off[] = { "fuse_unk", "byte_fallback", "ignore_merges" };
  for (size_t i = 0; i < TM_COUNT_OF(off); i++) {
    if (tm_part_is_on(part, off[i]))
      return tm_err_set(err, TM_EINPUT, "model 'BPE': %s is not supported", off[i]);
  }
  return 0;
}

int tm_byte_pairs_parse(struct tm_token_model *m, const struct tm_json *part, struct tm_err *err)
{
  struct byte_pairs *b = TM_NEW(struct byte_pairs);

  m->own = b;
  m->encode = encode;
  m->release = release;
  m->is_byte_level = true;
  tm_heap_init(&b->heap, sizeof(struct pair), pair_is_before);
  int rc = check_settings(part, err);
  if (rc == 0)
    rc = read_bytes(m, part, err);
  return rc < 0 ? rc : read_merges(m, part, err);
}
