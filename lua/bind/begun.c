/* begun.c - see begun.h. */
#include "bind/begun.h"

static const char key = 0; /* its address names the list in the registry */

void tm_lua_begun_open(lua_State *L, struct tm_lua_begun *list)
{
  tm_list_init(&list->items);
  lua_pushlightuserdata(L, (void *)&key);
  lua_pushlightuserdata(L, list);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

void tm_lua_begun_add(lua_State *L, struct tm_lua_begun_item *item)
{
  lua_pushlightuserdata(L, (void *)&key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  item->list = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (item->list)
    tm_list_add(&item->list->items, &item->item);
}

void tm_lua_begun_remove(struct tm_lua_begun_item *item)
{
  if (tm_list_has(&item->item))
    tm_list_remove(&item->list->items, &item->item);
}

static struct tm_lua_begun_item *take_first(struct tm_lua_begun *list)
{
  struct tm_list_item *first = tm_list_first(&list->items);
  if (!first)
    return NULL;
  tm_list_remove(&list->items, first);
  return TM_LIST_OWNER(first, struct tm_lua_begun_item, item);
}

void tm_lua_begun_keep(struct tm_lua_begun *list)
{
  while (take_first(list))
    ;
}

bool tm_lua_begun_is_empty(const struct tm_lua_begun *list)
{
  return tm_list_first(&list->items) == NULL;
}

void tm_lua_begun_move(struct tm_lua_begun *from, struct tm_lua_begun *to)
{
  for (struct tm_lua_begun_item *item; (item = take_first(from)) != NULL;) {
    item->list = to;
    tm_list_add(&to->items, &item->item);
  }
}

void tm_lua_begun_end(struct tm_lua_begun *list)
{
  for (struct tm_lua_begun_item *item; (item = take_first(list)) != NULL;)
    item->end(item->data);
}
