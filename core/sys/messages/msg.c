/* msg.c - the header of a message as bytes. */
#include "sys/messages/msg.h"

#include <stddef.h>

#include "base/buf.h"

void tm_msg_encode(const struct tm_msg *f, char header[TM_MSG_HEADER])
{
  tm_put_u32(header, f->length);
  tm_put_u32(header + 4, f->type);
  tm_put_u64(header + 8, f->index);
  tm_put_u32(header + 16, f->worker);
  tm_put_u32(header + 20, f->try);
  tm_put_u64(header + 24, f->part);
}

bool tm_msg_decode(struct tm_msg *f, const char header[TM_MSG_HEADER])
{
  f->length = tm_get_u32(header);
  f->type = tm_get_u32(header + 4);
  f->index = tm_get_u64(header + 8);
  f->worker = tm_get_u32(header + 16);
  f->try = tm_get_u32(header + 20);
  f->part = tm_get_u64(header + 24);
  f->payload = NULL;
  f->fd = -1;
  return f->length <= TM_MSG_MAX;
}
