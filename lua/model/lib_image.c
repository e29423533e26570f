/* lib_image.c - tidemill.image_c, the C half of tidemill.image (stdlib/tidemill/image.lua), which
 * has checked the arguments. stdlib/tidemill/_meta/image_c.lua describes its functions.
 *
 *  (1) Nothing from malloc is held by the stack alone where something may raise: a userdata has it.
 *  (2) What threads read and write is anchored in the environment of the work's userdata. That is
 *      finalized, which joins the threads, before any of it is freed.
 */
#include "model/lib_image.h"

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "bind/begun.h"
#include "bind/hold.h"
#include "bind/interrupt.h"
#include "bind/libs.h"
#include "bind/state.h"
#include "bind/stoppable.h"
#include "data/images/ahead.h"
#include "data/images/image_file.h"
#include "data/images/image_write.h"
#include "data/tensor/tensor_types.h"
#include "model/lua_tensor.h"
#include "sys/process.h"
#include "sys/whole_file.h"

#define WORK_META    "tidemill.image.work"
#define LOADING_META "tidemill.image.loading"
#define HEADER_BYTES 262144 /* in which the header is, except behind large thumbnails */

/* ---- options ---- */

static double field_number(lua_State *L, const char *name)
{
  lua_getfield(L, 1, name);
  double n = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return n;
}

static bool field_flag(lua_State *L, const char *name)
{
  lua_getfield(L, 1, name);
  bool is_set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is_set;
}

