/* given.c - see given.h. */
#include "plan/given.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/datasets.h"
#include "plan/params.h"

static bool is_text(const struct tm_json *v)
{
  return v && v->type == TM_JSON_STRING && strlen(v->string.at) == v->string.len;
}

static bool is_dataset(const struct tm_json *v)
{
  return v->tag && (strcmp(v->tag, "FileDataset") == 0 || strcmp(v->tag, "TabularDataset") == 0);
}

static const char *accepted(const struct tm_json *otherwise)
{
  switch (otherwise->type) {
  case TM_JSON_STRING: return "a string";
  case TM_JSON_BOOL: return "true or false";
  case TM_JSON_OBJECT: return "a path, a list of paths, or a dataset of the same type";
  default: return "a number";
  }
}

static int refuse(const struct tm_json *otherwise, const struct tm_param *p,
                  const struct tm_json *given, struct tm_err *err)
{
  struct tm_buf said = TM_BUF_NONE, is = TM_BUF_NONE;
  tm_params_describe(&said, otherwise);
  tm_params_describe(&is, given);
  tm_err_set(err, TM_EUSAGE, "parameter '%s' is %s; accepted: %s, as its default %s", p->name,
             is.data, accepted(otherwise), said.data);
  tm_buf_release(&said);
  tm_buf_release(&is);
  return TM_EUSAGE;
}

static struct tm_json *read_number(const struct tm_json *given)
{
  int64_t integer;
  double number;
  if (given->type == TM_JSON_INT || given->type == TM_JSON_NUMBER)
    return tm_json_copy(given);
  if (!is_text(given))
    return NULL;
  if (tm_text_int(given->string.at, &integer))
    return tm_json_new_int(integer);
  return tm_text_number(given->string.at, &number) ? tm_json_new_number(number) : NULL;
}

static struct tm_json *read_bool(const struct tm_json *given)
{
  if (given->type == TM_JSON_BOOL)
    return tm_json_copy(given);
  if (is_text(given) &&
      (strcmp(given->string.at, "true") == 0 || strcmp(given->string.at, "false") == 0))
    return tm_json_new_bool(*given->string.at == 't');
  return NULL;
}

static bool are_paths(const struct tm_json *given)
{
  bool is_good = given->type == TM_JSON_ARRAY && given->list.len > 0 && !given->tag;
  for (size_t i = 0; is_good && i < given->list.len; i++)
    is_good = is_text(given->list.at[i]);
  return is_good || is_text(given);
}

/* The default with other paths. Which version of a registered dataset it was says nothing of them. */
static struct tm_json *with_paths(const struct tm_json *otherwise, const struct tm_json *paths,
                                  const char *base_dir)
{
  static const char *const replaced[] = { "paths", "base_dir", "registered", "version",
                                          "workspace" };
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  out->tag = tm_xstrdup(otherwise->tag);
  out->where = tm_xstrdup(otherwise->where);
  for (size_t i = 0; i < otherwise->list.len; i++) {
    bool stays = true;
    for (size_t k = 0; k < TM_COUNT_OF(replaced); k++)
      stays = stays && strcmp(otherwise->keys[i], replaced[k]) != 0;
    if (stays)
      tm_json_set(out, otherwise->keys[i], tm_json_copy(otherwise->list.at[i]));
  }
  tm_json_set(out, "paths", tm_json_copy(paths));
  if (base_dir)
    tm_json_set(out, "base_dir", tm_json_new_string(base_dir));
  return out;
}

/* A dataset, with its tag or as a record has it. */
static struct tm_json *read_dataset(const struct tm_json *otherwise, const struct tm_param *p,
                                    const struct tm_json *given, struct tm_err *err)
{
  struct tm_json *copy = tm_json_copy(given), *out = NULL;
  if (p->base_dir && !tm_json_get(copy, "base_dir"))
    tm_json_set(copy, "base_dir", tm_json_new_string(p->base_dir));
  struct tm_dataset *d = tm_plan_dataset(copy, "/", err);
  if (!d)
    tm_err_wrap(err, "parameter '%s'", p->name);
  else if (strcmp(tm_dataset_tag(d), otherwise->tag) != 0)
    refuse(otherwise, p, given, err);
  else
    out = copy;
  if (out && !out->tag)
    out->tag = tm_xstrdup(otherwise->tag);
  if (!out)
    tm_json_free(copy);
  tm_dataset_free(d);
  return out;
}

struct tm_json *tm_given_read(const struct tm_json *otherwise, const struct tm_param *p,
                              struct tm_err *err)
{
  struct tm_json *text = p->tree ? NULL : tm_json_new_string(p->value), *v = NULL;
  const struct tm_json *given = p->tree ? p->tree : text;
  bool is_said = false;
  if (is_dataset(otherwise) && given->type == TM_JSON_OBJECT) {
    v = read_dataset(otherwise, p, given, err);
    is_said = true;
  } else if (is_dataset(otherwise)) {
    v = are_paths(given) ? with_paths(otherwise, given, p->base_dir) : NULL;
  } else if (otherwise->type == TM_JSON_STRING) {
    v = is_text(given) ? tm_json_copy(given) : NULL;
  } else {
    v = otherwise->type == TM_JSON_BOOL ? read_bool(given) : read_number(given);
  }
  if (!v && !is_said)
    refuse(otherwise, p, given, err);
  tm_json_free(text);
  return v;
}
