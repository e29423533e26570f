/* try_rows.c - see try_rows.h. The file may have many millions of rows: it is read in pieces, and
 * only rows that begin with the number are parsed.
 */
#include "report/try_rows.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "report/log_line.h"
#include "sys/fs.h"

#define PIECE       (256u << 10) /* bytes */
#define COLUMNS_MAX 32

/* The columns that are read, as they are named in the file's first line. */
enum column {
  PICKED,
  PROCESS,
  BEGAN,
  TOTAL,
  SUCCEEDED,
  FAILED,
  ELAPSED,
  RUN,
  STATUS,
  CATEGORY,
  MESSAGE,
  DETAIL,
  NODE,
  BYTES,
  COLUMNS
};
static const char *const names[COLUMNS] = { [PICKED] = "Picked Count",
                                            [PROCESS] = "Process",
                                            [BEGAN] = "Process Start Time",
                                            [TOTAL] = "Total",
                                            [SUCCEEDED] = "Succeeded",
                                            [FAILED] = "Failed",
                                            [ELAPSED] = "Elapsed Seconds",
                                            [RUN] = "Run Method Seconds",
                                            [STATUS] = "Status",
                                            [CATEGORY] = "Error Category",
                                            [MESSAGE] = "Error Message",
                                            [DETAIL] = "Mini-batch Detail",
                                            [NODE] = "Node",
                                            [BYTES] = "Result Bytes" };

struct reading {
  char front[32];         /* "17," */
  size_t places[COLUMNS]; /* of the columns in a row; COLUMNS_MAX: missing */
  size_t len;             /* fields of a row; 0: the first line has not been read */
  void (*on_row)(void *data, const struct tm_try_row *row);
  void *data;
  int64_t found;
};

static int64_t integer(const char *text)
{
  int64_t n = 0;
  return tm_text_int(text, &n) ? n : 0;
}

static void take_header(struct reading *r, char *line, size_t len)
{
  char *f[COLUMNS_MAX];
  r->len = tm_csv_split(line, len, f, COLUMNS_MAX);
  for (size_t c = 0; c < COLUMNS; c++) {
    r->places[c] = COLUMNS_MAX;
    for (size_t i = 0; i < r->len; i++)
      if (strcmp(f[i], names[c]) == 0)
        r->places[c] = i;
  }
}

static void take_row(struct reading *r, char *line, size_t len)
{
  char *f[COLUMNS_MAX + 1];
  const char *at[COLUMNS];
  double seconds = 0;
  if (strncmp(line, r->front, strlen(r->front)) != 0 ||
      tm_csv_split(line, len, f, COLUMNS_MAX) != r->len)
    return;
  f[COLUMNS_MAX] = (char *)"";
  for (size_t c = 0; c < COLUMNS; c++)
    at[c] = f[r->places[c]];
  struct tm_try_row row = { .picked = integer(at[PICKED]),
                            .process = at[PROCESS],
                            .began = at[BEGAN],
                            .total = at[TOTAL],
                            .succeeded = at[SUCCEEDED],
                            .failed = at[FAILED],
                            .elapsed = at[ELAPSED],
                            .run = at[RUN],
                            .status = at[STATUS],
                            .category = at[CATEGORY],
                            .message = at[MESSAGE],
                            .detail = at[DETAIL],
                            .node = at[NODE],
                            .bytes = integer(at[BYTES]) };
  tm_log_moment(row.began, strlen(row.began), &row.begin_wall_ns);
  if (tm_text_number(row.elapsed, &seconds) && seconds >= 0 && seconds < 1e9)
    row.elapsed_ns = (int64_t)(seconds * (double)TM_S);
  r->found++;
  r->on_row(r->data, &row);
}

/* Handles the complete lines; the rest stays. */
static void take_lines(struct reading *r, struct tm_buf *text)
{
  size_t at = 0;
  char *end;
  while (at < text->len && (end = memchr(text->data + at, '\n', text->len - at))) {
    size_t len = (size_t)(end - text->data) - at;
    if (r->len == 0)
      take_header(r, text->data, len);
    else
      take_row(r, text->data + at, len);
    at += len + 1;
  }
  tm_buf_remove_front(text, at);
}

int64_t tm_try_rows_read(const char *logs_dir, int64_t mini_batch,
                         void (*on_row)(void *data, const struct tm_try_row *row), void *data,
                         struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct reading r = { .on_row = on_row, .data = data };
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(logs_dir, "sys/job_report/processed_mini-batches.csv");
  int fd = tm_fs_exists(fs, path) ? tm_fs_open(fs, path, O_RDONLY, 0, err) : 0;
  int64_t got = fd < 0 ? fd : 0, at = 0;
  snprintf(r.front, sizeof(r.front), "%" PRId64 ",", mini_batch);
  while (fd > 0) {
    size_t have = text.len;
    got = tm_fs_read_at(fs, fd, path, tm_buf_extend(&text, PIECE), PIECE, at, err);
    text.len = have + (got > 0 ? (size_t)got : 0);
    if (got <= 0)
      break;
    at += got;
    take_lines(&r, &text);
  }
  if (fd > 0)
    tm_fs_close(fs, fd);
  tm_buf_release(&text);
  free(path);
  return got < 0 ? got : r.found;
}
