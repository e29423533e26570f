/* fuzz_stream_frames.c - the bytes of a stream to a node. The first byte is what they are: a run of
 * frames; text with a preface; or headers and payloads, of which frames are made first, so that
 * their check sums are right.
 *
 * It makes no difference whether the bytes arrive in one piece or in several. Frames lie within the
 * bytes; writing them again gives the bytes that were read. A joined message is as long as its
 * pieces. A receiver refuses frames, or never grants more than its limit.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/err.h"
#include "sys/messages/msg_bytes.h"
#include "sys/messages/stream_frames.h"
#include "sys/messages/stream_in.h"

#define JOINS 4

struct reading {
  struct tm_buf again;      /* the frames, written again */
  struct tm_join of[JOINS]; /* by worker */
  size_t joined[JOINS];     /* bytes of pieces */
  int rc;
};

static int join(struct reading *r, const struct tm_msg *f, struct tm_err *err)
{
  struct tm_msg whole;
  size_t i = f->worker % JOINS;
  int rc = tm_join_add(&r->of[i], f, &whole, err);
  fuzz_require(rc == 0 || rc == 1 || (rc == TM_EPROTOCOL && err->text[0] != '\0'));
  if (rc < 0)
    return rc;
  r->joined[i] += f->length;
  if (rc == 0)
    return 0;
  fuzz_require(whole.length == r->joined[i] && !(whole.type & TM_STREAM_MORE));
  r->joined[i] = 0;
  return 0;
}

/* Reads `data` in pieces of `piece` bytes. */
static void read_all(struct reading *r, const char *data, size_t size, size_t piece)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  struct tm_msg f;
  size_t at = 0;
  memset(r, 0, sizeof *r);
  for (size_t came = 0; came < size && r->rc == 0;) {
    size_t room, n = size - came < piece ? size - came : piece;
    char *to = tm_wire_room(&in, &at, &room);
    n = n < room ? n : room;
    memcpy(to, data + came, n);
    in.len += n;
    came += n;
    while (r->rc == 0 && (r->rc = tm_frame_next(&in, &at, &f, &err)) > 0) {
      fuzz_require(f.payload >= in.data && f.payload + f.length <= in.data + at && at <= in.len);
      if ((f.length & 0xFF) != 0xF5)
        tm_frame_add(&r->again, &f);
      r->rc = join(r, &f, &err);
    }
  }
  fuzz_require(r->rc == 0 || (r->rc == TM_EPROTOCOL && err.text[0] != '\0'));
  for (int i = 0; i < JOINS; i++)
    tm_join_drop(&r->of[i]);
  tm_buf_release(&in);
}

static void check_frames(const char *data, size_t size)
{
  struct reading whole, pieces;
  read_all(&whole, data, size, size + 1);
  read_all(&pieces, data, size, 1 + size % 37);
  fuzz_require(whole.rc == pieces.rc && whole.again.len <= size);
  fuzz_require(whole.again.len == pieces.again.len);
  fuzz_require(whole.again.len == 0 ||
               memcmp(whole.again.data, pieces.again.data, whole.again.len) == 0);
  tm_buf_release(&whole.again);
  tm_buf_release(&pieces.again);
}

/* As a supervisor and as a relay; `try` says how much is consumed. */
static void check_receiver(struct tm_buf *made, bool is_by_worker)
{
  struct tm_stream_in r;
  struct tm_msg f, whole;
  struct tm_err err = TM_ERR_NONE;
  size_t at = 0, waiting[JOINS] = { 0 };
  int rc = 0;
  tm_stream_in_init(&r, is_by_worker, is_by_worker ? 256 : 1024);
  while (rc >= 0 && tm_frame_next(made, &at, &f, &err) == 1) {
    bool is_control = (f.type & ~TM_STREAM_MORE) >= TM_STREAM_CONTROL;
    uint32_t i = f.worker %= JOINS;
    if (f.type == TM_STREAM_CUT) {
      tm_stream_in_cut(&r, i);
      continue;
    }
    rc = tm_stream_in_add(&r, &f, &whole, &err);
    fuzz_require(rc == 0 || rc == 1 || (rc == TM_EPROTOCOL && err.text[0] != '\0'));
    waiting[i] += rc == 1 && !is_control ? TM_MSG_HEADER + (size_t)whole.length : 0;
    size_t n = f.try % 3 == 0 ? 0 : f.try % 3 == 1 ? waiting[i] : waiting[i] / 2;
    if (n > 0)
      tm_stream_in_consume(&r, i, n);
    waiting[i] -= n;
    uint64_t granted = tm_stream_in_grant(&r, i);
    fuzz_require(granted <= r.limit);
  }
  tm_stream_in_release(&r);
}

static void check_made(const char *data, size_t size)
{
  struct tm_buf made = TM_BUF_NONE;
  struct tm_msg f;
  while (size >= TM_MSG_HEADER && tm_msg_decode(&f, data)) {
    size -= TM_MSG_HEADER;
    data += TM_MSG_HEADER;
    f.length = (uint32_t)tm_frame_piece(f.length < size ? f.length : size);
    f.payload = data;
    tm_frame_add(&made, &f);
    size -= f.length;
    data += f.length;
    if (f.try & 1)
      tm_buf_add_char(&made, '\n');
  }
  if (made.len > 0)
    check_frames(made.data, made.len);
  for (int is_by_worker = 0; is_by_worker < 2 && made.len > 0; is_by_worker++) {
    struct tm_buf copy = TM_BUF_NONE;
    tm_buf_add(&copy, made.data, made.len);
    check_receiver(&copy, is_by_worker);
    tm_buf_release(&copy);
  }
  tm_buf_release(&made);
}

static int find(const char *data, size_t size, size_t piece, size_t *at, struct tm_preface *p)
{
  size_t len = 0, n = 0;
  int rc = 0;
  *at = 0;
  while (rc == 0 && n < size) {
    n = size - n < piece ? size : n + piece;
    rc = tm_preface_find(data, n, 7, at, &len, p);
    fuzz_require(*at <= n || rc < 0);
  }
  fuzz_require(rc == 0 || rc == 1 || rc == TM_EPROTOCOL);
  return rc == 1 ? (int)len : rc;
}

static void check_preface(const char *data, size_t size)
{
  struct tm_preface p, q;
  struct tm_buf again = TM_BUF_NONE;
  size_t at, at_pieces;
  int len = find(data, size, size + 1, &at, &p);
  fuzz_require(len == find(data, size, 1 + size % 37, &at_pieces, &q));
  if (len > 0) {
    fuzz_require(at == at_pieces && p.hello == q.hello && p.hello_len == q.hello_len);
    fuzz_require(at + (size_t)len <= size && data[at + (size_t)len - 1] == '\n');
    tm_preface_add(&again, &p);
    fuzz_require(find(again.data, again.len, again.len, &at, &q) > 0 && at == 0);
    fuzz_require(p.nonce == q.nonce && p.version == q.version && p.hello_len == q.hello_len);
  }
  tm_buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static void (*const checks[])(const char *, size_t) = { check_frames, check_preface, check_made };
  if (size > 0)
    checks[data[0] % 3]((const char *)data + 1, size - 1);
  return 0;
}
