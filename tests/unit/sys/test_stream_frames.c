/* test_stream_frames.c - frames of a stream: whole, cut, damaged; its preface; joined pieces. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "random.h"
#include "sys/messages/stream_frames.h"

static const struct tm_msg message = { .type = 37,
                                       .index = 0x1112131415161718,
                                       .worker = 0x21222324,
                                       .try = 10,
                                       .part = 0x4142434445464748,
                                       .length = 9,
                                       .payload = "a\nb\xF5\n\n\0\xFF\n",
                                       .fd = -1 };

static void check_equal(const struct tm_msg *a, const struct tm_msg *b)
{
  assert_int_equal(a->type, b->type);
  assert_true(a->index == b->index && a->part == b->part);
  assert_int_equal(a->worker, b->worker);
  assert_int_equal(a->try, b->try);
  assert_int_equal(a->length, b->length);
  if (b->length > 0)
    assert_memory_equal(a->payload, b->payload, b->length);
}

static void a_frame_is_whole_or_absent(void **state)
{
  struct tm_buf all = TM_BUF_NONE;
  struct tm_msg f;
  tm_frame_add(&all, &message);
  assert_int_equal(all.len, TM_FRAME_EXTRA + 9);
  for (size_t n = 0; n <= all.len; n++) {
    struct tm_buf cut = { all.data, n, all.cap };
    size_t at = 0;
    assert_int_equal(tm_frame_next(&cut, &at, &f, NULL), n == all.len);
    assert_int_equal(at, n == all.len ? n : 0);
  }
  check_equal(&f, &message);
  tm_buf_release(&all);
}

static void line_breaks_between_frames_are_skipped(void **state)
{
  struct tm_buf all = TM_BUF_NONE;
  struct tm_msg f;
  size_t at = 0;
  for (int i = 0; i < 3; i++) {
    tm_buf_add(&all, "\n\n", (size_t)i);
    tm_frame_add(&all, &message);
  }
  tm_buf_add_char(&all, '\n');
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tm_frame_next(&all, &at, &f, NULL), 1);
    check_equal(&f, &message);
  }
  assert_int_equal(tm_frame_next(&all, &at, &f, NULL), 0);
  assert_int_equal(at, all.len);
  tm_buf_release(&all);
}

/* All bytes except 0xF5, in header, payload and hash. */
static void no_frame_holds_a_line_break(void **state)
{
  struct random r = { 1 };
  struct tm_buf all = TM_BUF_NONE;
  char payload[255];
  for (int i = 0; i < 255; i++)
    payload[i] = (char)(i < 0xF5 ? i : i + 1);
  for (int i = 0; i < 5000; i++) {
    uint32_t length = (uint32_t)tm_frame_piece(random_below(&r, 255));
    struct tm_msg f = { .type = 10,
                        .index = 10,
                        .worker = 0x0a0a0a0a,
                        .length = length,
                        .payload = payload + random_below(&r, 255 - length) };
    tm_buf_clear(&all);
    tm_frame_add(&all, &f);
    assert_null(memchr(all.data, '\n', all.len));
  }
  tm_buf_release(&all);
}

/* At each place of the eight bytes that are swapped at once. */
static void exactly_two_bytes_are_swapped(void **state)
{
  struct tm_buf all = TM_BUF_NONE;
  char payload[9];
  for (int byte = 0; byte < 256; byte++) {
    for (size_t place = 0; place < sizeof payload; place++) {
      struct tm_msg f = { .type = 1, .length = sizeof payload, .payload = payload };
      memset(payload, byte ^ 0x80, sizeof payload);
      payload[place] = (char)byte;
      tm_buf_clear(&all);
      tm_frame_add(&all, &f);
      for (size_t i = 0; i < sizeof payload; i++) {
        unsigned char c = (unsigned char)payload[i];
        unsigned char want = c == 10 ? 0xF5 : c == 0xF5 ? 10 : c;
        assert_int_equal((unsigned char)all.data[TM_MSG_HEADER + i], want);
      }
    }
  }
  tm_buf_release(&all);
}

static void every_length_comes_back(void **state)
{
  struct tm_buf all = TM_BUF_NONE;
  char *payload = tm_xmalloc(70000);
  memset(payload, 0xF5, 70000);
  for (size_t length = 0; length < 70000; length += length < 1500 || length > 65000 ? 1 : 997) {
    struct tm_join j = { 0 };
    struct tm_msg f, whole, piece = message;
    size_t at = 0, sent = 0;
    tm_buf_clear(&all);
    do {
      piece.length = (uint32_t)tm_frame_piece(length - sent);
      piece.payload = payload + sent;
      sent += piece.length;
      piece.type = message.type | (sent < length ? TM_STREAM_MORE : 0);
      tm_frame_add(&all, &piece);
      assert_true((unsigned char)all.data[0] != '\n');
      tm_buf_add_char(&all, '\n');
    } while (sent < length);
    while (tm_frame_next(&all, &at, &f, NULL) == 1)
      if (tm_join_add(&j, &f, &whole, NULL) == 1)
        break;
    assert_int_equal(at, all.len - 1);
    assert_int_equal(whole.type, message.type);
    assert_int_equal(whole.length, length);
    if (length > 0)
      assert_memory_equal(whole.payload, payload, length);
    tm_join_drop(&j);
  }
  free(payload);
  tm_buf_release(&all);
}

