/* params_check.c - see params_check.h. names.c answers a key that is not in the table. */
#include "plan/params_check.h"

#include <string.h>

#include "base/mem.h"
#include "plan/aliases.h"
#include "plan/names.h"

/* Checks a PipelineParameter: whether the field allows one, and its default. */
static int check_parameter(const struct tm_field *f, const struct tm_json *given,
                           struct tm_err *err)
{
  struct tm_buf accepted = TM_BUF_NONE;
  tm_params_accepted(&accepted, f);
  const struct tm_json *value = tm_json_get(given, "default_value");
  struct tm_json *settled = NULL;
  if (!(f->flags & TM_FIELD_PARAMETER)) {
    tm_err_set(err, TM_EUSAGE, "'%s' is a PipelineParameter, which it cannot be; accepted: %s",
               f->name, accepted.data);
  } else if (!value) {
    tm_err_set(err, TM_EUSAGE, "'%s' is a PipelineParameter without a default_value", f->name);
  } else {
    settled = tm_params_value(f, value, err);
    if (!settled)
      tm_err_wrap(err, "default_value of PipelineParameter '%s'", tm_json_str(given, "name", ""));
  }
  tm_buf_release(&accepted);
  if (!settled)
    return TM_EUSAGE;
  tm_json_free(settled);
  return 0;
}

int tm_params_check_field(const struct tm_field *f, const struct tm_json *given, struct tm_err *err)
{
  bool is_object = f->type == TM_FIELD_OBJECT || f->type == TM_FIELD_OBJECTS;
  if (!is_object && given->tag && strcmp(given->tag, "PipelineParameter") == 0)
    return check_parameter(f, given, err);
  if (tm_params_is_objects(f, given)) /* unchecked: they are all that `steps` holds */
    return 0;
  struct tm_json *settled = tm_params_value(f, given, err);
  if (!settled) {
    const char *words = tm_names_of_value(given);
    tm_err_append(err, words ? "; " : "");
    tm_err_append(err, words ? words : "");
    return TM_EUSAGE;
  }
  tm_json_free(settled);
  return 0;
}

/* The accepted range is that of our field, shifted by what is added, so that a refusal shows the
 * given value: 'retry_settings.max_retries' is -1; accepted: an integer from 0 on. */
static int check_alias(const struct tm_alias *a, const struct tm_json *given, struct tm_err *err)
{
  struct tm_buf name = TM_BUF_NONE;
  struct tm_field f = *tm_params_find("ParallelRunConfig", a->field);
  tm_alias_add_name(&name, a);
  f.name = name.data;
  f.min = a->none != 0 ? (double)a->none : f.min - (double)a->add;
  int rc = tm_params_check_field(&f, given, err);
  tm_buf_release(&name);
  return rc;
}

/* The tables with aliases have keys of their own. */
static int check_tables(const struct tm_json *config, struct tm_err *err)
{
  static const char *const tables[] = { "retry_settings", "resources" };
  for (size_t i = 0; i < TM_COUNT_OF(tables); i++) {
    const struct tm_json *given = tm_json_get(config, tables[i]);
    if (given && tm_params_check(tables[i], given, err) < 0)
      return TM_EUSAGE;
  }
  return 0;
}

static int check_aliases(const struct tm_json *config, struct tm_err *err)
{
  if (check_tables(config, err) < 0)
    return TM_EUSAGE;
  const struct tm_alias *a;
  for (size_t i = 0; (a = tm_alias_at(i)) != NULL; i++) {
    const struct tm_json *given = tm_alias_given(a, config);
    if (!given)
      continue;
    if (tm_json_get(config, a->field)) {
      struct tm_buf name = TM_BUF_NONE;
      tm_alias_add_name(&name, a);
      tm_err_set(err, TM_EUSAGE, "'%s' and '%s' are the same setting; accepted: one of them",
                 a->field, name.data);
      tm_buf_release(&name);
      return TM_EUSAGE;
    }
    if (check_alias(a, given, err) < 0)
      return TM_EUSAGE;
  }
  return 0;
}

