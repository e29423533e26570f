/* resume.c - compares two records of a step by the table of parameters.
 *
 * Everything that determines the content of the output (script, inputs, arguments, splits, form of
 * the output) must be the same, or one file would hold rows of two definitions. Everything that
 * only affects how it is run (processes, timeouts, tries, thresholds, logs, variables) may change;
 * params.c has the flags. A parameter missing in one record, because a later version added it,
 * counts with its default.
 */
#include "snapshot/resume.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "params/params.h"

#define SHOWN_MAX 160 /* bytes of a value */

static char *show(const struct tm_json *v)
{
  struct tm_buf json = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_json_style style = { .sorted = true };
  if (!v || v->type == TM_JSON_NULL)
    return tm_xstrdup("none");
  tm_json_write(&json, v, style);
  tm_text_one_line(&out, json.data, json.len, SHOWN_MAX);
  tm_buf_release(&json);
  return tm_buf_take(&out);
}

/* Only the names of variables; their values are not in the record. */
static char *show_variables(const struct tm_json *v)
{
  return show(tm_json_get(v, "names"));
}

/* The same for an environment, with its folders. */
static char *show_environment(const struct tm_json *v)
{
  char *names, *paths, *out;
  if (!v)
    return show(NULL);
  names = show_variables(tm_json_get(v, "variables"));
  paths = show(tm_json_get(v, "module_paths"));
  out = tm_xprintf("variables %s, module_paths %s", names, paths);
  free(names);
  free(paths);
  return out;
}

static char *show_setting(const struct tm_field *f, const struct tm_json *v)
{
  switch (f->type) {
  case TM_FIELD_VARIABLES: return show_variables(v);
  case TM_FIELD_ENVIRONMENT: return show_environment(v);
  default: return show(v);
  }
}

static void add(struct tm_changes *out, const char *key, char *before, char *now, bool is_allowed,
                const struct tm_field *field)
{
  struct tm_change *change = TM_ARRAY_ADD(out);
  change->key = tm_xstrdup(key);
  change->before = before;
  change->now = now;
  change->is_allowed = is_allowed;
  change->field = field;
  change->what = NULL;
}

static bool is_same(const struct tm_json *a, const struct tm_json *b)
{
  bool no_a = !a || a->type == TM_JSON_NULL, no_b = !b || b->type == TM_JSON_NULL;
  return no_a || no_b ? no_a == no_b : tm_json_is_equal(a, b);
}

static void compare_setting(const struct tm_field *f, const struct tm_json *before,
                            const struct tm_json *now, struct tm_changes *out)
{
  const struct tm_json *old_value = tm_json_get(tm_json_get(before, f->name), "value");
  const struct tm_json *new_value = tm_json_get(tm_json_get(now, f->name), "value");
  struct tm_json *otherwise = tm_params_default(f);
  old_value = old_value ? old_value : otherwise;
  new_value = new_value ? new_value : otherwise;
  bool is_allowed = f->flags & TM_FIELD_CHANGEABLE;
  if (!(f->flags & TM_FIELD_AT_FIRST) && !is_same(old_value, new_value)) {
    bool is_secret = f->type == TM_FIELD_VARIABLES || f->type == TM_FIELD_ENVIRONMENT;
    char *was = show_setting(f, old_value);
    char *is = show_setting(f, new_value);
    if (is_secret && strcmp(was, is) == 0) {
      free(is);
      is = tm_xprintf("%s, with other values", was);
    }
    add(out, f->name, was, is, is_allowed, f);
  }
  tm_json_free(otherwise);
}

static void compare_member(const char *member, const char *key, bool is_allowed,
                           const struct tm_json *before, const struct tm_json *now,
                           struct tm_changes *out)
{
  const struct tm_json *old_value = tm_json_get(before, member),
                       *new_value = tm_json_get(now, member);
  if (!is_same(old_value, new_value))
    add(out, key, show(old_value), show(new_value), is_allowed, NULL);
}

static const struct tm_json *element(const struct tm_json *list, size_t i)
{
  return list && i < list->list.len ? list->list.at[i] : NULL;
}

static void compare_nested(const char *key, bool is_allowed, const struct tm_json *before,
                           const struct tm_json *now, struct tm_changes *out);

/* Datasets of two kinds differ in most members, which says no more than the kinds and paths. */
static bool is_needless(const struct tm_json *before, const struct tm_json *now, const char *member)
{
  const struct tm_json *old_kind = tm_json_get(before, "kind"), *kind = tm_json_get(now, "kind");
  return old_kind && kind && !tm_json_is_equal(old_kind, kind) && strcmp(member, "kind") != 0 &&
         strcmp(member, "paths") != 0;
}

static void compare_objects(const char *key, bool is_allowed, const struct tm_json *before,
                            const struct tm_json *now, struct tm_changes *out)
{
  for (int is_new = 0; is_new < 2; is_new++) {
    const struct tm_json *v = is_new ? now : before;
    for (size_t i = 0; i < v->list.len; i++) {
      const char *member = v->keys[i];
      char *name = tm_xprintf("%s.%s", key, member);
      if (!is_needless(before, now, member) && (!is_new || !tm_json_get(before, member)))
        compare_nested(name, is_allowed, tm_json_get(before, member), tm_json_get(now, member),
                       out);
      free(name);
    }
  }
}

