/* inputs.c - see inputs.h. */
#include "plan/inputs.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/sql/query.h"
#include "data/table/table.h"
#include "plan/datasets.h"
#include "params/params.h"
#include "sys/fs.h"

/* Messages count the elements of a list from 1. */
static int refuse_mixed(const struct tm_step *s, const struct tm_json *v, struct tm_err *err)
{
  size_t i = s->inputs_len;
  tm_err_set(err, TM_EUSAGE,
             "'inputs[%zu]' is a %s and 'inputs[1]' a %s; accepted: datasets of one type", i,
             tm_dataset_tag(s->inputs[i - 1]), tm_dataset_tag(s->inputs[0]));
  return tm_params_locate("ParallelRunStep", v, err);
}

/* Inputs first, then side inputs. */
static const struct tm_dataset *dataset_at(const struct tm_step *s, size_t i)
{
  return i < s->inputs_len ? s->inputs[i] : s->side_inputs[i - s->inputs_len];
}

/* A script knows its inputs by their names (context.dataset_name), and their places use the names,
 * too. */
static int check_names(const struct tm_step *s, const struct tm_json *v, struct tm_err *err)
{
  for (size_t i = 1; i < s->inputs_len + s->side_inputs_len; i++)
    for (size_t j = 0; j < i && dataset_at(s, i)->name; j++) {
      const struct tm_dataset *first = dataset_at(s, j), *second = dataset_at(s, i);
      if (!first->name || strcmp(first->name, second->name) != 0)
        continue;
      bool has_places = first->where && second->where;
      tm_err_set(err, TM_EUSAGE,
                 "two inputs are named '%s'%s%s%s%s; accepted: a name for each, by "
                 "as_named_input(), or none",
                 first->name, has_places ? ", at " : "", has_places ? first->where : "",
                 has_places ? " and " : "", has_places ? second->where : "");
      return tm_params_locate("ParallelRunStep", v, err);
    }
  return 0;
}

/* Queries an existing database now, unless `validate` is false, so that errors of a query are known
 * before anything starts. */
static int check_query(const struct tm_dataset *d, struct tm_err *err)
{
  struct tm_sql_source source = { 0 };
  bool is_asked = d->kind == TM_DATASET_SQL && !d->step && d->paths_len == 1 &&
                  !strpbrk(d->paths[0], "*?{") && tm_json_bool(d->options, "validate", true);
  if (!is_asked)
    return 0;
  char *path = tm_path_absolute(d->base_dir, d->paths[0]);
  int rc = tm_fs_exists(tm_fs_real(), path)
               ? 0
               : tm_err_set(err, TM_EUSAGE, "there is no database '%s'", path);
  if (rc == 0)
    rc = tm_sql_source_open(&source, d->table->sql, path, err);
  if (rc == 0)
    rc = tm_sql_source_check(&source, err);
  tm_sql_source_close(&source);
  free(path);
  if (rc < 0 && d->where)
    tm_err_wrap(err, "%s: TabularDataset", d->where);
  if (rc < 0 && rc != TM_EINUSE) /* the definition is wrong, not the input */
    err->code = rc = TM_EUSAGE;
  return rc;
}

struct tm_dataset *tm_inputs_dataset(const struct tm_json *v, const struct tm_plan_reader *r,
                                     struct tm_err *err)
{
  const struct tm_dataset *known = tm_outputs_read_as(&r->outputs, v);
  struct tm_json *input = known ? NULL : tm_outputs_input(&r->outputs, v, err);
  struct tm_dataset *d = known   ? tm_dataset_copy(known)
                         : input ? tm_plan_dataset_of(input, r->base_dir, err)
                                 : NULL;
  if (d && !known)
    tm_outputs_keep(&r->outputs, v, d);
  if (d && d->place) {
    char *absolute = tm_path_absolute(r->base_dir, d->place);
    free(d->place);
    d->place = absolute;
  }
  return d;
}

/* Either list, with the values of its parameters; NULL with the place. */
static struct tm_json *read_list(const struct tm_json *v, const char *key,
                                 const struct tm_plan_reader *r, struct tm_err *err)
{
  const struct tm_field *field = tm_params_find("ParallelRunStep", key);
  struct tm_json *given = tm_values_put(r->values, tm_json_get(v, key)), *list = given;
  if (given->type != TM_JSON_ARRAY || !tm_params_is_objects(field, given)) {
    list = tm_params_value(field, given, err);
    tm_json_free(given);
  }
  if (!list)
    tm_params_locate("ParallelRunStep", v, err);
  return list;
}