/* Up to four numbers of a list; the others stay. False: there is no list. */
static bool field_list(lua_State *L, const char *name, double *out)
{
  lua_getfield(L, 1, name);
  bool is_there = lua_istable(L, -1);
  for (int i = 0; is_there && i < 4; i++) {
    lua_rawgeti(L, -1, i + 1);
    out[i] = lua_isnil(L, -1) ? out[i] : luaL_checknumber(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return is_there;
}

static bool field_bytes(lua_State *L, const char *name, uint8_t *out, int n)
{
  double values[4] = { 0 };
  bool is_there = field_list(L, name, values);
  for (int i = 0; i < n; i++)
    out[i] = (uint8_t)values[i];
  return is_there;
}

static void read_sizing(lua_State *L, struct tm_sizing *s)
{
  s->fit = (enum tm_fit)field_number(L, "fit");
  s->width = (int32_t)field_number(L, "width");
  s->height = (int32_t)field_number(L, "height");
  s->resize = (int32_t)field_number(L, "resize");
  s->crop_width = s->crop_height = (int32_t)field_number(L, "crop");
}

/* options(fields) -> userdata */
static int image_options(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  struct tm_ahead_options *o = lua_newuserdata(L, sizeof *o);
  struct tm_picture_options *p = &o->picture;
  *o = (struct tm_ahead_options) { 0 };
  read_sizing(L, &p->sizing);
  p->filter = (enum tm_filter)field_number(L, "filter");
  p->channels = (enum tm_channels)field_number(L, "channels");
  p->has_background = field_bytes(L, "background", p->background, 3);
  field_bytes(L, "fill", p->fill, 4);
  p->is_planar = field_flag(L, "is_planar");
  p->scaling.type = (enum tm_tensor_type)field_number(L, "type");
  p->scaling.scale = field_number(L, "scale");
  field_list(L, "mean", p->scaling.mean);
  field_list(L, "std", p->scaling.std);
  p->heeds_orientation = field_flag(L, "orient");
  p->is_fast = field_flag(L, "fast");
  p->fills_missing = field_flag(L, "fills_missing");
  p->max_pixels = (int64_t)field_number(L, "max_pixels");
  p->max_memory = (int64_t)field_number(L, "max_memory");
  o->max_bytes = (int64_t)field_number(L, "max_bytes");
  return 1;
}

static const struct tm_ahead_options *check_options(lua_State *L, int at)
{
  luaL_checktype(L, at, LUA_TUSERDATA);
  tm_require(lua_objlen(L, at) == sizeof(struct tm_ahead_options));
  return lua_touserdata(L, at);
}

/* The elements of a picture, [h, w, c] or [c, h, w]. */
static void set_shape(const struct tm_picture_options *o, int32_t width, int32_t height,
                      int64_t *shape)
{
  int64_t channels = tm_channels_count(o->channels);
  shape[0] = o->is_planar ? channels : height;
  shape[1] = o->is_planar ? height : width;
  shape[2] = o->is_planar ? width : channels;
}

static void set_number(lua_State *L, const char *name, double n)
{
  lua_pushnumber(L, n);
  lua_setfield(L, -2, name);
}

static void push_mapping(lua_State *L, const struct tm_mapping *m)
{
  lua_createtable(L, 0, 4);
  set_number(L, "scale_x", m->scale_x);
  set_number(L, "scale_y", m->scale_y);
  set_number(L, "offset_x", m->offset_x);
  set_number(L, "offset_y", m->offset_y);
}

/* ---- one picture ---- */

struct loading {
  const struct tm_ahead_options *options;
  struct tm_image_source source;
  struct tm_err err;
  void *to;
  struct tm_picture picture;
  struct tm_pixel_table table;
  struct tm_buf file;
  atomic_bool is_stopped;
  bool is_open;
};

static void end_loading(struct loading *l)
{
  if (l->is_open)
    tm_picture_close(&l->picture);
  l->is_open = false;
  tm_buf_release(&l->file);
}

static int loading_gc(lua_State *L)
{
  end_loading(lua_touserdata(L, 1));
  return 0;
}

static void push_meta(lua_State *L, const char *name, lua_CFunction gc)
{
  if (luaL_newmetatable(L, name)) {
    lua_pushcfunction(L, gc);
    lua_setfield(L, -2, "__gc");
  }
}

static struct loading *push_loading(lua_State *L)
{
  struct loading *l = lua_newuserdata(L, sizeof *l);
  memset(l, 0, sizeof *l);
  push_meta(L, LOADING_META, loading_gc);
  lua_setmetatable(L, -2);
  return l;
}

static void stop_loading(void *data)
{
  tm_running_call_set_flag(&((struct loading *)data)->is_stopped);
}

static int open_picture(void *data)
{
  struct loading *l = data;
  int rc = 0;
  if (l->source.data == NULL) {
    rc = tm_image_file_read(l->source.name, l->options->max_bytes, &l->file, &l->err);
    l->source.data = (const uint8_t *)tm_buf_str(&l->file);
    l->source.len = l->file.len;
  }
  if (rc >= 0)
    rc = tm_picture_open(&l->picture, &l->source, &l->options->picture, &l->is_stopped, &l->err);
  l->is_open = rc >= 0;
  return rc;
}

static int read_picture(void *data)
{
  struct loading *l = data;
  tm_pixel_table_fill(&l->table, &l->options->picture.scaling);
  return tm_picture_read(&l->picture, &l->table, l->to, &l->err);
}

/* Raises if the script is interrupted. */
static int run_loading(lua_State *L, struct loading *l, int (*body)(void *data))
{
  const struct tm_lua_stoppable call = { body, stop_loading, l };
  return tm_lua_call_stoppable(L, &call);
}

/* load(options, name, bytes or nil) -> tensor, mapping; or nil, message, code */
static int image_load(lua_State *L)
{
  int64_t shape[3];
  struct loading *l = push_loading(L);
  l->options = check_options(L, 1);
  l->source.name = luaL_checkstring(L, 2);
  if (lua_isstring(L, 3))
    l->source.data = (const uint8_t *)lua_tolstring(L, 3, &l->source.len);
  int rc = run_loading(L, l, open_picture);
  if (rc >= 0) {
    const struct tm_placing *at = &l->picture.placing;
    const struct tm_picture_options *o = &l->options->picture;
    set_shape(o, at->out_width, at->out_height, shape);
    l->to = tm_lua_tensor_new(L, o->scaling.type, 3, shape)->data;
    rc = run_loading(L, l, read_picture);
  }
  end_loading(l);
  if (rc < 0)
    return tm_lua_push_err(L, &l->err);
  push_mapping(L, &l->picture.mapping);
  return 2;
}

static const char *const format_names[] = {
  [TM_IMAGE_JPEG] = "jpeg",
  [TM_IMAGE_PNG] = "png",
  [TM_IMAGE_WEBP] = "webp",
  [TM_IMAGE_PNM] = "pnm",
};

static void push_info(lua_State *L, const struct tm_image_info *info)
{
  lua_createtable(L, 0, 6);
  lua_pushstring(L, format_names[info->format]);
  lua_setfield(L, -2, "format");
  set_number(L, "width", info->width);
  set_number(L, "height", info->height);
  set_number(L, "channels", info->channels);
  set_number(L, "bits", info->bits);
  set_number(L, "orientation", info->orientation);
}

/* Reads the front of the file; all of it if the header does not end there. */
static int read_info(struct tm_image_source *source, int64_t max_bytes, struct tm_buf *file,
                     struct tm_image_info *info, struct tm_err *err)
{
  int rc = tm_image_file_read_front(source->name, HEADER_BYTES, file, err);
  for (int i = 0; i < 2 && rc >= 0; i++) {
    source->data = (const uint8_t *)tm_buf_str(file);
    source->len = file->len;
    rc = tm_image_info(source, info, err);
    if (rc >= 0 || i > 0 || source->len < HEADER_BYTES)
      return rc;
    rc = tm_image_file_read(source->name, max_bytes, file, err);
  }
  return rc;
}

/* info(name, bytes or nil, max_bytes) -> table; or nil, message, code */
static int image_info(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_image_info info;
  struct tm_image_source source = { .name = luaL_checkstring(L, 1) };
  int64_t max_bytes = (int64_t)luaL_checknumber(L, 3);
  struct tm_buf *file = tm_lua_hold_buf(L);
  int rc;
  if (lua_isstring(L, 2)) {
    source.data = (const uint8_t *)lua_tolstring(L, 2, &source.len);
    rc = tm_image_info(&source, &info, &err);
  } else {
    rc = read_info(&source, max_bytes, file, &info, &err);
  }
  tm_lua_let_go(L, -1);
  if (rc < 0)
    return tm_lua_push_err(L, &err);
  push_info(L, &info);
  return 1;
}

/* write(path, tensor of uint8, "png" or "jpeg", quality) -> true; or nil, message, code */
static int image_write(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = tm_lua_check_path(L, 1);
  const struct tm_tensor *t = tm_lua_check_tensor(L, 2);
  struct tm_image_write_options o = {
    .format = strcmp(luaL_checkstring(L, 3), "png") == 0 ? TM_IMAGE_PNG : TM_IMAGE_JPEG,
    .quality = (int32_t)luaL_checkinteger(L, 4),
  };
  struct tm_image_pixel_rows rows = {
    .at = t->data,
    .height = (int32_t)t->shape[0],
    .width = (int32_t)t->shape[1],
    .channels = t->rank == 3 ? (int32_t)t->shape[2] : 1,
  };
  luaL_argcheck(L, t->type == TM_TENSOR_UINT8 && (t->rank == 2 || t->rank == 3), 2, "pixels");
  struct tm_buf *file = tm_lua_hold_buf(L);
  int rc = tm_image_write(&rows, &o, file, &err);
  if (rc >= 0)
    rc = tm_file_write(path, tm_buf_str(file), file->len, false, &err);
  tm_lua_let_go(L, -1);
  return tm_lua_push_outcome(L, rc, &err);
}

/* ---- sets ---- */

/* In a userdata that the environment of the work anchors: env[number] = { set, tensor, names,
 * contents }. */
struct set {
  struct tm_ahead_set ahead;
  struct set *next;
  uint8_t *data;
  size_t n;
  struct tm_ahead_picture pictures[];
};

struct work {
  struct tm_ahead *ahead; /* NULL: closed */
  size_t slot;            /* bytes of a picture */
  struct set *first, **last;
  int added, taken;
  struct tm_lua_begun_item begun;
};

static void free_messages(struct set *b)
{
  for (size_t i = 0; i < b->n; i++) {
    free(b->pictures[i].message);
    b->pictures[i].message = NULL;
  }
}

static void close_work(void *data)
{
  struct work *w = data;
  tm_lua_begun_remove(&w->begun);
  tm_ahead_close(w->ahead);
  w->ahead = NULL;
  for (struct set *b = w->first; b != NULL; b = b->next)
    free_messages(b);
  w->first = NULL;
}

static int work_gc(lua_State *L)
{
  close_work(lua_touserdata(L, 1));
  return 0;
}

static struct work *check_work(lua_State *L)
{
  struct work *w = luaL_checkudata(L, 1, WORK_META);
  if (w->ahead == NULL)
    luaL_error(L, "reading these images has ended: what run() or prefetch() begins ends with the "
                  "run() of its "
                  "mini-batch");
  return w;
}

/* open(options, threads) -> work */
static int image_open(lua_State *L)
{
  const struct tm_ahead_options *o = check_options(L, 1);
  int32_t width, height, threads = (int32_t)luaL_checkinteger(L, 2);
  luaL_argcheck(L, tm_sizing_is_fixed(&o->picture.sizing, &width, &height), 1, "a fixed size");
  struct work *w = lua_newuserdata(L, sizeof *w);
  *w = (struct work) { .last = &w->first };
  push_meta(L, WORK_META, work_gc);
  lua_setmetatable(L, -2);
  lua_createtable(L, 4, 0);
  lua_setfenv(L, -2);
  w->slot = (size_t)width * (size_t)height * (size_t)tm_channels_count(o->picture.channels) *
            (size_t)tm_tensor_element_size(o->picture.scaling.type);
  w->ahead = tm_ahead_open(o, threads);
  w->begun.end = close_work;
  w->begun.data = w;
  tm_lua_begun_add(L, &w->begun);
  return 1;
}

/* shape(options, n) -> {n, ...}, of a tensor of n pictures */
static int image_shape(lua_State *L)
{
  const struct tm_ahead_options *o = check_options(L, 1);
  int32_t width, height;
  int64_t shape[3];
  luaL_argcheck(L, tm_sizing_is_fixed(&o->picture.sizing, &width, &height), 1, "a fixed size");
  set_shape(&o->picture, width, height, shape);
  lua_createtable(L, 4, 0);
  lua_pushvalue(L, 2);
  lua_rawseti(L, -2, 1);
  for (int i = 0; i < 3; i++) {
    lua_pushnumber(L, (lua_Number)shape[i]);
    lua_rawseti(L, -2, i + 2);
  }
  return 1;
}

/* [work, tensor, names, contents, set]: keeps them until the set is taken. */
static void anchor(lua_State *L, int number)
{
  lua_getfenv(L, 1);
  lua_createtable(L, 4, 0);
  for (int i = 2; i <= 5; i++) {
    lua_pushvalue(L, i);
    lua_rawseti(L, -2, i - 1);
  }
  lua_rawseti(L, -2, number);
  lua_pop(L, 1);
}

/* The name of picture i, and its bytes if it has some: strings of the lists, which stay. */
static void fill_picture(lua_State *L, struct set *b, size_t i, size_t slot)
{
  struct tm_ahead_picture *p = &b->pictures[i];
  lua_rawgeti(L, 3, (int)i + 1);
  lua_rawgeti(L, 4, (int)i + 1);
  *p = (struct tm_ahead_picture) { .name = luaL_checkstring(L, -2), .to = b->data + i * slot };
  if (lua_isstring(L, -1))
    p->data = (const uint8_t *)lua_tolstring(L, -1, &p->len);
  lua_pop(L, 2);
}

/* add(work, tensor, names, contents): `contents` has false where the name is that of a file */
static int image_add(lua_State *L)
{
  lua_settop(L, 4);
  struct work *w = check_work(L);
  const struct tm_tensor *t = tm_lua_check_tensor(L, 2);
  size_t n = lua_objlen(L, 3);
  luaL_argcheck(L, n * w->slot <= (size_t)tm_tensor_bytes(t), 2, "room for all");
  struct set *b = lua_newuserdata(L, sizeof *b + n * sizeof *b->pictures);
  *b = (struct set) { .data = t->data, .n = n };
  for (size_t i = 0; i < n; i++)
    fill_picture(L, b, i, w->slot);
  anchor(L, ++w->added);
  *w->last = b;
  w->last = &b->next;
  tm_ahead_add(w->ahead, &b->ahead, b->pictures, n);
  return 0;
}

/* [numbers, mappings, failures]. Moves the pictures that were read together. */
static void push_results(lua_State *L, const struct work *w, const struct set *b)
{
  int good = 0;
  lua_createtable(L, (int)b->n, 0);
  lua_createtable(L, (int)b->n, 0);
  lua_newtable(L);
  for (size_t i = 0; i < b->n; i++) {
    const struct tm_ahead_picture *p = &b->pictures[i];
    if (p->code < 0) {
      lua_pushstring(L, p->message);
      lua_rawseti(L, -2, (int)i + 1);
      continue;
    }
    if ((size_t)good < i)
      memcpy(b->data + (size_t)good * w->slot, p->to, w->slot);
    good++;
    lua_pushinteger(L, (lua_Integer)i + 1);
    lua_rawseti(L, -4, good);
    push_mapping(L, &p->mapping);
    lua_rawseti(L, -3, good);
  }
}

static int take_set(void *data)
{
  struct work *w = data;
  return tm_ahead_take(w->ahead, &w->first->ahead);
}

static void stop_work(void *data)
{
  tm_ahead_stop(((struct work *)data)->ahead);
}

/* take(work) -> numbers, mappings, failures, all of the first set; or nil, message, code: it was
 * stopped */
static int image_take(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct work *w = check_work(L);
  struct set *b = w->first;
  luaL_argcheck(L, b != NULL, 1, "a set");
  const struct tm_lua_stoppable call = { take_set, stop_work, w };
  bool is_interrupted;
  if (tm_lua_try_stoppable(L, &call, &is_interrupted) < 0 || is_interrupted) {
    close_work(w);
    tm_lua_interrupt_raise_if_due(L);
    tm_err_set(&err, -ECANCELED, "reading images was stopped");
    return tm_lua_push_err(L, &err);
  }
  push_results(L, w, b);
  free_messages(b);
  w->first = b->next;
  if (w->first == NULL)
    w->last = &w->first;
  lua_getfenv(L, 1);
  lua_pushnil(L);
  lua_rawseti(L, -2, ++w->taken);
  lua_pop(L, 1);
  return 3;
}

/* close(work): also one that is closed */
static int image_close(lua_State *L)
{
  close_work(luaL_checkudata(L, 1, WORK_META));
  return 0;
}

/* shorten(tensor, n): only for one that nobody has seen */
static int image_shorten(lua_State *L)
{
  struct tm_tensor *t = (struct tm_tensor *)tm_lua_check_tensor(L, 1);
  lua_Integer n = luaL_checkinteger(L, 2);
  luaL_argcheck(L, t->rank > 0 && n >= 0 && n <= t->shape[0], 2, "a size");
  t->shape[0] = n;
  return 0;
}

/* lend(tensor, n) -> the first n slices as a tensor, and what ends it */
static int image_lend(lua_State *L)
{
  struct tm_tensor t = *tm_lua_check_tensor(L, 1);
  t.shape[0] = luaL_checkinteger(L, 2);
  int32_t *ended = lua_newuserdata(L, sizeof *ended);
  *ended = 0;
  lua_createtable(L, 1, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  lua_setfenv(L, -2); /* [tensor, n, lease] */
  tm_lua_tensor_over(L, &t, lua_gettop(L), ended);
  lua_insert(L, -2);
  return 2;
}

/* finish(lease) */
static int image_finish(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TUSERDATA);
  tm_require(lua_objlen(L, 1) == sizeof(int32_t));
  *(int32_t *)lua_touserdata(L, 1) = 1;
  return 0;
}

/* cores() -> of this process */
static int image_cores(lua_State *L)
{
  lua_pushinteger(L, tm_process_cores());
  return 1;
}

static const luaL_Reg functions[] = {
  { "options", image_options }, { "info", image_info }, { "load", image_load },
  { "write", image_write },     { "open", image_open }, { "shape", image_shape },
  { "add", image_add },         { "take", image_take }, { "close", image_close },
  { "shorten", image_shorten }, { "lend", image_lend }, { "finish", image_finish },
  { "cores", image_cores },     { NULL, NULL },
};

int tm_lua_open_image_c(lua_State *L)
{
  luaL_newlib(L, functions);
  return 1;
}
