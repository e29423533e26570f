/* open.c - what a file is packed in is in its first bytes. */
#include "data/rows/open.h"

#include <fcntl.h>

struct tm_stream *tm_rows_open(const struct tm_fs *fs, const char *path,
                               const struct tm_rows_pack *pack, bool is_lister, struct tm_err *err)
{
  struct tm_stat st;
  char first[6];
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  if (fd < 0)
    return NULL;
  int rc = fs->fstat(fs->self, fd, &st);
  if (rc < 0) {
    tm_err_system(err, rc, "cannot read '%s'", path);
    tm_fs_close(fs, fd);
    return NULL;
  }
  int64_t got = tm_fs_read_at(fs, fd, path, first, sizeof first, 0, err);
  if (got < 0) {
    tm_fs_close(fs, fd);
    return NULL;
  }
  return tm_stream_of_file(fs, fd, path, st.size);
}
