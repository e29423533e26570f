/* table_rows.c - see table_rows.h.
 *
 *  (1) It reads only to the present end, because a device in the place of the file may have none.
 *  (2) The memory does not depend on the file: a row that is too long is skipped while it is read.
 */
#include "report/table_rows.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/log_line.h"
#include "sys/fs.h"

#define PIECE      (64u << 10) /* bytes */
#define HEADER_MAX (64u << 10) /* bytes */
#define LOOK       (16 << 10)  /* bytes */
#define ROW_MAX    (8u << 20)  /* bytes */

struct reading {
  const struct tm_table_rows *t;
  size_t places[TM_TABLE_COLUMNS_MAX]; /* of the columns in a row; TM_TABLE_COLUMNS_MAX: missing */
  size_t len;                          /* fields of a row */
  size_t front_len;
  int64_t row_at; /* the place of the row */
  int64_t size;   /* of the file */
  int answer;     /* of on_row() */
  bool is_within; /* the text begins within a row, which is skipped */
  bool is_usual;  /* the columns are those of `t`, in their order */
};

static void take_header(struct reading *r, char *line, size_t len)
{
  char *f[TM_TABLE_COLUMNS_MAX];

  r->len = tm_csv_split(line, len, f, TM_TABLE_COLUMNS_MAX);
  for (size_t c = 0; c < r->t->names_len; c++) {
    r->places[c] = TM_TABLE_COLUMNS_MAX;
    for (size_t i = 0; i < r->len; i++)
      if (strcmp(f[i], r->t->names[c]) == 0)
        r->places[c] = i;
  }
  r->is_usual = r->len == r->t->names_len;
  for (size_t c = 0; c < r->t->names_len; c++)
    r->is_usual = r->is_usual && r->places[c] == c;
}

/* A field may be the literal "", which is left alone. */
static char *cut(char *field, size_t max)
{
  size_t len = tm_text_front(field, max);
  if (field[len])
    field[len] = '\0';
  return field;
}

const char *tm_table_name(char *field)
{
  return cut(field, TM_TABLE_NAME_MAX);
}

static void count_bad_row(const struct reading *r)
{
  struct tm_table_faults *f = r->t->faults;
  if (f && f->rows++ == 0)
    f->first_at = r->row_at;
}

static void take_columns(struct reading *r, char *line, size_t len)
{
  char *f[TM_TABLE_COLUMNS_MAX + 1], *fields[TM_TABLE_COLUMNS_MAX];

  if (tm_csv_split(line, len, f, TM_TABLE_COLUMNS_MAX) != r->len) {
    count_bad_row(r);
    return;
  }
  for (size_t i = 0; i < r->len && len > TM_TABLE_FIELD_MAX; i++)
    cut(f[i], TM_TABLE_FIELD_MAX);
  f[TM_TABLE_COLUMNS_MAX] = (char *)"";
  for (size_t c = 0; c < r->t->names_len; c++)
    fields[c] = f[r->places[c]];
  r->answer = r->t->on_row(r->t->data, fields);
}

static void take_row(struct reading *r, char *line, size_t len)
{
  if (len < r->front_len || (r->front_len && memcmp(line, r->t->front, r->front_len) != 0))
    return;
  if (!r->is_usual || !r->t->on_line || !r->t->on_line(r->t->data, line, len, &r->answer))
    take_columns(r, line, len);
}

/* How much is skipped: to the end of the row, or everything. */
static size_t skip_row(struct reading *r, const struct tm_buf *text)
{
  char *end = text->len > 0 ? memchr(text->data, '\n', text->len) : NULL;
  r->is_within = !end;
  return end ? (size_t)(end - text->data) + 1 : text->len;
}

/* Takes the whole rows of the text, which is at `place` in the file; the rest stays, unless it is
 * too long for a row. Returns how many bytes are gone. */
static size_t take_rows(struct reading *r, struct tm_buf *text, int64_t place)
{
  size_t at = r->is_within ? skip_row(r, text) : 0;
  char *end;

  while (r->answer == 0 && at < text->len &&
         (end = memchr(text->data + at, '\n', text->len - at))) {
    size_t len = (size_t)(end - text->data) - at;
    r->row_at = place + (int64_t)at;
    take_row(r, text->data + at, len);
    at += len + 1;
  }
  r->row_at = place + (int64_t)at;
  if (r->answer == 0 && text->len - at > ROW_MAX) { /* keeps (2) */
    count_bad_row(r);
    r->is_within = true;
    at = text->len;
  }
  tm_buf_remove_front(text, at);
  return at;
}

/* The length of the first line; 0: it is not whole. Negative: it cannot be read. */
static int64_t read_header(struct reading *r, const struct tm_fs *fs, int fd, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int64_t got =
      tm_fs_read_at(fs, fd, r->t->path, tm_buf_extend(&text, HEADER_MAX), HEADER_MAX, 0, err);
  char *end = got > 0 ? memchr(text.data, '\n', (size_t)got) : NULL;
  int64_t len = end ? end - text.data + 1 : got < 0 ? got : 0;

  if (end)
    take_header(r, text.data, (size_t)(len - 1));
  tm_buf_release(&text);
  return len;
}

/* Whether a place is within a row: one that was too long, or of a table that has replaced that. */
static bool is_within_row(const struct reading *r, const struct tm_fs *fs, int fd, int64_t at)
{
  char before = '\n';
  return tm_fs_read_at(fs, fd, r->t->path, &before, 1, at - 1, NULL) == 1 && before != '\n';
}

