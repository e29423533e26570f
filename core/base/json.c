/* json.c - the tree: its nodes, their members, comparing and copying. json_parse.c reads it from
 * text and json_write.c writes it.
 *
 *  (1) A node has one parent or none; freeing the parent frees it.
 *  (2) An object has list.len keys and list.len values, and no two keys are equal.
 *  (3) `keys` has room for list.cap keys.
 *
 * Members are searched linearly: objects in definitions have a dozen keys. The parser, which reads
 * foreign text, keeps (2) for large objects with a map of its own.
 */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json_tree.h"
#include "base/mem.h"
#include "base/time.h"

enum { LIST_FIRST = 4 }; /* items */

struct tm_json *tm_json_new(enum tm_json_type type)
{
  struct tm_json *v = TM_NEW(struct tm_json);
  v->type = type;
  if (type == TM_JSON_STRING)
    v->string.at = tm_xstrndup("", 0);
  return v;
}

struct tm_json *tm_json_new_bool(bool v)
{
  struct tm_json *node = tm_json_new(TM_JSON_BOOL);
  node->boolean = v;
  return node;
}

struct tm_json *tm_json_new_int(int64_t v)
{
  struct tm_json *node = tm_json_new(TM_JSON_INT);
  node->integer = v;
  return node;
}

struct tm_json *tm_json_new_number(double v)
{
  struct tm_json *node = tm_json_new(TM_JSON_NUMBER);
  node->number = v;
  return node;
}

struct tm_json *tm_json_new_string(const char *s)
{
  return s ? tm_json_new_bytes(s, strlen(s)) : tm_json_new(TM_JSON_NULL);
}

struct tm_json *tm_json_new_time(int64_t wall_ns)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v;
  if (wall_ns == 0)
    return tm_json_new(TM_JSON_NULL);
  tm_time_iso(&text, wall_ns);
  v = tm_json_new_string(tm_buf_str(&text));
  tm_buf_release(&text);
  return v;
}

struct tm_json *tm_json_new_bytes(const char *s, size_t len)
{
  struct tm_json *node = TM_NEW(struct tm_json);
  node->type = TM_JSON_STRING;
  node->string.at = tm_xstrndup(s, len);
  node->string.len = len;
  return node;
}

static bool is_list(const struct tm_json *v)
{
  return v->type == TM_JSON_ARRAY || v->type == TM_JSON_OBJECT;
}

static void reserve(struct tm_json *list, size_t cap)
{
  if (cap == 0)
    return;
  tm_require(cap <= SIZE_MAX / sizeof(void *));
  list->list.at = tm_xrealloc(list->list.at, cap * sizeof *list->list.at);
  /* keeps (3) */
  if (list->type == TM_JSON_OBJECT)
    list->keys = tm_xrealloc(list->keys, cap * sizeof *list->keys);
  list->list.cap = cap;
}

struct tm_json *tm_json_copy(const struct tm_json *v)
{
  if (!v)
    return NULL;
  struct tm_json *copy = TM_NEW(struct tm_json);
  copy->type = v->type;
  copy->tag = tm_xstrdup(v->tag);
  copy->where = tm_xstrdup(v->where);
  copy->id = v->id;
  switch (v->type) {
  case TM_JSON_NULL: break;
  case TM_JSON_BOOL: copy->boolean = v->boolean; break;
  case TM_JSON_INT: copy->integer = v->integer; break;
  case TM_JSON_NUMBER: copy->number = v->number; break;
  case TM_JSON_STRING:
    copy->string.at = tm_xstrndup(v->string.at, v->string.len);
    copy->string.len = v->string.len;
    break;
  case TM_JSON_ARRAY:
  case TM_JSON_OBJECT:
    reserve(copy, v->list.len);
    for (size_t i = 0; i < v->list.len; i++)
      tm_json_append(copy, v->keys ? tm_xstrdup(v->keys[i]) : NULL, tm_json_copy(v->list.at[i]));
  }
  return copy;
}

void tm_json_free(struct tm_json *v)
{
  if (!v)
    return;
  if (v->type == TM_JSON_STRING)
    free(v->string.at);
  if (is_list(v)) {
    for (size_t i = 0; i < v->list.len; i++) {
      tm_json_free(v->list.at[i]);
      if (v->keys)
        free(v->keys[i]);
    }
    free(v->list.at);
    free(v->keys);
  }
  free(v->tag);
  free(v->where);
  free(v);
}

/* Equal as numbers, without an int64_t losing digits on the way to a double. */
static bool is_equal_mixed(int64_t i, double d)
{
  return d >= -0x1p63 && d < 0x1p63 && (double)(int64_t)d == d && (int64_t)d == i;
}

