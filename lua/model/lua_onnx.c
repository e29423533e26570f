/* lua_onnx.c - see lua_onnx.h. */
#include "model/lua_onnx.h"

#include <inttypes.h>
#include <lauxlib.h>

#include "data/tensor/tensor_ops.h"
#include "data/tensor/tensor_types.h"
#include "model/lua_tensor.h"

/* ---- the model ---- */

static void set_text(lua_State *L, const char *name, const char *value)
{
  lua_pushstring(L, value);
  lua_setfield(L, -2, name);
}

/* Those of onnx.inspect(). */
static const char *type_of(const struct tm_model_value *v)
{
  static const char *const kinds[] = { "tensor", "sequence", "map", "another type" };

  return v->kind == TM_VALUE_TENSOR ? tm_model_type_name(v->type) : kinds[v->kind];
}

static void push_shape(lua_State *L, const struct tm_model_value *v)
{
  lua_createtable(L, v->rank, 0);
  for (int32_t i = 0; i < v->rank; i++) {
    if (v->axes[i])
      lua_pushstring(L, v->axes[i]);
    else
      lua_pushnumber(L, (lua_Number)v->shape[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

static void set_values(lua_State *L, const char *name, const struct tm_model_values *values)
{
  lua_createtable(L, (int)values->len, 0);
  for (size_t i = 0; i < values->len; i++) {
    const struct tm_model_value *v = &values->at[i];
    lua_createtable(L, 0, 3);
    set_text(L, "name", v->name);
    set_text(L, "type", type_of(v));
    push_shape(L, v);
    lua_setfield(L, -2, "shape");
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, name);
}

static void set_providers(lua_State *L, const struct tm_loaded_model *m)
{
  lua_createtable(L, (int)m->placed_len, 0);
  for (size_t i = 0; i < m->placed_len; i++) {
    lua_createtable(L, 0, 2);
    set_text(L, "name", m->placed[i].provider);
    lua_pushnumber(L, (lua_Number)m->placed[i].nodes);
    lua_setfield(L, -2, "nodes");
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "providers");
}

static void set_metadata(lua_State *L, const struct tm_model_metadata *m)
{
  lua_createtable(L, 0, 6);
  set_text(L, "producer", m->producer);
  set_text(L, "graph_name", m->graph_name);
  set_text(L, "domain", m->domain);
  set_text(L, "description", m->description);
  lua_pushnumber(L, (lua_Number)m->version);
  lua_setfield(L, -2, "version");
  lua_createtable(L, 0, (int)m->custom.len);
  for (size_t i = 0; i < m->custom.len; i++)
    set_text(L, m->custom.at[i].name, m->custom.at[i].value);
  lua_setfield(L, -2, "custom");
  lua_setfield(L, -2, "metadata");
}

void tm_lua_push_model(lua_State *L, const struct tm_loaded_model *m)
{
  luaL_checkstack(L, 8, "a model");
  lua_createtable(L, 0, 5);
  set_values(L, "inputs", &m->signature.inputs);
  set_values(L, "outputs", &m->signature.outputs);
  set_providers(L, m);
  set_metadata(L, &m->metadata);
  lua_pushboolean(L, m->is_on_device);
  lua_setfield(L, -2, "is_on_device");
}

/* ---- outputs ---- */

static void push_element(lua_State *L, const struct tm_tensor *t, int64_t i)
{
  const void *p = t->data;

  switch (t->type) {
  case TM_TENSOR_STRING: {
    const struct tm_tensor_string *s = &((const struct tm_tensor_string *)p)[i];
    lua_pushlstring(L, s->len > 0 ? s->bytes : "", (size_t)s->len);
    break;
  }
  case TM_TENSOR_BOOL: lua_pushboolean(L, ((const uint8_t *)p)[i]); break;
  case TM_TENSOR_FLOAT16:
    lua_pushnumber(L, tm_tensor_ops()->of_half(((const uint16_t *)p)[i]));
    break;
  case TM_TENSOR_FLOAT32: lua_pushnumber(L, (lua_Number)((const float *)p)[i]); break;
  case TM_TENSOR_FLOAT64: lua_pushnumber(L, ((const double *)p)[i]); break;
  case TM_TENSOR_INT8: lua_pushnumber(L, ((const int8_t *)p)[i]); break;
  case TM_TENSOR_UINT8: lua_pushnumber(L, ((const uint8_t *)p)[i]); break;
  case TM_TENSOR_INT16: lua_pushnumber(L, ((const int16_t *)p)[i]); break;
  case TM_TENSOR_UINT16: lua_pushnumber(L, ((const uint16_t *)p)[i]); break;
  case TM_TENSOR_INT32: lua_pushnumber(L, ((const int32_t *)p)[i]); break;
  case TM_TENSOR_UINT32: lua_pushnumber(L, ((const uint32_t *)p)[i]); break;
  case TM_TENSOR_INT64: lua_pushnumber(L, (lua_Number)((const int64_t *)p)[i]); break;
  default: lua_pushnumber(L, (lua_Number)((const uint64_t *)p)[i]); break;
  }
}

/* Whether a number of Lua holds an element. A 64-bit integer of FFI would, but as a key it is found
 * by nobody. */
static bool is_exact(const struct tm_tensor *t, int64_t i)
{
  const int64_t most = INT64_C(1) << 53;

  if (t->type == TM_TENSOR_INT64)
    return ((const int64_t *)t->data)[i] >= -most && ((const int64_t *)t->data)[i] <= most;
  return t->type != TM_TENSOR_UINT64 || ((const uint64_t *)t->data)[i] <= (uint64_t)most;
}

static void refuse_inexact(const struct tm_tensor *t, int64_t i, size_t output, struct tm_err *err)
{
  bool is_signed = t->type == TM_TENSOR_INT64;
  uint64_t bits = ((const uint64_t *)t->data)[i];

  tm_err_set(err, TM_EINPUT,
             "output %zu has the %s %s%" PRIu64 " in a map, which a number of Lua does not hold "
             "(beyond 2^53); ask for the other outputs by name: session:run(inputs, { name })",
             output + 1, is_signed ? "int64" : "uint64", is_signed && bits >> 63 ? "-" : "",
             is_signed && bits >> 63 ? 0 - bits : bits);
}

/* {key = value} of two tensors. On an error nothing is pushed. */
static bool push_map(lua_State *L, const struct tm_value *v, size_t output, struct tm_err *err)
{
  const struct tm_tensor *parts[] = { &v->items[0].tensor, &v->items[1].tensor };
  int64_t n = tm_tensor_count(parts[0]), given = tm_tensor_count(parts[1]);

  lua_createtable(L, 0, (int)(n < 1000 ? n : 1000));
  for (int64_t i = 0; i < n && i < given; i++) {
    for (int k = 0; k < 2; k++) {
      if (!is_exact(parts[k], i)) {
        refuse_inexact(parts[k], i, output, err);
        lua_pop(L, 1 + k);
        return false;
      }
      push_element(L, parts[k], i);
    }
    lua_rawset(L, -3);
  }
  return true;
}

/* A tensor of one value and memory of its own. */
static bool push_tensor(lua_State *L, const struct tm_results *r, size_t i, struct tm_err *err)
{
  struct tm_tensor shape;
  char *room = NULL;
  int64_t bytes;

  if (tm_results_shape(r, i, &shape, &bytes, err) < 0)
    return false;
  struct tm_tensor *t =
      shape.type == TM_TENSOR_STRING
          ? tm_lua_tensor_new_strings(L, shape.rank, shape.shape, bytes, &room)
          : tm_lua_tensor_new(L, (enum tm_tensor_type)shape.type, shape.rank, shape.shape);
  tm_results_copy(r, i, t->data, room);
  return true;
}

/* An item of a sequence. */
static bool push_item(lua_State *L, const struct tm_value *v, size_t output, struct tm_err *err)
{
  struct tm_value item = *v;
  const struct tm_results one = { .outputs = 1, .pieces = 1, .at = &item };

  return v->kind == TM_VALUE_MAP ? push_map(L, v, output, err) : push_tensor(L, &one, 0, err);
}

/* The items of all pieces. */
static bool push_sequence(lua_State *L, const struct tm_results *r, size_t i, struct tm_err *err)
{
  int n = 0;

  lua_newtable(L);
  for (size_t k = 0; k < r->pieces; k++) {
    const struct tm_value *v = &r->at[k * r->outputs + i];
    size_t fill = k + 1 == r->pieces ? (size_t)r->fill : 0;
    if (r->size > 0 && fill > 0 && v->len != (size_t)r->size) {
      tm_err_set(err, TM_EINPUT,
                 "output %zu is a sequence of %zu items for %lld rows, so that the "
                 "rows that filled the last piece up cannot be dropped",
                 i + 1, v->len, (long long)r->size);
      lua_pop(L, 1);
      return false;
    }
    for (size_t e = 0; e + fill < v->len; e++) {
      if (!push_item(L, &v->items[e], i, err)) {
        lua_pop(L, 1);
        return false;
      }
      lua_rawseti(L, -2, ++n);
    }
  }
  return true;
}

bool tm_lua_push_output(lua_State *L, const struct tm_results *r, size_t i, struct tm_err *err)
{
  const struct tm_value *v = &r->at[i];

  luaL_checkstack(L, 12, "outputs");
  switch (v->kind) {
  case TM_VALUE_SEQUENCE: return push_sequence(L, r, i, err);
  case TM_VALUE_MAP: return push_map(L, v, i, err);
  default: return push_tensor(L, r, i, err);
  }
}
