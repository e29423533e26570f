/* settle.c - all fields of a constructor at once: tm_params_settle(). */
#include "params/params.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

int tm_params_refuse_missing(const struct tm_field *f, struct tm_err *err)
{
  struct tm_buf accepted = TM_BUF_NONE;
  if (f->flags & TM_FIELD_WORDED)
    return tm_err_set(err, TM_EUSAGE, "%s", f->help);
  tm_params_accepted(&accepted, f);
  tm_err_set(err, TM_EUSAGE, "'%s' is missing; it is required: %s", f->name, accepted.data);
  tm_buf_release(&accepted);
  return TM_EUSAGE;
}

/* 0, or TM_EUSAGE with a message: every key must be in the table. */
static int check_keys(const char *kind, const struct tm_json *given, struct tm_err *err)
{
  const char *names[64], *key = NULL;
  size_t n;
  const struct tm_field *fields = tm_params_fields(kind, &n);
  struct tm_buf word = TM_BUF_NONE;
  for (size_t i = 0; !key && given->type == TM_JSON_OBJECT && i < given->list.len; i++)
    if (!tm_params_find(kind, given->keys[i]))
      key = given->keys[i];
  if (!key)
    return 0;
  n = n < TM_COUNT_OF(names) ? n : TM_COUNT_OF(names);
  for (size_t i = 0; i < n; i++)
    names[i] = fields[i].name;
  const char *nearest = tm_text_nearest(key, names, n);
  tm_text_one_line(&word, key, strlen(key), 80);
  tm_err_set(err, TM_EUSAGE, "unknown key '%s'%s%s%s", tm_buf_str(&word),
             nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  tm_buf_release(&word);
  return TM_EUSAGE;
}

/* {} in Lua is either. */
static int check_form(const char *kind, const struct tm_json *given, struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;
  if (given->type == TM_JSON_OBJECT || (given->type == TM_JSON_ARRAY && given->list.len == 0))
    return 0;
  tm_params_describe(&words, given);
  tm_err_set(err, TM_EUSAGE, "%s: the argument is %s; accepted: a table", kind, tm_buf_str(&words));
  tm_buf_release(&words);
  return TM_EUSAGE;
}

struct tm_json *tm_params_settle(const char *kind, const struct tm_json *given, bool is_full,
                                 struct tm_err *err)
{
  size_t n;
  const struct tm_field *fields = tm_params_fields(kind, &n);
  int rc = check_form(kind, given, err) < 0 ? TM_EUSAGE : check_keys(kind, given, err);
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < n && rc == 0; i++) {
    const struct tm_json *value = tm_json_get(given, fields[i].name);
    struct tm_json *settled = value     ? tm_params_value(&fields[i], value, err)
                              : is_full ? tm_params_default(&fields[i])
                                        : NULL;
    if (settled)
      tm_json_set(out, fields[i].name, settled);
    else if (value)
      rc = TM_EUSAGE;
    else if (fields[i].flags & TM_FIELD_REQUIRED)
      rc = tm_params_refuse_missing(&fields[i], err);
  }
  if (rc == 0)
    return out;
  tm_json_free(out);
  return NULL;
}
