/* given.c - see given.h. */
#include "plan/given.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/datasets.h"
#include "params/params.h"
#include "store/registry.h"
#include "store/workspace.h"

#define REGISTERED "dataset:" /* prefix for the name of a registered dataset, in place of a path */

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
  case TM_JSON_OBJECT:
    return "a path, a list of paths, dataset:NAME, or a dataset of the same type";
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
  int truth = tm_params_truth(given);
  return truth < 0 ? NULL : tm_json_new_bool(truth);
}

/* A number in a file of parameters becomes its digits. */
static struct tm_json *read_text(const struct tm_json *given)
{
  struct tm_buf out = TM_BUF_NONE;
  if (is_text(given))
    return tm_json_copy(given);
  if (given->type == TM_JSON_INT)
    tm_buf_add_int(&out, given->integer);
  else if (given->type == TM_JSON_NUMBER)
    tm_json_write_number(&out, given->number);
  struct tm_json *v = out.len > 0 ? tm_json_new_string(out.data) : NULL;
  tm_buf_release(&out);
  return v;
}

static bool are_paths(const struct tm_json *given)
{
  bool is_good = given->type == TM_JSON_ARRAY && given->list.len > 0 && !given->tag;
  for (size_t i = 0; is_good && i < given->list.len; i++)
    is_good = is_text(given->list.at[i]);
  return is_good || is_text(given);
}

/* The default with other paths, without the version of a registered dataset. */
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
  tm_json_set_text(out, "base_dir", base_dir);
  return out;
}

/* A dataset, with its tag or in the form of a record. */
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

/* The part after "dataset:"; NULL: a path or paths. */
static const char *registered_name(const struct tm_json *given)
{
  bool is_name = is_text(given) && strncmp(given->string.at, REGISTERED, strlen(REGISTERED)) == 0;
  return is_name ? given->string.at + strlen(REGISTERED) : NULL;
}

/* To free; NULL with a message. */
static char *find_workspace(const struct tm_json *otherwise, const char *base_dir,
                            struct tm_err *err)
{
  const char *own = tm_json_str(otherwise, "workspace", NULL),
             *named = getenv(TM_WORKSPACE_VARIABLE);
  char *cwd = named ? getcwd(NULL, 0) : NULL, *found = NULL;
  if (own)
    return tm_xstrdup(own);
  if (tm_workspace_look(&found, tm_fs_real(), named, cwd ? cwd : base_dir, TM_TO_USE, err) == 0 &&
      !found)
    tm_err_set(err, TM_EUSAGE,
               "the pipeline file has no workspace yet; 'tidemill dataset register' "
               "registers a dataset");
  free(cwd);
  return found;
}

/* Like the result of Dataset.get_by_name(); NULL with a message. */
static struct tm_json *find_registered(const char *workspace, const char *words, struct tm_err *err)
{
  struct tm_registered r = { 0 };
  struct tm_json *v = NULL;
  int64_t version = 0;
  const char *colon = strchr(words, ':');
  char *name = colon ? tm_xstrndup(words, (size_t)(colon - words)) : tm_xstrdup(words);
  int rc = colon ? tm_registry_read_version(&version, colon + 1, err) : 0;
  if (rc == 0)
    rc = tm_registry_find(&r, workspace, name, version, err);
  if (rc == 0) {
    v = tm_json_copy(r.definition);
    tm_json_set(v, "registered", tm_json_new_string(r.name));
    tm_json_set(v, "version", tm_json_new_int(r.version));
    tm_json_set(v, "workspace", tm_json_new_string(workspace));
  }
  tm_registered_release(&r);
  free(name);
  return v;
}

static struct tm_json *read_registered(const struct tm_json *otherwise, const struct tm_param *p,
                                       const char *words, const char *base_dir, struct tm_err *err)
{
  char *workspace = find_workspace(otherwise, base_dir, err);
  struct tm_json *v = workspace ? find_registered(workspace, words, err) : NULL, *out = NULL;
  if (v)
    out = read_dataset(otherwise, p, v, err);
  else
    tm_err_wrap(err, "parameter '%s'", p->name);
  tm_json_free(v);
  free(workspace);
  return out;
}

struct tm_json *tm_given_read(const struct tm_json *otherwise, const struct tm_param *p,
                              const char *base_dir, struct tm_err *err)
{
  struct tm_json *text = p->tree ? NULL : tm_json_new_string(p->value), *v = NULL;
  const struct tm_json *given = p->tree ? p->tree : text;
  const char *registered = is_dataset(otherwise) ? registered_name(given) : NULL;
  bool is_said = registered != NULL;
  if (registered) {
    v = read_registered(otherwise, p, registered, base_dir, err);
  } else if (is_dataset(otherwise) && given->type == TM_JSON_OBJECT &&
             (!given->tag || is_dataset(given))) {
    v = read_dataset(otherwise, p, given, err);
    is_said = true;
  } else if (is_dataset(otherwise)) {
    v = are_paths(given) ? with_paths(otherwise, given, p->base_dir) : NULL;
  } else if (otherwise->type == TM_JSON_STRING) {
    v = read_text(given);
  } else {
    v = otherwise->type == TM_JSON_BOOL ? read_bool(given) : read_number(given);
  }
  if (!v && !is_said)
    refuse(otherwise, p, given, err);
  tm_json_free(text);
  return v;
}
