/* tokenizer_part.c - see tokenizer_part.h. */
#include "data/text/tokenizer_part.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

const char *tm_part_type(const struct tm_json *part)
{
  return tm_json_str(part, "type", "");
}

static int refuse(const char *what, const struct tm_json *part, const char *words, const char *more,
                  struct tm_err *err)
{
  struct tm_buf type = TM_BUF_NONE;
  const char *name = tm_part_type(part);

  tm_text_one_line(&type, name, strlen(name), 60);
  if (*name)
    tm_err_set(err, TM_EINPUT, "%s '%s'%s%s", what, tm_buf_str(&type), words, more);
  else
    tm_err_set(err, TM_EINPUT, "%s without a type%s%s", what, words, more);
  tm_buf_release(&type);
  return TM_EINPUT;
}

int tm_part_refuse_type(const char *what, const struct tm_json *part, const char *known,
                        struct tm_err *err)
{
  return refuse(what, part, " is not supported; these are: ", known, err);
}

int tm_part_refuse(const char *what, const struct tm_json *part, const char *words,
                   struct tm_err *err)
{
  return refuse(what, part, ": ", words, err);
}

static const struct tm_json *value_of(const struct tm_json *part, const char *key)
{
  const struct tm_json *value = tm_json_get(part, key);

  return value && value->type == TM_JSON_NULL ? NULL : value;
}

static unsigned kind_of(const struct tm_json *value)
{
  static const unsigned kinds[] = {
    [TM_JSON_NULL] = TM_PART_NULL,     [TM_JSON_BOOL] = TM_PART_FLAG,
    [TM_JSON_INT] = TM_PART_INTEGER,   [TM_JSON_NUMBER] = TM_PART_NUMBER,
    [TM_JSON_STRING] = TM_PART_TEXT,   [TM_JSON_ARRAY] = TM_PART_LIST,
    [TM_JSON_OBJECT] = TM_PART_OBJECT,
  };

  if (!value)
    return TM_PART_ABSENT;
  return kinds[value->type] | (value->type == TM_JSON_INT ? TM_PART_NUMBER : 0);
}

/* "true or false", "an integer or null" */
static void add_kinds(struct tm_buf *out, unsigned is)
{
  static const struct {
    unsigned kind;
    const char *words;
  } kinds[] = {
    { TM_PART_FLAG, "true or false" }, { TM_PART_INTEGER, "an integer" },
    { TM_PART_NUMBER, "a number" },    { TM_PART_TEXT, "a text" },
    { TM_PART_LIST, "a list" },        { TM_PART_OBJECT, "an object" },
    { TM_PART_NULL, "null" },
  };
  const char *between = "";

  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++) {
    if (!(is & kinds[i].kind))
      continue;
    tm_buf_printf(out, "%s%s", between, kinds[i].words);
    between = " or ";
  }
}

static int refuse_setting(const char *what, const struct tm_json *part, const char *words,
                          struct tm_err *err)
{
  if (*tm_part_type(part))
    return refuse(what, part, ": ", words, err);
  return tm_err_set(err, TM_EINPUT, "%s: %s", what, words);
}

static int refuse_unknown(const char *what, const struct tm_json *part, const char *key,
                          const struct tm_part_setting *settings, size_t n, struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;

  tm_buf_add_str(&words, "the setting '");
  tm_text_one_line(&words, key, strlen(key), 60);
  tm_buf_add_str(&words, n > 0 ? "' is not supported; these are: " : "' is not supported");
  for (size_t i = 0; i < n; i++)
    tm_buf_printf(&words, "%s%s", i > 0 ? ", " : "", settings[i].key);
  int rc = refuse_setting(what, part, words.data, err);
  tm_buf_release(&words);
  return rc;
}

static int check_known(const char *what, const struct tm_json *part,
                       const struct tm_part_setting *settings, size_t n, struct tm_err *err)
{
  for (size_t i = 0; i < part->list.len; i++) {
    size_t k = 0;
    while (k < n && strcmp(part->keys[i], settings[k].key) != 0)
      k++;
    if (k == n && strcmp(part->keys[i], "type") != 0)
      return refuse_unknown(what, part, part->keys[i], settings, n, err);
  }
  return 0;
}

int tm_part_check(const char *what, const struct tm_json *part,
                  const struct tm_part_setting *settings, size_t n, struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;

  if (!part || part->type != TM_JSON_OBJECT)
    return tm_err_set(err, TM_EINPUT, "%s: it must be an object", what);
  int rc = check_known(what, part, settings, n, err);
  for (size_t i = 0; rc == 0 && i < n; i++) {
    unsigned kind = kind_of(tm_json_get(part, settings[i].key));
    if (kind & settings[i].is)
      continue;
    tm_buf_printf(&words, "the setting '%s' ", settings[i].key);
    tm_buf_add_str(&words, kind == TM_PART_ABSENT ? "is missing: it must be " : "must be ");
    add_kinds(&words, settings[i].is);
    rc = refuse_setting(what, part, words.data, err);
  }
  tm_buf_release(&words);
  return rc;
}

bool tm_part_is_on(const struct tm_json *part, const char *key)
{
  return tm_json_bool(part, key, false);
}

bool tm_part_is_blank(const struct tm_json *part, const char *key)
{
  const struct tm_json *value = value_of(part, key);

  return !value || (value->type == TM_JSON_STRING && value->string.len == 0);
}

int tm_part_each(const char *what, const struct tm_json *part, const char *key,
                 int (*take)(void *context, const struct tm_json *part, struct tm_err *err),
                 void *context, struct tm_err *err)
{
  if (!part || part->type == TM_JSON_NULL)
    return 0;
  if (strcmp(tm_part_type(part), "Sequence") != 0)
    return take(context, part, err);
  const struct tm_part_setting settings[] = { { key, TM_PART_LIST } };
  const struct tm_json *parts = tm_json_get(part, key);
  int rc = tm_part_check(what, part, settings, 1, err);
  for (size_t i = 0; rc == 0 && i < tm_json_items(parts); i++)
    rc = tm_part_each(what, parts->list.at[i], key, take, context, err);
  return rc;
}
