/* onnx_data.c - see onnx_data.h. */
#include "model/onnx_data.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/text.h"
#include "model/model_kind.h"

struct checker {
  const struct tm_fs *fs;
  char *folder;          /* of the path that was given */
  char *real, *led_real; /* that folder, and the one where the model is, without links */
};

static int refuse(const struct tm_onnx_data_file *d, struct tm_err *err, const char *what)
{
  struct tm_buf tensor = TM_BUF_NONE, location = TM_BUF_NONE;
  tm_text_one_line(&tensor, d->tensor, strlen(d->tensor), 200);
  tm_text_one_line(&location, d->location, strlen(d->location), 400);
  tm_err_set(err, TM_EINPUT, "the data of tensor '%s' are in '%s', %s", tm_buf_str(&tensor),
             tm_buf_str(&location), what);
  tm_buf_release(&tensor);
  tm_buf_release(&location);
  return TM_EINPUT;
}

static bool is_below(const char *path, const char *folder)
{
  size_t n = strlen(folder);
  if (n > 0 && folder[n - 1] == '/')
    n--;
  return strncmp(path, folder, n) == 0 && path[n] == '/' && path[n + 1];
}

static bool is_pointer(const struct checker *c, const char *path)
{
  char head[TM_MODEL_KIND_HEAD];
  int fd = tm_fs_open(c->fs, path, O_RDONLY, 0, NULL);
  int64_t n = fd < 0 ? -1 : tm_fs_read_at(c->fs, fd, path, head, sizeof(head), 0, NULL);
  tm_fs_close(c->fs, fd);
  return n > 0 && tm_model_kind_of(head, (size_t)n, n) == TM_MODEL_KIND_LFS;
}

static int check_extent(const struct checker *c, const struct tm_onnx_data_file *d,
                        const char *path, int64_t size, struct tm_err *err)
{
  struct tm_buf what = TM_BUF_NONE;
  if (d->offset <= size && d->length <= size - d->offset)
    return 0;
  if (is_pointer(c, path))
    return refuse(d, err, "which is a Git LFS pointer; run 'git lfs pull'");
  tm_buf_printf(&what,
                "which has %lld bytes: the tensor takes %lld from %lld on. Copy the file again",
                (long long)size, (long long)d->length, (long long)d->offset);
  refuse(d, err, tm_buf_str(&what));
  tm_buf_release(&what);
  return TM_EINPUT;
}

/* `path` is there: is it where it may be, and long enough? */
static int check_found(const struct checker *c, const struct tm_onnx_data_file *d, const char *path,
                       const struct tm_stat *st, struct tm_err *err)
{
  char *real = realpath(path, NULL);
  bool is_inside =
      real && (is_below(real, c->real) || (c->led_real && is_below(real, c->led_real)));
  free(real);
  if (!is_inside)
    return refuse(d, err, "a link that leads out of the model's folder");
  if (!S_ISREG(st->mode))
    return refuse(d, err, "which is not a regular file");
  return check_extent(c, d, path, st->size, err);
}

static int check_one(const struct checker *c, const struct tm_onnx_data_file *d, struct tm_err *err)
{
  struct tm_stat st;
  if (strncmp(d->location, "*/", 2) == 0)
    return refuse(d, err,
                  "a name by which ONNX Runtime means an address in its memory; accepted: "
                  "a file in the model's folder");
  if (tm_path_is_absolute(d->location))
    return refuse(d, err, "an absolute path; accepted: a file in the model's folder");
  char *path = tm_path_join(c->folder, d->location),
       *clean = tm_path_absolute(c->real, d->location);
  int rc = 0;
  if (!is_below(clean, c->real))
    rc = refuse(d, err, "which is outside of the model's folder; accepted: a file in it");
  else if (c->fs->stat(c->fs->self, path, true, &st) < 0)
    rc = refuse(d, err, "which is missing; copy it beside the model, under this name");
  else
    rc = check_found(c, d, path, &st, err);
  free(path);
  free(clean);
  return rc;
}

int tm_onnx_check_data(const struct tm_onnx_file *f, const struct tm_fs *fs, const char *model_path,
                       struct tm_err *err)
{
  struct checker c = { .fs = fs, .folder = tm_path_dir(model_path) };
  char *led = realpath(model_path, NULL);
  int rc = 0;
  err = TM_ERR_OWN(err);
  c.real = realpath(c.folder, NULL);
  c.led_real = led ? tm_path_dir(led) : NULL;
  if (!c.real)
    rc = tm_err_set(err, TM_EINPUT, "its folder is gone");
  for (size_t i = 0; i < f->data_files.len && rc == 0; i++)
    rc = check_one(&c, &f->data_files.at[i], err);
  free(led);
  free(c.folder);
  free(c.real);
  free(c.led_real);
  return rc;
}
