/* parameters.c - the PipelineParameters of a pipeline, and their values at this submission.
 *
 * A parameter is identified by its name wherever it appears, so one name has one default: two would
 * make --param ambiguous. The default determines which values are valid: given.c.
 */
#include "plan/parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "base/mem.h"
#include "base/text.h"
#include "plan/given.h"
#include "params/params.h"
#include "plan/params_check.h"

/* The first place of each parameter, beside its default; and whether a text with a unit is accepted
 * wherever it stands, as "1KB" of mini_batch_size. */
struct collector {
  struct tm_json *defaults, *places, *units; /* objects by name */
  struct tm_err *err;
};

static int refuse_two(const struct tm_json *v, const char *name, const struct collector *c)
{
  struct tm_buf first = TM_BUF_NONE, second = TM_BUF_NONE;
  tm_params_describe(&first, tm_json_get(c->defaults, name));
  tm_params_describe(&second, tm_json_get(v, "default_value"));
  const char *place = tm_json_str(c->places, name, NULL);
  tm_err_set(c->err, TM_EUSAGE,
             "'%s' has the default %s here and %s %s%s; accepted: one default for one name", name,
             second.data, first.data, place ? "at " : "elsewhere", place ? place : "");
  tm_buf_release(&first);
  tm_buf_release(&second);
  return tm_params_locate("PipelineParameter", v, c->err);
}

static bool is_parameter(const struct tm_json *v)
{
  return v->tag && strcmp(v->tag, "PipelineParameter") == 0;
}

static int collect(struct collector *c, const struct tm_json *v, bool takes_unit);

static int collect_one(struct collector *c, const struct tm_json *v, bool takes_unit)
{
  if (tm_params_check("PipelineParameter", v, c->err) < 0)
    return TM_EUSAGE;
  const char *name = tm_json_str(v, "name", "");
  tm_json_set(c->units, name, tm_json_new_bool(takes_unit && tm_json_bool(c->units, name, true)));
  const struct tm_json *value = tm_json_get(v, "default_value"),
                       *known = tm_json_get(c->defaults, name);
  if (known && !tm_json_is_equal(known, value))
    return refuse_two(v, name, c);
  if (known)
    return 0;
  tm_json_set(c->defaults, name, tm_json_copy(value));
  tm_json_set(c->places, name, tm_json_new_string(v->where));
  return collect(c, value, false); /* a dataset may have a parameter in its path */
}

/* Whether the member is a setting that is a number or a text with a unit. */
static bool is_with_unit(const struct tm_json *owner, size_t i)
{
  const struct tm_field *f = owner->type == TM_JSON_OBJECT && owner->tag
                                 ? tm_params_find(owner->tag, owner->keys[i])
                                 : NULL;
  return f && (f->type == TM_FIELD_AMOUNT || f->type == TM_FIELD_SECONDS);
}

static int collect(struct collector *c, const struct tm_json *v, bool takes_unit)
{
  if (is_parameter(v))
    return collect_one(c, v, takes_unit);
  bool has_members = v->type == TM_JSON_ARRAY || v->type == TM_JSON_OBJECT;
  for (size_t i = 0; has_members && i < v->list.len; i++) {
    int rc = collect(c, v->list.at[i], is_with_unit(v, i));
    if (rc < 0)
      return rc;
  }
  return 0;
}

static int refuse_unknown(const struct tm_json *defaults, const struct tm_param *p,
                          struct tm_err *err)
{
  const char *nearest =
      tm_text_nearest(p->name, (const char *const *)defaults->keys, defaults->list.len);
  if (nearest)
    tm_err_set(err, TM_EUSAGE, "the pipeline has no parameter '%s'; did you mean '%s'?", p->name,
               nearest);
  else if (defaults->list.len == 0)
    tm_err_set(err, TM_EUSAGE,
               "the pipeline has no parameter '%s', nor any other; "
               "a value becomes one with PipelineParameter { name, default_value }",
               p->name);
  else {
    struct tm_buf all = TM_BUF_NONE;
    for (size_t i = 0; i < defaults->list.len; i++)
      tm_buf_printf(&all, "%s'%s'", i ? ", " : "", defaults->keys[i]);
    tm_err_set(err, TM_EUSAGE, "the pipeline has no parameter '%s'; it has: %s", p->name, all.data);
    tm_buf_release(&all);
  }
  return TM_EUSAGE;
}

/* `where`: file:line of the parameter, or NULL. */
static int refuse_value(const char *where, struct tm_err *err)
{
  char *text = where ? tm_xprintf("%s (%s)", err->text, where) : NULL;
  if (text)
    tm_err_set(err, err->code, "%s", text);
  free(text);
  return TM_EUSAGE;
}

/* A text for a parameter whose default is a number, where each of its places reads units; the
 * settings check it. */
static struct tm_json *read_with_unit(const struct collector *c, const struct tm_json *otherwise,
                                      const struct tm_param *given)
{
  bool is_number = otherwise->type == TM_JSON_INT || otherwise->type == TM_JSON_NUMBER;
  const char *text = !given->tree                          ? given->value
                     : given->tree->type == TM_JSON_STRING ? given->tree->string.at
                                                           : NULL;
  double number;
  bool has_unit = text && is_number && tm_json_bool(c->units, given->name, false) &&
                  !tm_text_number(text, &number);
  return has_unit ? tm_json_new_string(text) : NULL;
}

