/* entry_set.c - see entry_set.h.
 *
 *   hash -> first bits: a bucket -> next bits: a slot -> number of the entry -> its group of places
 *        -> place
 *
 *  (1) A bucket never grows. A full one is split in two by the next bit of its hashes. So memory is
 *      never held twice, as it is when a table is copied to a larger one.
 *  (2) A bucket of depth d fills 1 << (depth - d) neighbouring places of the directory.
 *  (3) The places of GROUP entries are one piece of memory; each is stored as the difference to the
 *      one before, the first to 0.
 */
#include "data/archive/entry_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "sys/process.h"

#define SLOTS     1024u
#define FULL      (SLOTS / 10 * 9)
#define GROUP     256u
#define DEPTH_TOP 24u /* never reached, because hashes are spread evenly: 8 billion names */

struct tm_entry_bucket {
  uint32_t depth, len;
  uint64_t hashes[SLOTS];
  uint32_t numbers[SLOTS]; /* of the entry, from 1; 0: a free slot */
};

/* ---- names ---- */

static size_t place_of(uint32_t depth, uint64_t hash)
{
  return depth == 0 ? 0 : (size_t)(hash >> (64 - depth));
}

/* The slot of the hash, or the free one for it. */
static uint32_t slot_of(const struct tm_entry_bucket *b, uint64_t hash)
{
  uint32_t i = (uint32_t)hash & (SLOTS - 1);
  while (b->numbers[i] != 0 && b->hashes[i] != hash)
    i = (i + 1) & (SLOTS - 1);
  return i;
}

static void put(struct tm_entry_bucket *b, uint64_t hash, uint32_t number)
{
  tm_require(b->len < SLOTS);
  uint32_t i = slot_of(b, hash);
  b->hashes[i] = hash;
  b->numbers[i] = number;
  b->len++;
}

static void double_directory(struct tm_entry_set *s)
{
  size_t n = (size_t)1 << s->depth;
  s->buckets = tm_xrealloc(s->buckets, 2 * n * sizeof(struct tm_entry_bucket *));
  for (size_t i = n; i-- > 0;)
    s->buckets[2 * i] = s->buckets[2 * i + 1] = s->buckets[i];
  s->depth++;
}

/* Keeps (1) and (2). */
static void split(struct tm_entry_set *s, uint64_t hash)
{
  struct tm_entry_bucket *old = s->buckets[place_of(s->depth, hash)];
  if (old->depth == s->depth)
    double_directory(s);
  struct tm_entry_bucket *two[] = { TM_NEW(struct tm_entry_bucket),
                                    TM_NEW(struct tm_entry_bucket) };
  uint32_t depth = old->depth + 1;
  two[0]->depth = two[1]->depth = depth;
  for (uint32_t i = 0; i < SLOTS; i++)
    if (old->numbers[i] != 0)
      put(two[old->hashes[i] >> (64 - depth) & 1], old->hashes[i], old->numbers[i]);
  tm_require(two[0]->len + two[1]->len == old->len);
  size_t n = (size_t)1 << (s->depth - old->depth);
  size_t first = place_of(s->depth, hash) & ~(n - 1);
  for (size_t i = 0; i < n; i++)
    s->buckets[first + i] = two[i >= n / 2];
  free(old);
}

static struct tm_entry_bucket *room_for(struct tm_entry_set *s, uint64_t hash)
{
  struct tm_entry_bucket *b;
  while ((b = s->buckets[place_of(s->depth, hash)])->len >= FULL && b->depth < DEPTH_TOP)
    split(s, hash);
  return b;
}

/* ---- places ---- */

static void add_difference(struct tm_buf *b, int64_t from, int64_t to)
{
  uint64_t d = (uint64_t)to - (uint64_t)from;
  for (d = d << 1 ^ (d >> 63 ? UINT64_MAX : 0); d >= 0x80; d >>= 7)
    tm_buf_add_char(b, (char)(d | 0x80));
  tm_buf_add_char(b, (char)d);
}

static int64_t read_difference(const char **p, int64_t from)
{
  uint64_t d = 0;
  uint32_t shift = 0;
  unsigned char c;
  do {
    c = (unsigned char)*(*p)++;
    d |= (uint64_t)(c & 0x7f) << shift;
    shift += 7;
  } while (c & 0x80);
  return (int64_t)((uint64_t)from + (d >> 1 ^ (d & 1 ? UINT64_MAX : 0)));
}

static void add_place(struct tm_entry_set *s, const struct tm_entry_place *place) /* keeps (3) */
{
  add_difference(&s->group, s->last.place, place->place);
  add_difference(&s->group, s->last.size, place->size);
  s->last = *place;
  s->len++;
  if (s->len % GROUP != 0)
    return;
  char *whole = tm_xmalloc(s->group.len);
  memcpy(whole, s->group.data, s->group.len);
  *TM_ARRAY_ADD(&s->groups) = whole;
  tm_buf_clear(&s->group);
  s->last = (struct tm_entry_place) { 0 };
}

static void find_place(const struct tm_entry_set *s, uint32_t number, struct tm_entry_place *out)
{
  tm_require(number < s->len);
  const char *p = number / GROUP < s->groups.len ? s->groups.at[number / GROUP] : s->group.data;
  out->place = out->size = 0;
  for (uint32_t i = 0; i <= number % GROUP; i++) {
    out->place = read_difference(&p, out->place);
    out->size = read_difference(&p, out->size);
  }
}

/* ---- both ---- */

bool tm_entry_set_add(struct tm_entry_set *s, const char *name, size_t len,
                      const struct tm_entry_place *place)
{
  if (s->buckets == NULL) {
    s->seed = tm_process_random();
    s->buckets = tm_xcalloc(1, sizeof *s->buckets);
    s->buckets[0] = TM_NEW(struct tm_entry_bucket);
  }
  uint64_t hash = tm_hash64_seed(name, len, s->seed);
  struct tm_entry_bucket *b = room_for(s, hash);
  if (b->numbers[slot_of(b, hash)] != 0 || b->len == SLOTS - 1)
    return false;
  put(b, hash, s->len + 1);
  add_place(s, place);
  return true;
}

bool tm_entry_set_find(const struct tm_entry_set *s, const char *name, size_t len,
                       struct tm_entry_place *out)
{
  if (s->buckets == NULL)
    return false;
  uint64_t hash = tm_hash64_seed(name, len, s->seed);
  const struct tm_entry_bucket *b = s->buckets[place_of(s->depth, hash)];
  uint32_t number = b->numbers[slot_of(b, hash)];
  if (number > 0)
    find_place(s, number - 1, out);
  return number > 0;
}

void tm_entry_set_release(struct tm_entry_set *s)
{
  size_t n = s->buckets ? (size_t)1 << s->depth : 0;
  for (size_t i = 0; i < n;) {
    struct tm_entry_bucket *b = s->buckets[i];
    i += (size_t)1 << (s->depth - b->depth);
    free(b);
  }
  free(s->buckets);
  TM_ARRAY_RELEASE_EACH(&s->groups);
  tm_buf_release(&s->group);
  *s = (struct tm_entry_set) { 0 };
}
