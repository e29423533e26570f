/* test_protobuf.c - fields of messages: across windows, cut, and of kinds that do not exist. */
#include "unit.h"

#include "model/onnx_rig.h"
#include "model/protobuf.h"

static struct tm_protobuf_reader reader;

static struct tm_stream *open_bytes(const struct tm_buf *b)
{
  struct tm_stream *s = tm_stream_of_bytes(tm_buf_str(b), b->len);
  tm_protobuf_init(&reader, s, (int64_t)b->len);
  return s;
}

static void each_kind_of_field_is_read(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_protobuf_field f;
  (void)state;
  put_number(&b, 1, UINT64_MAX);
  tm_buf_add(&b, "\x11\x01\x02\x03\x04\x05\x06\x07\x88\x1d\xff\x00\x00\x80", 14);
  put_text(&b, 4, "text");
  struct tm_stream *s = open_bytes(&b);
  struct tm_protobuf m = tm_protobuf_of(&reader, 0, reader.size);
  assert_int_equal(tm_protobuf_next(&m, &f, NULL), 1);
  assert_true(tm_protobuf_is(&f, 1, TM_PROTOBUF_VARINT) && f.value == UINT64_MAX);
  assert_int_equal(tm_protobuf_next(&m, &f, NULL), 1);
  assert_true(tm_protobuf_is(&f, 2, TM_PROTOBUF_FIXED64));
  assert_true(f.value == UINT64_C(0x8807060504030201));
  assert_int_equal(tm_protobuf_next(&m, &f, NULL), 1);
  assert_true(tm_protobuf_is(&f, 3, TM_PROTOBUF_FIXED32) && f.value == 0x800000ff);
  assert_int_equal(tm_protobuf_next(&m, &f, NULL), 1);
  assert_true(tm_protobuf_is(&f, 4, TM_PROTOBUF_BYTES) && f.len == 4);
  assert_memory_equal(b.data + f.at, "text", 4);
  assert_int_equal(tm_protobuf_next(&m, &f, NULL), 0);
  tm_stream_close(s);
  tm_buf_release(&b);
}

/* Fields of every length, so that each part of one meets the end of a window. */
static void fields_cross_windows(void **state)
{
  struct tm_buf b = TM_BUF_NONE, text = TM_BUF_NONE;
  struct tm_protobuf_field f;
  char bytes[300];
  (void)state;
  for (size_t i = 0; i < sizeof(bytes); i++)
    bytes[i] = (char)i;
  for (size_t n = 0; n < sizeof(bytes); n++) {
    put_bytes(&b, 1, bytes, n);
    put_number(&b, 2, n * n * n);
  }
  assert_true(b.len > 2 * TM_PROTOBUF_WINDOW);
  struct tm_stream *s = open_bytes(&b);
  struct tm_protobuf m = tm_protobuf_of(&reader, 0, reader.size);
  for (size_t n = 0; n < sizeof(bytes); n++) {
    assert_int_equal(tm_protobuf_next(&m, &f, NULL), 1);
    assert_int_equal(f.len, n);
    tm_buf_clear(&text);
    assert_int_equal(tm_protobuf_text(&reader, &f, n, &text, NULL), 0);
    assert_memory_equal(tm_buf_str(&text), bytes, n);
    assert_int_equal(tm_protobuf_next(&m, &f, NULL), 1);
    assert_int_equal(f.value, n * n * n);
  }
  assert_int_equal(tm_protobuf_next(&m, &f, NULL), 0);
  tm_stream_close(s);
  tm_buf_release(&b);
  tm_buf_release(&text);
}

static void a_long_text_crosses_many_windows(void **state)
{
  enum { LEN = 3 * TM_PROTOBUF_WINDOW + 7 };
  struct tm_buf b = TM_BUF_NONE, text = TM_BUF_NONE;
  struct tm_protobuf_field f = { 1, TM_PROTOBUF_BYTES, 0, 5, LEN };
  struct tm_err err = TM_ERR_NONE;
  (void)state;
  for (int i = 0; i < LEN + 5; i++)
    tm_buf_add_char(&b, (char)(i * 7));
  struct tm_stream *s = open_bytes(&b);
  assert_int_equal(tm_protobuf_text(&reader, &f, LEN, &text, &err), 0);
  assert_int_equal(text.len, LEN);
  assert_memory_equal(text.data, b.data + 5, LEN);
  assert_int_equal(tm_protobuf_text(&reader, &f, LEN - 1, &text, &err), TM_ELIMIT);
  assert_string_equal(err.text, "at byte 5 is a text of 49159 bytes; at most 49158");
  tm_stream_close(s);
  tm_buf_release(&b);
  tm_buf_release(&text);
}

