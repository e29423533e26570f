/* gzip.c - decoding from anywhere.
 *
 *   file -> input (64 KB) -> inflate -> the caller's memory
 *                              |
 *                              +-> check points, at borders of blocks
 *
 *  (1) `out` is the place in the contents of the next byte that inflate gives.
 *  (2) A point is in the index before any byte behind it is handed out: who learns of a range finds the point before it.
 *  (3) Decoding that began at a point has no check sum of its member; from the next member on there is one again.
 */
#include "data/rows/gzip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/check.h"

#define INPUT ((size_t)64 << 10)
#define SKIP  ((size_t)64 << 10)
#define NEAR                                                                                       \
  ((int64_t)1 << 20) /* before an expected place, each border of a block is kept until the next */

enum phase { MEMBER, RAW, BETWEEN, ENDED };

struct gzip_stream {
  struct tm_stream stream;
  const struct tm_fs *fs;
  int fd;
  char *path;
  int64_t file_size;
  struct tm_gzip_options o;
  z_stream z;
  bool has_z;
  enum phase phase;
  int64_t in;                 /* place in the file behind the input */
  int64_t out;                /* keeps (1) */
  int64_t last_point;         /* in the contents: of the last one that was written */
  int64_t expected;           /* a place that is read from soon, or -1 */
  struct tm_gzip_record near; /* the last border of a block before it; kind 0: none */
  struct tm_err err;          /* damage at `out`; code 0: none is known */
  char *input, *skipped, *window, *near_window;
};

static int damaged(struct gzip_stream *g, const char *what, struct tm_err *err)
{
  int64_t at = g->in - (int64_t)g->z.avail_in;
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s': %s at byte %" PRId64 " of %" PRId64 " (after %" PRId64
                    " bytes of contents)",
                    g->path, what, at, g->file_size, g->out);
}

/* Begins anew at this place of the file. */
static void begin_at(struct gzip_stream *g, int64_t in, int64_t out, enum phase phase)
{
  int bits = phase == RAW ? -15 : 31;
  int rc = g->has_z ? inflateReset2(&g->z, bits) : inflateInit2(&g->z, bits);
  tm_require(rc == Z_OK);
  g->has_z = true;
  g->z.avail_in = 0;
  g->in = in;
  g->out = out;
  g->phase = phase;
  g->err.code = 0;
}

/* Input, where there is none left. 0: the file has ended. */
static int fill(struct gzip_stream *g, struct tm_err *err)
{
  if (g->z.avail_in > 0)
    return 1;
  int64_t got = tm_fs_read_at(g->fs, g->fd, g->path, g->input, INPUT, g->in, err);
  if (got < 0)
    return (int)got;
  g->in += got;
  g->z.next_in = (Bytef *)g->input;
  g->z.avail_in = (uInt)got;
  return got > 0;
}

static void give_up_index(struct gzip_stream *g, const struct tm_err *err)
{
  g->o.is_writer = false;
  if (g->o.on_warning == NULL)
    return;
  char *text =
      tm_xprintf("the index of '%s' cannot be written, workers read it from its beginning: %s",
                 g->path, err->text);
  g->o.on_warning(g->o.data, text);
  free(text);
}

static void add_record(struct gzip_stream *g, struct tm_gzip_record *r, const char *window)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_gzip_index_add(g->o.index, r, window, &err) < 0)
    give_up_index(g, &err);
  g->last_point = r->out;
}

/* The state of the decoder at the border of a block, which is not the last of its member. */
static bool take_point(struct gzip_stream *g, struct tm_gzip_record *r, char *window)
{
  uInt n = TM_GZIP_WINDOW;
  if (inflateGetDictionary(&g->z, (Bytef *)window, &n) != Z_OK)
    return false;
  *r = (struct tm_gzip_record) {
    .kind = TM_GZIP_POINT,
    .out = g->out,
    .in = g->in - (int64_t)g->z.avail_in,
    .bits = (uint32_t)(g->z.data_type & 7),
    .window = n,
  };
  return true;
}

