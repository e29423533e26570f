/* test_gzip.c - reads gzip files from anywhere, and finds faults in them and in their index. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "gzip_rig.h"

#define MATCH 300 /* bytes; deflate's longest match; the size of one write */

static void contents_are_read_from_anywhere(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct random r = { 4 };
  assert_int_equal(read_all(g, &err), CONTENTS);
  struct tm_stream *s = open_it(g, false);
  for (int i = 0; i < 60; i++)
    check_at(g, s, (int64_t)random_below(&r, CONTENTS), 1 + random_below(&r, 200000));
  check_at(g, s, CONTENTS, 10);
  tm_stream_close(s);
  assert_null(g->warning);
}

static void a_check_point_saves_reading_the_bytes_before_it(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(read_all(g, &err), CONTENTS);
  struct tm_stream *s = open_it(g, false);
  g->read = 0;
  check_at(g, s, CONTENTS - 1000, 500);
  assert_true(g->read < (int64_t)g->file.len / 4);
  tm_stream_close(s);
}

/* Spacing adds at most one point; each expected place has its point within a block of zlib's. */
static void an_expected_place_has_a_point_of_its_own(void **state)
{
  enum { STEP = 700000 };
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_rows_pack pack = { .index_dir = g->index, .spacing = CONTENTS };
  char *p = tm_xmalloc(STEP);
  struct tm_stream *lister = tm_rows_open(&g->fs, g->path, &pack, true, &err);
  assert_int_equal(lister->size, -1);
  assert_true(lister->will_have_size);
  for (int64_t at = 0; at < (int64_t)CONTENTS; at += STEP) {
    tm_stream_expect(lister, at + STEP);
    assert_true(lister->read(lister, p, STEP, at, &err) > 0);
  }
  assert_int_equal(lister->read(lister, p, 1, CONTENTS, &err), 0);
  tm_stream_close(lister);
  struct tm_stream *worker = tm_rows_open(&g->fs, g->path, &pack, false, &err);
  assert_int_equal(worker->size, CONTENTS);
  for (int64_t at = CONTENTS / STEP * STEP; at > STEP; at -= STEP) {
    g->read = 0;
    check_at(g, worker, at, 100);
    assert_true(g->read < 300000);
  }
  tm_stream_close(worker);
  free(p);
}

/* A worker may get a range as soon as the lister has found it. */
static void an_index_is_used_while_it_is_written(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  char *p = tm_xmalloc(CONTENTS);
  struct tm_stream *lister = open_it(g, true);
  assert_int_equal(lister->read(lister, p, 100, 0, &err), 100);
  struct tm_stream *worker = open_it(g, false);
  for (int64_t at = 0; at + 300000 < (int64_t)CONTENTS; at += 300000) {
    assert_int_equal(lister->read(lister, p, 300000, at, &err), 300000);
    g->read = 0;
    check_at(g, worker, at + 299000, 1000);
    assert_true(g->read < 300000);
  }
  assert_int_equal(lister->read(lister, p, 100, 0, &err),
                   100); /* again from the beginning, as for a header */
  assert_memory_equal(p, g->contents, 100);
  tm_stream_close(lister);
  tm_stream_close(worker);
  free(p);
}