/* `has_aliases`: the successor's names are accepted, too. */
static int check_fields(const char *kind, const struct tm_field *fields, size_t n,
                        const struct tm_json *v, bool has_aliases, struct tm_err *err)
{
  for (size_t i = 0; i < v->list.len; i++) {
    const struct tm_field *f = NULL;
    for (size_t j = 0; j < n && !f; j++)
      f = strcmp(fields[j].name, v->keys[i]) == 0 ? &fields[j] : NULL;
    if (!f && !(has_aliases && tm_alias_has(v->keys[i])))
      return tm_names_refuse_key(kind, v->keys[i], err);
  }
  for (size_t j = 0; j < n; j++) {
    const struct tm_json *given = tm_json_get(v, fields[j].name);
    if (!given && (fields[j].flags & TM_FIELD_REQUIRED))
      return tm_params_refuse_missing(&fields[j], err);
    if (given && tm_params_check_field(&fields[j], given, err) < 0)
      return TM_EUSAGE;
  }
  return 0;
}

/* A step has either an entry script or a model. */
static int check_script(const struct tm_json *config, struct tm_err *err)
{
  bool has_script = tm_json_get(config, "entry_script"), has_model = tm_json_get(config, "model");
  if (has_script && has_model)
    return tm_err_set(err, TM_EUSAGE,
                      "'entry_script' and 'model' are both given; accepted: one of them. A script "
                      "loads a model itself: require \"tidemill.onnx\"");
  if (!has_script && !has_model)
    return tm_err_set(err, TM_EUSAGE,
                      "'entry_script' is missing; it is required: a path, or 'model' in place of "
                      "it: an ONNX file");
  if (has_model && tm_json_get(config, "source_directory"))
    return tm_err_set(err, TM_EUSAGE,
                      "'source_directory' goes with 'entry_script', not with 'model': files for "
                      "the model's script are 'side_inputs' and 'arguments'");
  return 0;
}

static int check_config(const struct tm_json *config, struct tm_err *err)
{
  int rc = check_script(config, err);
  return rc < 0 ? rc : check_aliases(config, err);
}

/* The form of the table: a constructor's name, or the options of a method, "{ overwrite }". */
static void add_table(struct tm_buf *out, const char *kind, const struct tm_field *fields, size_t n)
{
  if (!strpbrk(kind, ".:")) {
    tm_buf_printf(out, ", %s { name = value, ... }", kind);
    return;
  }
  tm_buf_add_str(out, " {");
  for (size_t i = 0; i < n; i++)
    tm_buf_printf(out, "%s %s", i ? "," : "", fields[i].name);
  tm_buf_add_str(out, " }");
}

int tm_params_check(const char *kind, const struct tm_json *v, struct tm_err *err)
{
  static const struct tm_json nothing = { .type = TM_JSON_OBJECT };
  size_t n;
  const struct tm_field *fields = tm_params_fields(kind, &n);
  if (!fields)
    return tm_err_set(err, TM_EUSAGE, "there is no constructor '%s'", kind);
  const struct tm_json *members = v;
  if (v->type == TM_JSON_ARRAY && v->list.len == 0)
    members = &nothing;                                  /* {} in Lua is either */
  bool is_foreign = v->tag && strcmp(v->tag, kind) != 0; /* Pipeline(step) */
  if (members->type != TM_JSON_OBJECT || is_foreign) {
    struct tm_buf given = TM_BUF_NONE, accepted = TM_BUF_NONE;
    tm_params_describe(&given, v);
    add_table(&accepted, kind, fields, n);
    tm_err_set(err, TM_EUSAGE, "the argument is %s; accepted: a table%s", given.data,
               accepted.data);
    tm_buf_release(&accepted);
    tm_buf_release(&given);
    return tm_params_locate(kind, is_foreign ? NULL : v,
                            err); /* `v` was made at a different line */
  }
  bool is_config = strcmp(kind, "ParallelRunConfig") == 0;
  int rc = check_fields(kind, fields, n, members, is_config, err);
  if (rc == 0 && is_config)
    rc = check_config(members, err);
  return rc < 0 ? tm_params_locate(kind, v, err) : 0;
}