/* The border that is kept becomes a point, when the expected place is known to be before any later one. */
static void add_near(struct gzip_stream *g)
{
  bool is_used =
      g->near.kind == TM_GZIP_POINT && g->near.out > g->last_point && g->near.out <= g->expected;
  if (!g->o.is_writer || g->expected < 0 || g->out < g->expected)
    return;
  if (is_used)
    add_record(g, &g->near, g->near_window);
  g->expected = -1;
}

static void add_point(struct gzip_stream *g)
{
  struct tm_gzip_record r;
  bool is_border = (g->z.data_type & 128) != 0 && (g->z.data_type & 64) == 0;
  if (!g->o.is_writer || !is_border)
    return;
  if (g->out - g->last_point >= g->o.spacing) {
    if (take_point(g, &r, g->window))
      add_record(g, &r, g->window);
  } else if (g->out <= g->expected && g->expected - g->out < NEAR) {
    take_point(g, &g->near, g->near_window);
  }
}

static void gzip_expect(struct tm_stream *s, int64_t at)
{
  struct gzip_stream *g = (struct gzip_stream *)s;
  g->expected = at;
  add_near(g);
}

static void end_contents(struct gzip_stream *g)
{
  struct tm_gzip_record r = { .kind = TM_GZIP_END, .out = g->out, .in = g->file_size };
  g->phase = ENDED;
  if (g->o.is_writer)
    add_record(g, &r, g->window);
  g->o.is_writer = false;
}

/* Behind a member: the end, zeros up to the end, or another member. */
static int go_between(struct gzip_stream *g, struct tm_err *err)
{
  for (;;) {
    int rc = fill(g, err);
    if (rc < 0)
      return rc;
    if (rc == 0) {
      end_contents(g);
      return 0;
    }
    if (*g->z.next_in != 0)
      break;
    g->z.next_in++;
    g->z.avail_in--;
  }
  if (*g->z.next_in != 0x1f)
    return damaged(g, "there are bytes that belong to no gzip member", err);
  tm_require(inflateReset2(&g->z, 31) == Z_OK);
  g->phase = MEMBER;
  return 0;
}

/* The check sum and length behind data that were decoded raw. */
static int skip_trailer(struct gzip_stream *g, struct tm_err *err)
{
  for (int left = 8; left > 0; left--) {
    int rc = fill(g, err);
    if (rc < 0)
      return rc;
    if (rc == 0)
      return damaged(g, "the file ends too early", err);
    g->z.next_in++;
    g->z.avail_in--;
  }
  return 0;
}

/* Decodes into p[0 .. n): some of it, up to the next border of a block. Before an error that it has put into `err` it may have
 * given some, too. */
static int64_t decode(struct gzip_stream *g, char *p, size_t n, struct tm_err *err)
{
  int rc = fill(g, err);
  if (rc < 0)
    return rc;
  if (rc == 0)
    return damaged(g, "the file ends too early", err);
  uInt room = n < (1u << 30) ? (uInt)n : 1u << 30;
  g->z.next_out = (Bytef *)p;
  g->z.avail_out = room;
  rc = inflate(&g->z, g->o.is_writer ? Z_BLOCK : Z_NO_FLUSH);
  int64_t got = (int64_t)(room - g->z.avail_out);
  g->out += got;
  add_near(g); /* keeps (2) */
  if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
    rc = damaged(g, g->z.msg != NULL ? g->z.msg : "data that cannot be decoded", err);
    return got > 0 ? got : rc;
  }
  if (rc != Z_STREAM_END) {
    add_point(g); /* keeps (2) */
    return got;
  }
  rc = g->phase == RAW ? skip_trailer(g, err) : 0;
  g->phase = BETWEEN;
  return rc < 0 && got == 0 ? rc : got;
}

