/* fuzz_frames.c - a run of bytes as a channel reads it: one frame after another.
 *
 * Each frame lies within the bytes. Writing the frames again gives the bytes that were read. It
 * makes no difference whether the bytes arrive in one piece or in several.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/err.h"
#include "sys/messages/msg_bytes.h"

static void check_within(const struct tm_buf *in, const struct tm_msg *f)
{
  fuzz_require(f->payload >= in->data && f->payload <= in->data + in->len &&
               f->length <= (size_t)(in->data + in->len - f->payload));
}

/* Reads `data` in pieces of `piece` bytes; returns the result that ended the reading. */
static int read_all(const uint8_t *data, size_t size, size_t piece, struct tm_buf *again)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_msg f;
  size_t at = 0;
  int rc = 0;
  for (size_t came = 0; came < size && rc == 0;) {
    size_t room, n = size - came < piece ? size - came : piece;
    char *to = tm_wire_room(&in, &at, &room);
    n = n < room ? n : room;
    fuzz_require(n > 0);
    memcpy(to, data + came, n);
    in.len += n;
    came += n;
    while ((rc = tm_wire_next(&in, &at, &f)) > 0) {
      check_within(&in, &f);
      tm_wire_add(again, &f, f.type & TM_MSG_FD);
    }
  }
  fuzz_require(rc == 0 || rc == TM_EPROTOCOL);
  tm_buf_release(&in);
  return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_buf whole = TM_BUF_NONE, pieces = TM_BUF_NONE;
  int rc = read_all(data, size, size + 1, &whole);
  fuzz_require(rc == read_all(data, size, 1 + size % 37, &pieces));
  fuzz_require(whole.len <= size && whole.len == pieces.len);
  fuzz_require(whole.len == 0 || (memcmp(whole.data, data, whole.len) == 0 &&
                                  memcmp(whole.data, pieces.data, whole.len) == 0));
  tm_buf_release(&whole);
  tm_buf_release(&pieces);
  return 0;
}
