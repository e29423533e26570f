/* json_parse.c - text to a tree, with yajl's event parser.
 *
 *  (1) stack[0..depth) are the open arrays and objects, each the last value of the one before it,
 *      so that freeing the root frees all that was read.
 *  (2) No more than DEPTH_MAX are open, so that recursion over a tree is safe with hostile text.
 *  (3) While an object is open, its keys may repeat; when it is closed, the last value of each has
 *      won.
 *
 * yajl hands over numbers as text, so that an int64_t keeps all its digits. Where yajl is too
 * lenient, we check again: its UTF-8 check accepts overlong forms and surrogates, and half a pair
 * of \u escapes becomes "?". JSON's grammar allows such an escape, but no text can hold it; it is
 * read as U+FFFD.
 */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>
#include <yajl/yajl_version.h>

#include "base/check.h"
#include "base/json_tree.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

enum {
  DEPTH_MAX = 100,
  FEW_KEYS = 16,  /* up to here comparing all pairs is cheaper than a map */
  NUMBER_FEW = 64 /* bytes of a number that need no memory */
};

struct parse {
  struct tm_json *root;
  struct tm_json *stack[DEPTH_MAX];
  size_t depth;
  char *key;             /* a key without its value yet; ours */
  struct tm_err problem; /* code 0: yajl has the message */
};

static void *memory_get(void *context, size_t size)
{
  return tm_xmalloc(size);
}

static void *memory_resize(void *context, void *p, size_t size)
{
  return tm_xrealloc(p, size);
}

static void memory_free(void *context, void *p)
{
  free(p);
}

/* Adds `v` as the last value of the innermost open list. */
static int place(struct parse *p, struct tm_json *v)
{
  if (p->depth == 0) {
    tm_json_free(p->root);
    p->root = v;
    return 1;
  }
  tm_json_append(p->stack[p->depth - 1], p->key, v);
  p->key = NULL;
  return 1;
}

static int refuse(struct parse *p, int code, const char *words)
{
  tm_err_set(&p->problem, code, "%s", words);
  return 0;
}

static int on_null(void *data)
{
  return place(data, tm_json_new(TM_JSON_NULL));
}

static int on_bool(void *data, int v)
{
  return place(data, tm_json_new_bool(v != 0));
}

static int on_number(void *data, const char *s, size_t len)
{
  struct parse *p = data;
  char few[NUMBER_FEW];
  char *text = len < sizeof few ? memcpy(few, s, len) : tm_xstrndup(s, len);
  text[len] = '\0';

  int64_t i;
  double d;
  int taken = 1;
  bool is_minus_zero = strcmp(text, "-0") == 0; /* only a double keeps the sign */
  if (!is_minus_zero && tm_text_int(text, &i))
    place(p, tm_json_new_int(i));
  else if (tm_text_number(text, &d))
    place(p, tm_json_new_number(d));
  else
    taken = refuse(p, TM_ELIMIT, "a number is too large for a double");
  if (text != few)
    free(text);
  return taken;
}

static int on_string(void *data, const unsigned char *s, size_t len)
{
  if (!tm_text_is_utf8((const char *)s, len))
    return refuse(data, TM_EDAMAGE, "a string is not valid UTF-8");
  return place(data, tm_json_new_bytes((const char *)s, len));
}

static int on_key(void *data, const unsigned char *s, size_t len)
{
  struct parse *p = data;
  if (!tm_text_is_utf8((const char *)s, len))
    return refuse(p, TM_EDAMAGE, "a key is not valid UTF-8");
  if (len && memchr(s, '\0', len)) /* cut there, two keys could become one */
    return refuse(p, TM_EDAMAGE, "a key holds a NUL");
  p->key = tm_xstrndup((const char *)s, len);
  return 1;
}

static int open_list(struct parse *p, enum tm_json_type type)
{
  if (p->depth == DEPTH_MAX) /* keeps (2) */
    return refuse(p, TM_ELIMIT, "arrays and objects are nested deeper than 100");
  struct tm_json *list = tm_json_new(type);
  place(p, list); /* keeps (1) */
  p->stack[p->depth++] = list;
  return 1;
}

static int on_array(void *data)
{
  return open_list(data, TM_JSON_ARRAY);
}

static int on_object(void *data)
{
  return open_list(data, TM_JSON_OBJECT);
}

static int on_array_end(void *data)
{
  struct parse *p = data;
  p->depth--;
  return 1;
}

/* The index of member i's key among the first `n` members, or n. `seen` is NULL for few keys. */
static size_t place_of_key(const struct tm_json *object, size_t i, size_t n, struct tm_map *seen)
{
  const char *key = object->keys[i];
  if (seen) {
    bool is_new;
    uint64_t *at = tm_map_add(seen, key, strlen(key), &is_new);
    if (is_new)
      *at = n;
    return (size_t)*at;
  }
  size_t at = 0;
  while (at < n && strcmp(object->keys[at], key) != 0)
    at++;
  return at;
}

