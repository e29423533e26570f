/* schema.c - the list of columns.
 *
 * A header may be hostile: a hundred thousand fields with the same name. by_name maps a name to the
 * number of its column and, shifted by SUFFIX_SHIFT, to the last suffix that made it unique: no
 * search starts over.
 */
#include "data/rows/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/rows/json_scan.h"
#include "data/rows/value.h"

#define SUFFIX_SHIFT 32

static void release_formats(struct tm_schema_column *c)
{
  tm_strings_free(c->formats, c->formats_len);
  c->formats = NULL;
  c->formats_len = 0;
}

void tm_schema_release(struct tm_schema *s)
{
  for (size_t i = 0; i < s->len; i++) {
    release_formats(&s->columns[i]);
    free(s->columns[i].name);
  }
  free(s->columns);
  tm_map_release(&s->by_name);
  *s = (struct tm_schema) { 0 };
}

long tm_schema_find(const struct tm_schema *s, const char *name, size_t name_len)
{
  const uint64_t *at = tm_map_find(&s->by_name, name, name_len);
  return at == NULL ? -1 : (long)(uint32_t)*at;
}

int tm_schema_refuse(const struct tm_schema *s, const char *name, struct tm_err *err)
{
  const char **names = tm_xcalloc(s->len, sizeof(*names));
  struct tm_buf all = TM_BUF_NONE;
  for (size_t i = 0; i < s->len; i++) {
    names[i] = s->columns[i].name;
    if (i < 20)
      tm_buf_printf(&all, "%s'%s'", i ? ", " : "", names[i]);
  }
  const char *nearest = tm_text_nearest(name, names, s->len);
  tm_err_set(err, TM_EUSAGE, "there is no column '%s'%s%s%s; the columns are %s%s", name,
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
             tm_buf_str(&all), s->len > 20 ? ", ..." : "");
  tm_buf_release(&all);
  free(names);
  return TM_EUSAGE;
}

/* An unused name, to free(). It ends at a NUL. */
static char *free_name(struct tm_schema *s, const char *name, size_t name_len)
{
  char *base = name_len > 0 && name[0] != '\0' ? tm_xstrndup(name, strnlen(name, name_len))
                                               : tm_xprintf("Column%zu", s->len + 1);
  uint64_t *at = tm_map_find(&s->by_name, base, strlen(base));
  if (at == NULL)
    return base;
  char *tried = NULL;
  uint64_t n = *at >> SUFFIX_SHIFT;
  n = n == 0 ? 1 : n;
  do {
    free(tried);
    tried = tm_xprintf("%s_%" PRIu64, base, ++n);
  } while (tm_schema_find(s, tried, strlen(tried)) >= 0);
  *at = (uint32_t)*at | n << SUFFIX_SHIFT;
  free(base);
  return tried;
}

static struct tm_schema_column *add_column(struct tm_schema *s, char *unique)
{
  tm_array_reserve((void **)&s->columns, s->len + 1, &s->cap, sizeof *s->columns);
  struct tm_schema_column *c = &s->columns[s->len++];
  *c = (struct tm_schema_column) { .name = unique, .type = TM_COLUMN_STRING };
  *tm_map_add(&s->by_name, unique, strlen(unique), NULL) = s->len - 1;
  return c;
}

struct tm_schema_column *tm_schema_add(struct tm_schema *s, const char *name, size_t name_len)
{
  char *unique = free_name(s, name, name_len);
  bool is_renamed = name_len > 0 && name[0] != '\0' && strncmp(unique, name, name_len) == 0 &&
                    strlen(unique) > name_len;
  struct tm_schema_column *c = add_column(s, unique);
  c->is_renamed = is_renamed;
  return c;
}

struct tm_schema_column *tm_schema_add_exact(struct tm_schema *s, const char *name, size_t name_len)
{
  return add_column(s, tm_xstrndup(name, name_len));
}

/* Whether no format has a time of day. */
static bool are_of_dates(const char *const *formats, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (const char *p = strchr(formats[i], '%'); p != NULL && p[1] != '\0'; p = strchr(p + 2, '%'))
      if (strchr("HIMSfpz", p[1]) != NULL)
        return false;
  return true;
}

void tm_schema_set_type(struct tm_schema_column *c, enum tm_column_type type,
                        const char *const *formats, size_t formats_len)
{
  release_formats(c);
  c->type = type;
  c->formats = formats_len > 0 ? tm_xcalloc(formats_len, sizeof *c->formats) : NULL;
  c->formats_len = formats_len;
  for (size_t i = 0; i < formats_len; i++)
    c->formats[i] = tm_xstrdup(formats[i]);
  if (formats_len > 0)
    c->is_date = are_of_dates(formats, formats_len);
}

static struct tm_schema_column *add_copy(struct tm_schema *to, const struct tm_schema_column *c)
{
  struct tm_schema_column *added = tm_schema_add_exact(to, c->name, strlen(c->name));
  tm_schema_set_type(added, c->type, (const char *const *)c->formats, c->formats_len);
  added->of_file = c->of_file;
  added->is_date = c->is_date;
  added->is_unread = c->is_unread;
  return added;
}

void tm_schema_copy(struct tm_schema *to, const struct tm_schema *from)
{
  for (size_t i = 0; i < from->len; i++)
    add_copy(to, &from->columns[i]);
}

void tm_schema_begin_frame(const struct tm_schema *s, struct tm_frame_builder *b,
                           struct tm_arena *arena)
{
  const char **names = tm_xcalloc(s->len, sizeof *names);
  enum tm_column_type *types = tm_xcalloc(s->len, sizeof *types);
  for (size_t i = 0; i < s->len; i++) {
    names[i] = s->columns[i].name;
    types[i] = s->columns[i].type;
  }
  tm_frame_builder_init(b, arena, names, types, s->len);
  for (size_t i = 0; i < s->len; i++) {
    b->columns[i].is_left_out = s->columns[i].is_unread;
    b->columns[i].is_date = s->columns[i].type == TM_COLUMN_DATETIME && s->columns[i].is_date;
  }
  free(names);
  free(types);
}

