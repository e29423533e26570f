/* gzip.c - decoding from anywhere.
 *
 *   file -> input (64 KB) -> pieces -> inflate -> the caller's memory
 *                                         |
 *                                         +-> check points, at boundaries of blocks
 *
 *  (1) `out` is the offset in the contents of the next byte from inflate.
 *  (2) A point is in the index before any byte after it is returned: whoever learns of a range
 *      finds the point before it.
 *  (3) Decoding from a point cannot verify the check sum of its member; from the next member on it
 *      can.
 *  (4) Inflate does not stop at boundaries of blocks. To find a point, it gets pieces so small that
 *      sooner or later one ends within the head of a block: then inflate has returned everything
 *      before, and holds its part of the head aside, so that the position of the boundary is known
 *      to the bit.
 *  (5) Inflate is up to 64 KB ahead of its output. What it had decoded when it met damage is
 *      returned before the error: except for its last symbol, the position of the damage is the
 *      same for every way of reading.
 *  (6) The file is read in whole blocks. If the index has the check sum of a block, it is verified
 *      before inflate gets the block: decoding through an index gives the bytes from which it was
 *      made.
 */
#include "data/stream/gzip.h"

#include <inttypes.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#define INPUT   ((size_t)TM_GZIP_BLOCK)
#define SKIP    ((size_t)256 << 10)
#define PIECE   ((size_t)64) /* keeps (4): few heads of compressed blocks are shorter */
#define TRAILER 8            /* after a member's data: their check sum and length */
#define NEAR                                                                                       \
  ((int64_t)256 << 10) /* before an expected position, the latest boundary of a block is kept */
#define SEARCH ((int64_t)1 << 20) /* length of the search for a boundary */

enum phase { HEAD, MEMBER, RAW, DAMAGED, BETWEEN, ENDED };

struct gzip_stream {
  struct tm_stream stream;
  const struct tm_fs *fs;
  int fd;
  char *path;
  int64_t file_size;
  struct tm_gzip_options o;
  struct inflate_state z;
  struct isal_gzip_header head;
  bool has_begun;
  enum phase phase;
  int64_t in;                 /* offset in the file after the input */
  char *next;                 /* in the input: what inflate has not got yet */
  size_t left;                /* bytes at `next` */
  int64_t out;                /* keeps (1) */
  int64_t member;             /* in the contents: where this member's begin */
  int64_t last_point;         /* in the contents: the last written one */
  int64_t wanted;             /* in the contents: the search for the next one begins here */
  int64_t expected;           /* position of an expected read, or -1 */
  struct tm_gzip_record near; /* the last boundary of a block before it; kind 0: none */
  struct tm_err err;          /* damage at `out`; code 0: none known */
  int fault;                  /* of inflate, while DAMAGED */
  const char *given;          /* while reading: what this call has decoded */
  size_t before; /* bytes of the contents in `window`, before `given`; for writing points */
  char *input, *skipped, *window, *near_window;
};

/* In the file: of the next bit for inflate. */
static int64_t bit_place(const struct gzip_stream *g)
{
  int64_t unread = (int64_t)g->left + (int64_t)g->z.avail_in + g->z.tmp_in_size;
  return (g->in - unread) * 8 - g->z.read_in_length;
}

static int damaged(struct gzip_stream *g, const char *what, struct tm_err *err)
{
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s': %s at byte %" PRId64 " of %" PRId64 " (after %" PRId64
                    " bytes of contents)",
                    g->path, what, bit_place(g) / 8, g->file_size, g->out);
}

static int too_early(struct gzip_stream *g, struct tm_err *err)
{
  return damaged(g, "the file ends too early", err);
}

static int refuse_block(struct gzip_stream *g, uint64_t number, size_t n, struct tm_err *err)
{
  uint64_t at = number * TM_GZIP_BLOCK;
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s' has been damaged since it was first read: bytes %" PRIu64 " to %" PRIu64
                    " have changed, its size and time have not; restore the file, or touch it to "
                    "have it read as a new one",
                    g->path, at, at + n - 1);
}