/* Keeps (3): moves members over those with an earlier equal key, whose value they replace. */
static int on_object_end(void *data)
{
  struct parse *p = data;
  struct tm_json *object = p->stack[--p->depth];
  struct tm_map map = { 0 };
  struct tm_map *seen = object->list.len > FEW_KEYS ? &map : NULL;
  size_t kept = 0;
  for (size_t i = 0; i < object->list.len; i++) {
    size_t at = place_of_key(object, i, kept, seen);
    if (at < kept) {
      free(object->keys[i]);
      tm_json_free(object->list.at[at]);
    } else {
      object->keys[at] = object->keys[i];
      kept++;
    }
    object->list.at[at] = object->list.at[i];
  }
  object->list.len = kept;
  tm_map_release(&map);
  return 1;
}

static const yajl_callbacks callbacks = {
  .yajl_null = on_null,
  .yajl_boolean = on_bool,
  .yajl_number = on_number,
  .yajl_string = on_string,
  .yajl_map_key = on_key,
  .yajl_start_map = on_object,
  .yajl_end_map = on_object_end,
  .yajl_start_array = on_array,
  .yajl_end_array = on_array_end,
};

/* The code unit of a "\uXXXX" at s, or -1. */
static int unit_at(const char *s, const char *end)
{
  int unit = 0;
  if (end - s < 6 || s[0] != '\\' || s[1] != 'u')
    return -1;
  for (int i = 2; i < 6; i++) {
    char c = s[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

/* The text with every half of a pair replaced by \uFFFD. It has the same length, so positions stay
 * valid. NULL if there is none. To free(). */
static char *mend_surrogates(const char *text, size_t len)
{
  char *mended = NULL;
  const char *end = text + len;
  for (const char *at = text; (at = memchr(at, '\\', (size_t)(end - at))) != NULL;) {
    int unit = unit_at(at, end);
    bool is_high = unit >= 0xD800 && unit < 0xDC00;
    bool is_low = unit >= 0xDC00 && unit < 0xE000;
    int next = is_high ? unit_at(at + 6, end) : -1;
    if (is_high && next >= 0xDC00 && next < 0xE000) {
      at += 12;
    } else if (is_high || is_low) {
      if (!mended)
        mended = tm_xstrndup(text, len);
      memcpy(mended + (at - text), "\\uFFFD", 6);
      at += 6;
    } else {
      at += end - at < 2 ? 1 : 2;
    }
  }
  return mended;
}

/* yajl's message ends in a line break, and its prefix "parse error:" does not help a user. */
static void set_words(struct parse *p, yajl_handle handle)
{
  unsigned char *words = yajl_get_error(handle, 0, NULL, 0);
  const char *colon = strchr((const char *)words, ':');
  const char *what = colon ? colon + 1 + strspn(colon + 1, " ") : (const char *)words;
  tm_err_set(&p->problem, TM_EDAMAGE, "%.*s", (int)strcspn(what, ".\n"), what);
  yajl_free_error(handle, words);
}

static void wrap_place(struct tm_err *err, const char *text, size_t at)
{
  size_t line = 1, start = 0;
  for (size_t i = 0; i < at; i++) {
    if (text[i] == '\n') {
      line++;
      start = i + 1;
    }
  }
  tm_err_wrap(err, "line %zu, column %zu", line, at - start + 1);
}

struct tm_json *tm_json_parse(const char *text, size_t len, struct tm_err *err)
{
  struct parse p = { 0 };
  text = text ? text : ""; /* an empty buffer */
  yajl_alloc_funcs memory = { memory_get, memory_resize, memory_free, NULL };
  char *mended = mend_surrogates(text, len);
  yajl_handle handle = yajl_alloc(&callbacks, &memory, &p);
  tm_require(handle != NULL);

  size_t at = len;
  yajl_status status = yajl_parse(handle, (const unsigned char *)(mended ? mended : text), len);
  if (status == yajl_status_ok)
    status = yajl_complete_parse(handle);
  else
    at = yajl_get_bytes_consumed(handle);
  if (status != yajl_status_ok) {
    if (p.problem.code == 0)
      set_words(&p, handle);
    wrap_place(&p.problem, text, at < len ? at : len);
    tm_err_set(err, p.problem.code, "%s", p.problem.text);
    tm_json_free(p.root);
    p.root = NULL;
  }
  free(p.key);
  free(mended);
  yajl_free(handle);
  return p.root;
}

struct tm_json *tm_json_of(const char *text)
{
  return text ? tm_json_parse(text, strlen(text), NULL) : NULL;
}

void tm_json_library(struct tm_buf *out)
{
  int v = yajl_version();
  tm_buf_printf(out, "yajl %d.%d.%d", v / 10000, v / 100 % 100, v % 100);
}
