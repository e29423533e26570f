/* frame.c - the header of a frame as bytes. */
#include "sys/frame.h"

#include <stddef.h>

#include "base/buf.h"

void tm_frame_encode(const struct tm_frame *f, char header[TM_FRAME_HEADER])
{
  tm_put_u32(header, f->length);
  tm_put_u32(header + 4, f->type);
  tm_put_u64(header + 8, f->index);
  tm_put_u32(header + 16, f->worker);
  tm_put_u32(header + 20, f->try);
  tm_put_u64(header + 24, f->part);
}

bool tm_frame_decode(struct tm_frame *f, const char header[TM_FRAME_HEADER])
{
  f->length = tm_get_u32(header);
  f->type = tm_get_u32(header + 4);
  f->index = tm_get_u64(header + 8);
  f->worker = tm_get_u32(header + 16);
  f->try = tm_get_u32(header + 20);
  f->part = tm_get_u64(header + 24);
  f->payload = NULL;
  f->fd = -1;
  return f->length <= TM_FRAME_MAX;
}
