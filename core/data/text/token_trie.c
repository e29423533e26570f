/* token_trie.c - see token_trie.h. */
#include "data/text/token_trie.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

struct tm_token_node {
  uint32_t first; /* of its children */
  uint16_t count; /* of them */
  unsigned char byte;
  int32_t id; /* of the text that ends here, or -1 */
};

enum { FEW = 8 /* so many children are searched one by one */ };

/* While the trie is built: nodes[i] stands for the texts from..to. */
struct range {
  size_t from, to;
};
struct building {
  struct tm_token_trie *trie;
  const struct tm_token_text *texts;
  struct TM_ARRAY(struct range) ranges;
};

static int by_bytes(const void *left, const void *right)
{
  const struct tm_token_text *a = left, *b = right;
  size_t n = a->len < b->len ? a->len : b->len;
  int order = n ? memcmp(a->at, b->at, n) : 0;

  if (order != 0)
    return order;
  return a->len != b->len ? (a->len > b->len) - (a->len < b->len)
                          : (a->id > b->id) - (a->id < b->id);
}

static void add_node(struct building *b, unsigned char byte, struct range range)
{
  struct tm_token_trie *t = b->trie;

  tm_require(t->len < UINT32_MAX);
  tm_array_reserve((void **)&t->nodes, t->len + 1, &t->cap, sizeof *t->nodes);
  t->nodes[t->len++] = (struct tm_token_node) { .byte = byte, .id = -1 };
  *TM_ARRAY_ADD(&b->ranges) = range;
}

/* Makes the children of a node, whose texts are equal in their first `depth` bytes. */
static void add_children(struct building *b, size_t node, size_t depth)
{
  struct tm_token_trie *t = b->trie;
  const struct tm_token_text *texts = b->texts;
  struct range range = b->ranges.at[node];
  size_t i = range.from;

  for (; i < range.to && texts[i].len == depth; i++) {
    if (depth > 0 && t->nodes[node].id < 0)
      t->nodes[node].id = texts[i].id;
  }
  t->nodes[node].first = (uint32_t)t->len;
  while (i < range.to) {
    unsigned char byte = (unsigned char)texts[i].at[depth];
    size_t from = i;
    while (i < range.to && (unsigned char)texts[i].at[depth] == byte)
      i++;
    add_node(b, byte, (struct range) { from, i });
    t->nodes[node].count++;
  }
}

void tm_token_trie_build(struct tm_token_trie *t, struct tm_token_text *texts, size_t n)
{
  struct building b = { .trie = t, .texts = texts };

  if (n > 0)
    qsort(texts, n, sizeof *texts, by_bytes);
  *t = (struct tm_token_trie) { 0 };
  add_node(&b, 0, (struct range) { 0, n });
  for (size_t node = 0, depth = 0; node < t->len; depth++) {
    for (size_t level_end = t->len; node < level_end; node++)
      add_children(&b, node, depth);
  }
  TM_ARRAY_RELEASE(&b.ranges);
}

void tm_token_trie_release(struct tm_token_trie *t)
{
  free(t->nodes);
  *t = (struct tm_token_trie) { 0 };
}

uint32_t tm_token_trie_step(const struct tm_token_trie *t, uint32_t node, unsigned char byte)
{
  uint32_t low = t->nodes[node].first, high = low + t->nodes[node].count;

  if (t->nodes[node].count == 256) /* a root with all bytes */
    return low + byte;
  while (high - low > FEW) {
    uint32_t middle = low + (high - low) / 2;
    if (t->nodes[middle].byte <= byte)
      low = middle;
    else
      high = middle;
  }
  for (; low < high; low++) {
    if (t->nodes[low].byte == byte)
      return low;
  }
  return 0;
}

int32_t tm_token_trie_id(const struct tm_token_trie *t, uint32_t node)
{
  return t->nodes[node].id;
}

size_t tm_token_trie_longest(const struct tm_token_trie *t, uint32_t node, const char *s, size_t n,
                             int32_t *id)
{
  size_t found = 0;

  for (size_t i = 0; i < n; i++) {
    node = tm_token_trie_step(t, node, (unsigned char)s[i]);
    if (node == 0)
      break;
    if (t->nodes[node].id >= 0) {
      found = i + 1;
      *id = t->nodes[node].id;
    }
  }
  return found;
}