/* What is damaged stays so; what the machine was to blame for may be read another time. */
static int refuse(struct gzip_stream *g, struct tm_err *err)
{
  int code = tm_err_set(err, g->err.code, "%s", g->err.text);
  if (code != TM_EDAMAGE)
    g->err.code = 0;
  return code;
}

static int64_t read_on(struct gzip_stream *g, char *p, size_t n, struct tm_err *err)
{
  size_t done = 0;
  while (done < n && g->phase != ENDED && g->err.code == 0) {
    int64_t got =
        g->phase == BETWEEN ? go_between(g, &g->err) : decode(g, p + done, n - done, &g->err);
    done += got > 0 ? (size_t)got : 0;
  }
  bool is_good = done == n || g->err.code == 0 || (done > 0 && g->stream.gives_before_damage);
  return is_good ? (int64_t)done : refuse(g, err);
}

/* From the best point for this place. Who writes the index goes over all of the file in order, if need be from its
 * beginning again: points that are there are not written twice. */
static void jump(struct gzip_stream *g, int64_t at)
{
  struct tm_gzip_record r = { .out = 0 };
  bool has_point = !g->o.is_writer && g->o.index != NULL && tm_gzip_index_find(g->o.index, at, &r);
  bool is_ahead = g->has_z && g->out <= at;
  unsigned char byte = 0;
  if (is_ahead && (!has_point || r.out <= g->out))
    return;
  if (!has_point || !tm_gzip_index_window(g->o.index, &r, g->window) ||
      (r.bits > 0 && tm_fs_read_at(g->fs, g->fd, g->path, &byte, 1, r.in - 1, NULL) != 1)) {
    begin_at(g, 0, 0, MEMBER);
    return;
  }
  begin_at(g, r.in, r.out, RAW);
  if (r.bits > 0)
    inflatePrime(&g->z, (int)r.bits, byte >> (8 - r.bits));
  if (r.window > 0)
    inflateSetDictionary(&g->z, (Bytef *)g->window, r.window);
}

static int64_t gzip_read(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct gzip_stream *g = (struct gzip_stream *)s;
  if (!g->has_z || at != g->out)
    jump(g, at);
  while (g->out < at) {
    size_t skip = at - g->out < (int64_t)SKIP ? (size_t)(at - g->out) : SKIP;
    int64_t got = read_on(g, g->skipped, skip, err);
    if (got < (int64_t)skip)
      return got < 0 ? got : g->err.code < 0 ? refuse(g, err) : 0;
  }
  return read_on(g, p, n, err);
}

static void gzip_close(struct tm_stream *s)
{
  struct gzip_stream *g = (struct gzip_stream *)s;
  if (g->has_z)
    inflateEnd(&g->z);
  tm_gzip_index_close(g->o.index);
  tm_fs_close(g->fs, g->fd);
  free(g->input);
  free(g->skipped);
  free(g->window);
  free(g->near_window);
  free(g->path);
  free(g);
}

struct tm_stream *tm_gzip_open(const struct tm_fs *fs, int fd, const char *path, int64_t size,
                               const struct tm_gzip_options *options)
{
  struct gzip_stream *g = TM_NEW(struct gzip_stream);
  g->stream = (struct tm_stream) { .read = gzip_read,
                                   .close = gzip_close,
                                   .expect = gzip_expect,
                                   .size = -1,
                                   .will_have_size = true,
                                   .is_in_order = options->index == NULL };
  if (options->index != NULL && !options->is_writer)
    g->stream.size = tm_gzip_index_size(options->index);
  g->expected = -1;
  g->fs = fs;
  g->fd = fd;
  g->path = tm_xstrdup(path);
  g->file_size = size;
  g->o = *options;
  g->input = tm_xmalloc(INPUT);
  g->skipped = tm_xmalloc(SKIP);
  g->window = tm_xmalloc(TM_GZIP_WINDOW);
  g->near_window = tm_xmalloc(TM_GZIP_WINDOW);
  return &g->stream;
}