/* One of them; for an invalid reference, the message says where it is. */
static struct tm_dataset *read_one(const struct tm_json *v, const char *key, size_t i,
                                   const struct tm_json *given, const struct tm_plan_reader *r,
                                   struct tm_err *err)
{
  struct tm_dataset *d = tm_inputs_dataset(given, r, err);
  if (!d && tm_outputs_is_output(given)) {
    tm_err_wrap(err, "'%s[%zu]'", key, i + 1);
    tm_params_locate("ParallelRunStep", v, err);
  }
  return d;
}

static int read_inputs(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                       struct tm_err *err)
{
  struct tm_json *list = read_list(v, "inputs", r, err), *record;
  int rc = list ? 0 : TM_EUSAGE;
  record = tm_json_set(s->effective, "inputs", tm_json_new(TM_JSON_ARRAY));
  s->inputs = tm_xcalloc(list ? list->list.len : 1, sizeof(struct tm_dataset *));
  for (size_t i = 0; rc == 0 && i < list->list.len; i++) {
    struct tm_dataset *d = read_one(v, "inputs", i, list->list.at[i], r, err);
    if (!d) {
      rc = TM_EUSAGE;
      break;
    }
    if (d->mode == TM_DATASET_MOUNT && !d->place)
      d->mode = TM_DATASET_DIRECT;
    s->inputs[s->inputs_len++] = d;
    if ((rc = check_query(d, err)) < 0)
      break;
    if (tm_dataset_is_table(d) != tm_dataset_is_table(s->inputs[0]))
      rc = refuse_mixed(s, v, err);
    tm_json_add(record, tm_dataset_to_json(d));
  }
  tm_json_free(list);
  return rc;
}

/* Files that must exist before the job are checked now. */
static int check_side_input(const struct tm_dataset *d, struct tm_err *err)
{
  for (size_t i = 0; d->kind == TM_DATASET_FILES && !d->step && i < d->paths_len; i++) {
    char *path = tm_path_absolute(d->base_dir, d->paths[i]);
    bool is_there = strpbrk(d->paths[i], "*?{") || tm_fs_exists(tm_fs_real(), path);
    if (!is_there)
      tm_err_set(err, TM_EUSAGE, "%s%sthere is no file or folder '%s'", d->where ? d->where : "",
                 d->where ? ": " : "", path);
    free(path);
    if (!is_there)
      return TM_EUSAGE;
  }
  return 0;
}

static int read_side_inputs(struct tm_step *s, const struct tm_json *v,
                            const struct tm_plan_reader *r, struct tm_err *err)
{
  struct tm_json *list, *record;
  int rc = 0;
  if (!tm_json_get(v, "side_inputs"))
    return 0;
  if (!(list = read_list(v, "side_inputs", r, err)))
    return TM_EUSAGE;
  record = tm_json_set(s->effective, "side_inputs", tm_json_new(TM_JSON_ARRAY));
  s->side_inputs = tm_xcalloc(list->list.len, sizeof(struct tm_dataset *));
  for (size_t i = 0; rc == 0 && i < list->list.len; i++) {
    struct tm_dataset *d = read_one(v, "side_inputs", i, list->list.at[i], r, err);
    if (!d) {
      rc = TM_EUSAGE;
      break;
    }
    s->side_inputs[s->side_inputs_len++] = d;
    tm_json_add(record, tm_dataset_to_json(d));
    if ((rc = check_side_input(d, err)) < 0) {
      tm_err_wrap(err, "'side_inputs[%zu]'", i + 1);
      rc = tm_params_locate("ParallelRunStep", v, err);
    }
  }
  tm_json_free(list);
  return rc;
}

void tm_inputs_add_side_input(struct tm_step *s, struct tm_dataset *d)
{
  struct tm_json *record = tm_json_get(s->effective, "side_inputs");
  size_t n = s->side_inputs_len + 1;
  if (!record)
    record = tm_json_set(s->effective, "side_inputs", tm_json_new(TM_JSON_ARRAY));
  tm_json_add(record, tm_dataset_to_json(d));
  s->side_inputs = tm_xrealloc(s->side_inputs, n * sizeof(*s->side_inputs));
  s->side_inputs[s->side_inputs_len++] = d;
}

/* Places. */

/* "score/inputs/model"; without a usable name, by number. */
static char *folder_of(const struct tm_step *s, size_t i)
{
  const char *name = dataset_at(s, i)->name;
  bool is_good = name && *name != '.' && !strchr(name, '/') && strlen(name) <= 200;
  if (is_good)
    return tm_xprintf("%s/inputs/%s", s->name, name);
  return i < s->inputs_len ? tm_xprintf("%s/inputs/.input-%zu", s->name, i + 1)
                           : tm_xprintf("%s/inputs/.side-%zu", s->name, i + 1 - s->inputs_len);
}

