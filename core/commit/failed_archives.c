/* failed_archives.c - see failed_archives.h. */
#include "commit/failed_archives.h"

#include <stdlib.h>
#include <string.h>

#include "data/item_check.h"

static bool is_same_archive(const struct tm_failed_entry *a, const struct tm_failed_entry *b)
{
  return a->archive_len == b->archive_len && memcmp(a->path, b->path, a->archive_len) == 0;
}

static bool is_archive(const struct tm_failed_entry *e)
{
  return !e->path[e->archive_len];
}

void tm_failed_archives_add(struct tm_failed_archives *a, const struct tm_fs *fs,
                            const struct tm_item *item)
{
  struct tm_failed_entry *e = TM_ARRAY_ADD(&a->entries);

  *e = (struct tm_failed_entry) { .path = tm_xstrndup(item->path, item->path_len),
                                  .archive_len = item->archive_len };
  if (a->entries.len == 1 || !is_same_archive(e, e - 1))
    a->has_changed = tm_item_check(fs, item, false, NULL) == TM_ECHANGED;
  a->is_extracted = item->is_extracted;
  a->must_list = a->must_list || a->has_changed || is_archive(e);
}

void tm_failed_archives_release(struct tm_failed_archives *a)
{
  for (size_t i = 0; i < a->entries.len; i++)
    free(a->entries.at[i].path);
  TM_ARRAY_RELEASE(&a->entries);
}

/* By archive. The archive itself comes before its entries. */
static int compare(const void *a, const void *b)
{
  const struct tm_failed_entry *x = a, *y = b;
  size_t len = x->archive_len < y->archive_len ? x->archive_len : y->archive_len;
  int order = memcmp(x->path, y->path, len);

  if (order == 0 && x->archive_len != y->archive_len)
    return x->archive_len < y->archive_len ? -1 : 1;
  return order ? order : strcmp(x->path + len, y->path + len);
}

/* A pattern that matches this name alone. */
static struct tm_json *pattern_of(const char *name)
{
  struct tm_buf out = TM_BUF_NONE;

  for (; *name; name++) {
    if (strchr("*?[]{},\\", *name))
      tm_buf_add_char(&out, '\\');
    tm_buf_add_char(&out, *name);
  }
  struct tm_json *v = tm_json_new_string(tm_buf_str(&out));
  tm_buf_release(&out);
  return v;
}

/* Without the limit, which counted the items of all archives. */
static struct tm_json *new_definition(const struct tm_json *original)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  for (size_t i = 0; i < original->list.len; i++)
    if (strcmp(original->keys[i], "limit") != 0 && strcmp(original->keys[i], "step") != 0 &&
        strcmp(original->keys[i], "input") != 0)
      tm_json_set(v, original->keys[i], tm_json_copy(original->list.at[i]));
  tm_json_set(v, "kind", tm_json_new_string("archives"));
  tm_json_set(v, "base_dir", tm_json_new_string("/"));
  tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY));
  return v;
}

static void add_path(struct tm_json *definition, const struct tm_failed_entry *e)
{
  tm_json_add(tm_json_get(definition, "paths"), tm_json_new_bytes(e->path, e->archive_len));
}

/* The n failed entries of one archive. */
static struct tm_json *definition_of(const struct tm_failed_entry *entries, size_t n,
                                     const struct tm_json *original, bool is_extracted)
{
  struct tm_json *v = new_definition(original), *patterns = tm_json_new(TM_JSON_ARRAY);
  const struct tm_json *given = tm_json_get(original, "options");
  struct tm_json *options = given ? tm_json_copy(given) : tm_json_new(TM_JSON_OBJECT);

  add_path(v, &entries[0]);
  for (size_t i = 0; i < n; i++)
    tm_json_add(patterns, pattern_of(entries[i].path + entries[i].archive_len + 1));
  tm_json_set(options, "extract", tm_json_new_bool(is_extracted));
  tm_json_set(options, "entries", patterns);
  tm_json_set(v, "options", options);
  return v;
}

struct tm_json *tm_failed_archives_definitions(struct tm_failed_archives *a,
                                               const struct tm_json *original)
{
  struct tm_json *out = tm_json_new(TM_JSON_ARRAY), *whole = NULL;
  const struct tm_failed_entry *at = a->entries.at;

  qsort(a->entries.at, a->entries.len, sizeof(*a->entries.at), compare);
  for (size_t i = 0, n; i < a->entries.len; i += n) {
    for (n = 1; i + n < a->entries.len && is_same_archive(&at[i], &at[i + n]);)
      n++;
    if (!is_archive(&at[i])) {
      tm_json_add(out, definition_of(&at[i], n, original, a->is_extracted));
      continue;
    }
    whole = whole ? whole : tm_json_add(out, new_definition(original));
    add_path(whole, &at[i]);
  }
  return out;
}
