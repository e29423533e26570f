/* image_file.c - see image_file.h. */
#include "data/images/image_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/text.h"
#include "sys/fs.h"

static int refuse_size(const char *path, int64_t size, int64_t max_bytes, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_text_bytes(&text, size);
  tm_buf_add_str(&text, "; 'max_bytes' is ");
  tm_text_bytes(&text, max_bytes);
  int rc = tm_err_set(err, TM_ELIMIT, "cannot read '%s': the file has %s", path, tm_buf_str(&text));
  tm_buf_release(&text);
  return rc;
}

static int open_regular(const char *path, struct tm_stat *st, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  int rc = fs->stat(fs->self, path, true, st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot read '%s'", path);
  if (!S_ISREG(st->mode))
    return tm_err_set(err, TM_EINPUT, "cannot read '%s': it is %s", path,
                      S_ISDIR(st->mode) ? "a folder" : "not a regular file");
  return tm_fs_open(fs, path, O_RDONLY | O_NONBLOCK, 0, err);
}

static int read_front(const char *path, int fd, int64_t n, struct tm_buf *out, struct tm_err *err)
{
  tm_buf_clear(out);
  char *at = tm_buf_extend(out, (size_t)n);
  int64_t got = tm_fs_read_at(tm_fs_real(), fd, path, at, (size_t)n, 0, err);
  out->len = got > 0 ? (size_t)got : 0;
  return got < 0 ? (int)got : 0;
}

int tm_image_file_read(const char *path, int64_t max_bytes, struct tm_buf *out, struct tm_err *err)
{
  struct tm_stat st;
  tm_buf_clear(out);
  int fd = open_regular(path, &st, err);
  if (fd < 0)
    return fd;
  int rc = st.size > max_bytes ? refuse_size(path, st.size, max_bytes, err)
                               : read_front(path, fd, st.size, out, err);
  tm_fs_close(tm_fs_real(), fd);
  return rc;
}

int tm_image_file_read_front(const char *path, int64_t max, struct tm_buf *out, struct tm_err *err)
{
  struct tm_stat st;
  tm_buf_clear(out);
  int fd = open_regular(path, &st, err);
  if (fd < 0)
    return fd;
  int rc = read_front(path, fd, st.size < max ? st.size : max, out, err);
  tm_fs_close(tm_fs_real(), fd);
  return rc;
}