/* Records which path leads to which folder of the job, for a later replay. */
static void record_places(struct tm_step *s)
{
  struct tm_json *places = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 0; i < s->stagings_len; i++) {
    if (!s->stagings[i].path)
      continue;
    struct tm_json *place = tm_json_add(places, tm_json_new(TM_JSON_OBJECT));
    tm_json_set(place, "folder", tm_json_new_string(s->stagings[i].folder));
    tm_json_set(place, "path", tm_json_new_string(s->stagings[i].path));
  }
  if (places->list.len > 0)
    tm_json_set(s->effective, "places", places);
  else
    tm_json_free(places);
}

static void add_stagings(struct tm_step *s)
{
  size_t n = s->inputs_len + s->side_inputs_len;
  s->stagings = tm_xcalloc(n + 1, sizeof(*s->stagings));
  for (size_t i = 0; i < n; i++) {
    const struct tm_dataset *d = dataset_at(s, i);
    if (d->mode == TM_DATASET_DIRECT)
      continue;
    s->stagings[s->stagings_len++] =
        (struct tm_step_staging) { .dataset = tm_dataset_bind(d, NULL),
                                   .input = i < s->inputs_len ? (int64_t)i : -1,
                                   .folder = folder_of(s, i),
                                   .path = tm_xstrdup(d->place) };
  }
  record_places(s);
}

int tm_inputs_read(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                   struct tm_err *err)
{
  int rc = read_inputs(s, v, r, err);
  if (rc == 0)
    rc = read_side_inputs(s, v, r, err);
  if (rc == 0)
    rc = check_names(s, v, err);
  if (rc == 0)
    add_stagings(s);
  return rc;
}

const struct tm_step_staging *tm_inputs_find(const struct tm_step *s, const struct tm_dataset *d)
{
  struct tm_json *wanted = tm_dataset_to_json(d);
  const struct tm_step_staging *found = NULL;
  for (size_t i = 0; i < s->stagings_len && !found; i++) {
    struct tm_json *is = tm_dataset_to_json(s->stagings[i].dataset);
    if (tm_json_is_equal(wanted, is))
      found = &s->stagings[i];
    tm_json_free(is);
  }
  tm_json_free(wanted);
  return found;
}

/* Whether they are the same, or one is within the other. */
static bool is_same_place(const char *a, const char *b)
{
  size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
  const char *longer = n < m ? b : a;
  return strncmp(a, b, least) == 0 && (longer[least] == 0 || longer[least] == '/');
}

struct taken {
  const struct tm_step *step;
  const struct tm_step_staging *input_staging;
};

int tm_inputs_check_paths(const struct tm_pipeline *p, struct tm_err *err)
{
  struct TM_ARRAY(struct taken) taken = { 0 };
  int rc = 0;
  for (size_t i = 0; i < p->steps_len && rc == 0; i++)
    for (size_t k = 0; k < p->steps[i]->stagings_len && rc == 0; k++) {
      const struct tm_step_staging *in = &p->steps[i]->stagings[k];
      if (!in->path)
        continue;
      for (size_t j = 0; j < taken.len && rc == 0; j++)
        if (is_same_place(taken.at[j].input_staging->path, in->path))
          rc = tm_err_set(err, TM_EUSAGE,
                          "'%s' (%s) of step '%s' and '%s' (%s) of step '%s' are one place, or "
                          "one within the other; accepted: a path for each",
                          taken.at[j].input_staging->path,
                          taken.at[j].input_staging->dataset->where
                              ? taken.at[j].input_staging->dataset->where
                              : "",
                          taken.at[j].step->name, in->path,
                          in->dataset->where ? in->dataset->where : "", p->steps[i]->name);
      *TM_ARRAY_ADD(&taken) = (struct taken) { p->steps[i], in };
    }
  TM_ARRAY_RELEASE(&taken);
  return rc;
}

static void settle(struct tm_dataset *d, const char *step, const char *job_dir)
{
  if (!d->step || strcmp(d->step, step) != 0)
    return;
  free(d->step);
  d->step = NULL;
  d->base_dir = tm_xstrdup(job_dir);
}

void tm_inputs_settle(struct tm_step *s, const char *step, const char *job_dir)
{
  struct tm_json *record = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 0; i < s->side_inputs_len; i++) {
    settle(s->side_inputs[i], step, job_dir);
    tm_json_add(record, tm_dataset_to_json(s->side_inputs[i]));
  }
  for (size_t i = 0; i < s->stagings_len; i++)
    settle(s->stagings[i].dataset, step, job_dir);
  if (s->side_inputs_len > 0)
    tm_json_set(s->effective, "side_inputs", record);
  else
    tm_json_free(record);
}
