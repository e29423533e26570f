/* source.c - see source.h. A record is hostile: unpacking validates everything and recurses no
 * deeper than the parser did.
 */
#include "snapshot/source.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define MARK      "$"
#define BYTES     "bytes"
#define DEPTH_MAX 40 /* a tagged object takes two levels, and the parser reads 100 */

static struct tm_json *pack(const struct tm_json *v, int depth);

/* Packing. */

static bool is_empty(const struct tm_json *v)
{
  bool is_list = v && (v->type == TM_JSON_ARRAY || v->type == TM_JSON_OBJECT);
  return !v || v->type == TM_JSON_NULL || (is_list && !v->tag && v->list.len == 0);
}

/* Values of environment variables are often passwords. */
static bool has_secrets(const struct tm_json *v)
{
  return v->tag && strcmp(v->tag, "ParallelRunConfig") == 0 &&
         (!is_empty(tm_json_get(v, "environment_variables")) ||
          !is_empty(tm_json_get(tm_json_get(v, "environment"), "variables")));
}

static struct tm_json *pack_bytes(const struct tm_json *v)
{
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf hex = TM_BUF_NONE;
  for (size_t i = 0; i < v->string.len; i++)
    tm_buf_printf(&hex, "%02x", (unsigned char)v->string.at[i]);
  tm_json_set(out, MARK, tm_json_new_string(BYTES));
  tm_json_set(out, "hex", tm_json_new_string(tm_buf_str(&hex)));
  tm_buf_release(&hex);
  return out;
}

/* A list of `convert`'s results for the members. NULL if one of them is. */
static struct tm_json *convert_members(const struct tm_json *v, int depth,
                                       struct tm_json *(*convert)(const struct tm_json *, int))
{
  struct tm_json *out = tm_json_new(v->type);
  for (size_t i = 0; i < v->list.len; i++) {
    struct tm_json *member = convert(v->list.at[i], depth + 1);
    if (!member) {
      tm_json_free(out);
      return NULL;
    }
    if (v->type == TM_JSON_ARRAY)
      tm_json_add(out, member);
    else
      tm_json_set(out, v->keys[i], member);
  }
  return out;
}

static struct tm_json *pack_list(const struct tm_json *v, int depth)
{
  if (depth == DEPTH_MAX || has_secrets(v) || (!v->tag && tm_json_get(v, MARK)))
    return NULL;
  struct tm_json *members = convert_members(v, depth, pack);
  if (!members || !v->tag)
    return members;
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(out, MARK, tm_json_new_string(v->tag));
  tm_json_set_text(out, "where", v->where);
  if (v->id)
    tm_json_set(out, "id", tm_json_new_int(v->id));
  tm_json_set(out, "is", members);
  return out;
}

static struct tm_json *pack(const struct tm_json *v, int depth)
{
  switch (v->type) {
  case TM_JSON_STRING:
    return tm_text_is_utf8(v->string.at, v->string.len) ? tm_json_copy(v) : pack_bytes(v);
  case TM_JSON_NUMBER: return isfinite(v->number) ? tm_json_copy(v) : NULL;
  case TM_JSON_ARRAY:
  case TM_JSON_OBJECT: return pack_list(v, depth);
  default: return tm_json_copy(v);
  }
}

struct tm_json *tm_source_pack(const struct tm_json *tree)
{
  return tree ? pack(tree, 0) : NULL;
}

/* Unpacking. */

static int digit(char c)
{
  return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static struct tm_json *unpack_bytes(const struct tm_json *v)
{
  const char *hex = tm_json_str(v, "hex", "");
  size_t n = strlen(hex);
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_json *out = NULL;
  if (n % 2 == 0 && strspn(hex, "0123456789abcdef") == n) {
    for (size_t i = 0; i < n; i += 2)
      tm_buf_add_char(&bytes, (char)(digit(hex[i]) * 16 + digit(hex[i + 1])));
    out = tm_json_new_bytes(tm_buf_str(&bytes), n / 2);
  }
  tm_buf_release(&bytes);
  return out;
}

static struct tm_json *unpack(const struct tm_json *v, int depth)
{
  return tm_source_unpack(v);
}

static struct tm_json *unpack_tagged(const struct tm_json *v)
{
  const char *tag = tm_json_str(v, MARK, NULL);
  const struct tm_json *members = tm_json_get(v, "is");
  if (tag && strcmp(tag, BYTES) == 0)
    return unpack_bytes(v);
  if (!tag || !members || (members->type != TM_JSON_ARRAY && members->type != TM_JSON_OBJECT))
    return NULL;
  struct tm_json *out = convert_members(members, 0, unpack);
  if (!out)
    return NULL;
  out->tag = tm_xstrdup(tag);
  out->where = tm_xstrdup(tm_json_str(v, "where", NULL));
  out->id = tm_json_int(v, "id", 0);
  return out;
}

struct tm_json *tm_source_unpack(const struct tm_json *packed)
{
  if (!packed || (packed->type != TM_JSON_ARRAY && packed->type != TM_JSON_OBJECT))
    return tm_json_copy(packed);
  return tm_json_get(packed, MARK) ? unpack_tagged(packed) : convert_members(packed, 0, unpack);
}
