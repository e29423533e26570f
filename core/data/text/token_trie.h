/* token_trie.h - finds which of many byte strings a text begins with.
 *
 * Nodes lie level by level. The children of a node lie together, in the order of their bytes. Node
 * 0 is the root.
 */
#ifndef TM_DATA_TOKEN_TRIE_H
#define TM_DATA_TOKEN_TRIE_H

#include <stddef.h>
#include <stdint.h>

struct tm_token_text {
  const char *at;
  size_t len;
  int32_t id; /* what finding it gives; not negative */
};

struct tm_token_trie {
  struct tm_token_node *nodes;
  size_t len, cap;
};

/* From n texts, which are sorted on the way. Of equal ones that with the lowest id counts; empty
 * ones do not. */
void tm_token_trie_build(struct tm_token_trie *t, struct tm_token_text *texts, size_t n);
void tm_token_trie_release(struct tm_token_trie *t);
/* The child of `node` for this byte; 0: it has none. */
uint32_t tm_token_trie_step(const struct tm_token_trie *t, uint32_t node, unsigned char byte);
/* The id of the text that ends at `node`, or -1. */
int32_t tm_token_trie_id(const struct tm_token_trie *t, uint32_t node);
/* The longest of the texts below `node` that begins at `s`: its length from there on, and its id.
 * 0: none begins there. */
size_t tm_token_trie_longest(const struct tm_token_trie *t, uint32_t node, const char *s, size_t n,
                             int32_t *id);

#endif
