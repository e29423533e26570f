/* begun.h - work that a script has begun, and that ends with the call of run() that began it, or
 * for whose mini-batch prefetch() began it: helper threads of a loop that was left early, or by an
 * error or an interruption.
 *
 *   tm_lua_begun_open(L, &list)      once per state
 *   tm_lua_begun_add(L, &item)       by a C function of a module
 *   tm_lua_begun_keep(&list); run(); tm_lua_begun_end(&list)
 *   tm_lua_begun_keep(&list); prefetch(); tm_lua_begun_move(&list, &kept)    for another run()
 *
 * Work of a loop that was left early can be known only by the collector. So a prompt, which has
 * a list and no end of a call, lets it come after each line as long as anything is in the list.
 */
#ifndef TM_BIND_BEGUN_H
#define TM_BIND_BEGUN_H

#include <lua.h>

#include "base/list.h"

struct tm_lua_begun {
  struct tm_list items;
};

/* In the userdata of the work. Zero it first; remove it before it is freed. */
struct tm_lua_begun_item {
  struct tm_list_item item;
  struct tm_lua_begun *list;
  void (*end)(void *data); /* must not raise; it may remove the item */
  void *data;
};

/* May raise (memory). `list` must live as long as the state. */
void tm_lua_begun_open(lua_State *L, struct tm_lua_begun *list);
void tm_lua_begun_add(lua_State *L, struct tm_lua_begun_item *item);
void tm_lua_begun_remove(struct tm_lua_begun_item *item); /* not added: a no-op */

/* What has begun so far stays: init() began it. */
void tm_lua_begun_keep(struct tm_lua_begun *list);
/* Everything else belongs to the other list from now on. */
void tm_lua_begun_move(struct tm_lua_begun *from, struct tm_lua_begun *to);
/* Ends and removes everything else. */
void tm_lua_begun_end(struct tm_lua_begun *list);
bool tm_lua_begun_is_empty(const struct tm_lua_begun *list);

#endif
