/* prepared_source.c - see prepared_source.h. */
#include "model/prepared_source.h"

#include <stdlib.h>

#include "base/path.h"

static struct tm_prepared_file look(const struct tm_fs *fs, const char *path)
{
  struct tm_prepared_file f = { .path = tm_xstrdup(path) };

  f.rc = fs->stat(fs->self, path, true, &f.st);
  return f;
}

void tm_prepared_source_add(struct tm_prepared_source *s, const struct tm_fs *fs, const char *path)
{
  struct tm_prepared_file f = look(fs, path);

  *TM_ARRAY_ADD(&s->files) = f;
}

void tm_prepared_source_add_data(struct tm_prepared_source *s, const struct tm_fs *fs,
                                 const char *model_path, const struct tm_onnx_file *f)
{
  char *folder = tm_path_dir(model_path);

  for (size_t i = 0; i < f->data_files.len; i++) {
    char *path = tm_path_join(folder, f->data_files.at[i].location);
    tm_prepared_source_add(s, fs, path);
    free(path);
  }
  free(folder);
}

static bool is_same(const struct tm_prepared_file *a, const struct tm_prepared_file *b)
{
  return a->rc == 0 && b->rc == 0 && a->st.dev == b->st.dev && a->st.ino == b->st.ino &&
         a->st.size == b->st.size && a->st.mtime_ns == b->st.mtime_ns &&
         a->st.ctime_ns == b->st.ctime_ns;
}

bool tm_prepared_source_has_changed(const struct tm_prepared_source *s, const struct tm_fs *fs)
{
  bool has_changed = false;

  for (size_t i = 0; i < s->files.len && !has_changed; i++) {
    struct tm_prepared_file now = look(fs, s->files.at[i].path);
    has_changed = !is_same(&s->files.at[i], &now);
    free(now.path);
  }
  return has_changed;
}

void tm_prepared_source_release(struct tm_prepared_source *s)
{
  for (size_t i = 0; i < s->files.len; i++)
    free(s->files.at[i].path);
  TM_ARRAY_RELEASE(&s->files);
}