static void an_index_is_kept_and_of_its_file_alone(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct stat before, after;
  char *index = tm_gzip_index_path(g->index, g->path);
  assert_int_equal(read_all(g, &err), CONTENTS);
  assert_int_equal(stat(index, &before), 0);
  assert_int_equal(read_all(g, &err), CONTENTS);
  assert_int_equal(stat(index, &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
  assert_int_equal(utimensat(AT_FDCWD, g->path, times, 0), 0);
  assert_int_equal(read_all(g, &err), CONTENTS);
  assert_int_equal(stat(index, &after), 0);
  assert_int_not_equal(before.st_ino, after.st_ino);
  free(index);
}

/* It has the time that the lister saw; a worker may see another one. */
static void an_index_is_found_by_the_listed_time(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_rows_pack pack = { .index_dir = g->index };
  struct tm_stat listed;
  assert_int_equal(read_all(g, &err), CONTENTS);
  assert_int_equal(tm_fs_real()->stat(NULL, g->path, true, &listed), 0);
  assert_int_equal(tm_file_set_mtime(g->path, listed.mtime_ns + 5), 0);
  struct tm_stream *s = tm_rows_open(&g->fs, g->path, &pack, false, &err);
  assert_int_equal(s->size, -1);
  tm_stream_close(s);
  pack.listed_ns = listed.mtime_ns;
  s = tm_rows_open(&g->fs, g->path, &pack, false, &err);
  assert_int_equal(s->size, CONTENTS);
  tm_stream_close(s);
}

static void expect(struct rig *g, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  write_file(g->path, g->file.data, g->file.len);
  assert_int_equal(read_all(g, &err), TM_EDAMAGE);
  if (strstr(err.text, words) == NULL)
    fail_msg("'%s' does not say '%s'", err.text, words);
}

static void damage_is_found(void **state)
{
  struct rig *g = *state;
  size_t len = g->file.len;
  g->file.len = len - 3;
  expect(g, "ends too early");
  g->file.len = len / 2;
  expect(g, "ends too early");
  g->file.len = len;
  g->file.data[len - 6] ^= 1;
  expect(g, "the check sum or the length of the contents is wrong");
  g->file.data[len - 6] ^= 1;
  tm_buf_add(&g->file, "\0\0\0more", 7);
  expect(g, "belong to no gzip member");
  g->file.len = len;
  g->is_damaged = true;
  memset(g->file.data + len / 4, 0xff, 1000);
  expect(g, "'");
}

/* The reported place of the fault is the same, however often and from wherever a read meets it. */
static void bytes_before_damage_are_returned(void **state)
{
  struct rig *g = *state;
  size_t len = g->file.len;
  char *p = tm_xmalloc(CONTENTS + 1);
  for (size_t cut = 1; cut < len; cut = cut * 3 + 1) {
    struct tm_err err = TM_ERR_NONE;
    write_file(g->path, g->file.data, len - cut);
    struct tm_stream *s = open_it(g, false);
    assert_int_equal(s->read(s, p, CONTENTS + 1, 0, &err), TM_EDAMAGE);
    s->gives_before_damage = true;
    err.code = 0;
    int64_t got = s->read(s, p, CONTENTS + 1, 0, &err);
    assert_true(got > 0 && got <= (int64_t)CONTENTS && err.code == 0);
    assert_memory_equal(p, g->contents, (size_t)got);
    for (int64_t at = got; at < got + 200000; at += 100000)
      assert_int_equal(s->read(s, p, 10, at, &err), TM_EDAMAGE);
    assert_int_equal(s->read(s, p, 10, got - 5, &err), 5);
    assert_int_equal(s->read(s, p, 10, got, &err), TM_EDAMAGE);
    assert_non_null(strstr(err.text, "ends too early"));
    tm_stream_close(s);
  }
  free(p);
}

static void an_io_error_is_passed_on(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  int64_t end = CONTENTS / 3, from = end - 1000;
  char p[1000];
  assert_int_equal(read_all(g, &err), CONTENTS);
  struct tm_stream *s = open_it(g, false);
  g->bad_reads = 2;
  check_at(g, s, from, 1000);
  for (; g->bad_reads > 0; err.code = 0)
    assert_int_equal(s->read(s, p, 1000, end, &err), -EIO);
  check_at(g, s, end, 1000);
  tm_stream_close(s);
}

/* Reads from `at` on, this many bytes at a time, and returns what it got before the error. */
static int64_t read_to_damage(struct rig *g, char *p, int64_t at, size_t n)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_stream *s = open_it(g, false);
  int64_t got, begin = at;
  s->gives_before_damage = true;
  while ((got = s->read(s, p + (at - begin), n, at, &err)) > 0)
    at += got;
  assert_int_equal(got, TM_EDAMAGE);
  tm_stream_close(s);
  return at;
}

/* The decoder may be ahead of the reads when it meets the damage, and may have produced a part of
 * the last match. */
static void damage_has_one_place_however_it_is_read(void **state)
{
  struct rig *g = *state;
  struct random r = { 21 };
  char *whole = tm_xmalloc(4 * CONTENTS), *p = tm_xmalloc(4 * CONTENTS);
  size_t damaged = g->file.len * 9 / 10;
  for (int round = 0; round < 8; round++) {
    for (size_t at = damaged; at < g->file.len; at++)
      g->file.data[at] = (char)random_below(&r, 256);
    write_file(g->path, g->file.data, g->file.len);
    int64_t end = read_to_damage(g, whole, 0, CONTENTS);
    assert_true(end > 4 * MATCH && end < 2 * (int64_t)CONTENTS);
    for (size_t n = 1; n < CONTENTS; n = n * 7 + 3)
      assert_in_range(read_to_damage(g, p, 0, n), end - MATCH, end + MATCH);
    for (int64_t from = end - 2 * MATCH; from > 0; from -= 1 + (end - from) * 2) {
      assert_in_range(read_to_damage(g, p, from, 1000), end - MATCH, end + MATCH);
      assert_memory_equal(p, whole + from, (size_t)(end - MATCH - from));
    }
    damaged -= g->file.len / 10;
  }
  free(whole);
  free(p);
}

static void zeros_after_the_end_are_ignored(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  tm_buf_add(&g->file, "\0\0\0\0\0\0\0\0\0", 9);
  write_file(g->path, g->file.data, g->file.len);
  assert_int_equal(read_all(g, &err), CONTENTS);
}

/* Changes one byte of the index after the other: the contents are still right. */
static void a_damaged_index_does_no_harm(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct random r = { 17 };
  struct tm_buf index = TM_BUF_NONE;
  assert_int_equal(read_all(g, &err), CONTENTS);
  char *path = tm_gzip_index_path(g->index, g->path);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 64 << 20, &index, &err), 0);
  for (int i = 0; i < 120; i++) {
    size_t at = i < 64 ? (size_t)i * 2 : random_below(&r, index.len);
    char was = index.data[at];
    index.data[at] ^= (char)(1 + random_below(&r, 255));
    write_file(path, index.data, i % 10 == 9 ? at : index.len);
    struct tm_stream *s = open_it(g, false);
    check_at(g, s, (int64_t)random_below(&r, CONTENTS), 5000);
    tm_stream_close(s);
    if (i % 20 == 0)
      assert_int_equal(read_all(g, &err), CONTENTS); /* builds it again */
    index.data[at] = was;
  }
  free(path);
  tm_buf_release(&index);
}