static int read_rows(struct reading *r, const struct tm_fs *fs, int fd, int64_t *at,
                     struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int64_t got = 0, next = *at;

  r->is_within = next < r->size && is_within_row(r, fs, fd, next);
  while (r->answer == 0 && next < r->size) {
    size_t have = text.len, want = r->size - next < PIECE ? (size_t)(r->size - next) : PIECE;
    got = tm_fs_read_at(fs, fd, r->t->path, tm_buf_extend(&text, want), want, next, err);
    text.len = have + (got > 0 ? (size_t)got : 0);
    if (got <= 0)
      break;
    next += got;
    *at += (int64_t)take_rows(r, &text, *at);
  }
  if (r->t->faults && r->answer == 0)
    r->t->faults->cut_at = text.len > 0 ? *at : 0;
  tm_buf_release(&text);
  return got < 0 ? (int)got : r->answer;
}

/* Opens the table and reads its header. 1; 0: it has no rows; or a system error. */
static int begin(struct reading *r, int *fd, int64_t *header, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int rc = tm_fs_open_found(fd, fs, r->t->path, O_RDONLY, err);

  tm_require(r->t->names_len <= TM_TABLE_COLUMNS_MAX);
  r->front_len = r->t->front ? strlen(r->t->front) : 0;
  if (rc < 0 || *fd < 0)
    return rc;
  r->size = fs->fstat(fs->self, *fd, &st) == 0 ? st.size : 0;
  *header = r->size > 0 ? read_header(r, fs, *fd, err) : 0;
  if (*header > 0)
    return 1;
  tm_fs_close(fs, *fd);
  return (int)*header;
}

static int read_table(struct reading *r, int64_t *at, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_table_faults *faults = r->t->faults;
  int64_t header;
  int fd, rc = begin(r, &fd, &header, err);

  if (rc == 0 && r->size > 0 && faults) /* it has no whole first line */
    *faults = (struct tm_table_faults) { .rows = 1 };
  if (rc <= 0)
    return rc;
  if (*at < header || *at > r->size) {
    *at = header;
    if (faults)
      *faults = (struct tm_table_faults) { 0 };
  }
  rc = read_rows(r, fs, fd, at, err);
  tm_fs_close(fs, fd);
  return rc;
}

int tm_table_rows_read(const struct tm_table_rows *t, int64_t *at, struct tm_err *err)
{
  struct reading r = { .t = t };

  tm_require(*at >= 0);
  int rc = read_table(&r, at, err);
  if (t->faults)
    t->faults->code = rc < 0 && r.answer == 0 ? rc : 0;
  return rc;
}

static int64_t lines_in(const char *p, size_t n)
{
  const char *end = p + n;
  int64_t lines = 0;

  while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
    lines++;
    p++;
  }
  return lines;
}

int64_t tm_table_rows_count(const char *path, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  char *piece = tm_xmalloc(PIECE);
  struct tm_stat st = { .size = 0 };
  int64_t got = 0, at = 0, lines = 0;
  int fd, rc = tm_fs_open_found(&fd, fs, path, O_RDONLY, err);

  if (rc == 0 && fd >= 0)
    rc = fs->fstat(fs->self, fd, &st);
  while (rc == 0 && at < st.size &&
         (got = tm_fs_read_at(fs, fd, path, piece, PIECE, at, err)) > 0) {
    lines += lines_in(piece, (size_t)got);
    at += got;
  }
  tm_fs_close(fs, fd);
  free(piece);
  if (rc < 0 || got < 0)
    return rc < 0 ? rc : got;
  return lines > 0 ? lines - 1 : 0;
}

/* The first row that can say, from `from` on and before `until`: what it says. 0: none can. *next:
 * the place after it. `from` may be within a row, which is skipped. */
static int look_from(struct reading *r, int fd, int64_t from, int64_t until, bool is_within,
                     int64_t *next, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_buf text = TM_BUF_NONE;
  int64_t got = 1;

  *next = from;
  r->answer = 0;
  r->is_within = is_within;
  while (r->answer == 0 && *next < until && got > 0) {
    size_t have = text.len;
    got = tm_fs_read_at(fs, fd, r->t->path, tm_buf_extend(&text, LOOK), LOOK, *next + (int64_t)have,
                        err);
    text.len = have + (got > 0 ? (size_t)got : 0);
    if (got > 0)
      *next += (int64_t)take_rows(r, &text, *next);
  }
  tm_buf_release(&text);
  return got < 0 ? (int)got : 0;
}

/* Every row before `low` comes before what is wanted; from `high` on, none does. */
static int narrow(struct reading *r, int fd, int64_t *low, int64_t high, struct tm_err *err)
{
  int rc = 0;

  while (rc == 0 && high - *low > 2 * LOOK) {
    int64_t middle = *low + (high - *low) / 2, next;
    rc = look_from(r, fd, middle, high, true, &next, err);
    if (r->answer < 0)
      *low = next;
    else
      high = middle;
  }
  return rc;
}

int tm_table_rows_find(const struct tm_table_rows *t, int64_t *at, struct tm_err *err)
{
  struct reading r = { .t = t };
  int64_t low = 0, next;
  int fd, rc = begin(&r, &fd, &low, err);

  *at = 0;
  if (rc <= 0)
    return rc;
  rc = narrow(&r, fd, &low, r.size, err);
  for (*at = low; rc == 0 && *at < r.size; *at = next) {
    rc = look_from(&r, fd, *at, *at + 1, false, &next, err); /* one row at a time */
    if (r.answer > 0 || next == *at)
      break;
  }
  tm_fs_close(tm_fs_real(), fd);
  return rc;
}
