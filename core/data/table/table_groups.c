/* table_groups.c - see table_groups.h.
 *
 *   frames -> row sorter -> groups -> FILE.tmp -> fsync -> FILE
 *
 * The numbers of rows and bytes of a group are known when it has ended; then they are written after
 * its keys.
 */
#include "data/table/table_groups.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/frame/row_code.h"
#include "data/key.h"
#include "data/table/row_sorter.h"

#define PIECE      (256u << 10) /* bytes written at a time */
#define HEAD       20           /* bytes before the columns */
#define HEAD_MOST  ((size_t)256 << 20)
#define GROUP_TAIL 32 /* bytes after the keys of a group */
#define HASH_SIZE  8  /* of the rows: the last bytes of the tail */
#define VERSION    2

struct tm_table_groups {
  const struct tm_fs *fs;
  char *path;
  struct tm_hash *listing;
  struct tm_row_sorter *sorter;
  struct tm_schema columns; /* of the complete file */
  struct tm_buf record;
  int fd;           /* of the complete file; or -1 */
  int64_t at, size; /* the next group; the end */
};

struct tm_table_groups *tm_table_groups_new(const struct tm_fs *fs, const char *path,
                                            const char *spill_dir, char *const *keys, size_t n)
{
  struct tm_table_groups *g = TM_NEW(struct tm_table_groups);
  g->fs = fs;
  g->path = tm_xstrdup(path);
  g->sorter = tm_row_sorter_new(fs, spill_dir, "'partition_keys'", keys, n);
  g->listing = tm_hash_new();
  g->fd = -1;
  return g;
}

void tm_table_groups_close(struct tm_table_groups *g)
{
  if (!g)
    return;
  tm_fs_close(g->fs, g->fd);
  tm_hash_free(g->listing);
  tm_row_sorter_free(g->sorter);
  tm_schema_release(&g->columns);
  tm_buf_release(&g->record);
  free(g->path);
  free(g);
}

void tm_table_groups_note(struct tm_table_groups *g, const struct tm_item *file)
{
  tm_buf_clear(&g->record);
  tm_item_add(&g->record, file);
  tm_hash_add(g->listing, g->record.data, g->record.len);
}

/* Reading the head ----------------------------------------------------------------------------- */

static int report_damage(const char *path, const char *what, struct tm_err *err)
{
  return tm_err_set(
      err, TM_EDAMAGE,
      "'%s' is damaged: %s; the job wrote it itself: restore the file, or start a new "
      "job",
      path, what);
}

/* `head`: HEAD + 4 bytes; the columns and the check sum follow. */
static int read_columns(const struct tm_fs *fs, int fd, const char *path, const char *head,
                        struct tm_schema *out, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  size_t n = tm_get_u32(head + HEAD), want = n + 8;
  int64_t got = n > HEAD_MOST
                    ? 0
                    : tm_fs_read_at(fs, fd, path, tm_buf_extend(&text, want), want, HEAD + 4, err);
  int rc = got < 0 ? (int)got : 0;
  uint64_t check = tm_hash64(head, HEAD + 4);
  bool is_good =
      got == (int64_t)want && tm_hash64_seed(text.data, n, check) == tm_get_u64(text.data + n);
  if (rc == 0 && (!is_good || tm_schema_read(out, text.data, n, NULL) < 0))
    rc = report_damage(path, "its columns cannot be read", err);
  tm_buf_release(&text);
  return rc;
}

/* Reads the columns into an empty schema, the hash, and the offset of the first group. */
static int read_head(const struct tm_fs *fs, int fd, const char *path, struct tm_schema *columns,
                     uint64_t *hash, int64_t *begin, struct tm_err *err)
{
  char head[HEAD + 4];
  int64_t got = tm_fs_read_at(fs, fd, path, head, sizeof(head), 0, err);
  if (got < 0)
    return (int)got;
  if (got < (int64_t)sizeof(head) || memcmp(head, "tm-rows", 8) != 0)
    return report_damage(path, "it does not begin as a file of rows", err);
  if (tm_get_u32(head + 8) != VERSION)
    return tm_err_set(err, TM_EVERSION,
                      "'%s' is of version %u, and this program knows version %d: start a new job",
                      path, (unsigned)tm_get_u32(head + 8), VERSION);
  *hash = tm_get_u64(head + 12);
  *begin = HEAD + 4 + (int64_t)tm_get_u32(head + HEAD) + 8;
  return read_columns(fs, fd, path, head, columns, err);
}

