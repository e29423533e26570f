/* item_reader.c - see item_reader.h.
 *
 *  (1) A reader is in the list of open readers as long as it holds anything of core. So the end of
 *      run() finds it, even if the script keeps the userdata.
 *  (2) The reader owns all memory from malloc before anything can raise.
 *  (3) A failed read marks the item before it raises. So does an entry of an archive that cannot be
 *      opened, although that returns nil: the item has failed, whether the damage shows at once or
 *      later.
 */
#include "entry/item_reader.h"

#include <lauxlib.h>
#include <string.h>

#include "base/check.h"
#include "bind/state.h"
#include "data/archive/entry.h"
#include "sys/fs.h"

#define TYPE  "tidemill.reader"
#define AHEAD ((size_t)8 << 10) /* bytes that are read for lines */

struct tm_lua_reader {
  struct tm_entry *entry; /* NULL: closed */
  struct tm_lua_marks *marks;
  uint32_t number; /* of the item, from 0 */
  struct tm_lua_readers *list;
  struct tm_lua_reader *next, *before;
  struct tm_buf ahead; /* read but not returned yet; */
  size_t at;           /* the rest begins here */
};

/* ---- life ---- */

static void end(struct tm_lua_reader *r)
{
  if (r->entry == NULL)
    return;
  tm_require(r->before ? r->before->next == r : r->list->first == r);
  tm_entry_close(r->entry);
  tm_buf_release(&r->ahead);
  r->entry = NULL;
  if (r->before != NULL)
    r->before->next = r->next;
  else
    r->list->first = r->next;
  if (r->next != NULL)
    r->next->before = r->before;
}

void tm_lua_readers_end(struct tm_lua_readers *readers) /* keeps (1) */
{
  while (readers->first != NULL)
    end(readers->first);
  readers->at = readers->number = 0;
}

void tm_lua_readers_release(struct tm_lua_readers *readers)
{
  tm_lua_readers_end(readers);
  tm_entries_free(readers->files);
  readers->files = NULL;
}

/* ---- opening ---- */

/* Finds the item of this path; the search begins after the last item found. Fills its number, from
 * 0. */
static bool find_item(struct tm_lua_readers *readers, const struct tm_run_call *call,
                      const char *path, size_t len, struct tm_item *out, uint32_t *number)
{
  struct tm_reader r;
  tm_require(readers->at <= call->bytes_len);
  for (int pass = 0; pass < 2; pass++) {
    tm_reader_init(&r, call->bytes + readers->at, call->bytes_len - readers->at);
    while (tm_item_next(&r, out)) {
      *number = readers->number++;
      readers->at = (size_t)(r.at - call->bytes);
      if (out->path_len == len && memcmp(out->path, path, len) == 0)
        return true;
    }
    readers->at = readers->number = 0;
  }
  return false;
}

static int push_reader_type(lua_State *L);

int tm_lua_reader_open(lua_State *L, struct tm_lua_readers *readers, struct tm_lua_marks *marks,
                       int arg)
{
  const struct tm_run_call *call = marks->call;
  struct tm_err err = TM_ERR_NONE;
  struct tm_item item;
  size_t len;
  uint32_t number;
  const char *path = luaL_checklstring(L, arg, &len);
  if (call->frame != NULL || !find_item(readers, call, path, len, &item, &number))
    return luaL_error(L, "context:open(item): '%s' is not an item of this mini-batch", path);
  struct tm_lua_reader *r = lua_newuserdata(L, sizeof *r);
  memset(r, 0, sizeof *r);
  push_reader_type(L);
  lua_setmetatable(L, -2);
  if (call->entries == NULL && readers->files == NULL)
    readers->files = tm_entries_new(tm_fs_real(), NULL);
  r->entry = tm_entry_open(call->entries ? call->entries : readers->files, &item, &err);
  if (r->entry == NULL && item.is_entry)
    tm_lua_marks_add(marks, number, err.text, strlen(err.text));
  if (r->entry == NULL)
    return tm_lua_push_err(L, &err);
  r->marks = marks;
  r->number = number;
  r->list = readers;
  r->next = readers->first;
  if (r->next != NULL)
    r->next->before = r;
  readers->first = r; /* keeps (1), (2) */
  return 1;
}

/* ---- reading ---- */

static struct tm_lua_reader *check_reader(lua_State *L, const char *method)
{
  struct tm_lua_reader *r = luaL_checkudata(L, 1, TYPE);
  if (r->entry == NULL)
    luaL_error(L,
               "reader:%s(): the reader is closed; it is good until close(), or until the run() "
               "that opened it ends",
               method);
  return r;
}

/* Reads more bytes after those that are read ahead. 0: the end. */
static int64_t fill(struct tm_lua_reader *r, struct tm_err *err)
{
  tm_buf_remove_front(&r->ahead, r->at);
  r->at = 0;
  size_t before = r->ahead.len;
  int64_t got = tm_entry_read(r->entry, tm_buf_extend(&r->ahead, AHEAD), AHEAD, err);
  r->ahead.len = before + (got > 0 ? (size_t)got : 0);
  return got;
}

