/* lib_onnx_file.c - tidemill.onnx_file_c: what the file of a model says, as a table. */
#include "model/lib_onnx_file.h"

#include <lauxlib.h>
#include <string.h>

#include "bind/hold.h"
#include "bind/state.h"
#include "model/onnx_file.h"

static struct tm_json *value_json(const struct tm_onnx_value *v)
{
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_text(out, "name", v->name);
  tm_json_set_text(out, "type", v->type);
  if (!v->has_shape)
    return out;
  struct tm_json *shape = tm_json_set(out, "shape", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < v->shape.len; i++) {
    const struct tm_onnx_axis *a = &v->shape.at[i];
    tm_json_add(shape, a->name ? tm_json_new_string(a->name) : tm_json_new_int(a->size));
  }
  return out;
}

static void set_values(struct tm_json *out, const char *key, const struct tm_onnx_value *at,
                       size_t n)
{
  struct tm_json *list = tm_json_set(out, key, tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < n; i++)
    tm_json_add(list, value_json(&at[i]));
}

/* Those of the standard domain without it: "Conv", "ai.onnx.ml.ZipMap". */
static void set_operators(struct tm_json *out, const struct tm_onnx_file *f)
{
  struct tm_json *operators = tm_json_set(out, "operators", tm_json_new(TM_JSON_OBJECT));
  for (size_t i = 0; i < f->operators.len; i++) {
    const struct tm_onnx_operator *o = &f->operators.at[i];
    bool is_standard = strcmp(o->domain, "ai.onnx") == 0;
    char *name = is_standard ? tm_xstrdup(o->type) : tm_xprintf("%s.%s", o->domain, o->type);
    tm_json_set_int(operators, name, o->nodes);
    free(name);
  }
}

static void set_data_files(struct tm_json *out, const struct tm_onnx_file *f)
{
  struct tm_json *list = tm_json_set(out, "data_files", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < f->data_files.len; i++) {
    const struct tm_onnx_data_file *d = &f->data_files.at[i];
    struct tm_json *file = tm_json_add(list, tm_json_new(TM_JSON_OBJECT));
    tm_json_set_text(file, "file", d->location);
    tm_json_set_int(file, "tensors", d->tensors);
    tm_json_set_int(file, "bytes", d->bytes);
  }
}

static struct tm_json *file_json(const struct tm_onnx_file *f)
{
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  set_values(out, "inputs", f->inputs.at, f->inputs.len);
  set_values(out, "outputs", f->outputs.at, f->outputs.len);
  struct tm_json *opsets = tm_json_set(out, "opsets", tm_json_new(TM_JSON_OBJECT));
  for (size_t i = 0; i < f->opsets.len; i++)
    tm_json_set_int(opsets, f->opsets.at[i].domain, f->opsets.at[i].version);
  struct tm_json *metadata = tm_json_set(out, "metadata", tm_json_new(TM_JSON_OBJECT));
  for (size_t i = 0; i < f->metadata.len; i++)
    tm_json_set_text(metadata, f->metadata.at[i].key, f->metadata.at[i].value);
  set_operators(out, f);
  set_data_files(out, f);
  char *producer =
      tm_xprintf("%s%s%s", f->producer, *f->producer_version ? " " : "", f->producer_version);
  tm_json_set_text(out, "producer", producer);
  free(producer);
  tm_json_set_int(out, "nodes", f->nodes);
  tm_json_set_int(out, "weights", f->weights);
  tm_json_set_int(out, "size", f->size);
  tm_json_set_int(out, "ir_version", f->ir_version);
  return out;
}

/* inspect(path) -> table, or nil, message, code */
static int onnx_file_inspect(lua_State *L)
{
  struct tm_onnx_file f;
  struct tm_err err = TM_ERR_NONE;
  const char *path = luaL_checkstring(L, 1);
  struct tm_json **tree = tm_lua_hold_tree(L);
  int held = lua_gettop(L), rc = tm_onnx_file_read(&f, tm_fs_real(), path, &err);
  if (rc >= 0)
    *tree = file_json(&f);
  tm_onnx_file_release(&f);
  if (rc < 0) {
    tm_err_wrap(&err, "cannot read '%s'", path);
    return tm_lua_push_err(L, &err);
  }
  tm_lua_push_json(L, *tree);
  tm_lua_let_go(L, held);
  return 1;
}

static const luaL_Reg onnx_file_functions[] = {
  { "inspect", onnx_file_inspect },
  { NULL, NULL },
};

int tm_lua_open_onnx_file_c(lua_State *L)
{
  luaL_newlib(L, onnx_file_functions);
  return 1;
}
