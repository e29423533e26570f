/* item_reader.h - context:open(item): reads an item, a file or an entry of an archive.
 *
 *   reader:read(n)            up to n bytes; nil at the end
 *   reader:read "*l"          a line without its line break; nil at the end; the default
 *   reader:read "*a"          all that is left, "" at the end
 *   reader:lines()            an iterator over lines
 *   reader:size()             bytes of contents
 *   reader:close()            closes it; so does the end of run()
 *
 * Every method that reads raises if the contents cannot be read: a wrong check sum, an early end, a
 * disk error. It then marks the item as failed (marks.h), so that a script cannot hide the failure
 * by catching the error. A reader is valid during the run() that opened it.
 */
#ifndef TM_ENTRY_ITEM_READER_H
#define TM_ENTRY_ITEM_READER_H

#include <lua.h>

#include "entry/marks.h"

struct tm_lua_reader;

/* The open readers. Zeroed before the first use. */
struct tm_lua_readers {
  struct tm_lua_reader *first;
  struct tm_entries *files; /* for items that are files; made when the first one is opened */
  size_t at;                /* in the mini-batch's bytes: after the last opened item */
  uint32_t number;          /* the number of that item, from 0 */
};

/* Opens the item whose path is at `arg`, and pushes a reader; or nil, a message and a code. Raises
 * if the mini-batch has no such item. Both structs must live as long as the reader is open. */
int tm_lua_reader_open(lua_State *L, struct tm_lua_readers *readers, struct tm_lua_marks *marks,
                       int arg);
/* Closes all readers at the end of the mini-batch. */
void tm_lua_readers_end(struct tm_lua_readers *readers);
void tm_lua_readers_release(struct tm_lua_readers *readers);

#endif
