/* record_walk.c - lists the files of a job for hosts: outputs, logs, and the rest. */
#include "records/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/own.h"
#include "base/path.h"

struct walk {
  const struct tidemill_record *record;
  int (*on_file)(const struct tidemill_job_file *f, void *data);
  void *data;
  struct tm_err *err;
};

/* The part of `path` behind "<step>/", if it is in the folder of a step; or NULL. */
static const char *below_a_step(const struct tidemill_record *r, const char *path)
{
  for (size_t i = 0; i < r->steps.len; i++) {
    const char *name = r->steps.at[i].step.name;
    size_t n = strlen(name);
    if (strncmp(path, name, n) == 0 && path[n] == '/')
      return path + n + 1;
  }
  return NULL;
}

/* The folder of a further output is "output.NAME". */
static enum tidemill_file_kind kind_of(const struct tidemill_record *r, const char *path)
{
  const char *below = below_a_step(r, path);
  if (below && strncmp(below, "logs/", strlen("logs/")) == 0)
    return TIDEMILL_FILE_LOG;
  if (below && strncmp(below, "output", strlen("output")) == 0 &&
      (below[strlen("output")] == '/' || below[strlen("output")] == '.'))
    return TIDEMILL_FILE_OUTPUT;
  return !below && strncmp(path, "nodes/", strlen("nodes/")) == 0 && strstr(path, ".txt")
             ? TIDEMILL_FILE_LOG
             : TIDEMILL_FILE_RECORD;
}

struct names {
  struct TM_ARRAY(char *) at;
};

static int add_name(void *data, const char *name, int type)
{
  *TM_ARRAY_ADD(&((struct names *)data)->at) = tm_xstrdup(name);
  return 0;
}

static int compare(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int visit(const struct walk *w, const char *path);

/* `path`: relative to the job's directory; "": that. */
static int visit_folder(const struct walk *w, const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  struct names names = { { 0 } };
  char *dir = *path ? tm_path_join(w->record->info.dir, path) : tm_xstrdup(w->record->info.dir);
  int rc = fs->dir_read(fs->self, dir, add_name, &names);
  if (names.at.len > 0)
    qsort(names.at.at, names.at.len, sizeof *names.at.at, compare);
  for (size_t i = 0; i < names.at.len; i++) {
    char *inner = *path ? tm_path_join(path, names.at.at[i]) : tm_xstrdup(names.at.at[i]);
    if (rc == 0)
      rc = visit(w, inner);
    free(inner);
    free(names.at.at[i]);
  }
  TM_ARRAY_RELEASE(&names.at);
  if (rc == -ENOENT && *path) /* it was removed meanwhile */
    rc = 0;
  else if (rc < 0 && w->err->code == 0)
    tm_err_system(w->err, rc, "cannot read folder '%s'", dir);
  free(dir);
  return rc;
}

/* What has gone meanwhile, links and sockets are left out. */
static int visit(const struct walk *w, const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  char *whole = tm_path_join(w->record->info.dir, path);
  struct tm_stat st;
  int rc = fs->stat(fs->self, whole, false, &st);
  free(whole);
  if (rc < 0 || (!S_ISREG(st.mode) && !S_ISDIR(st.mode)))
    return 0;
  if (S_ISDIR(st.mode))
    return visit_folder(w, path);
  struct tidemill_job_file f = { .size = sizeof f,
                                 .path = path,
                                 .kind = kind_of(w->record, path),
                                 .bytes = st.size,
                                 .changed_ns = st.mtime_ns };
  return w->on_file(&f, w->data);
}

int tidemill_record_files(struct tidemill_record *r,
                          int (*on_file)(const struct tidemill_job_file *f, void *data), void *data,
                          struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  struct walk w = { .record = r, .on_file = on_file, .data = data, .err = err };
  if (tm_need(err, "tidemill_record_files()", "r", r, "on_file", on_file ? (const void *)&w : NULL,
              NULL) < 0)
    return TM_EUSAGE;
  return visit_folder(&w, "");
}