int tm_table_groups_open(struct tm_table_groups *g, struct tm_err *err)
{
  struct tm_stat st;
  uint64_t hash = 0;
  if (!tm_fs_exists(g->fs, g->path))
    return 0;
  tm_fs_close(g->fs, g->fd);
  g->fd = tm_fs_open(g->fs, g->path, O_RDONLY, 0, err);
  if (g->fd < 0)
    return err ? err->code : g->fd;
  int rc = g->fs->fstat(g->fs->self, g->fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", g->path);
  g->size = st.size;
  tm_schema_release(&g->columns);
  if ((rc = read_head(g->fs, g->fd, g->path, &g->columns, &hash, &g->at, err)) < 0)
    return rc;
  if (hash != tm_hash_end(g->listing))
    return tm_err_set(err, TM_ECHANGED,
                      "the input has changed: the files of the table are not those whose rows were "
                      "grouped into '%s'",
                      g->path);
  return 1;
}

int tm_table_groups_add(struct tm_table_groups *g, const struct tm_data_frame *f,
                        struct tm_err *err)
{
  tm_require(g->sorter && g->fd < 0);
  return tm_row_sorter_add(g->sorter, f, err);
}

/* Writing -------------------------------------------------------------------------------------- */

struct writer {
  const struct tm_table_groups *g;
  char *path;
  int fd;
  struct tm_buf piece;
  int64_t at; /* offset of the piece in the file */
  int64_t tail, rows,
      begin;     /* of the current group: offset of its tail; number of rows; offset of the first */
  uint64_t keys; /* hash of its keys */
  struct tm_hash *hash; /* of its rows */
};

static int flush(struct writer *w, struct tm_err *err)
{
  int rc = tm_fs_write_at(w->g->fs, w->fd, w->path, w->piece.data, w->piece.len, w->at, err);
  w->at += (int64_t)w->piece.len;
  tm_buf_clear(&w->piece);
  return rc;
}

static int64_t position(const struct writer *w)
{
  return w->at + (int64_t)w->piece.len;
}

static int end_group(struct writer *w, struct tm_err *err)
{
  char tail[GROUP_TAIL];
  tm_require(w->rows >= 0 && w->tail <= w->begin && w->begin <= position(w));
  if (w->rows == 0)
    return 0;
  tm_put_u64(tail, (uint64_t)w->rows);
  tm_put_u64(tail + 8, (uint64_t)(position(w) - w->begin));
  tm_put_u64(tail + 16, tm_hash64_seed(tail, 16, w->keys));
  tm_put_u64(tail + 24, tm_hash_end(w->hash));
  w->rows = 0;
  if (w->tail >= w->at) { /* still in memory */
    memcpy(w->piece.data + (w->tail - w->at), tail, sizeof(tail));
    return 0;
  }
  int rc = flush(w, err);
  return rc < 0 ? rc : tm_fs_write_at(w->g->fs, w->fd, w->path, tail, sizeof(tail), w->tail, err);
}

static void begin_group(struct writer *w, const char *keys, size_t n)
{
  tm_require(w->rows == 0); /* the one before has its tail */
  tm_buf_add(&w->piece, keys, n);
  w->keys = tm_hash64(keys, n);
  tm_hash_reset(w->hash);
  w->tail = position(w);
  memset(tm_buf_extend(&w->piece, GROUP_TAIL), 0, GROUP_TAIL);
  w->begin = position(w);
}

static void add_head(struct writer *w)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_schema_write(&text, tm_row_sorter_columns(w->g->sorter));
  tm_buf_add(&w->piece, "tm-rows", 8);
  tm_buf_add_u32(&w->piece, VERSION);
  tm_buf_add_u64(&w->piece, tm_hash_end(w->g->listing));
  tm_buf_add_bytes32(&w->piece, tm_buf_str(&text), text.len);
  tm_buf_add_u64(&w->piece,
                 tm_hash64_seed(tm_buf_str(&text), text.len, tm_hash64(w->piece.data, HEAD + 4)));
  tm_buf_release(&text);
}