/* Each bit of a frame that another follows: it never comes, and never as another one. */
static void a_damaged_frame_never_comes(void **state)
{
  struct tm_buf good = TM_BUF_NONE;
  tm_frame_add(&good, &message);
  size_t len = good.len;
  tm_buf_add_char(&good, '\n');
  for (int i = 0; i < 40; i++) /* longer than the length that the damage may announce */
    tm_frame_add(&good, &message);
  for (size_t bit = 0; bit < len * 8; bit++) {
    struct tm_buf bad = TM_BUF_NONE;
    struct tm_msg f;
    struct tm_err err = TM_ERR_NONE;
    size_t at = 0;
    tm_buf_add(&bad, good.data, good.len);
    bad.data[bit / 8] ^= (char)(1 << bit % 8);
    int rc = tm_frame_next(&bad, &at, &f, &err);
    if (rc != 0) { /* 0: it waits for up to 16 KiB */
      assert_int_equal(rc, TM_EPROTOCOL);
      assert_non_null(strstr(err.text, "the bytes were changed"));
    } else {
      assert_in_range(bit, 0, 15);
    }
    tm_buf_release(&bad);
  }
  tm_buf_release(&good);
}

static void printed_text_is_quoted_before_it_is_a_whole_frame(void **state)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_msg f;
  struct tm_err err = TM_ERR_NONE;
  size_t at = 0;
  tm_frame_add(&in, &message);
  tm_buf_add_str(&in, "\nsrun: error\n");
  assert_int_equal(tm_frame_next(&in, &at, &f, &err), 1);
  assert_int_equal(tm_frame_next(&in, &at, &f, &err), TM_EPROTOCOL);
  assert_string_equal(err.text, "the bytes were changed on their way (a wrong length) at "
                                "'srun: error\\n'");
  tm_buf_release(&in);
}

static void a_piece_has_a_limit(void **state)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_msg f;
  size_t at = 0;
  tm_buf_add_u32(&in, (uint32_t)TM_STREAM_PIECE);
  assert_int_equal(tm_frame_next(&in, &at, &f, NULL), 0);
  tm_put_u32(in.data, (uint32_t)TM_STREAM_PIECE + 1);
  assert_int_equal(tm_frame_next(&in, &at, &f, NULL), TM_EPROTOCOL);
  tm_put_u32(in.data, UINT32_MAX);
  assert_int_equal(tm_frame_next(&in, &at, &f, NULL), TM_EPROTOCOL);
  tm_buf_release(&in);
  assert_int_equal(tm_frame_piece(0), 0);
  assert_int_equal(tm_frame_piece(245), 244);
  assert_int_equal(tm_frame_piece(246), 246);
  assert_int_equal(tm_frame_piece(TM_MSG_MAX), TM_STREAM_PIECE);
}

static void pieces_must_belong_together(void **state)
{
  struct tm_msg first = message, whole;
  first.type |= TM_STREAM_MORE;
  for (int i = 0; i < 7; i++) {
    struct tm_join j = { 0 };
    struct tm_msg next = first;
    struct tm_err err = TM_ERR_NONE;
    assert_int_equal(tm_join_add(&j, &first, &whole, &err), 0);
    next.type += i == 1;
    next.index += i == 2;
    next.worker += i == 3;
    next.try += i == 4;
    next.part += i == 5;
    next.length = i == 6 ? 0 : next.length;
    assert_int_equal(tm_join_add(&j, &next, &whole, &err), i == 0 ? 0 : TM_EPROTOCOL);
    assert_int_equal(err.text[0] != '\0', i > 0);
    tm_join_drop(&j);
  }
}

static void a_joined_message_has_a_limit(void **state)
{
  struct tm_join j = { 0 };
  struct tm_msg piece = message, whole;
  piece.type |= TM_STREAM_MORE;
  piece.length = (uint32_t)TM_STREAM_PIECE;
  char *payload = tm_xcalloc(1, TM_STREAM_PIECE);
  piece.payload = payload;
  for (size_t sent = 0; sent < TM_MSG_MAX; sent += TM_STREAM_PIECE)
    assert_int_equal(tm_join_add(&j, &piece, &whole, NULL), 0);
  piece.length = 1;
  assert_int_equal(tm_join_add(&j, &piece, &whole, NULL), TM_EPROTOCOL);
  tm_join_drop(&j);
  free(payload);
}

