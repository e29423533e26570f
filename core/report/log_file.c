/* log_file.c - see log_file.h.
 *
 *  (1) After a failure, nothing more is tried: a full disk is reported once, and the collected text
 *      does not grow without end.
 *  (2) Callers collect whole lines, which are written at once: after a kill, the file has at most
 *      one torn line, the last.
 */
#include "report/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"

static int make_folder(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  char *dir = tm_path_dir(path);
  int rc = tm_fs_make_dir(fs, dir, 0700, err);
  free(dir);
  return rc;
}

static int find_end(struct tm_log_file *f, struct tm_err *err)
{
  struct tm_stat st;
  char last = '\n';
  int rc = f->fs->fstat(f->fs->self, f->fd, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", f->path);
  f->at = st.size;
  if (st.size == 0)
    return 0;
  int64_t got = tm_fs_read_at(f->fs, f->fd, f->path, &last, 1, st.size - 1, err);
  if (got < 0)
    return (int)got;
  if (last != '\n')
    tm_buf_add_char(&f->text, '\n'); /* (2) */
  return 0;
}

static void give_up(struct tm_log_file *f) /* keeps (1) */
{
  f->is_given_up = true;
  if (f->fd >= 0)
    tm_fs_close(f->fs, f->fd);
  f->fd = -1;
  tm_buf_release(&f->text);
}

int tm_log_file_open(struct tm_log_file *f, const struct tm_fs *fs, const char *path,
                     struct tm_err *err)
{
  tm_require(path);
  int rc;
  *f = (struct tm_log_file) { .fs = fs, .path = tm_xstrdup(path), .fd = -1 };
  if ((rc = make_folder(fs, path, err)) < 0)
    goto fail;
  if ((rc = tm_fs_open(fs, path, O_RDWR | O_CREAT, 0600, err)) < 0)
    goto fail;
  f->fd = rc;
  if ((rc = find_end(f, err)) < 0)
    goto fail;
  return 0;
fail:
  give_up(f);
  return rc;
}

/* A FIFO and a terminal have no places to write at. Not to wait for whoever reads a FIFO, it is
 * opened for reading too. */
static int refuse_stream(const struct tm_log_file *f, struct tm_err *err)
{
  int64_t rc = f->fs->pwrite(f->fs->self, f->fd, "", 0, 0);
  return rc == -ESPIPE
             ? tm_err_set(err, TM_EUSAGE,
                          "'%s' is a pipe or a terminal; accepted: a file, or /dev/null", f->path)
             : 0;
}

int tm_log_file_open_named(struct tm_log_file *f, const struct tm_fs *fs, const char *path,
                           struct tm_err *err)
{
  int rc;
  *f = (struct tm_log_file) { .fs = fs, .path = tm_xstrdup(path), .fd = -1 };
  if ((rc = tm_fs_open(fs, path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY, 0666, err)) <
      0)
    goto fail;
  f->fd = rc;
  if ((rc = refuse_stream(f, err)) < 0 || (rc = find_end(f, err)) < 0)
    goto fail;
  return 0;
fail:
  give_up(f);
  return rc;
}

size_t tm_log_file_columns(const struct tm_log_file *f)
{
  char line[1000];
  size_t n = 1;
  int fd = tm_fs_open(f->fs, f->path, O_RDONLY, 0, NULL);
  int64_t got = fd < 0 ? fd : tm_fs_read_at(f->fs, fd, f->path, line, sizeof(line), 0, NULL);
  if (fd >= 0)
    tm_fs_close(f->fs, fd);
  for (int64_t i = 0; i < got && line[i] != '\n'; i++)
    n += line[i] == ',';
  return got > 0 ? n : 0;
}

bool tm_log_file_is_empty(const struct tm_log_file *f)
{
  return f->at == 0 && f->text.len == 0;
}

void tm_log_file_rest(struct tm_log_file *f)
{
  if (f->fd >= 0)
    tm_fs_close(f->fs, f->fd);
  f->fd = -1;
  if (f->text.len == 0)
    tm_buf_release(&f->text);
}

/* A file that was removed is not made again: its first lines are lost. */
static int open_again(struct tm_log_file *f, struct tm_err *err)
{
  int fd = tm_fs_open(f->fs, f->path, O_RDWR, 0, err);
  if (fd < 0)
    give_up(f);
  f->fd = fd < 0 ? -1 : fd;
  return fd;
}

int tm_log_file_flush(struct tm_log_file *f, struct tm_err *err)
{
  int rc;
  if (f->text.len == 0)
    return 0;
  if (f->is_given_up || !f->path) {
    tm_buf_clear(&f->text);
    return 0;
  }
  if (f->fd < 0 && (rc = open_again(f, err)) < 0)
    return rc;
  rc = tm_fs_write_at(f->fs, f->fd, f->path, f->text.data, f->text.len, f->at, err);
  f->at += (int64_t)f->text.len;
  tm_buf_clear(&f->text);
  if (rc < 0)
    give_up(f);
  return rc;
}

int tm_log_file_close(struct tm_log_file *f, struct tm_err *err)
{
  int rc;
  if (!f->path)
    return 0;
  rc = tm_log_file_flush(f, err);
  tm_fs_close(f->fs, f->fd);
  tm_buf_release(&f->text);
  free(f->path);
  *f = (struct tm_log_file) { .fd = -1 };
  return rc;
}

void tm_log_add_line(struct tm_buf *out, int64_t wall_ns, enum tm_level level, int64_t pid,
                     const char *process, const char *message)
{
  tm_require(process && message);
  tm_time_log(out, wall_ns);
  tm_buf_add_char(out, '|');
  tm_buf_add_str(out, tm_level_name(level));
  tm_buf_add_char(out, '|');
  tm_buf_add_int(out, pid);
  tm_buf_add_char(out, '|');
  tm_buf_add_str(out, process);
  tm_buf_add_char(out, '|');
  tm_text_one_line(out, message, strlen(message), 0);
  tm_buf_add_char(out, '\n');
}

int tm_log_replace(const struct tm_fs *fs, const char *path, const struct tm_buf *text,
                   struct tm_err *err)
{
  char *tmp = tm_xprintf("%s.tmp", path);
  int fd = -1;
  int rc = make_folder(fs, path, err);
  if (rc >= 0)
    rc = fd = tm_fs_open(fs, tmp, O_WRONLY | O_CREAT | O_TRUNC, 0600, err);
  if (rc >= 0)
    rc = tm_fs_write_at(fs, fd, tmp, text->data, text->len, 0, err);
  tm_fs_close(fs, fd);
  if (rc >= 0 && (rc = fs->rename(fs->self, tmp, path)) < 0)
    tm_err_system(err, rc, "cannot rename '%s'", tmp);
  free(tmp);
  return rc < 0 ? rc : 0;
}
