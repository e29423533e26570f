/* stream_frames.c - the codec of a stream to a node.
 *
 *  (1) Nothing is read beyond the bytes received; a length is checked before it is used.
 *  (2) A frame is decoded only after its hash was found right; until then its bytes stay as they
 *      came. So a message quotes what a program printed between two frames.
 *  (3) 10 ^ 0xF5 is 0xFF: to swap the two is to invert them.
 */
#include "sys/messages/stream_frames.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"

#define MARK      "tidemill-stream "
#define MARK_LEN  (sizeof MARK - 1)
#define LINE_MAX  (MARK_LEN + 10 + 1 + 2 * 17 + TM_PREFACE_HELLO_MAX + 1)
#define QUOTE_MAX 120 /* bytes of a damaged frame in a message */
#define BREAK     10
#define SWAPPED   0xF5

void tm_preface_add(struct tm_buf *out, const struct tm_preface *p)
{
  tm_require(p->nonce != 0 && p->hello_len <= TM_PREFACE_HELLO_MAX);
  tm_require(p->hello_len == 0 || memchr(p->hello, '\n', p->hello_len) == NULL);
  tm_buf_printf(out, MARK "%u %016llx %016llx ", (unsigned)p->version, (unsigned long long)p->nonce,
                (unsigned long long)p->echo);
  tm_buf_add(out, p->hello, p->hello_len);
  tm_buf_add_char(out, '\n');
}

static int digit_of(char c)
{
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number of at least one digit, and at most `max`, followed by a blank. */
static bool read_number(struct tm_reader *r, int base, int max, uint64_t *out)
{
  int digits = 0;
  *out = 0;
  for (; r->at < r->end && *r->at != ' '; r->at++, digits++) {
    int digit = digit_of(*r->at);
    if (digit < 0 || digit >= base || digits == max)
      return false;
    *out = *out * (uint64_t)base + (uint64_t)digit;
  }
  return digits > 0 && tm_read_raw(r, 1) != NULL;
}

static bool read_hex16(struct tm_reader *r, uint64_t *out)
{
  const char *from = r->at;
  return read_number(r, 16, 16, out) && r->at - from == 17;
}

/* A line without its end. */
static bool parse(const char *line, size_t n, struct tm_preface *p)
{
  struct tm_reader r;
  uint64_t version;
  tm_require(n >= MARK_LEN);
  tm_reader_init(&r, line + MARK_LEN, n - MARK_LEN);
  if (!read_number(&r, 10, 9, &version) || !read_hex16(&r, &p->nonce) || !read_hex16(&r, &p->echo))
    return false;
  p->version = (uint32_t)version;
  p->hello = r.at;
  p->hello_len = (size_t)(r.end - r.at);
  return p->nonce != 0 && p->hello_len <= TM_PREFACE_HELLO_MAX;
}

int tm_preface_find(const char *bytes, size_t n, uint64_t echo, size_t *at, size_t *len,
                    struct tm_preface *p)
{
  tm_require(*at <= n);
  for (; *at <= TM_STREAM_SKIP_MAX; ++*at) {
    const char *mark = n > *at ? memmem(bytes + *at, n - *at, MARK, MARK_LEN) : NULL;
    if (mark == NULL) { /* the last bytes may be the beginning of one */
      size_t kept = MARK_LEN - 1;
      *at = n > *at + kept ? n - kept : *at;
      return *at <= TM_STREAM_SKIP_MAX ? 0 : TM_EPROTOCOL;
    }
    *at = (size_t)(mark - bytes);
    size_t rest = n - *at < LINE_MAX ? n - *at : LINE_MAX;
    const char *end = memchr(mark, '\n', rest);
    if (end == NULL && rest < LINE_MAX)
      return *at <= TM_STREAM_SKIP_MAX ? 0 : TM_EPROTOCOL;
    if (end != NULL && *at <= TM_STREAM_SKIP_MAX && parse(mark, (size_t)(end - mark), p) &&
        p->echo == echo) {
      *len = (size_t)(end - mark) + 1;
      return 1;
    }
  }
  return TM_EPROTOCOL;
}

/* 0x80 in each byte that is 0. */
static uint64_t zeros_in(uint64_t w)
{
  const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
  return ~(((w & low) + low) | w | low);
}

/* Keeps (3). `to` may be `from`. Eight bytes at a time: it runs over all rows of a node. */
static void swap(char *to, const char *from, size_t n)
{
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t w;
    memcpy(&w, from + i, 8);
    uint64_t x = w ^ BREAK * UINT64_C(0x0101010101010101); /* 0 and 0xFF are to be inverted */
    w ^= ((zeros_in(x) | zeros_in(~x)) >> 7) * 0xFF;
    memcpy(to + i, &w, 8);
  }
  for (; i < n; i++) {
    unsigned char c = (unsigned char)from[i];
    to[i] = (char)(c == BREAK || c == SWAPPED ? c ^ 0xFF : c);
  }
}