static int failed(struct gzip_stream *g, int rc, struct tm_err *err)
{
  switch (rc) {
  case ISAL_INVALID_BLOCK: return damaged(g, "an invalid block", err);
  case ISAL_INVALID_SYMBOL: return damaged(g, "an invalid symbol", err);
  case ISAL_INVALID_LOOKBACK: return damaged(g, "a reference to before the beginning", err);
  case ISAL_INCORRECT_CHECKSUM:
    return damaged(g,
                   g->phase == HEAD ? "the check sum of the head is wrong"
                                    : "the check sum or the length of the contents is wrong",
                   err);
  default: return damaged(g, "an invalid head", err);
  }
}

/* The head of a member is next, or data without one. */
static void begin(struct gzip_stream *g, enum phase phase)
{
  isal_inflate_reset(&g->z);
  isal_gzip_header_init(&g->head);
  g->z.crc_flag = phase == RAW ? ISAL_DEFLATE : ISAL_GZIP_NO_HDR_VER;
  g->phase = phase;
  g->member = g->out;
}

/* Reads from this offset of the file on. */
static void seek(struct gzip_stream *g, int64_t in)
{
  g->z.avail_in = 0;
  g->left = 0;
  g->in = in;
}

static void begin_at(struct gzip_stream *g, int64_t in, int64_t out, enum phase phase)
{
  seek(g, in);
  g->has_begun = true;
  g->out = out;
  g->err.code = 0;
  begin(g, phase);
}

/* Whether to search for a boundary here. */
static bool is_searching(const struct gzip_stream *g)
{
  return g->o.is_writer && g->phase == MEMBER &&
         (g->out >= g->wanted || (g->out <= g->expected && g->expected - g->out <= NEAR));
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

/* Verifies a block of the file against the index; adds its hash to an index that is being made. */
static int check_block(struct gzip_stream *g, uint64_t number, size_t n, struct tm_err *err)
{
  uint64_t known;
  struct tm_err why = TM_ERR_NONE;
  if (g->o.index == NULL)
    return 0;
  if (tm_gzip_index_block(g->o.index, number, &known))
    return known == tm_gzip_block_hash(g->input, n) ? 0 : refuse_block(g, number, n, err);
  if (g->o.is_writer &&
      tm_gzip_index_add_block(g->o.index, tm_gzip_block_hash(g->input, n), &why) < 0)
    give_up_index(g, &why);
  return 0;
}

/* Reads the whole block that contains g->in, because the block has a check sum. Keeps (6). 0: the
 * file has ended. */
static int read_block(struct gzip_stream *g, struct tm_err *err)
{
  int64_t at = g->in / TM_GZIP_BLOCK * TM_GZIP_BLOCK, before = g->in - at;
  if (before > 0 && g->in >= g->file_size)
    return 0;
  int64_t got = tm_fs_read_at(g->fs, g->fd, g->path, g->input, INPUT, at, err);
  int rc = got > 0 ? check_block(g, (uint64_t)(at / TM_GZIP_BLOCK), (size_t)got, err) : (int)got;
  if (rc < 0 || got <= before)
    return rc;
  g->in = at + got;
  g->next = g->input + before;
  g->left = (size_t)(got - before);
  return 1;
}

/* Ensures input for inflate. 0: the file has ended. */
static int fill(struct gzip_stream *g, struct tm_err *err)
{
  if (g->z.avail_in > 0)
    return 1;
  int rc = g->left == 0 ? read_block(g, err) : 1;
  if (rc <= 0)
    return rc;
  size_t n = is_searching(g) && g->left > PIECE ? PIECE : g->left;
  g->z.next_in = (uint8_t *)g->next;
  g->z.avail_in = (uint32_t)n;
  g->next += n;
  g->left -= n;
  return 1;
}

static void add_record(struct gzip_stream *g, struct tm_gzip_record *r, const char *window)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_gzip_index_add(g->o.index, r, window, &err) < 0)
    give_up_index(g, &err);
  g->last_point = r->out;
  g->wanted = r->out + g->o.spacing;
}