/* Pushes the next line: 1; 0: no more lines; negative: an error. */
static int push_line(lua_State *L, struct tm_lua_reader *r, struct tm_err *err)
{
  size_t looked = 0;
  for (;;) {
    const char *from = tm_buf_str(&r->ahead) + r->at;
    size_t n = r->ahead.len - r->at;
    const char *stop = n > looked ? memchr(from + looked, '\n', n - looked) : NULL;
    if (stop != NULL) {
      r->at += (size_t)(stop - from) + 1;
      lua_pushlstring(L, from, (size_t)(stop - from));
      return 1;
    }
    looked = n;
    int64_t got = fill(r, err);
    if (got < 0)
      return (int)got;
    if (got == 0 && n == 0)
      return 0;
    if (got == 0) {
      r->at = r->ahead.len;
      lua_pushlstring(L, tm_buf_str(&r->ahead), n);
      return 1;
    }
  }
}

/* Pushes up to n bytes, and returns how many; negative: an error. */
static int64_t push_bytes(lua_State *L, struct tm_lua_reader *r, size_t n, struct tm_err *err)
{
  luaL_Buffer b;
  size_t ahead = r->ahead.len - r->at, done = ahead < n ? ahead : n;
  int64_t got = 1;
  luaL_buffinit(L, &b);
  luaL_addlstring(&b, tm_buf_str(&r->ahead) + r->at, done);
  r->at += done;
  while (done < n && got > 0) {
    size_t piece = n - done < LUAL_BUFFERSIZE ? n - done : LUAL_BUFFERSIZE;
    got = tm_entry_read(r->entry, luaL_prepbuffer(&b), piece, err);
    luaL_addsize(&b, got > 0 ? (size_t)got : 0);
    done += got > 0 ? (size_t)got : 0;
  }
  luaL_pushresult(&b);
  return got < 0 ? got : (int64_t)done;
}

/* Keeps (3). */
static int raise_unread(lua_State *L, struct tm_lua_reader *r, const struct tm_err *err)
{
  tm_lua_marks_add(r->marks, r->number, err->text, strlen(err->text));
  return tm_lua_raise(L, err);
}

/* Returns what was pushed, or nil for 0. Negative: raises. */
static int give(lua_State *L, struct tm_lua_reader *r, int64_t rc, const struct tm_err *err)
{
  if (rc < 0)
    return raise_unread(L, r, err);
  if (rc == 0)
    lua_pushnil(L);
  return 1;
}

static int reader_read(lua_State *L)
{
  struct tm_lua_reader *r = check_reader(L, "read");
  struct tm_err err = TM_ERR_NONE;
  if (lua_type(L, 2) == LUA_TNUMBER) {
    lua_Number n = lua_tonumber(L, 2);
    if (!(n >= 0 && n <= 9007199254740992.0) || n != (lua_Number)(int64_t)n)
      return luaL_error(L, "reader:read(n): n is %f; expected a number of bytes", n);
    int64_t got = n > 0 || r->at < r->ahead.len ? 1 : fill(r, &err); /* 0 bytes: is there more? */
    if (got > 0)
      got = push_bytes(L, r, (size_t)n, &err) + (n == 0);
    return give(L, r, got, &err);
  }
  const char *what = luaL_optstring(L, 2, "*l");
  what += *what == '*';
  if (strcmp(what, "a") == 0) {
    int64_t got = push_bytes(L, r, SIZE_MAX, &err);
    return give(L, r, got < 0 ? got : 1, &err);
  }
  if (strcmp(what, "l") != 0)
    return luaL_error(L, "reader:read('%s'): accepted: a number of bytes, '*l', '*a'", what);
  return give(L, r, push_line(L, r, &err), &err);
}

static int next_line(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  lua_settop(L, 0);
  lua_pushvalue(L, lua_upvalueindex(1));
  struct tm_lua_reader *r = check_reader(L, "lines");
  int rc = push_line(L, r, &err);
  return rc < 0 ? raise_unread(L, r, &err) : rc;
}

static int reader_lines(lua_State *L)
{
  check_reader(L, "lines");
  lua_settop(L, 1);
  lua_pushcclosure(L, next_line, 1);
  return 1;
}

static int reader_size(lua_State *L)
{
  lua_pushnumber(L, (lua_Number)tm_entry_size(check_reader(L, "size")->entry));
  return 1;
}

static int reader_close(lua_State *L) /* again is a no-op */
{
  end(luaL_checkudata(L, 1, TYPE));
  return 0;
}

static const luaL_Reg reader_methods[] = {
  { "read", reader_read },   { "lines", reader_lines }, { "size", reader_size },
  { "close", reader_close }, { "__gc", reader_close },  { NULL, NULL },
};

static int push_reader_type(lua_State *L)
{
  if (luaL_newmetatable(L, TYPE)) {
    luaL_setfuncs(L, reader_methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  return 1;
}