static void hash_of(const char *p, size_t n, char out[4])
{
  tm_put_u32(out, (uint32_t)tm_hash64(p, n));
  for (int i = 0; i < 4; i++)
    if (out[i] == BREAK)
      out[i] = (char)SWAPPED;
}

size_t tm_frame_piece(size_t rest)
{
  size_t n = rest < TM_STREAM_PIECE ? rest : TM_STREAM_PIECE;
  return (n & 0xFF) == SWAPPED ? n - 1 : n;
}

void tm_frame_add(struct tm_buf *out, const struct tm_msg *f)
{
  char header[TM_MSG_HEADER];
  size_t n = TM_MSG_HEADER + (size_t)f->length;
  tm_require(f->length <= TM_STREAM_PIECE && (f->length & 0xFF) != SWAPPED);
  char *p = tm_buf_extend(out, n + 4);
  tm_msg_encode(f, header);
  swap(p, header, TM_MSG_HEADER);
  if (f->length > 0)
    swap(p + TM_MSG_HEADER, f->payload, f->length);
  hash_of(p, n, p + n);
}

/* Keeps (2). */
static int damage(const char *p, size_t n, const char *what, struct tm_err *err)
{
  struct tm_buf quote = TM_BUF_NONE;
  tm_text_one_line(&quote, p, n, QUOTE_MAX);
  tm_err_set(err, TM_EPROTOCOL, "the bytes were changed on their way (%s) at '%s'", what,
             tm_buf_str(&quote));
  tm_buf_release(&quote);
  return TM_EPROTOCOL;
}

int tm_frame_next(struct tm_buf *in, size_t *at, struct tm_msg *f, struct tm_err *err)
{
  char header[TM_MSG_HEADER] = { 0 }, hash[4];
  tm_require(*at <= in->len);
  while (*at < in->len && in->data[*at] == BREAK)
    ++*at;
  size_t have = in->len - *at;
  if (have < 4)
    return 0;
  char *p = in->data + *at;
  /* the length is checked as soon as it is there: printed text may be shorter than a header */
  swap(header, p, have < TM_MSG_HEADER ? have : TM_MSG_HEADER);
  if (!tm_msg_decode(f, header) || f->length > TM_STREAM_PIECE)
    return damage(p, have, "a wrong length", err);
  size_t n = TM_MSG_HEADER + (size_t)f->length;
  if (have < n + 4)
    return 0;
  hash_of(p, n, hash);
  if (memcmp(p + n, hash, 4) != 0)
    return damage(p, n + 4, "a wrong check sum", err);
  swap(p, p, n);
  f->payload = p + TM_MSG_HEADER;
  *at += n + 4;
  return 1;
}

static bool is_same(const struct tm_msg *a, const struct tm_msg *b)
{
  return a->type == b->type && a->index == b->index && a->worker == b->worker && a->try == b->try &&
         a->part == b->part;
}

int tm_join_add(struct tm_join *j, const struct tm_msg *frame, struct tm_msg *whole,
                struct tm_err *err)
{
  struct tm_msg head = *frame;
  bool has_more = frame->type & TM_STREAM_MORE;
  head.type &= ~TM_STREAM_MORE;
  *whole = head;
  if (!j->has_begun && !has_more)
    return 1;
  if (frame->length == 0)
    return tm_err_set(err, TM_EPROTOCOL, "a piece of a message is empty");
  if (!j->has_begun) {
    tm_buf_clear(&j->bytes);
    j->has_begun = true;
    j->head = head;
  }
  if (!is_same(&j->head, &head))
    return tm_err_set(err, TM_EPROTOCOL, "the pieces of two messages are mixed");
  if (j->bytes.len + frame->length > TM_MSG_MAX)
    return tm_err_set(err, TM_EPROTOCOL, "a message is longer than %u bytes", TM_MSG_MAX);
  tm_buf_add(&j->bytes, frame->payload, frame->length);
  if (has_more)
    return 0;
  j->has_begun = false;
  whole->length = (uint32_t)j->bytes.len;
  whole->payload = j->bytes.data;
  return 1;
}

void tm_join_drop(struct tm_join *j)
{
  tm_buf_release(&j->bytes);
  j->has_begun = false;
}
