/* prepared_mark.c - see prepared_mark.h. */
#include "model/prepared_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "model/loaded_model.h"

#define NAME      "made.json"
#define VERSION   1
#define MARK_MAX  ((size_t)64 << 10)
#define MODEL_MAX ((size_t)2 << 30) /* bytes, as protobuf has it; weights are beside it */
#define HASH_SIZE 17                /* 16 digits and NUL */

struct facts {
  int64_t model_bytes, weights_bytes; /* -1: no such file */
  char hash[HASH_SIZE];
};

/* ---- trust ---- */

int tm_prepared_mark_trusts(const struct tm_fs *fs, const char *folder, struct tm_err *err)
{
  struct tm_stat st;
  int rc = fs->stat(fs->self, folder, false, &st);

  if (rc == -ENOENT)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", folder);
  if (!S_ISDIR(st.mode))
    return tm_err_set(err, TM_EUSAGE, "'%s' is not a folder; remove it", folder);
  if (st.uid != geteuid())
    return tm_err_set(
        err, TM_EUSAGE,
        "'%s' belongs to another user, who decides what is in it; remove it, or use a "
        "workspace of your own",
        folder);
  if (st.mode & (S_IWGRP | S_IWOTH))
    return tm_err_set(err, TM_EUSAGE,
                      "other users may write to '%s'; remove it, and it is made again", folder);
  return 0;
}

/* ---- files; links are not followed ---- */

static int64_t size_of(const struct tm_fs *fs, const char *folder, const char *name)
{
  char *path = tm_path_join(folder, name);
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, false, &st);

  free(path);
  return rc < 0 || !S_ISREG(st.mode) ? -1 : st.size;
}

static int read_open(const struct tm_fs *fs, int fd, const char *path, size_t max,
                     struct tm_buf *out, struct tm_err *err)
{
  struct tm_stat st;
  int rc = fs->fstat(fs->self, fd, &st);

  if (rc < 0)
    return tm_err_system(err, rc, "cannot read '%s'", path);
  if (!S_ISREG(st.mode) || st.size > (int64_t)max)
    return tm_err_set(err, TM_ELIMIT, "'%s' is not a file, or longer than %zu bytes", path, max);
  tm_buf_reserve(out, (size_t)st.size);
  int64_t n =
      tm_fs_read_at(fs, fd, path, tm_buf_extend(out, (size_t)st.size), (size_t)st.size, 0, err);
  if (n >= 0 && n < st.size)
    n = tm_err_set(err, TM_EINPUT, "'%s' became shorter", path);
  return n < 0 ? (int)n : 0;
}

static int read_file(const struct tm_fs *fs, const char *folder, const char *name, size_t max,
                     struct tm_buf *out, struct tm_err *err)
{
  char *path = tm_path_join(folder, name);
  int fd = tm_fs_open(fs, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, err);
  int rc = fd < 0 ? fd : read_open(fs, fd, path, max, out, err);

  tm_fs_close(fs, fd);
  free(path);
  return rc;
}

static int read_facts(struct facts *f, const struct tm_fs *fs, const char *folder,
                      struct tm_err *err)
{
  struct tm_buf model = TM_BUF_NONE;
  int rc = read_file(fs, folder, TM_PREPARED_MODEL, MODEL_MAX, &model, err);

  f->model_bytes = (int64_t)model.len;
  f->weights_bytes = size_of(fs, folder, TM_MODEL_SAVED_WEIGHTS);
  snprintf(f->hash, sizeof(f->hash), "%016" PRIx64, tm_hash64(tm_buf_str(&model), model.len));
  tm_buf_release(&model);
  return rc;
}

/* ---- checking ---- */

/* The sizes come first: a copy with wrong ones is not read. */
static bool is_sound(const struct tm_json *mark, const struct tm_fs *fs, const char *folder)
{
  struct facts f;

  return size_of(fs, folder, TM_PREPARED_MODEL) == tm_json_int(mark, "model_bytes", -2) &&
         size_of(fs, folder, TM_MODEL_SAVED_WEIGHTS) == tm_json_int(mark, "weights_bytes", -2) &&
         read_facts(&f, fs, folder, NULL) == 0 &&
         strcmp(f.hash, tm_json_str(mark, "model_hash", "")) == 0;
}

static struct tm_json *read_mark(const struct tm_fs *fs, const char *folder)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = read_file(fs, folder, NAME, MARK_MAX, &text, NULL);
  struct tm_json *mark = rc < 0 ? NULL : tm_json_parse(tm_buf_str(&text), text.len, NULL);

  tm_buf_release(&text);
  return mark;
}

bool tm_prepared_mark_check(struct tm_prepared_mark *out, const struct tm_fs *fs,
                            const char *folder)
{
  struct tm_json *mark = read_mark(fs, folder);
  bool is_ours = mark && mark->type == TM_JSON_OBJECT && tm_json_int(mark, "version", 0) == VERSION;
  const char *why = is_ours ? tm_json_str(mark, "refused", "") : "";

  *out = (struct tm_prepared_mark) { .refused = *why ? tm_xstrdup(why) : NULL,
                                     .is_unchecked =
                                         is_ours && tm_json_bool(mark, "unchecked", false) };
  bool holds = out->refused || (is_ours && is_sound(mark, fs, folder));
  tm_json_free(mark);
  return holds;
}

void tm_prepared_mark_release(struct tm_prepared_mark *mark)
{
  free(mark->refused);
  mark->refused = NULL;
}

/* ---- writing ---- */

static int sync_file(const struct tm_fs *fs, const char *folder, const char *name,
                     struct tm_err *err)
{
  char *path = tm_path_join(folder, name);
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  int rc = fd < 0 ? fd : tm_fs_sync(fs, fd, path, err);

  tm_fs_close(fs, fd);
  free(path);
  return rc;
}

/* Takes `mark`. */
static int write_mark(const struct tm_fs *fs, const char *folder, struct tm_json *mark,
                      struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(folder, NAME);

  tm_json_set_int(mark, "version", VERSION);
  tm_json_write(&text, mark, (struct tm_json_style) { 0 });
  int rc = tm_fs_write_file(fs, path, text.data, text.len, 0600, err);
  tm_json_free(mark);
  tm_buf_release(&text);
  free(path);
  return rc;
}

int tm_prepared_mark_write(const struct tm_fs *fs, const char *folder, struct tm_err *err)
{
  struct facts f;
  int rc = read_facts(&f, fs, folder, err);

  if (rc == 0)
    rc = sync_file(fs, folder, TM_PREPARED_MODEL, err);
  if (rc == 0 && f.weights_bytes >= 0)
    rc = sync_file(fs, folder, TM_MODEL_SAVED_WEIGHTS, err);
  if (rc < 0)
    return rc;
  struct tm_json *mark = tm_json_new(TM_JSON_OBJECT);
  tm_json_set_int(mark, "model_bytes", f.model_bytes);
  tm_json_set_text(mark, "model_hash", f.hash);
  tm_json_set_int(mark, "weights_bytes", f.weights_bytes);
  return write_mark(fs, folder, mark, err);
}

int tm_prepared_mark_write_refused(const struct tm_fs *fs, const char *folder,
                                   const struct tm_prepared_mark *refused, struct tm_err *err)
{
  struct tm_json *mark = tm_json_new(TM_JSON_OBJECT);

  tm_json_set_text(mark, "refused", refused->refused);
  if (refused->is_unchecked)
    tm_json_set(mark, "unchecked", tm_json_new_bool(true));
  return write_mark(fs, folder, mark, err);
}
