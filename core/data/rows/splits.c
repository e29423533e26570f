/* splits.c - a stream and its boundaries, for the current file. */
#include "data/rows/splits.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/header.h"

struct tm_splits {
  struct tm_splits_options o;
  struct tm_dialect dialect; /* for the boundaries: JSON lines have no quotes and no header */
  char *path;
  uint32_t number;
  struct tm_stat stat;
  struct tm_stream *stream;
  struct tm_row_boundaries *boundaries;
  bool is_checked; /* the header of the current file */
};

struct tm_splits *tm_splits_new(const struct tm_splits_options *options)
{
  struct tm_splits *r = TM_NEW(struct tm_splits);
  r->o = *options;
  r->dialect = options->rows->dialect;
  if (options->rows->format == TM_ROWS_JSON_LINES) {
    r->dialect.no_quotes = true;
    r->dialect.header = TM_HEADER_NONE;
  }
  return r;
}

static void end_file(struct tm_splits *r)
{
  tm_row_boundaries_free(r->boundaries);
  tm_stream_close(r->stream);
  free(r->path);
  r->boundaries = NULL;
  r->stream = NULL;
  r->path = NULL;
}

void tm_splits_free(struct tm_splits *r)
{
  if (r == NULL)
    return;
  end_file(r);
  free(r);
}

int tm_splits_begin(struct tm_splits *r, const char *path, uint32_t number, struct tm_err *err)
{
  end_file(r);
  r->path = tm_xstrdup(path);
  r->number = number;
  r->is_checked = false;
  r->stream = tm_rows_open(r->o.fs, path, r->o.pack, true, err);
  if (r->stream == NULL)
    return err->code;
  int rc = r->o.fs->stat(r->o.fs->self, path, true, &r->stat);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot read '%s'", path);
  struct tm_row_boundaries_options o = {
    .dialect = &r->dialect,
    .read = tm_stream_read,
    .data = r->stream,
    .expect = tm_stream_expect,
    .size = r->stream->size,
    .will_have_size = r->stream->will_have_size,
    .range_bytes = r->o.range_bytes,
    .range_rows = r->o.range_rows,
    .has_header = tm_header_is_there(&r->dialect, number == 0),
    .with_rows = r->o.with_rows,
  };
  r->boundaries = tm_row_boundaries_new(&o);
  return 0;
}

static int check_header(struct tm_splits *r, struct tm_err *err)
{
  struct tm_schema names = { 0 };
  size_t n;
  const char *p = tm_row_boundaries_header(r->boundaries, &n);
  int rc = 0;
  bool has_schema = r->o.schema != NULL && r->o.schema->len > 0; /* none: no rows so far */
  if (!r->is_checked && has_schema && n > 0 && r->dialect.header == TM_HEADER_ALL_SAME) {
    int64_t len = tm_header_check_start(r->dialect.encoding, p, n, err);
    if (len >= 0)
      len = tm_header_read(&r->dialect, p, n, true, true, &names, err);
    rc = len < 0 ? (int)len : tm_header_check(&names, r->o.schema, err);
  }
  r->is_checked = true;
  tm_schema_release(&names);
  return rc;
}

int tm_splits_next(struct tm_splits *r, struct tm_range_item *out, struct tm_err *err)
{
  int rc = tm_row_boundaries_next(r->boundaries, &out->range, err);
  if (rc < 0) /* messages of a read name the file already */
    return strstr(err->text, r->path) != NULL ? rc : tm_err_wrap(err, "'%s'", r->path);
  int header = check_header(r, err);
  if (header < 0)
    return tm_err_wrap(err, "'%s'", r->path);
  out->path = r->path;
  out->path_len = strlen(r->path);
  out->size = r->stat.size;
  out->mtime_ns = r->stat.mtime_ns;
  out->file = r->number;
  return rc;
}
