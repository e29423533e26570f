/* test_gzip_index.c - the records of an index, and how the index proves that the gzip file has not
 * changed. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "gzip_rig.h"

/* The file keeps its size and time. */
static void put_damaged(struct rig *g, size_t at)
{
  struct stat st;
  assert_int_equal(stat(g->path, &st), 0);
  g->file.data[at] ^= 1;
  write_file(g->path, g->file.data, g->file.len);
  g->file.data[at] ^= 1;
  struct timespec times[2] = { st.st_atim, st.st_mtim };
  assert_int_equal(utimensat(AT_FDCWD, g->path, times, 0), 0);
}

/* Stored blocks decode whatever they contain, so only the index can notice a change. Each read
 * returns the old contents or is refused; a reader of the whole file meets the damage, as does the
 * lister of the next run. */
static void damage_since_the_first_reading_is_found(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct random r = { 33 };
  char *p = tm_xmalloc(CONTENTS);
  g->file.len = 0;
  add_packed(&g->file, g->contents, CONTENTS / 2, CONTENTS / 2, 0, Z_DEFAULT_STRATEGY);
  add_member(&g->file, g->contents + CONTENTS / 2, CONTENTS / 4);
  add_packed(&g->file, g->contents + CONTENTS * 3 / 4, CONTENTS / 4, CONTENTS / 4, 0,
             Z_DEFAULT_STRATEGY);
  write_file(g->path, g->file.data, g->file.len);
  assert_int_equal(read_all(g, &err), CONTENTS);
  for (int i = 0; i < 24; i++) {
    size_t len = g->file.len;
    put_damaged(g, i == 0 ? 4 : i == 1 ? len - 1 : i == 2 ? len - 8 : random_below(&r, len));
    struct tm_stream *s = open_it(g, false);
    for (int k = 0; k < 12; k++) {
      int64_t at = (int64_t)random_below(&r, CONTENTS - 3000);
      int64_t got = s->read(s, p, 3000, at, &err);
      assert_true(got == TM_EDAMAGE || got == 3000);
      if (got > 0)
        assert_memory_equal(p, g->contents + at, 3000);
    }
    int64_t got = s->read(s, p, CONTENTS, 0, &err);
    assert_int_equal(got < 0 ? got : s->read(s, p, 1, CONTENTS, &err), TM_EDAMAGE);
    assert_non_null(strstr(err.text, "has been damaged since it was first read"));
    tm_stream_close(s);
    assert_int_equal(read_all(g, &err), TM_EDAMAGE);
  }
  put_damaged(g, 4);
  write_file(g->path, g->file.data, g->file.len); /* a different time: a different file */
  assert_int_equal(read_all(g, &err), CONTENTS);
  free(p);
}

/* An end proves that the index is complete: each block must have its hash. */
static void an_index_without_all_hashes_has_no_end(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_gzip_key key = { .path = g->path, .size = 3 * TM_GZIP_BLOCK, .spacing = 1 };
  struct tm_gzip_record end = { .kind = TM_GZIP_END, .out = 5, .in = key.size };
  for (int blocks = 0; blocks < 5; blocks++) {
    struct tm_gzip_index *x = tm_gzip_index_make(tm_fs_real(), g->index, &key, &err);
    for (int i = 0; i < blocks; i++)
      assert_int_equal(tm_gzip_index_add_block(x, 70 + (uint64_t)i, &err), 0);
    assert_int_equal(tm_gzip_index_add(x, &end, NULL, &err), 0);
    tm_gzip_index_close(x);
    x = tm_gzip_index_open(tm_fs_real(), g->index, &key);
    assert_int_equal(tm_gzip_index_size(x), blocks == 3 ? 5 : -1);
    uint64_t hash = 0;
    assert_true(tm_gzip_index_block(x, 2, &hash) == (blocks == 3) &&
                hash == (blocks == 3 ? 72 : 0));
    tm_gzip_index_close(x);
  }
}

static void records(void **state)
{
  struct tm_gzip_record r = { .kind = TM_GZIP_POINT,
                              .out = 5,
                              .in = 7,
                              .bits = 3,
                              .window = 9,
                              .packed = 4,
                              .check = 77,
                              .at = 64 },
                        got;
  char bytes[TM_GZIP_RECORD];
  tm_gzip_record_encode(bytes, &r);
  assert_int_equal(tm_gzip_record_decode(&got, bytes, 64), 0);
  assert_true(got.out == 5 && got.in == 7 && got.bits == 3 && got.window == 9 && got.packed == 4 &&
              got.check == 77);
  assert_int_equal(tm_gzip_record_decode(&got, bytes, 65), TM_EDAMAGE);
  r.bits = 8;
  tm_gzip_record_encode(bytes, &r);
  assert_int_equal(tm_gzip_record_decode(&got, bytes, 64), TM_EDAMAGE);
  r.bits = 0;
  r.out = INT64_MAX; /* the decoder adds up places */
  tm_gzip_record_encode(bytes, &r);
  assert_int_equal(tm_gzip_record_decode(&got, bytes, 64), TM_EDAMAGE);
  r.out = 5;
  r.window = TM_GZIP_WINDOW + 1;
  tm_gzip_record_encode(bytes, &r);
  assert_int_equal(tm_gzip_record_decode(&got, bytes, 64), TM_EDAMAGE);
}

UNIT_TESTS({
    IN_RIG(damage_since_the_first_reading_is_found),
    IN_RIG(an_index_without_all_hashes_has_no_end),
    cmocka_unit_test(records),
});
