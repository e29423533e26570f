/* snapshot_diff.c - which files differ between a script's source and the job's copy of it.
 *
 * Workers run in the copy and may write there. So a file that only the copy has may come from a
 * worker. It is named only if no other difference explains the different hash.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_own.h"

#define NAMED_MAX 3 /* files */

void tm_snapshot_list_add(struct tm_snapshot_list *l, char kind, const char *name, const void *p,
                          size_t n)
{
  uint64_t of_bytes = tm_hash64(p, n);
  char both[9] = { kind };
  memcpy(both + 1, &of_bytes, sizeof(of_bytes));
  *TM_ARRAY_ADD(l) = (struct tm_snapshot_entry) { .name = tm_xstrdup(name),
                                                  .hash = tm_hash64(both, sizeof(both)) };
}

void tm_snapshot_list_release(struct tm_snapshot_list *l)
{
  for (size_t i = 0; i < l->len; i++)
    free(l->at[i].name);
  TM_ARRAY_RELEASE(l);
}

struct words {
  struct tm_buf *out;
  size_t named, more;
};

static void add_word(struct words *w, const char *name, const char *what)
{
  if (w->named == NAMED_MAX) {
    w->more++;
    return;
  }
  tm_buf_printf(w->out, "%s'", w->named++ > 0 ? ", " : "");
  tm_text_one_line(w->out, name, strlen(name), 0);
  tm_buf_printf(w->out, "' %s", what);
}

static void index_list(struct tm_map *map, const struct tm_snapshot_list *l)
{
  bool is_new;
  for (size_t i = 0; i < l->len; i++)
    *tm_map_add(map, l->at[i].name, strlen(l->at[i].name), &is_new) = i;
}

static const struct tm_snapshot_entry *find(const struct tm_map *map,
                                            const struct tm_snapshot_list *l, const char *name)
{
  const uint64_t *at = tm_map_find(map, name, strlen(name));
  return at ? &l->at[*at] : NULL;
}

static void add_differences(struct words *w, const struct tm_snapshot_list *was,
                            const struct tm_snapshot_list *now)
{
  struct tm_map before = { 0 }, after = { 0 };
  index_list(&before, was);
  index_list(&after, now);
  for (size_t i = 0; i < now->len; i++) {
    const struct tm_snapshot_entry *old = find(&before, was, now->at[i].name);
    if (!old || old->hash != now->at[i].hash)
      add_word(w, now->at[i].name, old ? "has changed" : "is new");
  }
  for (size_t i = 0; i < was->len && w->named == 0; i++)
    if (!find(&after, now, was->at[i].name))
      add_word(w, was->at[i].name, "is gone");
  tm_map_release(&before);
  tm_map_release(&after);
}

int tm_snapshot_diff(struct tm_buf *out, const struct tm_fs *fs, const struct tm_config *config,
                     const char *job_dir, const char *copy, struct tm_err *err)
{
  struct tm_snapshot_list was = { 0 }, now = { 0 };
  struct words w = { .out = out };
  int rc = tm_snapshot_list(&was, fs, NULL, NULL, copy, err);
  if (rc >= 0)
    rc = tm_snapshot_list(&now, fs, config, job_dir, NULL, err);
  if (rc >= 0)
    add_differences(&w, &was, &now);
  if (w.more > 0)
    tm_buf_printf(out, " and %zu more", w.more);
  tm_snapshot_list_release(&was);
  tm_snapshot_list_release(&now);
  return rc < 0 ? rc : 0;
}
