/* reader.h - context:open(item): the contents of an item, whether it is a file or an entry of an archive.
 *
 *   reader:read(n)            up to n bytes; nil at the end
 *   reader:read "*l"          a line without its end; nil at the end. Without an argument the same
 *   reader:read "*a"          all that is left, "" at the end
 *   reader:lines()            an iterator over lines
 *   reader:size()             bytes of contents
 *   reader:close()            ends it; the end of run() does, too
 *
 * Every method that reads raises when the contents cannot be read: their check sum is wrong, they end too early, the disk
 * fails. The item is marked as failed then (marks.h), so that a script that catches the error cannot pass for one that has
 * read all of it. A reader is good for the run() that opened it.
 */
#ifndef TM_LUA_READER_H
#define TM_LUA_READER_H

#include <lua.h>

#include "lua/marks.h"

struct tm_lua_reader;

/* Those that are open. Zeroed before the first use. */
struct tm_lua_readers {
  struct tm_lua_reader *first;
  struct tm_entries *files; /* for items that are files; made when one is opened */
  size_t at;                /* in the mini-batch's bytes: behind the item that was opened last */
  uint32_t number;          /* of the item there, from 0 */
};

/* Opens the item whose path is at `arg`, and pushes a reader; or nil, a message and a code. Raises when the mini-batch has no
 * such item. Both structs must live as long as the reader is open. */
int tm_lua_reader_open(lua_State *L, struct tm_lua_readers *readers, struct tm_lua_marks *marks,
                       int arg);
/* The mini-batch has ended: all are closed. */
void tm_lua_readers_end(struct tm_lua_readers *readers);
void tm_lua_readers_release(struct tm_lua_readers *readers);

#endif
