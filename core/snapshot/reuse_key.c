/* reuse_key.c - see reuse_key.h. Flags in the table of parameters (params.c) select the
 * settings. */
#include "snapshot/reuse_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "params/params.h"
#include "snapshot/resume.h"

/* "0.1" of "0.1.0", "2" of "2.3.1". */
static struct tm_json *version_class(void)
{
  const char *version = TM_VERSION;
  size_t n = strcspn(version, ".");
  if (version[0] == '0' && version[n] == '.')
    n += 1 + strcspn(version + n + 1, ".");
  char *text = tm_xstrndup(version, n);
  struct tm_json *v = tm_json_new_string(text);
  free(text);
  return v;
}

struct tm_json *tm_reuse_definition(const struct tm_json *effective, const char *snapshot_hash)
{
  struct tm_json *v = tm_json_copy(effective);
  tm_json_set(v, "snapshot_hash", tm_json_new_string(snapshot_hash));
  tm_json_set(v, "program", version_class());
  return v;
}

static bool counts(const struct tm_field *f)
{
  return !(f->flags & TM_FIELD_AT_FIRST) &&
         (!(f->flags & TM_FIELD_CHANGEABLE) || f->flags & TM_FIELD_RESULT);
}

static void add_settings(struct tm_json *out, const char *kind, const struct tm_json *settings)
{
  size_t n;
  const struct tm_field *fields = tm_params_fields(kind, &n);
  for (size_t i = 0; i < n; i++) {
    const struct tm_json *given = tm_json_get(tm_json_get(settings, fields[i].name), "value");
    struct tm_json *value = NULL;
    if (counts(&fields[i]))
      value = given ? tm_json_copy(given) : tm_params_default(&fields[i]);
    if (value)
      tm_json_set(out, fields[i].name, value);
  }
}

static bool is_by_content(const struct tm_json *definition)
{
  return strcmp(tm_json_str(definition, "allow_reuse", ""), "content") == 0;
}

static bool reads_table(const struct tm_json *definition)
{
  static const char *const tables[] = { "delimited", "json_lines", "sql" };
  const struct tm_json *inputs = tm_json_get(definition, "inputs");
  for (size_t i = 0; i < tm_json_items(inputs); i++)
    for (size_t k = 0; k < TM_COUNT_OF(tables); k++)
      if (strcmp(tm_json_str(inputs->list.at[i], "kind", ""), tables[k]) == 0)
        return true;
  return false;
}

/* With returns = "auto", error_threshold decides which rows of a table have failed
 * (step/returns.h), although the key leaves it out. Returns a copy in which the rule that follows
 * from it replaces "auto". */
static struct tm_json *settle_returns(const struct tm_json *definition)
{
  struct tm_json *v = tm_json_copy(definition), *settings = tm_json_get(v, "settings");
  const char *returns = tm_json_str(tm_json_get(settings, "returns"), "value", "auto");
  if (!settings || strcmp(returns, "auto") != 0 || !reads_table(v))
    return v;
  bool tolerates_all = tm_json_int(tm_json_get(settings, "error_threshold"), "value", -1) < 0;
  struct tm_json *rule = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(rule, "value", tm_json_new_string(tolerates_all ? "any" : "rows"));
  tm_json_set(settings, "returns", rule);
  return v;
}

static void add_key(struct tm_buf *text, const struct tm_json *definition)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *settings = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < definition->list.len; i++) {
    const char *key = definition->keys[i];
    bool is_told = strcmp(key, "parameters") == 0; /* their values are in the rest */
    if (!is_told && strcmp(key, "settings") != 0 && strcmp(key, "allow_reuse") != 0)
      tm_json_set(v, key, tm_json_copy(definition->list.at[i]));
  }
  add_settings(settings, "ParallelRunConfig", tm_json_get(definition, "settings"));
  add_settings(settings, "arguments", tm_json_get(definition, "settings"));
  tm_json_set(v, "settings", settings);
  tm_json_set(v, "by_content", tm_json_new_bool(is_by_content(definition)));
  tm_json_write(text, v, (struct tm_json_style) { .sorted = true });
  tm_json_free(v);
}

void tm_reuse_key(const struct tm_json *definition, char out[TM_REUSE_KEY_LEN + 1])
{
  struct tm_json *settled = settle_returns(definition);
  struct tm_buf text = TM_BUF_NONE;
  add_key(&text, settled);
  snprintf(out, TM_REUSE_KEY_LEN + 1, "%016" PRIx64 "%016" PRIx64, tm_hash64(text.data, text.len),
           tm_hash64_seed(text.data, text.len, 1));
  tm_buf_release(&text);
  tm_json_free(settled);
}

/* For a setting the table decides; otherwise, anything that a resumed job may not change counts. */
static bool change_counts(const struct tm_change *c, bool has_failures)
{
  if (!c->field)
    return !c->is_allowed;
  return counts(c->field) || (has_failures && c->field->flags & TM_FIELD_FAILS);
}

static void add_change(struct tm_buf *out, const char *key, const char *before, const char *now)
{
  tm_buf_printf(out, "%s%s %s -> %s", out->len > 0 ? ", " : "", key, before, now);
}

bool tm_reuse_has_script(const struct tm_json *then, const struct tm_json *now)
{
  return strcmp(tm_json_str(then, "snapshot_hash", ""), tm_json_str(now, "snapshot_hash", "")) == 0;
}

bool tm_reuse_compare(struct tm_buf *out, const struct tm_json *then, const struct tm_json *now,
                      const char *script, bool has_failures)
{
  struct tm_buf words = TM_BUF_NONE;
  struct tm_changes changes = { 0 };
  const char *was = tm_json_str(then, "program", "?"), *is = tm_json_str(now, "program", "?");
  struct tm_json *then_settled = settle_returns(then), *now_settled = settle_returns(now);
  bool has_changed;
  tm_resume_compare(then_settled, now_settled, &changes);
  for (size_t i = 0; i < changes.len; i++) {
    const struct tm_change *c = &changes.at[i];
    if (strcmp(c->key, "script") == 0)
      tm_buf_add_str(&words, script ? script : "the script has changed"); /* the first */
    else if (change_counts(c, has_failures))
      add_change(&words, c->key, c->before, c->now);
  }
  if (strcmp(was, is) != 0)
    add_change(&words, "tidemill", was, is);
  if (is_by_content(then) != is_by_content(now))
    add_change(&words, "allow_reuse", is_by_content(then) ? "content" : "true",
               is_by_content(now) ? "content" : "true");
  has_changed = words.len > 0;
  tm_buf_add(out, tm_buf_str(&words), words.len);
  tm_buf_release(&words);
  tm_changes_release(&changes);
  tm_json_free(then_settled);
  tm_json_free(now_settled);
  return has_changed;
}