/* The last `n` bytes of the contents, of which this call has decoded `done`. */
static void copy_window(const struct gzip_stream *g, size_t done, size_t n, char *window)
{
  size_t from_call = done < n ? done : n, from_before = n - from_call;
  memmove(window, g->window + g->before - from_before, from_before);
  memcpy(window + from_before, g->given + done - from_call, from_call);
}

/* Records the boundary of a block at inflate's position. */
static void take_point(struct gzip_stream *g, size_t done, struct tm_gzip_record *r, char *window)
{
  int64_t bits = bit_place(g), n = g->out - g->member;
  *r = (struct tm_gzip_record) {
    .kind = TM_GZIP_POINT,
    .out = g->out,
    .in = (bits + 7) / 8,
    .bits = (uint32_t)(-bits & 7),
    .window = n < TM_GZIP_WINDOW ? (uint32_t)n : TM_GZIP_WINDOW,
  };
  copy_window(g, done, r->window, window);
}

/* Writes the kept boundary as a point, once no later boundary can precede the expected position. */
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

/* Called after a piece or the head of a member. Keeps (4). */
static void add_point(struct gzip_stream *g, size_t done, bool is_border)
{
  struct tm_gzip_record r;
  if (!is_searching(g))
    return;
  if (g->out <= g->expected && g->expected - g->out <= NEAR) {
    if (is_border)
      take_point(g, done, &g->near, g->near_window);
  } else if (is_border) {
    take_point(g, done, &r, g->near_window);
    add_record(g, &r, g->near_window);
  } else if (g->out - g->wanted > SEARCH) {
    g->wanted = g->out + g->o.spacing;
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

/* After a member: the end, zeros up to the end, or another member. */
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
  begin(g, HEAD);
  return 0;
}

/* After raw decoding: skips the check sum and length. */
static int skip_trailer(struct gzip_stream *g, struct tm_err *err)
{
  char bytes[TRAILER];
  int64_t at = bit_place(g) / 8;
  int64_t got = tm_fs_read_at(g->fs, g->fd, g->path, bytes, TRAILER, at, err);
  if (got < TRAILER)
    return got < 0 ? (int)got : too_early(g, err);
  isal_inflate_reset(&g->z);
  seek(g, at + TRAILER);
  return 0;
}

static int read_head(struct gzip_stream *g, size_t done, struct tm_err *err)
{
  int rc = fill(g, err);
  if (rc <= 0)
    return rc < 0 ? rc : too_early(g, err);
  rc = isal_read_gzip_header(&g->z, &g->head);
  if (rc < 0)
    return failed(g, rc, err);
  if (rc == ISAL_DECOMP_OK) {
    g->phase = MEMBER;
    add_point(g, done, true);
  }
  return 0;
}

/* The room up to where the search for a boundary begins. */
static size_t room_for(const struct gzip_stream *g, size_t n)
{
  int64_t room = g->expected - NEAR - g->out;
  if (g->o.is_writer && room > 0 && room < (int64_t)n)
    return (size_t)room;
  return n < SKIP ? n : SKIP;
}

/* Keeps (5). */
static int64_t give_rest(struct gzip_stream *g, char *p, size_t n, struct tm_err *err)
{
  size_t rest = (size_t)(g->z.tmp_out_valid - g->z.tmp_out_processed);
  size_t got = rest < n ? rest : n;
  if (rest == 0)
    return failed(g, g->fault, err);
  memcpy(p, g->z.tmp_out_buffer + g->z.tmp_out_processed, got);
  g->z.tmp_out_processed += (int)got;
  g->out += (int64_t)got;
  add_near(g); /* keeps (2) */
  return (int64_t)got;
}

/* Decodes some of the contents; `done` bytes of this call are before. It may return bytes even if
 * it has filled `err`. */
static int64_t decode(struct gzip_stream *g, char *p, size_t n, size_t done, struct tm_err *err)
{
  int more = fill(g, err);
  if (more < 0)
    return more;
  uint32_t room = (uint32_t)room_for(g, n);
  g->z.next_out = (uint8_t *)p;
  g->z.avail_out = room;
  int rc = isal_inflate(&g->z);
  size_t got = room - g->z.avail_out;
  g->out += (int64_t)got;
  add_near(g); /* keeps (2) */
  if (rc < 0) {
    g->fault = rc;
    g->phase = DAMAGED;
    return (int64_t)got;
  }
  if (g->z.block_state == ISAL_BLOCK_FINISH) {
    rc = g->phase == RAW ? skip_trailer(g, err) : 0;
    g->phase = rc < 0 ? g->phase : BETWEEN; /* the read may be repeated */
    return rc < 0 && got == 0 ? rc : (int64_t)got;
  }
  if (more == 0 && got == 0)
    return too_early(g, err);
  add_point(g, done + got,
            g->z.block_state == ISAL_BLOCK_HDR && g->z.avail_out > 0); /* keeps (2) */
  return (int64_t)got;
}

static int64_t go_on(struct gzip_stream *g, char *p, size_t n, size_t done, struct tm_err *err)
{
  switch (g->phase) {
  case BETWEEN: return go_between(g, err);
  case HEAD: return read_head(g, done, err);
  case DAMAGED: return give_rest(g, p, n, err);
  default: return decode(g, p, n, done, err);
  }
}

/* Damage is permanent; after an error of the machine, the read may be repeated. */
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
  g->given = p;
  while (done < n && g->phase != ENDED && g->err.code == 0) {
    int64_t got = go_on(g, p + done, n - done, done, &g->err);
    done += got > 0 ? (size_t)got : 0;
  }
  if (g->o.is_writer) {
    size_t kept = g->before + done < TM_GZIP_WINDOW ? g->before + done : TM_GZIP_WINDOW;
    copy_window(g, done, kept, g->window);
    g->before = kept;
  }
  bool is_good = done == n || g->err.code == 0 || (done > 0 && g->stream.gives_before_damage);
  return is_good ? (int64_t)done : refuse(g, err);
}

