/* gzip_rig.h - a gzip file of two members with known contents, and its index. Include it after
 * cmocka.h and errno.h. */
#ifndef TM_TESTS_GZIP_RIG_H
#define TM_TESTS_GZIP_RIG_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "data/rows/open.h"
#include "data/stream/gzip_index.h"
#include "folder.h"
#include "random.h"

#define CONTENTS ((size_t)2 << 20)

struct rig {
  struct folder folder;
  char *path, *index;
  char *contents;
  struct tm_buf file;
  struct tm_fs fs;
  int64_t read; /* bytes read, over all files */
  char *warning;
  int writes;      /* writes that succeed */
  int bad_reads;   /* reads of eight bytes, the length of a trailer, that fail */
  bool is_damaged; /* bytes before the fault may be wrong: the check sum is at the end */
};

static inline int64_t counted_pread(void *self, int fd, void *p, size_t n, int64_t at)
{
  const struct tm_fs *real = tm_fs_real();
  struct rig *g = self;
  if (n == 8 && g->bad_reads > 0) {
    g->bad_reads--;
    return -EIO;
  }
  int64_t got = real->pread(real->self, fd, p, n, at);
  g->read += got > 0 ? got : 0;
  return got;
}

/* Members of this many bytes each. */
static inline void add_packed(struct tm_buf *out, const char *p, size_t n, size_t member, int level,
                              int strategy)
{
  z_stream z = { .next_in = (Bytef *)(uintptr_t)p };
  deflateInit2(&z, level, Z_DEFLATED, 31, 8, strategy);
  for (size_t at = 0; at < n; at += member) {
    z.avail_in = (uInt)(n - at < member ? n - at : member);
    size_t room = deflateBound(&z, z.avail_in);
    z.next_out = (Bytef *)tm_buf_extend(out, room);
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->len -= z.avail_out;
    deflateReset(&z);
  }
  deflateEnd(&z);
}

static inline void add_member(struct tm_buf *out, const char *p, size_t n)
{
  add_packed(out, p, n, n, 6, Z_DEFAULT_STRATEGY);
}

static inline void write_file(const char *path, const void *p, size_t n)
{
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(p, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
}

/* Packed once for all tests of a process: packing takes longer than most of them. */
static inline void add_contents(struct rig *g)
{
  static char *contents;
  static struct tm_buf file;
  struct random r = { 9 };
  if (contents == NULL) {
    contents = tm_xmalloc(CONTENTS);
    for (size_t i = 0; i < CONTENTS; i++)
      contents[i] = (char)(i % 50 == 49 ? '\n' : 'a' + random_below(&r, 20));
    add_member(&file, contents, CONTENTS / 3);
    add_member(&file, contents + CONTENTS / 3, CONTENTS - CONTENTS / 3);
  }
  g->contents = tm_xmalloc(CONTENTS);
  memcpy(g->contents, contents, CONTENTS);
  tm_buf_add(&g->file, file.data, file.len);
}

static inline int setup(void **state)
{
  struct rig *g = TM_NEW(struct rig);
  folder_init(&g->folder);
  g->path = tm_xstrdup(folder_file(&g->folder, "t.csv.gz"));
  g->index = tm_xstrdup(folder_file(&g->folder, "index"));
  add_contents(g);
  g->fs = *tm_fs_real();
  g->fs.self = g;
  g->fs.pread = counted_pread;
  write_file(g->path, g->file.data, g->file.len);
  *state = g;
  return 0;
}

static inline int teardown(void **state)
{
  struct rig *g = *state;
  folder_release(&g->folder);
  tm_buf_release(&g->file);
  free(g->contents);
  free(g->path);
  free(g->index);
  free(g->warning);
  free(g);
  return 0;
}

static inline void on_warning(void *data, const char *text)
{
  struct rig *g = data;
  free(g->warning);
  g->warning = tm_xstrdup(text);
}

static inline struct tm_stream *open_it(struct rig *g, bool is_lister)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_rows_pack pack = {
    .index_dir = g->index, .spacing = 100000, .on_warning = on_warning, .data = g
  };
  struct tm_stream *s = tm_rows_open(&g->fs, g->path, &pack, is_lister, &err);
  assert_non_null(s);
  return s;
}

/* Reads the whole file, as the lister does. Returns a negative error. */
static inline int64_t read_all(struct rig *g, struct tm_err *err)
{
  struct tm_stream *s = open_it(g, true);
  char *p = tm_xmalloc(CONTENTS);
  int64_t at = 0, got;
  while ((got = s->read(s, p, 65536, at, err)) > 0) {
    assert_true((size_t)(at + got) <= CONTENTS);
    if (!g->is_damaged)
      assert_memory_equal(p, g->contents + at, (size_t)got);
    at += got;
  }
  free(p);
  tm_stream_close(s);
  return got < 0 ? got : at;
}

static inline void check_at(struct rig *g, struct tm_stream *s, int64_t at, size_t n)
{
  struct tm_err err = TM_ERR_NONE;
  char *p = tm_xmalloc(n);
  size_t want = (size_t)at >= CONTENTS ? 0 : CONTENTS - (size_t)at < n ? CONTENTS - (size_t)at : n;
  assert_int_equal(s->read(s, p, n, at, &err), want);
  assert_memory_equal(p, g->contents + at, want);
  free(p);
}

#define IN_RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