static bool is_equal_list(const struct tm_json *a, const struct tm_json *b)
{
  if (a->list.len != b->list.len)
    return false;
  for (size_t i = 0; i < a->list.len; i++) {
    const struct tm_json *other =
        a->type == TM_JSON_ARRAY ? b->list.at[i] : tm_json_get(b, a->keys[i]);
    if (!other || !tm_json_is_equal(a->list.at[i], other))
      return false;
  }
  return true;
}

bool tm_json_is_equal(const struct tm_json *a, const struct tm_json *b)
{
  if (!a || !b)
    return a == b;
  if (a->type == TM_JSON_INT && b->type == TM_JSON_NUMBER)
    return is_equal_mixed(a->integer, b->number);
  if (a->type == TM_JSON_NUMBER && b->type == TM_JSON_INT)
    return is_equal_mixed(b->integer, a->number);
  if (a->type != b->type)
    return false;
  switch (a->type) {
  case TM_JSON_NULL: return true;
  case TM_JSON_BOOL: return a->boolean == b->boolean;
  case TM_JSON_INT: return a->integer == b->integer;
  case TM_JSON_NUMBER: return a->number == b->number;
  case TM_JSON_STRING:
    return a->string.len == b->string.len && !memcmp(a->string.at, b->string.at, a->string.len);
  case TM_JSON_ARRAY:
  case TM_JSON_OBJECT: break;
  }
  return is_equal_list(a, b);
}

void tm_json_append(struct tm_json *list, char *key, struct tm_json *value)
{
  if (list->list.len == list->list.cap)
    reserve(list, list->list.cap ? list->list.cap * 2 : LIST_FIRST);
  if (list->type == TM_JSON_OBJECT)
    list->keys[list->list.len] = key;
  list->list.at[list->list.len++] = value;
}

struct tm_json *tm_json_add(struct tm_json *array, struct tm_json *value)
{
  tm_require(array->type == TM_JSON_ARRAY && value != NULL);
  tm_json_append(array, NULL, value);
  return value;
}

struct tm_json *tm_json_set(struct tm_json *object, const char *key, struct tm_json *value)
{
  tm_require(object->type == TM_JSON_OBJECT && key != NULL && value != NULL);
  for (size_t i = 0; i < object->list.len; i++) {
    if (strcmp(object->keys[i], key) == 0) { /* keeps (2) */
      if (object->list.at[i] != value)
        tm_json_free(object->list.at[i]);
      object->list.at[i] = value;
      return value;
    }
  }
  tm_json_append(object, tm_xstrdup(key), value);
  return value;
}

struct tm_json *tm_json_get(const struct tm_json *v, const char *key)
{
  if (!v || v->type != TM_JSON_OBJECT)
    return NULL;
  for (size_t i = 0; i < v->list.len; i++)
    if (strcmp(v->keys[i], key) == 0)
      return v->list.at[i];
  return NULL;
}

void tm_json_set_int(struct tm_json *object, const char *key, int64_t n)
{
  tm_json_set(object, key, tm_json_new_int(n));
}

void tm_json_set_known_text(struct tm_json *object, const char *key, const char *text)
{
  tm_json_set(object, key, tm_json_new_string(text && *text ? text : NULL));
}

void tm_json_set_text(struct tm_json *object, const char *key, const char *text)
{
  if (text)
    tm_json_set(object, key, tm_json_new_string(text));
}

void tm_json_set_copy(struct tm_json *object, const char *key, const struct tm_json *value)
{
  if (value)
    tm_json_set(object, key, tm_json_copy(value));
}

size_t tm_json_items(const struct tm_json *v)
{
  return v && v->type == TM_JSON_ARRAY ? v->list.len : 0;
}

const char *tm_json_str(const struct tm_json *v, const char *key, const char *otherwise)
{
  const struct tm_json *m = tm_json_get(v, key);
  return m && m->type == TM_JSON_STRING ? m->string.at : otherwise;
}

int64_t tm_json_int(const struct tm_json *v, const char *key, int64_t otherwise)
{
  const struct tm_json *m = tm_json_get(v, key);
  if (m && m->type == TM_JSON_INT)
    return m->integer;
  if (m && m->type == TM_JSON_NUMBER && m->number >= -0x1p63 && m->number < 0x1p63 &&
      (double)(int64_t)m->number == m->number)
    return (int64_t)m->number;
  return otherwise;
}

double tm_json_num(const struct tm_json *v, const char *key, double otherwise)
{
  const struct tm_json *m = tm_json_get(v, key);
  if (m && m->type == TM_JSON_INT)
    return (double)m->integer;
  return m && m->type == TM_JSON_NUMBER ? m->number : otherwise;
}

bool tm_json_bool(const struct tm_json *v, const char *key, bool otherwise)
{
  const struct tm_json *m = tm_json_get(v, key);
  return m && m->type == TM_JSON_BOOL ? m->boolean : otherwise;
}
