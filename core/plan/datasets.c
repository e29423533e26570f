/* datasets.c - see datasets.h. */
#include "plan/datasets.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "params/params.h"
#include "plan/params_check.h"

/* Normalizes the options, in the order of the manual. */
static int settle(struct tm_json *v, const char *kind, struct tm_err *err)
{
  struct tm_json *given = tm_json_get(v, "options");
  if (!given)
    return 0;
  given->where = given->where ? given->where : tm_xstrdup(v->where);
  if (tm_params_check(kind, given, err) < 0)
    return TM_EUSAGE;
  tm_json_set(v, "options", tm_params_settle(kind, given, false, err));
  return 0;
}

struct tm_dataset *tm_plan_dataset_of(struct tm_json *v, const char *base_dir, struct tm_err *err)
{
  struct tm_dataset *d = NULL;
  const char *kind = tm_dataset_constructor(v);
  const struct tm_json *parameter = tm_json_get(v, "parameter");
  if (parameter) {
    tm_err_set(err, TM_EUSAGE,
               "the dataset is PipelineParameter '%s', whose value only a job knows; take its "
               "default_value",
               tm_json_str(parameter, "name", ""));
    tm_json_free(v);
    return NULL;
  }
  if (v->type == TM_JSON_OBJECT && !tm_json_get(v, "base_dir") && !tm_json_get(v, "step"))
    tm_json_set(v, "base_dir", tm_json_new_string(base_dir));
  if (settle(v, kind, err) == 0)
    d = tm_dataset_from_json(v, err);
  tm_json_free(v);
  return d;
}

struct tm_dataset *tm_plan_dataset(const struct tm_json *v, const char *base_dir,
                                   struct tm_err *err)
{
  return tm_plan_dataset_of(tm_json_copy(v), base_dir, err);
}

struct tm_json *tm_plan_table(const char *const *paths, size_t n)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  const char *format = tm_path_table_format(paths[0]);
  bool is_json = format && strcmp(format, "jsonl") == 0;
  struct tm_json *list = tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY));
  struct tm_json *options = tm_json_set(v, "options", tm_json_new(TM_JSON_OBJECT));
  v->tag = tm_xstrdup("TabularDataset");
  tm_json_set(v, "kind", tm_json_new_string(is_json ? "json_lines" : "delimited"));
  for (size_t i = 0; i < n; i++)
    tm_json_add(list, tm_json_new_string(paths[i]));
  if (format && strcmp(format, "tsv") == 0)
    tm_json_set(options, "separator", tm_json_new_string("\\t"));
  return v;
}
