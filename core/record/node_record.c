/* node_record.c - see node_record.h. */
#include "record/node_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"

static char *file_of(const char *job_dir, uint32_t id)
{
  return tm_xprintf("%s/nodes/%" PRIu32 ".json", job_dir, id);
}

/* NULL: it is missing, or not a regular file. Opening a FIFO would wait for its writer. */
static struct tm_json *read_object(const struct tm_fs *fs, const char *path)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  struct tm_stat st;

  if (fs->stat(fs->self, path, false, &st) == 0 && S_ISREG(st.mode) &&
      tm_fs_read_file(fs, path, TM_NODE_RECORD_MAX, &text, NULL) == 0)
    v = tm_json_parse(tm_buf_str(&text), text.len, NULL);
  if (v && v->type != TM_JSON_OBJECT) {
    tm_json_free(v);
    v = NULL;
  }
  tm_buf_release(&text);
  return v;
}

/* 0: it cannot be looked at. */
static int64_t directory_of(const struct tm_fs *fs, const char *job_dir)
{
  struct tm_stat st;

  return fs->stat(fs->self, job_dir, true, &st) == 0 ? (int64_t)st.ino : 0;
}

int tm_node_record_update(const struct tm_fs *fs, const char *job_dir, uint32_t id,
                          struct tm_json *changes, struct tm_err *err)
{
  char *path = file_of(job_dir, id);
  struct tm_json *v = read_object(fs, path);
  struct tm_buf text = TM_BUF_NONE;
  int rc;

  tm_require(changes->type == TM_JSON_OBJECT);
  if (!v)
    v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "id", tm_json_new_int(id));
  tm_json_set(v, "directory", tm_json_new_int(directory_of(fs, job_dir)));
  for (size_t i = 0; i < changes->list.len; i++)
    tm_json_set_copy(v, changes->keys[i], changes->list.at[i]);
  tm_json_write(&text, v, (struct tm_json_style) { .indent = 2 });
  tm_buf_add_char(&text, '\n');
  rc = tm_fs_replace_file(fs, path, text.data, text.len, 0600, err);
  tm_buf_release(&text);
  tm_json_free(changes);
  tm_json_free(v);
  free(path);
  return rc;
}

/* ---- what is left ---- */

struct search {
  const struct tm_fs *fs;
  const char *job_dir;
  int64_t directory;
  tm_on_node_left on_left;
  void *data;
};

static void look_at(const struct search *s, uint32_t id)
{
  char *path = file_of(s->job_dir, id);
  struct tm_json *v = read_object(s->fs, path);
  const char *name = tm_json_str(v, "name", NULL);

  if (name && tm_json_bool(v, "may_run", false))
    s->on_left(s->data, &(struct tm_node_left) {
                            .id = id,
                            .name = name,
                            .is_step = tm_json_get(v, "allocation") != NULL,
                            .is_elsewhere = tm_json_int(v, "directory", 0) != s->directory,
                        });
  tm_json_free(v);
  free(path);
}

static int on_file(void *data, const char *file, int type)
{
  char *stem = tm_path_stem(file), *name = NULL;
  int64_t id;

  if (tm_text_int(stem, &id) && id > 0 && id < UINT32_MAX) {
    name = tm_xprintf("%" PRId64 ".json", id);
    if (strcmp(file, name) == 0)
      look_at(data, (uint32_t)id);
  }
  free(name);
  free(stem);
  return 0;
}

void tm_node_record_each_left(const struct tm_fs *fs, const char *job_dir, tm_on_node_left on_left,
                              void *data)
{
  struct search s = { .fs = fs,
                      .job_dir = job_dir,
                      .directory = directory_of(fs, job_dir),
                      .on_left = on_left,
                      .data = data };
  char *dir = tm_path_join(job_dir, "nodes");

  (void)fs->dir_read(fs->self, dir, on_file, &s); /* missing in a job without such nodes */
  free(dir);
}
