/* test_gzip_writer.c - what is compressed is read again by zlib. */
#include "unit.h"

#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/stream/gzip_writer.h"
#include "random.h"

struct target {
  struct tm_buf file;
  int calls, refused_from; /* the call that fails; 0: none */
};

static int on_bytes(void *data, const char *p, size_t n)
{
  struct target *t = data;
  tm_buf_add(&t->file, p, n);
  return ++t->calls == t->refused_from ? -28 : 0;
}

/* Expects one member with these contents. */
static void check(const struct tm_buf *file, const struct tm_buf *contents)
{
  char *out = tm_xmalloc(contents->len + 1);
  z_stream z = { .next_in = (Bytef *)file->data,
                 .avail_in = (uInt)file->len,
                 .next_out = (Bytef *)out,
                 .avail_out = (uInt)contents->len + 1 };
  assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
  assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END); /* the check sum is right, too */
  assert_int_equal(z.total_out, contents->len);
  assert_int_equal(z.avail_in, 0);
  assert_memory_equal(out, tm_buf_str(contents), contents->len);
  inflateEnd(&z);
  free(out);
}

static void write_in_pieces(struct target *t, const struct tm_buf *contents, size_t piece)
{
  struct tm_gzip_writer *w = tm_gzip_writer_new(on_bytes, t);
  for (size_t at = 0; at < contents->len; at += piece)
    assert_int_equal(tm_gzip_writer_add(w, contents->data + at,
                                        contents->len - at < piece ? contents->len - at : piece),
                     0);
  assert_int_equal(tm_gzip_writer_end(w), 0);
  tm_gzip_writer_free(w);
}

static void contents_of_any_size_are_read_again(void **state)
{
  static const size_t sizes[] = { 0, 1, 65536, 700001 };
  for (size_t i = 0; i < TM_COUNT_OF(sizes) * 2; i++) {
    struct random r = { i };
    struct target t = { TM_BUF_NONE, 0, 0 };
    struct tm_buf contents = TM_BUF_NONE;
    while (contents.len < sizes[i / 2]) /* text that shrinks, or bytes that do not */
      tm_buf_add_char(&contents, i % 2 ? (char)random_next(&r) : "tidemill "[contents.len % 9]);
    write_in_pieces(&t, &contents, i % 2 ? 1000 : 300000);
    check(&t.file, &contents);
    assert_true(i % 2 || t.file.len < 64 + sizes[i / 2] / 20);
    tm_buf_release(&t.file);
    tm_buf_release(&contents);
  }
}

static void nothing_follows_a_piece_that_was_refused(void **state)
{
  struct random r = { 1 };
  struct target t = { TM_BUF_NONE, 0, 1 };
  struct tm_gzip_writer *w = tm_gzip_writer_new(on_bytes, &t);
  uint64_t bytes[1024];
  int rc = 0;
  for (int i = 0; i < 200; i++) {
    for (size_t k = 0; k < TM_COUNT_OF(bytes); k++)
      bytes[k] = random_next(&r);
    rc = tm_gzip_writer_add(w, (const char *)bytes, sizeof(bytes));
  }
  assert_int_equal(rc, -28);
  assert_int_equal(tm_gzip_writer_end(w), -28);
  assert_int_equal(t.calls, 1);
  tm_gzip_writer_free(w);
  tm_gzip_writer_free(NULL);
  tm_buf_release(&t.file);
}

UNIT_TESTS({
    cmocka_unit_test(contents_of_any_size_are_read_again),
    cmocka_unit_test(nothing_follows_a_piece_that_was_refused),
});