static void without_an_index_it_is_read_in_order(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_stream *s = open_it(g, false);
  check_at(g, s, 100, 1000);
  check_at(g, s, CONTENTS - 100, 1000);
  check_at(g, s, 5, 10);
  tm_stream_close(s);
  write_file(g->index, "", 0); /* its folder cannot be created */
  assert_int_equal(read_all(g, &err), CONTENTS);
  assert_non_null(g->warning);
  assert_non_null(strstr(g->warning, "no index of"));
}

static int64_t failing_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  const struct tm_fs *real = tm_fs_real();
  return ((struct rig *)self)->writes-- > 0 ? real->pwrite(real->self, fd, p, n, at) : -ENOSPC;
}

/* The n-th write of the index fails: reads still succeed, and there is one warning. */
static void an_index_that_cannot_be_written_does_no_harm(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  g->fs.pwrite = failing_pwrite;
  for (int n = 0; n < 8; n++) {
    g->writes = n;
    assert_int_equal(read_all(g, &err), CONTENTS);
    assert_non_null(g->warning);
    assert_non_null(strstr(g->warning, "no space left on device"));
    free(g->warning);
    g->warning = NULL;
    struct tm_stream *s = open_it(g, false);
    check_at(g, s, CONTENTS - 5000, 4000);
    tm_stream_close(s);
  }
}