static void compare_lists(const char *key, bool is_allowed, const struct tm_json *before,
                          const struct tm_json *now, struct tm_changes *out)
{
  size_t n = before->list.len > now->list.len ? before->list.len : now->list.len;
  for (size_t i = 0; i < n; i++) {
    bool is_only = n == 1 && strchr(key, '.'); /* the one path of most datasets */
    char *name = is_only ? tm_xstrdup(key) : tm_xprintf("%s[%zu]", key, i + 1);
    compare_nested(name, is_allowed, element(before, i), element(now, i), out);
    free(name);
  }
}

static bool is_list(const struct tm_json *v)
{
  return v && v->type == TM_JSON_ARRAY;
}

/* Lists of objects are compared element by element; others only if they have the same length, or
 * elements were added or removed at the end. */
static bool can_pair(const struct tm_json *before, const struct tm_json *now)
{
  const struct tm_json *first = element(before, 0) ? element(before, 0) : element(now, 0);
  size_t same = 0;
  while (element(before, same) && element(now, same) &&
         tm_json_is_equal(before->list.at[same], now->list.at[same]))
    same++;
  return before->list.len == now->list.len || (first && first->type == TM_JSON_OBJECT) ||
         same == before->list.len || same == now->list.len;
}

/* A dataset that was added or removed, as its paths. */
static const struct tm_json *brief(const struct tm_json *v)
{
  const struct tm_json *paths = v ? tm_json_get(v, "paths") : NULL;
  return !is_list(paths) ? v : paths->list.len == 1 ? paths->list.at[0] : paths;
}

/* Names the members that differ, such as `inputs[1].paths`. */
static void compare_nested(const char *key, bool is_allowed, const struct tm_json *before,
                           const struct tm_json *now, struct tm_changes *out)
{
  bool are_objects = before && now && before->type == TM_JSON_OBJECT && now->type == TM_JSON_OBJECT;
  if (is_same(before, now))
    return;
  if (are_objects)
    compare_objects(key, is_allowed, before, now, out);
  else if (is_list(before) && is_list(now) && can_pair(before, now))
    compare_lists(key, is_allowed, before, now, out);
  else
    add(out, key, show(before && now ? before : brief(before)),
        show(before && now ? now : brief(now)), is_allowed, NULL);
}

void tm_resume_compare(const struct tm_json *before, const struct tm_json *now,
                       struct tm_changes *out)
{
  size_t n;
  const struct tm_field *fields = tm_params_fields("ParallelRunConfig", &n);
  const struct tm_json *old_settings = tm_json_get(before, "settings"),
                       *new_settings = tm_json_get(now, "settings");
  if (tm_json_get(before, "snapshot_hash") && tm_json_get(now, "snapshot_hash"))
    compare_member("snapshot_hash", "script", false, before, now, out);
  for (size_t i = 0; i < n; i++)
    compare_setting(&fields[i], old_settings, new_settings, out);
  fields = tm_params_fields("arguments", &n);
  for (size_t i = 0; i < n; i++)
    compare_setting(&fields[i], old_settings, new_settings, out);
  compare_nested("inputs", false, tm_json_get(before, "inputs"), tm_json_get(now, "inputs"), out);
  compare_nested("side_inputs", false, tm_json_get(before, "side_inputs"),
                 tm_json_get(now, "side_inputs"), out);
  compare_nested("arguments", false, tm_json_get(before, "arguments"),
                 tm_json_get(now, "arguments"), out);
  compare_nested("outputs", false, tm_json_get(before, "outputs"), tm_json_get(now, "outputs"),
                 out);
  compare_member("working_dir", "working directory", false, before, now, out);
  compare_member("allow_reuse", "allow_reuse", true, before, now, out);
}

int tm_resume_refuse(const char *step, const char *what, struct tm_err *err)
{
  return tm_err_set(err, TM_ECHANGED,
                    "step '%s' has changed since the job was started: %s; put it back, start a new "
                    "job, or resume with `accept_changes`",
                    step, what);
}

int tm_resume_verdict(const struct tm_changes *changes, const char *step, struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;
  bool is_script = false;
  for (size_t i = 0; i < changes->len; i++) {
    const struct tm_change *c = &changes->at[i];
    is_script = is_script || strcmp(c->key, "script") == 0;
    if (c->is_allowed)
      continue;
    tm_buf_add_str(&words, words.len > 0 ? "; " : "");
    if (c->what)
      tm_buf_printf(&words, "%s", c->what);
    else
      tm_buf_printf(&words, "'%s' was %s and is %s", c->key, c->before, c->now);
  }
  if (words.len == 0)
    return 0;
  (void)tm_resume_refuse(step, words.data, err);
  if (is_script)
    tm_err_append(err, ", or with the job's own copy of the script: `keep_script`");
  tm_buf_release(&words);
  return TM_ECHANGED;
}

void tm_changes_release(struct tm_changes *changes)
{
  for (size_t i = 0; i < changes->len; i++) {
    free(changes->at[i].key);
    free(changes->at[i].before);
    free(changes->at[i].now);
    free(changes->at[i].what);
  }
  TM_ARRAY_RELEASE(changes);
}