static int write_groups(struct writer *w, struct tm_table_groups *g, struct tm_err *err)
{
  struct tm_sorted_row row;
  int rc = 0;
  add_head(w);
  while (rc == 0 && (rc = tm_row_sorter_next(g->sorter, &row, err)) > 0) {
    rc = row.is_first ? end_group(w, err) : 0;
    if (row.is_first)
      begin_group(w, row.keys, row.keys_len);
    tm_buf_add(&w->piece, row.row, row.row_len);
    tm_hash_add(w->hash, row.row, row.row_len);
    w->rows++;
    if (rc == 0 && w->piece.len >= PIECE)
      rc = flush(w, err);
  }
  if (rc == 0)
    rc = end_group(w, err);
  return rc < 0 ? rc : flush(w, err);
}

int tm_table_groups_finish(struct tm_table_groups *g, struct tm_err *err)
{
  tm_require(g->sorter && g->fd < 0); /* once */
  struct writer w = { .g = g, .path = tm_xprintf("%s.tmp", g->path), .hash = tm_hash_new() };
  int rc = w.fd = tm_fs_open(g->fs, w.path, O_RDWR | O_CREAT | O_TRUNC, 0600, err);
  if (rc >= 0)
    rc = write_groups(&w, g, err);
  if (rc >= 0)
    rc = tm_fs_sync(g->fs, w.fd, w.path, err);
  tm_fs_close(g->fs, w.fd);
  if (rc >= 0 && (rc = g->fs->rename(g->fs->self, w.path, g->path)) < 0)
    tm_err_system(err, rc, "cannot rename '%s'", w.path);
  if (rc >= 0)
    rc = tm_fs_sync_name(g->fs, g->path, err);
  tm_buf_release(&w.piece);
  tm_hash_free(w.hash);
  free(w.path);
  tm_row_sorter_free(g->sorter);
  g->sorter = NULL;
  if (rc < 0)
    return rc;
  rc = tm_table_groups_open(g, err);
  return rc < 0 ? rc : 0;
}

/* Reading -------------------------------------------------------------------------------------- */

int tm_table_groups_next(struct tm_table_groups *g, uint32_t *items, struct tm_buf *bytes,
                         struct tm_err *err)
{
  tm_require(g->fd >= 0 && g->at > 0);
  char head[4];
  if (g->at >= g->size)
    return 0;
  int64_t got = tm_fs_read_at(g->fs, g->fd, g->path, head, sizeof(head), g->at, err);
  if (got < 0)
    return (int)got;
  size_t n = (tm_get_u32(head) & 0xffffffu) + 4;
  tm_buf_clear(&g->record);
  got = tm_fs_read_at(g->fs, g->fd, g->path, tm_buf_extend(&g->record, n + GROUP_TAIL),
                      n + GROUP_TAIL, g->at, err);
  if (got < 0)
    return (int)got;
  struct tm_reader keys;
  const char *tail = g->record.data + n;
  int64_t rows = (int64_t)tm_get_u64(tail), len = (int64_t)tm_get_u64(tail + 8);
  int64_t begin = g->at + (int64_t)n + GROUP_TAIL;
  if (got < (int64_t)(n + GROUP_TAIL) || !tm_keys_find(g->record.data, n, &keys) || rows < 1 ||
      len < 0 || len > g->size - begin ||
      tm_get_u64(tail + 16) != tm_hash64_seed(tail, 16, tm_hash64(g->record.data, n)))
    return report_damage(g->path, "a group cannot be read", err);
  if (rows >= UINT32_MAX)
    return tm_err_set(err, TM_ELIMIT, "more than 4,294,967,294 rows have the same keys");
  tm_buf_add(bytes, g->record.data, n);
  tm_item_add(bytes, &(struct tm_item) { .path = g->path,
                                         .path_len = strlen(g->path),
                                         .size = -1,
                                         .is_rows = true,
                                         .is_group = true,
                                         .begin = begin,
                                         .end = begin + len,
                                         .first_row = -1,
                                         .number = -1,
                                         .rows = rows });
  *items = (uint32_t)rows;
  g->at = begin + len;
  return 1;
}

