/* groups.c - see groups.h.
 *
 * The sort key is the ordered form of the values; the record is {keys, item} as in the mini-batch.
 * Of a group, the first record is taken as a whole, of the others the item.
 */
#include "data/files/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/stream/sorter.h"

#define MEMORY ((size_t)16 << 20) /* bytes */

struct tm_groups {
  struct tm_partition *partition;
  struct tm_sorter *sorter;
  size_t *keys; /* indexes into the values of a path */
  size_t keys_len;
  struct tm_key values[TM_PARTITION_KEYS_MAX], chosen[TM_PARTITION_KEYS_MAX];
  struct tm_buf order, record;
  struct tm_sorted next; /* the first of the next group */
  bool has_next, has_begun;
};

static size_t place_of(const struct tm_partition *p, const char *key)
{
  for (size_t i = 0; i < tm_partition_len(p); i++)
    if (strcmp(tm_partition_key(p, i), key) == 0)
      return i;
  tm_require(!"a key that the format lacks");
  return 0;
}

struct tm_groups *tm_groups_new(const struct tm_fs *fs, const char *dir,
                                struct tm_partition *partition, char *const *keys, size_t n)
{
  struct tm_groups *g = TM_NEW(struct tm_groups);
  tm_require(n <= TM_PARTITION_KEYS_MAX);
  g->partition = partition;
  g->sorter = tm_sorter_new(fs, dir, MEMORY);
  g->keys = tm_xcalloc(n, sizeof(*g->keys));
  g->keys_len = n;
  for (size_t i = 0; i < n; i++)
    g->keys[i] = place_of(partition, keys[i]);
  return g;
}

void tm_groups_free(struct tm_groups *g)
{
  if (!g)
    return;
  tm_sorter_free(g->sorter);
  tm_buf_release(&g->order);
  tm_buf_release(&g->record);
  free(g->keys);
  free(g);
}

/* An item with a fault has null values. */
static int find_values(struct tm_groups *g, const struct tm_item *item, struct tm_err *err)
{
  if (item->fault_len == 0)
    return tm_partition_match(g->partition, item->path, item->path_len, g->values, err);
  for (size_t i = 0; i < tm_partition_len(g->partition); i++) {
    const char *name = tm_partition_key(g->partition, i);
    g->values[i] = (struct tm_key) { .name = name, .name_len = strlen(name), .type = TM_KEY_NULL };
  }
  return 0;
}

int tm_groups_add(struct tm_groups *g, const struct tm_item *item, struct tm_err *err)
{
  int rc = find_values(g, item, err);
  if (rc < 0)
    return rc;
  tm_buf_clear(&g->order);
  tm_buf_clear(&g->record);
  for (size_t i = 0; i < g->keys_len; i++) {
    g->chosen[i] = g->values[g->keys[i]];
    tm_key_add_order(&g->order, &g->chosen[i]);
  }
  tm_keys_add(&g->record, g->chosen, g->keys_len);
  tm_item_add(&g->record, item);
  return tm_sorter_add(g->sorter, g->order.data, g->order.len, g->record.data, g->record.len, err);
}

/* The item of a record, after its keys. */
static void add_item(struct tm_buf *bytes, const struct tm_sorted *record)
{
  struct tm_reader keys;
  tm_require(tm_keys_find(record->at, record->len, &keys));
  tm_buf_add(bytes, keys.end, (size_t)(record->at + record->len - keys.end));
}

static int advance(struct tm_groups *g, struct tm_err *err)
{
  int rc = tm_sorter_next(g->sorter, &g->next, err);
  g->has_next = rc > 0;
  return rc;
}

static bool is_same_group(const struct tm_groups *g)
{
  return g->next.key_len == g->order.len && memcmp(g->next.key, g->order.data, g->order.len) == 0;
}

int tm_groups_next(struct tm_groups *g, uint32_t *items, struct tm_buf *bytes, struct tm_err *err)
{
  int rc = g->has_begun ? 0 : advance(g, err);
  g->has_begun = true;
  *items = 0;
  if (rc < 0 || !g->has_next)
    return rc < 0 ? rc : 0;
  tm_buf_clear(&g->order);
  tm_buf_add(&g->order, g->next.key, g->next.key_len);
  do {
    if (*items == UINT32_MAX)
      return tm_err_set(err, TM_ELIMIT, "more than 4,294,967,295 files have the same keys");
    if ((*items)++ == 0)
      tm_buf_add(bytes, g->next.at, g->next.len);
    else
      add_item(bytes, &g->next);
    if ((rc = advance(g, err)) < 0)
      return rc;
  } while (g->has_next && is_same_group(g));
  return 1;
}
