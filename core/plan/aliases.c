/* aliases.c - see aliases.h. */
#include "plan/aliases.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const struct tm_alias aliases[] = {
  { "max_concurrency_per_instance", NULL, "process_count_per_node", 0, 0 },
  { "append_row_to", NULL, "append_row_file_name", 0, 0 },
  { "mini_batch_error_threshold", NULL, "allowed_failed_count", 0, -1 },
  { "retry_settings", "max_retries", "run_max_try", 1, 0 },
  { "retry_settings", "timeout", "run_invocation_timeout", 0, 0 },
  { "instance_count", NULL, "node_count", 0, 0 },
  { "resources", "instance_count", "node_count", 0, 0 },
};

bool tm_alias_has(const char *key)
{
  for (size_t i = 0; i < TM_COUNT_OF(aliases); i++)
    if (strcmp(aliases[i].key, key) == 0)
      return true;
  return false;
}

const struct tm_alias *tm_alias_at(size_t i)
{
  return i < TM_COUNT_OF(aliases) ? &aliases[i] : NULL;
}

void tm_alias_add_name(struct tm_buf *out, const struct tm_alias *a)
{
  tm_buf_printf(out, "%s%s%s", a->key, a->member ? "." : "", a->member ? a->member : "");
}

bool tm_aliases_explain(struct tm_buf *out, const char *key)
{
  size_t before = out->len;
  for (size_t i = 0; i < TM_COUNT_OF(aliases); i++) {
    const struct tm_alias *a = &aliases[i];
    if (strcmp(a->key, key) != 0)
      continue;
    tm_buf_add_str(out, out->len > before ? "; '" : "in ParallelRunConfig, '");
    tm_alias_add_name(out, a);
    tm_buf_printf(out, "' is called '%s' here%s", a->field,
                  a->add ? ", and counts the first try, too" : "");
  }
  return out->len > before;
}

const struct tm_json *tm_alias_given(const struct tm_alias *a, const struct tm_json *config)
{
  const struct tm_json *v = tm_json_get(config, a->key);
  return a->member ? tm_json_get(v, a->member) : v;
}

const struct tm_alias *tm_alias_find(const struct tm_json *config, const char *field,
                                     const struct tm_json **given)
{
  for (size_t i = 0; i < TM_COUNT_OF(aliases); i++) {
    *given = strcmp(aliases[i].field, field) == 0 ? tm_alias_given(&aliases[i], config) : NULL;
    if (*given)
      return &aliases[i];
  }
  return NULL;
}

/* Digits in a string count as a number, here as everywhere. */
static bool is_number(const struct tm_json *v, int64_t *out)
{
  if (v->type == TM_JSON_INT)
    *out = v->integer;
  return v->type == TM_JSON_INT ||
         (v->type == TM_JSON_STRING && !v->tag && tm_text_int(v->string.at, out));
}

struct tm_json *tm_alias_value(const struct tm_alias *a, const struct tm_json *given)
{
  int64_t n;
  bool is_plain = (a->add == 0 && a->none == 0) || !is_number(given, &n);
  if (is_plain)
    return tm_json_copy(given);
  return a->none != 0 && n == a->none ? NULL : tm_json_new_int(n + a->add);
}

void tm_aliases_note(const struct tm_json *config, struct tm_step *s)
{
  for (size_t i = 0; i < TM_COUNT_OF(aliases); i++) {
    const struct tm_alias *a = &aliases[i];
    struct tm_buf name = TM_BUF_NONE;
    if (!tm_alias_given(a, config))
      continue;
    tm_alias_add_name(&name, a);
    tm_step_note(s, TM_INFO, "'%s' is called '%s' here%s", name.data, a->field,
                 a->add ? ", and counts the first try, too" : "");
    tm_buf_release(&name);
  }
}
