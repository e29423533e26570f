/* marks.c - see marks.h.
 *
 *  (1) The memory for marks is limited, however many items are marked and whatever the messages
 *      say.
 */
#include "entry/marks.h"

#include <string.h>

#define MESSAGE_MAX   4000u       /* bytes of a message */
#define ALL_LONG_MAX  (16u << 20) /* bytes of all messages: beyond this, */
#define MESSAGE_SHORT 40u         /* each message keeps so many bytes; */
#define ALL_MAX       (32u << 20) /* beyond this, none */

void tm_lua_marks_begin(struct tm_lua_marks *m, const struct tm_run_call *call)
{
  m->call = call;
  m->marked.len = 0;
}

void tm_lua_marks_end(struct tm_lua_marks *m)
{
  m->call = NULL;
}

void tm_lua_marks_release(struct tm_lua_marks *m)
{
  tm_buf_release(&m->marked);
}

static size_t room_for_message(const struct tm_buf *marks) /* keeps (1) */
{
  return marks->len < ALL_LONG_MAX ? MESSAGE_MAX : marks->len < ALL_MAX ? MESSAGE_SHORT : 0;
}

void tm_lua_marks_add(struct tm_lua_marks *m, uint32_t at, const char *message, size_t len)
{
  const struct tm_run_call *call = m->call;
  if (m->marked.len == 0)
    memset(tm_buf_extend(&m->marked, call->items / 8 + 1), 0, call->items / 8 + 1);
  bool is_marked = m->marked.data[at / 8] & 1 << at % 8;
  m->marked.data[at / 8] = (char)(m->marked.data[at / 8] | 1 << at % 8);
  if (is_marked || call->extras == NULL)
    return;
  struct tm_buf *marks = &call->extras->marks;
  size_t room = room_for_message(marks);
  tm_buf_add_u32(marks, call->numbers ? call->numbers[at] : at + 1);
  tm_buf_add_bytes32(marks, message, len < room ? len : room);
}