#define HELLO "tidemill 1.0, a build"

static void add_preface(struct tm_buf *out, uint64_t nonce, uint64_t echo)
{
  struct tm_preface p = { 1, nonce, echo, HELLO, sizeof HELLO - 1 };
  tm_preface_add(out, &p);
}

static void a_preface_is_a_line(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  add_preface(&out, 0xabc, 0x123456789abcdef0);
  assert_string_equal(out.data, "tidemill-stream 1 0000000000000abc 123456789abcdef0 " HELLO "\n");
  tm_buf_release(&out);
}

/* In pieces of each size; a preface with another number is text. */
static void a_preface_is_found_in_text(void **state)
{
  struct tm_buf in = TM_BUF_NONE;
  tm_buf_add_str(&in, "Welcome\ntidemill-stream tidemill-stream 1 no\n");
  add_preface(&in, 5, 0);
  tm_buf_add_str(&in, "Password: ");
  size_t begin = in.len;
  add_preface(&in, 6, 7);
  size_t end = in.len;
  add_preface(&in, 8, 7);
  for (size_t piece = 1; piece < in.len; piece++) {
    struct tm_preface p;
    size_t at = 0, len, n = 0;
    int rc = 0;
    while (rc == 0 && n < in.len) {
      n = n + piece < in.len ? n + piece : in.len;
      rc = tm_preface_find(in.data, n, 7, &at, &len, &p);
    }
    assert_int_equal(rc, 1);
    assert_int_equal(at, begin);
    assert_int_equal(at + len, end);
    assert_int_equal(p.nonce, 6);
    assert_int_equal(p.version, 1);
    assert_int_equal(p.hello_len, sizeof HELLO - 1);
    assert_memory_equal(p.hello, HELLO, p.hello_len);
  }
  tm_buf_release(&in);
}

static void a_preface_begins_within_64_KiB(void **state)
{
  for (int by = 0; by < 2; by++) {
    struct tm_buf in = TM_BUF_NONE;
    struct tm_preface p;
    size_t at = 0, len;
    while (in.len < TM_STREAM_SKIP_MAX + (size_t)by)
      tm_buf_add_char(&in, 't');
    assert_int_equal(tm_preface_find(in.data, in.len, 7, &at, &len, &p), 0);
    add_preface(&in, 6, 7);
    assert_int_equal(tm_preface_find(in.data, in.len, 7, &at, &len, &p),
                     by == 0 ? 1 : TM_EPROTOCOL);
    tm_buf_release(&in);
  }
}

static int find(const char *line)
{
  struct tm_preface p;
  size_t at = 0, len;
  return tm_preface_find(line, strlen(line), 2, &at, &len, &p);
}

static void a_preface_has_one_form(void **state)
{
  static const char good[] = "tidemill-stream 1 0000000000000001 0000000000000002 x\n";
  static const char *const bad[] = {
    "tidemill-stream  0000000000000001 0000000000000002 x\n",
    "tidemill-stream 1 000000000000001 0000000000000002 x\n",
    "tidemill-stream 1 00000000000000001 0000000000000002 x\n",
    "tidemill-stream 1 0000000000000001 0000000000000002\n",
    "tidemill-stream 1 000000000000000A 0000000000000002 x\n",
    "tidemill-stream 1 0000000000000000 0000000000000002 x\n",
    "tidemill-stream 1f 0000000000000001 0000000000000002 x\n",
    "tidemill-stream 1234567890 0000000000000001 0000000000000002 x\n",
    "tidemill-stream\n1 0000000000000001 0000000000000002 x\n",
  };
  assert_int_equal(find(good), 1);
  assert_int_equal(find("tidemill-stream 2 0000000000000001 0000000000000002 \n"), 1);
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++)
    assert_int_equal(find(bad[i]), 0);
}

UNIT_HOOKS(.limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(a_frame_is_whole_or_absent),
    cmocka_unit_test(line_breaks_between_frames_are_skipped),
    cmocka_unit_test(no_frame_holds_a_line_break),
    cmocka_unit_test(exactly_two_bytes_are_swapped),
    cmocka_unit_test(every_length_comes_back),
    cmocka_unit_test(a_damaged_frame_never_comes),
    cmocka_unit_test(printed_text_is_quoted_before_it_is_a_whole_frame),
    cmocka_unit_test(a_piece_has_a_limit),
    cmocka_unit_test(pieces_must_belong_together),
    cmocka_unit_test(a_joined_message_has_a_limit),
    cmocka_unit_test(a_preface_is_a_line),
    cmocka_unit_test(a_preface_is_found_in_text),
    cmocka_unit_test(a_preface_begins_within_64_KiB),
    cmocka_unit_test(a_preface_has_one_form),
});