/* A point within a byte begins with the last bits of that byte. */
static int give_bits(struct gzip_stream *g, uint32_t bits, struct tm_err *err)
{
  int rc = fill(g, err);
  if (rc <= 0)
    return rc < 0 ? rc : too_early(g, err);
  g->z.read_in = *g->z.next_in++ >> (8 - bits);
  g->z.read_in_length = (int32_t)bits;
  g->z.avail_in--;
  return 0;
}

/* Starts at the best point for this position. The writer of an index reads the whole file in order,
 * if necessary again from its beginning: existing points are not written twice. */
static int jump(struct gzip_stream *g, int64_t at, struct tm_err *err)
{
  struct tm_gzip_record r = { .out = 0 };
  bool has_point = !g->o.is_writer && g->o.index != NULL && tm_gzip_index_find(g->o.index, at, &r);
  bool is_ahead = g->has_begun && g->out <= at;
  if (is_ahead && (!has_point || r.out <= g->out))
    return 0;
  if (!has_point || !tm_gzip_index_window(g->o.index, &r, g->window)) {
    begin_at(g, 0, 0, HEAD);
    g->before = 0;
    return 0;
  }
  begin_at(g, r.in - (r.bits > 0), r.out, RAW);
  int rc = r.bits > 0 ? give_bits(g, r.bits, err) : 0;
  if (rc == 0 && r.window > 0)
    isal_inflate_set_dict(&g->z, (uint8_t *)g->window, r.window);
  g->has_begun = rc == 0;
  return rc;
}

static int64_t gzip_read(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err)
{
  struct gzip_stream *g = (struct gzip_stream *)s;
  int rc = !g->has_begun || at != g->out ? jump(g, at, err) : 0;
  if (rc < 0)
    return rc;
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
  g->wanted = options->spacing;
  isal_inflate_init(&g->z);
  g->input = tm_xmalloc(INPUT);
  g->skipped = tm_xmalloc(SKIP);
  g->window = tm_xmalloc(TM_GZIP_WINDOW);
  g->near_window = tm_xmalloc(TM_GZIP_WINDOW);
  return &g->stream;
}
