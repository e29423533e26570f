/* values_api.c - sets parameters of a definition, one by one or from a file. The last value of a
 * name wins. */
#include "api/own.h"

#include <stdlib.h>
#include <string.h>

#include "api/lua_host.h"
#include "base/path.h"
#include "modules.h"
#include "runtime.h"

#define FILE_MAX (64u << 20) /* bytes of JSON */

/* Frees everything except its name. */
static void empty(struct tm_param *param)
{
  free((char *)param->value);
  tm_json_free((struct tm_json *)param->tree);
  free((char *)param->origin);
  free((char *)param->base_dir);
  free((char *)param->file);
  *param = (struct tm_param) { .name = param->name };
}

void tm_draft_release_params(struct tidemill_pipeline *p)
{
  for (size_t i = 0; i < p->params.len; i++) {
    empty(&p->params.at[i]);
    free((char *)p->params.at[i].name);
  }
  TM_ARRAY_RELEASE(&p->params);
}

struct tm_param *tm_draft_param(struct tidemill_pipeline *p, const char *name)
{
  struct tm_param *known = NULL;
  tm_draft_changed(p);
  for (size_t i = 0; i < p->params.len && !known; i++)
    if (strcmp(p->params.at[i].name, name) == 0)
      known = &p->params.at[i];
  if (!known) {
    known = TM_ARRAY_ADD(&p->params);
    *known = (struct tm_param) { .name = tm_xstrdup(name) };
  }
  empty(known);
  return known;
}

int tidemill_pipeline_set_param(struct tidemill_pipeline *p, const char *name, const char *value,
                                struct tm_err *err)
{
  if (tm_need(err, "tidemill_pipeline_set_param()", "p", p, "name", name, "value", value, NULL) < 0)
    return TM_EUSAGE;
  tm_draft_param(p, name)->value = tm_xstrdup(value);
  return 0;
}

void tm_pipeline_set_value(struct tidemill_pipeline *p, const char *name, struct tm_json *value)
{
  tm_draft_param(p, name)->tree = value;
}

int tidemill_pipeline_set_param_from(struct tidemill_pipeline *p, const char *name,
                                     const char *value, const char *origin, const char *dir,
                                     struct tm_err *err)
{
  char *cwd = NULL;
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_set_param_from()", "p", p, "name", name, "value", value,
              NULL) < 0 ||
      (dir && !(cwd = tm_api_here(err))))
    return err->code;
  struct tm_param *param = tm_draft_param(p, name);
  param->value = tm_xstrdup(value);
  param->origin = tm_xstrdup(origin);
  param->base_dir = dir ? tm_path_absolute(cwd, dir) : NULL;
  free(cwd);
  return 0;
}

/* ---- files ---- */

static struct tm_json *load_json(const struct tidemill_pipeline *p, const char *path,
                                 const char *shown, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  int rc = tm_fs_read_file(p->rt->fs, path, FILE_MAX, &text, err);
  if (rc < 0)
    tm_err_set(err, TM_EUSAGE, "cannot open file of parameters '%s': %s", shown, tm_code_text(rc));
  else if (!(v = tm_json_parse(tm_buf_str(&text), text.len, err)))
    tm_err_wrap(err, "file of parameters '%s'", shown);
  tm_buf_release(&text);
  return v;
}

static bool is_lua(const char *path)
{
  size_t n = strlen(path);
  return n > 4 && strcmp(path + n - 4, ".lua") == 0;
}

/* Loads it like a pipeline file: prints go to on_log, and callbacks of the host may not close the
 * runtime meanwhile. */
static struct tm_json *load_lua(const struct tidemill_pipeline *p, const char *path,
                                struct tm_err *err)
{
  struct tm_lua_piece piece = {
    .name = path, .modules = tm_lua_modules(), .prepare = tm_host_prepare, .data = p->rt
  };
  p->rt->loading++;
  struct tm_json *v = tm_lua_load_values(&piece, err);
  p->rt->loading--;
  return v;
}

/* Returns the object with the values; NULL and an error. */
static struct tm_json *load_values(const struct tidemill_pipeline *p, const char *path,
                                   const char *shown, struct tm_err *err)
{
  struct tm_json *v = is_lua(path) ? load_lua(p, path, err) : load_json(p, path, shown, err);
  bool is_empty = v && v->type == TM_JSON_ARRAY && v->list.len == 0; /* {} in Lua is either */
  if (!v || is_empty || (v->type == TM_JSON_OBJECT && !v->tag))
    return v;
  tm_err_set(err, TM_EUSAGE,
             "file of parameters '%s' holds no names with values; accepted: a JSON object, "
             "or a Lua file that returns a table",
             shown);
  tm_json_free(v);
  return NULL;
}

int tidemill_pipeline_set_params_file(struct tidemill_pipeline *p, const char *path,
                                      struct tm_err *err)
{
  char *cwd;
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_set_params_file()", "p", p, "path", path, NULL) < 0 ||
      !(cwd = tm_api_here(err)))
    return TM_EUSAGE;
  char *file = tm_path_absolute(cwd, path), *dir = tm_path_dir(file);
  struct tm_json *v = load_values(p, file, path, err);
  for (size_t i = 0; v && i < v->list.len; i++) {
    if (v->list.at[i]->type == TM_JSON_NULL)
      continue;
    struct tm_param *param = tm_draft_param(p, v->keys[i]);
    param->tree = tm_json_copy(v->list.at[i]);
    param->origin = tm_xstrdup(path);
    param->file = tm_xstrdup(path);
    param->base_dir = tm_xstrdup(dir);
  }
  int rc = v ? 0 : TM_EUSAGE;
  tm_json_free(v);
  free(dir);
  free(file);
  free(cwd);
  return rc;
}
