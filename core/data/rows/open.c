/* open.c - detects compression by the first bytes of a file. */
#include "data/rows/open.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/stream/gzip.h"
#include "data/stream/unpack.h"

static struct tm_gzip_index *make_index(const struct tm_fs *fs, const struct tm_rows_pack *pack,
                                        const struct tm_gzip_key *key)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_gzip_index *index = tm_gzip_index_make(fs, pack->index_dir, key, &err);
  if (index == NULL && pack->on_warning != NULL) {
    char *text = tm_xprintf("no index of '%s', each worker reads it from its beginning: %s",
                            key->path, err.text);
    pack->on_warning(pack->data, text);
    free(text);
  }
  return index;
}

static struct tm_stream *open_gzip(const struct tm_fs *fs, int fd, const char *path,
                                   const struct tm_stat *st, const struct tm_rows_pack *pack,
                                   bool is_lister)
{
  struct tm_gzip_key key = { .path = path,
                             .size = st->size,
                             .mtime_ns = pack->listed_ns != 0 ? pack->listed_ns : st->mtime_ns };
  struct tm_gzip_options o = { .spacing = pack->spacing > 0 ? pack->spacing : TM_GZIP_SPACING,
                               .on_warning = pack->on_warning,
                               .data = pack->data };
  if (pack->index_dir != NULL)
    o.index = tm_gzip_index_open(fs, pack->index_dir, &key);
  if (pack->index_dir != NULL && is_lister &&
      (o.index == NULL || tm_gzip_index_size(o.index) < 0)) {
    tm_gzip_index_close(o.index);
    key.spacing = o.spacing;
    o.index = make_index(fs, pack, &key);
    o.is_writer = o.index != NULL;
  }
  return tm_gzip_open(fs, fd, path, st->size, &o);
}

/* An empty file has no rows, whatever its name. */
static bool is_misnamed(const char *path, const struct tm_rows_pack *pack, int64_t got)
{
  return pack->checks_name && got > 0 && tm_path_is_packed(path);
}

static void refuse_name(const char *path, const char *first, size_t n, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_text_one_line(&text, first, n, 0);
  tm_err_set(
      err, TM_EDAMAGE,
      "'%s' is not compressed, although its name says so: it begins with \"%s\"; to read it as "
      "text, give it a name without '%s'",
      path, tm_buf_str(&text), strrchr(path, '.'));
  tm_buf_release(&text);
}

struct tm_stream *tm_rows_open(const struct tm_fs *fs, const char *path,
                               const struct tm_rows_pack *pack, bool is_lister, struct tm_err *err)
{
  struct tm_stat st;
  char first[TM_PACKING_BYTES];
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  if (fd < 0)
    return NULL;
  int rc = fs->fstat(fs->self, fd, &st);
  int64_t got = rc < 0 ? 0 : tm_fs_read_at(fs, fd, path, first, sizeof first, 0, err);
  if (rc < 0)
    tm_err_system(err, rc, "cannot read '%s'", path);
  if (rc < 0 || got < 0) {
    tm_fs_close(fs, fd);
    return NULL;
  }
  enum tm_packing packing = tm_stream_packing(first, (size_t)got);
  if (packing == TM_PACKED_NOT && is_misnamed(path, pack, got)) {
    refuse_name(path, first, (size_t)got, err);
    tm_fs_close(fs, fd);
    return NULL;
  }
  switch (packing) {
  case TM_PACKED_GZIP: return open_gzip(fs, fd, path, &st, pack, is_lister);
  case TM_PACKED_OTHER: return tm_unpack_open(fs, fd, path);
  default: return tm_stream_of_file(fs, fd, path, st.size);
  }
}