static void check_refused(const char *bytes, size_t n, int code, const char *words)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_protobuf_field f;
  struct tm_err err = TM_ERR_NONE;
  tm_buf_add(&b, bytes, n);
  struct tm_stream *s = open_bytes(&b);
  struct tm_protobuf m = tm_protobuf_of(&reader, 0, reader.size);
  assert_int_equal(tm_protobuf_next(&m, &f, &err), code);
  assert_string_equal(err.text, words);
  tm_stream_close(s);
  tm_buf_release(&b);
}

static void odd_fields_are_refused(void **state)
{
  (void)state;
  check_refused("\x0b", 1, TM_EDAMAGE, "at byte 0 is a field of kind 3, which no model has");
  check_refused("\x0f", 1, TM_EDAMAGE, "at byte 0 is a field of kind 7, which no model has");
  check_refused("\x02\x00", 2, TM_EDAMAGE, "at byte 0 is a field without a number");
  check_refused("\x80\x80\x80\x80\x80\x01", 6, TM_EDAMAGE, "at byte 0 is a field without a number");
  check_refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, TM_EDAMAGE,
                "at byte 10 is a number of more than 64 bits");
  check_refused("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, TM_EDAMAGE,
                "at byte 10 is a number of more than 64 bits");
  check_refused("\x08\x80", 2, TM_ENOINPUT, "a part of it ends at byte 3, and the file has 2");
  check_refused("\x09\1\2\3", 4, TM_ENOINPUT, "a part of it ends at byte 9, and the file has 4");
  check_refused("\x0a\x05"
                "1234",
                6, TM_ENOINPUT, "a part of it ends at byte 7, and the file has 6");
  check_refused("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, TM_ENOINPUT,
                "a part of it ends at byte 9223372036854775807, and the file has 11");
}

/* A file that is whole, with a field that is longer than the message around it. */
static void a_field_ends_with_its_message(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_protobuf_field f;
  struct tm_err err = TM_ERR_NONE;
  (void)state;
  put_bytes(&b, 1,
            "\x0a\x05"
            "123",
            5);
  put_text(&b, 1, "more");
  struct tm_stream *s = open_bytes(&b);
  struct tm_protobuf m = tm_protobuf_of(&reader, 0, reader.size);
  assert_int_equal(tm_protobuf_next(&m, &f, &err), 1);
  struct tm_protobuf inner = tm_protobuf_of(&reader, f.at, f.len);
  assert_int_equal(tm_protobuf_next(&inner, &f, &err), TM_EDAMAGE);
  assert_string_equal(err.text, "at byte 5 is a field that is longer than what contains it");
  tm_stream_close(s);
  tm_buf_release(&b);
}

static void packed_numbers_are_read_to_the_end(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  uint64_t v;
  (void)state;
  tm_buf_add(&b, "\x01\x80\x01\x80", 4);
  struct tm_stream *s = open_bytes(&b);
  struct tm_protobuf m = tm_protobuf_of(&reader, 0, reader.size);
  assert_int_equal(tm_protobuf_next_number(&m, &v, NULL), 1);
  assert_int_equal(v, 1);
  assert_int_equal(tm_protobuf_next_number(&m, &v, NULL), 1);
  assert_int_equal(v, 128);
  assert_true(tm_protobuf_next_number(&m, &v, NULL) < 0);
  m = tm_protobuf_of(&reader, 0, 3);
  while (tm_protobuf_next_number(&m, &v, NULL) > 0)
    ;
  assert_int_equal(m.at, 3);
  tm_stream_close(s);
  tm_buf_release(&b);
}

UNIT_TESTS({
    cmocka_unit_test(each_kind_of_field_is_read),
    cmocka_unit_test(fields_cross_windows),
    cmocka_unit_test(a_long_text_crosses_many_windows),
    cmocka_unit_test(odd_fields_are_refused),
    cmocka_unit_test(a_field_ends_with_its_message),
    cmocka_unit_test(packed_numbers_are_read_to_the_end),
});