/* The rows of the group that next() has read; their hash stands before them. */
static int check_rows(const struct tm_table_groups *g, int64_t len, struct tm_err *err)
{
  struct tm_buf bytes = TM_BUF_NONE;
  size_t want = (size_t)len + HASH_SIZE;
  int64_t got = tm_fs_read_at(g->fs, g->fd, g->path, tm_buf_extend(&bytes, want), want,
                              g->at - len - HASH_SIZE, err);
  int rc = got < 0 ? (int)got : 0;
  if (rc == 0 && (got < (int64_t)want ||
                  tm_get_u64(bytes.data) != tm_hash64(bytes.data + HASH_SIZE, (size_t)len)))
    rc = report_damage(g->path, "the rows of a group have a wrong check sum", err);
  tm_buf_release(&bytes);
  return rc;
}

int tm_table_groups_check(const struct tm_fs *fs, const char *path, int64_t *at, struct tm_err *err)
{
  struct tm_table_groups g = { .fs = fs, .path = tm_xstrdup(path), .fd = -1 };
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_stat st;
  uint64_t hash;
  uint32_t rows;
  *at = -1;
  g.fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  int rc = g.fd < 0 ? g.fd : read_head(fs, g.fd, path, &g.columns, &hash, &g.at, err);
  if (rc == 0 && fs->fstat(fs->self, g.fd, &st) == 0)
    g.size = st.size;
  while (rc == 0) {
    int64_t begin = *at = g.at;
    tm_buf_clear(&bytes);
    rc = tm_table_groups_next(&g, &rows, &bytes, err);
    if (rc <= 0)
      break;
    rc = check_rows(&g, g.at - begin - (int64_t)g.record.len, err);
  }
  tm_fs_close(fs, g.fd);
  tm_schema_release(&g.columns);
  tm_buf_release(&g.record);
  tm_buf_release(&bytes);
  free(g.path);
  return rc;
}

static int decode_rows(const struct tm_buf *bytes, const struct tm_schema *columns, int64_t rows,
                       struct tm_arena *arena, struct tm_data_frame *out)
{
  struct tm_frame_builder b;
  struct tm_reader r;
  tm_schema_begin_frame(columns, &b, arena);
  tm_reader_init(&r, bytes->data + HASH_SIZE, bytes->len - HASH_SIZE);
  int rc = 0;
  for (int64_t i = 0; i < rows && rc == 0; i++)
    rc = tm_row_decode(&r, &b) ? 0 : TM_EDAMAGE;
  if (rc == 0 && r.at != r.end)
    rc = TM_EDAMAGE;
  if (rc == 0)
    tm_frame_builder_end(&b, out);
  return rc;
}

int tm_table_groups_load(const struct tm_fs *fs, const struct tm_item *item, struct tm_arena *arena,
                         struct tm_data_frame *out, struct tm_err *err)
{
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_schema columns = { 0 };
  struct tm_stat st;
  uint64_t hash;
  int64_t begin, want = item->end - item->begin + HASH_SIZE;
  char *path = tm_xstrndup(item->path, item->path_len);
  int rc, fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  rc = fd < 0 ? fd : read_head(fs, fd, path, &columns, &hash, &begin, err);
  if (rc == 0 && (fs->fstat(fs->self, fd, &st) < 0 || item->end > st.size ||
                  item->begin < begin + GROUP_TAIL || want < HASH_SIZE))
    rc = report_damage(path, "it is too short", err);
  if (rc == 0) {
    int64_t got = tm_fs_read_at(fs, fd, path, tm_buf_extend(&bytes, (size_t)want), (size_t)want,
                                item->begin - HASH_SIZE, err);
    rc = got < 0 ? (int)got : got < want ? report_damage(path, "it is too short", err) : 0;
  }
  if (rc == 0 &&
      tm_get_u64(bytes.data) != tm_hash64(bytes.data + HASH_SIZE, (size_t)want - HASH_SIZE))
    rc = report_damage(path, "the rows of a group have a wrong check sum", err);
  if (rc == 0 && decode_rows(&bytes, &columns, item->rows, arena, out) < 0)
    rc = report_damage(path, "rows cannot be read", err);
  tm_fs_close(fs, fd);
  tm_schema_release(&columns);
  tm_buf_release(&bytes);
  free(path);
  return rc;
}