static bool has_same_formats(const struct tm_schema_column *a, const struct tm_schema_column *b)
{
  if (a->formats_len != b->formats_len)
    return false;
  for (size_t i = 0; i < a->formats_len; i++)
    if (strcmp(a->formats[i], b->formats[i]) != 0)
      return false;
  return true;
}

bool tm_schema_is_equal(const struct tm_schema *a, const struct tm_schema *b)
{
  if (a->len != b->len)
    return false;
  for (size_t i = 0; i < a->len; i++) {
    const struct tm_schema_column *x = &a->columns[i], *y = &b->columns[i];
    if (strcmp(x->name, y->name) != 0 || x->type != y->type || x->of_file != y->of_file ||
        (x->type == TM_COLUMN_DATETIME && x->is_date != y->is_date) || !has_same_formats(x, y))
      return false;
  }
  return true;
}

static bool is_number(enum tm_column_type type)
{
  return type == TM_COLUMN_LONG || type == TM_COLUMN_DOUBLE;
}

void tm_schema_merge(struct tm_schema *s, const struct tm_schema *more)
{
  for (size_t i = 0; i < more->len; i++) {
    const struct tm_schema_column *c = &more->columns[i];
    long at = tm_schema_find(s, c->name, strlen(c->name));
    if (at < 0) {
      add_copy(s, c);
      continue;
    }
    struct tm_schema_column *old = &s->columns[at];
    old->is_date = old->is_date && c->is_date;
    if (old->type != c->type || !has_same_formats(old, c))
      tm_schema_set_type(
          old, is_number(old->type) && is_number(c->type) ? TM_COLUMN_DOUBLE : TM_COLUMN_STRING,
          NULL, 0);
  }
}

static void write_column(struct tm_buf *out, const struct tm_schema_column *c)
{
  tm_buf_add_str(out, "{\"name\": ");
  tm_json_write_string(out, c->name, strlen(c->name));
  tm_buf_printf(out, ", \"type\": \"%s\"", tm_column_type_name(c->type));
  if (c->of_file)
    tm_buf_add_str(out, ", \"of_file\": true");
  if (c->type == TM_COLUMN_DATETIME && c->is_date)
    tm_buf_add_str(out, ", \"is_date\": true");
  for (size_t i = 0; i < c->formats_len; i++) {
    tm_buf_add_str(out, i == 0 ? ", \"formats\": [" : ", ");
    tm_json_write_string(out, c->formats[i], strlen(c->formats[i]));
  }
  tm_buf_add_str(out, c->formats_len > 0 ? "]}" : "}");
}

void tm_schema_write(struct tm_buf *out, const struct tm_schema *s)
{
  tm_buf_add_str(out, "{\"columns\": [");
  for (size_t i = 0; i < s->len; i++) {
    tm_buf_add_str(out, i == 0 ? "\n" : ",\n");
    write_column(out, &s->columns[i]);
  }
  tm_buf_add_str(out, "\n]}");
}

static bool read_formats(struct tm_schema_column *c, const struct tm_json *formats)
{
  if (formats == NULL)
    return true;
  if (formats->type != TM_JSON_ARRAY || c->type != TM_COLUMN_DATETIME)
    return false;
  c->formats = formats->list.len > 0 ? tm_xcalloc(formats->list.len, sizeof *c->formats) : NULL;
  for (size_t i = 0; i < formats->list.len; i++) {
    const struct tm_json *f = formats->list.at[i];
    if (f->type != TM_JSON_STRING || tm_value_bad_format(f->string.at) != NULL)
      return false;
    c->formats[c->formats_len++] = tm_xstrdup(f->string.at);
  }
  return true;
}

static bool read_column(struct tm_schema *s, const char *p, size_t n)
{
  struct tm_json *o = tm_json_parse(p, n, NULL);
  const char *name = tm_json_str(o, "name", NULL);
  int type = tm_column_type_of(tm_json_str(o, "type", ""));
  bool ok = name != NULL && type != 0 && tm_schema_find(s, name, strlen(name)) < 0;
  if (ok) {
    struct tm_schema_column *c = tm_schema_add_exact(s, name, strlen(name));
    c->type = (enum tm_column_type)type;
    c->of_file = tm_json_bool(o, "of_file", false);
    c->is_date = tm_json_bool(o, "is_date", false);
    ok = read_formats(c, tm_json_get(o, "formats"));
  }
  tm_json_free(o);
  return ok;
}

/* Item by item: a tree of all columns would take far more memory than they do. */
static bool read_columns(struct tm_schema *s, const struct tm_slice *list)
{
  const char *p = list->p, *end = list->p + list->n;
  struct tm_slice item;
  for (bool is_first = true;; is_first = false) {
    p = tm_json_scan_item(p, end, is_first, &item);
    if (p == NULL || item.kind == TM_SLICE_NONE)
      return p != NULL;
    if (!read_column(s, item.p, item.n))
      return false;
  }
}

int tm_schema_read(struct tm_schema *s, const char *p, size_t n, struct tm_err *err)
{
  struct tm_slice list;
  if (tm_json_scan_find(p, p + n, "columns", &list) && list.kind == TM_SLICE_ARRAY &&
      read_columns(s, &list))
    return 0;
  size_t i = s->len;
  tm_schema_release(s);
  return tm_err_set(err, TM_EDAMAGE, "a list of columns is damaged: column %zu", i + 1);
}
