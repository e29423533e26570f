/* parameters.c - the PipelineParameters of a pipeline, and their values at this submission.
 *
 * A parameter is known by its name wherever it stands, so one name has one default: two would make --param mean
 * two things. The default's type is the parameter's type; a value comes from the command line as text and is read as that type.
 */
#include "plan/settings.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/params.h"

/* The first place of each parameter, beside its default. */
struct collector {
  struct tm_json *defaults, *places; /* objects by name */
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
  return tm_params_place("PipelineParameter", v, c->err);
}

static int collect_one(struct collector *c, const struct tm_json *v)
{
  if (tm_params_check("PipelineParameter", v, c->err) < 0)
    return TM_EUSAGE;
  const char *name = tm_json_str(v, "name", "");
  const struct tm_json *value = tm_json_get(v, "default_value"),
                       *known = tm_json_get(c->defaults, name);
  if (known && !tm_json_is_equal(known, value))
    return refuse_two(v, name, c);
  if (!known) {
    tm_json_set(c->defaults, name, tm_json_copy(value));
    tm_json_set(c->places, name, tm_json_new_string(v->where));
  }
  return 0;
}

static int collect(struct collector *c, const struct tm_json *v)
{
  if (v->tag && strcmp(v->tag, "PipelineParameter") == 0)
    return collect_one(c, v);
  bool has_members = v->type == TM_JSON_ARRAY || v->type == TM_JSON_OBJECT;
  for (size_t i = 0; has_members && i < v->list.len; i++) {
    int rc = collect(c, v->list.at[i]);
    if (rc < 0)
      return rc;
  }
  return 0;
}

static struct tm_json *read_number(const char *text)
{
  int64_t integer;
  double number;
  if (tm_text_int(text, &integer))
    return tm_json_new_int(integer);
  return tm_text_number(text, &number) ? tm_json_new_number(number) : NULL;
}

static struct tm_json *read_bool(const char *text)
{
  if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
    return tm_json_new_bool(*text == 't');
  return NULL;
}

/* `text` as a value of the default's type, or NULL and words. */
static struct tm_json *read_as(const struct tm_json *otherwise, const struct tm_param *p,
                               struct tm_err *err)
{
  if (otherwise->type == TM_JSON_STRING)
    return tm_json_new_string(p->value);
  bool is_bool = otherwise->type == TM_JSON_BOOL;
  struct tm_json *v = is_bool ? read_bool(p->value) : read_number(p->value);
  if (!v) {
    struct tm_buf said = TM_BUF_NONE, given = TM_BUF_NONE;
    tm_params_describe(&said, otherwise);
    tm_text_one_line(&given, p->value, strlen(p->value), 80);
    tm_err_set(err, TM_EUSAGE, "parameter '%s' is \"%s\"; accepted: %s, as its default %s", p->name,
               tm_buf_str(&given), is_bool ? "true or false" : "a number", said.data);
    tm_buf_release(&said);
    tm_buf_release(&given);
  }
  return v;
}

static int refuse_unknown(const struct tm_json *defaults, const char *name, struct tm_err *err)
{
  const char *nearest =
      tm_text_nearest(name, (const char *const *)defaults->keys, defaults->list.len);
  if (nearest)
    return tm_err_set(err, TM_EUSAGE, "the pipeline has no parameter '%s'; did you mean '%s'?",
                      name, nearest);
  if (defaults->list.len == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "the pipeline has no parameter '%s', nor any other; "
                      "a value becomes one with PipelineParameter { name, default_value }",
                      name);
  struct tm_buf all = TM_BUF_NONE;
  for (size_t i = 0; i < defaults->list.len; i++)
    tm_buf_printf(&all, "%s'%s'", i ? ", " : "", defaults->keys[i]);
  tm_err_set(err, TM_EUSAGE, "the pipeline has no parameter '%s'; it has: %s", name, all.data);
  tm_buf_release(&all);
  return TM_EUSAGE;
}

int tm_values_init(struct tm_values *p, const struct tm_json *v, const struct tm_param *params,
                   size_t params_len, struct tm_err *err)
{
  struct collector c = { tm_json_new(TM_JSON_OBJECT), tm_json_new(TM_JSON_OBJECT), err };
  p->by_name = c.defaults;
  struct tm_json *defaults = NULL;
  int rc = collect(&c, v);
  if (rc < 0)
    goto done;
  defaults = tm_json_copy(
      c.defaults); /* a name may be given twice: the last holds, by the default's type */
  for (size_t i = 0; i < params_len && rc == 0; i++) {
    const struct tm_json *otherwise = tm_json_get(defaults, params[i].name);
    if (!otherwise) {
      rc = refuse_unknown(defaults, params[i].name, err);
      break;
    }
    struct tm_json *value = read_as(otherwise, &params[i], err);
    if (value)
      tm_json_set(p->by_name, params[i].name, value);
    else
      rc = TM_EUSAGE;
  }
done:
  tm_json_free(defaults);
  tm_json_free(c.places);
  return rc;
}

void tm_values_release(struct tm_values *p)
{
  tm_json_free(p->by_name);
  p->by_name = NULL;
}

const struct tm_json *tm_values_find(const struct tm_values *p, const struct tm_json *parameter)
{
  return tm_json_get(p->by_name, tm_json_str(parameter, "name", ""));
}