static int64_t points_of(struct rig *g)
{
  struct stat st;
  struct tm_gzip_record r;
  int64_t points = 0, last = -1;
  assert_int_equal(stat(g->path, &st), 0);
  struct tm_gzip_key key = { .path = g->path,
                             .size = st.st_size,
                             .mtime_ns =
                                 (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec };
  struct tm_gzip_index *x = tm_gzip_index_open(tm_fs_real(), g->index, &key);
  assert_non_null(x);
  for (int64_t at = 0; at < (int64_t)CONTENTS; at += 1000)
    if (tm_gzip_index_find(x, at, &r) && r.out != last) {
      points++;
      last = r.out;
    }
  tm_gzip_index_close(x);
  return points;
}

/* Packs the same contents into members of this many bytes: each read is correct wherever it begins.
 * Most blocks have a header that a point can use; stored and fixed blocks may have none, which only
 * costs time. */
static void check_packing(struct rig *g, int level, int strategy, size_t member, int64_t min_points)
{
  struct tm_err err = TM_ERR_NONE;
  struct random r = { (uint64_t)level + member };
  g->file.len = 0;
  add_packed(&g->file, g->contents, CONTENTS, member, level, strategy);
  write_file(g->path, g->file.data, g->file.len);
  assert_int_equal(read_all(g, &err), CONTENTS);
  struct tm_stream *s = open_it(g, false);
  for (int i = 0; i < 40; i++)
    check_at(g, s, (int64_t)random_below(&r, CONTENTS), 1 + random_below(&r, 200000));
  tm_stream_close(s);
  if (points_of(g) < min_points)
    fail_msg("level %d, strategy %d, members of %zu: %d points", level, strategy, member,
             (int)points_of(g));
}

static void every_way_of_packing(void **state)
{
  struct rig *g = *state;
  check_packing(g, 1, Z_DEFAULT_STRATEGY, CONTENTS, 8);
  check_packing(g, 6, Z_DEFAULT_STRATEGY, CONTENTS, 8);
  check_packing(g, 9, Z_DEFAULT_STRATEGY, CONTENTS, 8);
  check_packing(g, 6, Z_HUFFMAN_ONLY, CONTENTS, 8);
  check_packing(g, 6, Z_RLE, 700000, 8);
  check_packing(g, 6, Z_FIXED, CONTENTS, 0);
  check_packing(g, 0, Z_DEFAULT_STRATEGY, CONTENTS, 0);
  check_packing(g, 6, Z_DEFAULT_STRATEGY, 65280, 15);
  check_packing(g, 0, Z_DEFAULT_STRATEGY, 5000, 15);
  check_packing(g, 6, Z_FIXED, 100, 15);
}

/* Names and comments of any length, and the header's own check sum: the header spans several pieces
 * of input. */
static void heads_of_any_length(void **state)
{
  struct rig *g = *state;
  struct tm_err err = TM_ERR_NONE;
  static const size_t lengths[] = { 0, 1, 60, 65000, 65535, 65600, 200000 };
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    char *name = tm_xmalloc(lengths[i] + 1);
    memset(name, 'n', lengths[i]);
    name[lengths[i]] = '\0';
    g->file.len = 0;
    for (int half = 0; half < 2; half++) {
      z_stream z = { .next_in = (Bytef *)g->contents + half * (CONTENTS / 2),
                     .avail_in = CONTENTS / 2 };
      gz_header head = { .name = (Bytef *)name,
                         .comment = (Bytef *)name,
                         .extra = (Bytef *)name,
                         .extra_len = (uInt)(lengths[i] & 0xffff),
                         .hcrc = 1 };
      deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
      deflateSetHeader(&z, &head);
      size_t room = deflateBound(&z, CONTENTS / 2);
      z.next_out = (Bytef *)tm_buf_extend(&g->file, room);
      z.avail_out = (uInt)room;
      assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
      g->file.len -= z.avail_out;
      deflateEnd(&z);
    }
    free(name);
    write_file(g->path, g->file.data, g->file.len);
    if (read_all(g, &err) != (int64_t)CONTENTS)
      fail_msg("names of %zu bytes: %s", lengths[i], err.text);
    g->file.data[12] ^=
        1; /* the length of the first field, or its data, or the header's check sum */
    g->is_damaged = true;
    write_file(g->path, g->file.data, g->file.len);
    assert_int_equal(read_all(g, &err), TM_EDAMAGE);
    g->is_damaged = false;
  }
}

UNIT_TESTS({
    IN_RIG(contents_are_read_from_anywhere),
    IN_RIG(a_check_point_saves_reading_the_bytes_before_it),
    IN_RIG(an_expected_place_has_a_point_of_its_own),
    IN_RIG(an_index_is_used_while_it_is_written),
    IN_RIG(an_index_is_kept_and_of_its_file_alone),
    IN_RIG(an_index_is_found_by_the_listed_time),
    IN_RIG(damage_is_found),
    IN_RIG(bytes_before_damage_are_returned),
    IN_RIG(an_io_error_is_passed_on),
    IN_RIG(damage_has_one_place_however_it_is_read),
    IN_RIG(zeros_after_the_end_are_ignored),
    IN_RIG(a_damaged_index_does_no_harm),
    IN_RIG(without_an_index_it_is_read_in_order),
    IN_RIG(an_index_that_cannot_be_written_does_no_harm),
    IN_RIG(every_way_of_packing),
    IN_RIG(heads_of_any_length),
});
