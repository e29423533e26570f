/* prepared_mark.c - see prepared_mark.h. */
#include "model/prepared_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

static int64_t size_of(const struct tm_fs *fs, const char *folder, const char *name)
{
  char *path = tm_path_join(folder, name);
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, false, &st);

  free(path);
  return rc < 0 ? -1 : st.size;
}

static int read_facts(struct facts *f, const struct tm_fs *fs, const char *folder,
                      struct tm_err *err)
{
  struct tm_buf model = TM_BUF_NONE;
  char *path = tm_path_join(folder, TM_PREPARED_MODEL);
  int rc = tm_fs_read_file(fs, path, MODEL_MAX, &model, err);

  f->model_bytes = (int64_t)model.len;
  f->weights_bytes = size_of(fs, folder, TM_MODEL_SAVED_WEIGHTS);
  snprintf(f->hash, sizeof(f->hash), "%016" PRIx64, tm_hash64(tm_buf_str(&model), model.len));
  tm_buf_release(&model);
  free(path);
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
  char *path = tm_path_join(folder, NAME);
  struct tm_json *mark = tm_fs_read_file(fs, path, MARK_MAX, &text, NULL) == 0
                             ? tm_json_parse(tm_buf_str(&text), text.len, NULL)
                             : NULL;

  tm_buf_release(&text);
  free(path);
  return mark;
}

bool tm_prepared_mark_check(struct tm_prepared_mark *out, const struct tm_fs *fs,
                            const char *folder)
{
  struct tm_json *mark = read_mark(fs, folder);
  bool is_ours = mark && mark->type == TM_JSON_OBJECT && tm_json_int(mark, "version", 0) == VERSION;
  const char *why = is_ours ? tm_json_str(mark, "refused", "") : "";

  *out = (struct tm_prepared_mark) { .refused = *why ? tm_xstrdup(why) : NULL };
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

int tm_prepared_mark_write_refused(const struct tm_fs *fs, const char *folder, const char *why,
                                   struct tm_err *err)
{
  struct tm_json *mark = tm_json_new(TM_JSON_OBJECT);

  tm_json_set_text(mark, "refused", why);
  return write_mark(fs, folder, mark, err);
}