static int give(struct tm_values *p, const struct tm_json *defaults, const struct collector *c,
                const struct tm_param *given, const char *base_dir, struct tm_err *err)
{
  const struct tm_json *otherwise = tm_json_get(defaults, given->name);
  if (!otherwise && given->is_optional)
    return 0;
  if (!otherwise)
    return refuse_unknown(defaults, given, err);
  struct tm_json *value = read_with_unit(c, otherwise, given);
  if (!value)
    value = tm_given_read(otherwise, given, base_dir, err);
  if (!value)
    return refuse_value(tm_json_str(c->places, given->name, NULL), err);
  tm_json_set(p->by_name, given->name, value);
  tm_json_set(p->origins, given->name, tm_json_new_string(given->origin ? given->origin : "given"));
  return 0;
}

int tm_values_init(struct tm_values *p, const struct tm_json *v, const struct tm_param *params,
                   size_t params_len, const char *base_dir, struct tm_err *err)
{
  struct collector c = { tm_json_new(TM_JSON_OBJECT), tm_json_new(TM_JSON_OBJECT),
                         tm_json_new(TM_JSON_OBJECT), err };
  p->by_name = c.defaults;
  p->origins = tm_json_new(TM_JSON_OBJECT);
  int rc = collect(&c, v, false);
  /* a name may be given twice: the last one counts, with the default's type */
  struct tm_json *defaults = tm_json_copy(c.defaults);
  for (size_t i = 0; i < params_len && rc == 0; i++)
    if ((rc = give(p, defaults, &c, &params[i], base_dir, err)) < 0 && params[i].file)
      tm_err_wrap(err, "%s", params[i].file);
  tm_json_free(defaults);
  tm_json_free(c.places);
  tm_json_free(c.units);
  return rc;
}

void tm_values_release(struct tm_values *p)
{
  tm_json_free(p->by_name);
  tm_json_free(p->origins);
  p->by_name = p->origins = NULL;
}

const struct tm_json *tm_values_find(const struct tm_values *p, const struct tm_json *parameter)
{
  return tm_json_get(p->by_name, tm_json_str(parameter, "name", ""));
}

static bool is_of_parameter(const struct tm_json *v)
{
  const struct tm_json *parameter = tm_json_get(v, "parameter");
  return v->tag && strstr(v->tag, "Dataset") && parameter && is_parameter(parameter);
}

/* The dataset of the parameter, with name and place from `v`. */
static struct tm_json *put_dataset(const struct tm_values *p, const struct tm_json *v)
{
  struct tm_json *out = tm_values_put(p, tm_json_get(v, "parameter"));
  for (size_t i = 0; out->type == TM_JSON_OBJECT && i < v->list.len; i++)
    if (strcmp(v->keys[i], "parameter") != 0)
      tm_json_set(out, v->keys[i], tm_values_put(p, v->list.at[i]));
  free(out->where);
  out->where = tm_xstrdup(v->where);
  return out;
}

struct tm_json *tm_values_put(const struct tm_values *p, const struct tm_json *v)
{
  if (is_of_parameter(v))
    return put_dataset(p, v);
  if (is_parameter(v)) {
    const struct tm_json *value = p ? tm_values_find(p, v) : tm_json_get(v, "default_value");
    return value ? tm_values_put(p, value) : tm_json_new(TM_JSON_NULL);
  }
  if (v->type != TM_JSON_ARRAY && v->type != TM_JSON_OBJECT)
    return tm_json_copy(v);
  struct tm_json *out = tm_json_new(v->type);
  out->tag = tm_xstrdup(v->tag);
  out->where = tm_xstrdup(v->where);
  out->id = v->id;
  for (size_t i = 0; i < v->list.len; i++) {
    struct tm_json *member = tm_values_put(p, v->list.at[i]);
    tm_json_append(out, v->keys ? tm_xstrdup(v->keys[i]) : NULL, member);
  }
  return out;
}

static void add_used(const struct tm_values *p, const struct tm_json *v, struct tm_json *out)
{
  if (is_parameter(v)) {
    const char *name = tm_json_str(v, "name", "");
    const struct tm_json *value = tm_values_find(p, v);
    if (!value || tm_json_get(out, name))
      return;
    struct tm_json *used = tm_json_set(out, name, tm_json_new(TM_JSON_OBJECT));
    tm_json_set(used, "value", tm_values_put(p, value));
    tm_json_set(used, "origin", tm_json_new_string(tm_json_str(p->origins, name, "default")));
    add_used(p, value, out);
    return;
  }
  bool has_members = v->type == TM_JSON_ARRAY || v->type == TM_JSON_OBJECT;
  for (size_t i = 0; has_members && i < v->list.len; i++)
    add_used(p, v->list.at[i], out);
}

struct tm_json *tm_values_used(const struct tm_values *p, const struct tm_json *v)
{
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  add_used(p, v, out);
  return out;
}
