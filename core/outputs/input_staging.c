/* input_staging.c - see input_staging.h. The thread uses nothing of the loop except its wake.
 *
 *  (1) A place is marked when it is complete; one without the mark is made again.
 *  (2) A link at a given path is made only when its place is complete, and only if the path is free
 *      or an empty folder.
 */
#include "outputs/input_staging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/splitter.h"
#include "data/item.h"
#include "outputs/copy.h"
#include "sys/errand.h"

#define ITEMS 1000 /* listed at a time */

/* A place while it is made. */
struct making {
  const struct tm_fs *fs;
  const struct tm_dataset *dataset; /* bound */
  /* the place; its mark; the folder that names of links are relative to; all absolute */
  char *folder, *mark, *base;
  char *made; /* the folder made last, or NULL */
  const struct tm_stop *stop;
};

static bool leads_to(const struct tm_fs *fs, const char *path, const char *folder)
{
  char *target;
  bool yes = tm_fs_link_read(fs, path, &target, NULL) == 0 && strcmp(target, folder) == 0;

  free(target);
  return yes;
}

static int on_first_name(void *data, const char *name, int type)
{
  return -EEXIST;
}

/* 1: the link exists; 0: it can be made. */
static int look_at(const struct tm_fs *fs, const char *folder, const char *path, struct tm_err *err)
{
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, false, &st);
  const char *is;

  if (rc == -ENOENT)
    return 0;
  if (rc == -ENOTDIR)
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is below something that is not a folder; name another path", path);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", path);
  if (S_ISLNK(st.mode) && folder && leads_to(fs, path, folder))
    return 1;
  if (S_ISDIR(st.mode) && fs->dir_read(fs->self, path, on_first_name, NULL) == 0)
    return 0;
  is = S_ISDIR(st.mode) ? "a folder that is not empty"
       : S_ISLNK(st.mode)
           ? "a link to something else, which another job uses, or one that was killed has left"
           : "not a folder";
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' is %s; accepted: a path where nothing is, or an empty folder; move it "
                    "away, or name another path",
                    path, is);
}

int tm_input_staging_link(const struct tm_fs *fs, const char *folder, const char *path,
                          struct tm_err *err)
{
  tm_require(folder[0] == '/');
  char *parent = tm_path_dir(path);
  int rc = look_at(fs, folder, path, err);

  if (rc == 0 && (rc = tm_fs_make_dirs(fs, parent, 0777, err)) >= 0) {
    (void)fs->unlink(fs->self, path); /* removes an empty folder */
    rc = fs->symlink(fs->self, folder, path);
    if (rc < 0)
      tm_err_system(err, rc, "cannot make link '%s'", path);
  }
  free(parent);
  return rc;
}

void tm_input_staging_unlink(const struct tm_fs *fs, const char *folder, const char *path)
{
  if (leads_to(fs, path, folder))
    (void)fs->unlink(fs->self, path);
}

int tm_input_staging_check(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                           struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < step->stagings_len && rc >= 0; i++) {
    const struct tm_step_staging *in = &step->stagings[i];
    char *folder = job_dir ? tm_path_join(job_dir, in->folder) : NULL;
    if (in->path && (rc = look_at(fs, folder, in->path, err)) < 0 && in->dataset->where)
      tm_err_wrap(err, "%s", in->dataset->where);
    free(folder);
  }
  return rc < 0 ? tm_err_wrap(err, "step '%s'", step->name) : 0;
}

void tm_input_staging_clear(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir)
{
  for (size_t i = 0; i < step->stagings_len; i++) {
    char *folder = tm_path_join(job_dir, step->stagings[i].folder);
    if (step->stagings[i].path)
      tm_input_staging_unlink(fs, folder, step->stagings[i].path);
    free(folder);
  }
}

/* Names. */

/* The longest folder of a path or pattern without special characters. */
static char *fixed_folder(const struct tm_fs *fs, const char *base_dir, const char *given)
{
  char *path = tm_path_absolute(base_dir, given);
  struct tm_stat st;
  bool is_there = fs->stat(fs->self, path, true, &st) == 0;

  if (is_there && S_ISDIR(st.mode))
    return path;
  if (!is_there)
    path[strcspn(path, "*?{[")] = '\0';
  *(strrchr(path, '/') == path ? path + 1 : strrchr(path, '/')) = '\0';
  return path;
}

/* Shortens `base` to its common folder with `other`. */
static void make_common(char *base, const char *other)
{
  tm_require(base[0] == '/' && other[0] == '/');
  size_t n = 0, last = 0;

  while (base[n] && base[n] == other[n]) {
    n++;
    if ((base[n] == '/' || !base[n]) && (other[n] == '/' || !other[n]))
      last = n;
  }
  base[last > 0 ? last : 1] = '\0';
}

/* The folder that names of links are relative to. */
static char *common_folder(const struct tm_fs *fs, const struct tm_dataset *d)
{
  char *base = NULL;

  for (size_t i = 0; d->kind == TM_DATASET_FILES && i < d->paths_len; i++) {
    char *fixed = fixed_folder(fs, d->base_dir, d->paths[i]);
    if (base)
      make_common(base, fixed);
    else
      base = tm_xstrdup(fixed);
    free(fixed);
  }
  return base ? base : tm_xstrdup("/");
}

/* Making. */

/* The only folder of the dataset, absolute, to free(); or NULL. */
static char *only_folder(const struct making *m)
{
  const struct tm_dataset *d = m->dataset;
  struct tm_stat st;
  char *path;

  if (d->kind != TM_DATASET_FILES || d->paths_len != 1 || d->limit > 0)
    return NULL;
  path = tm_path_absolute(d->base_dir, d->paths[0]);
  if (m->fs->stat(m->fs->self, path, true, &st) == 0 && S_ISDIR(st.mode))
    return path;
  free(path);
  return NULL;
}

static int put_file(struct making *m, const char *path, struct tm_err *err)
{
  size_t n = strlen(m->base);
  const char *name = strncmp(path, m->base, n) == 0 ? path + n : path;
  char *to = tm_path_join(m->folder, name + strspn(name, "/")), *dir = tm_path_dir(to);
  int rc = 0;

  if (!m->made || strcmp(m->made, dir) != 0) {
    rc = tm_fs_make_dirs(m->fs, dir, 0700, err);
    free(m->made);
    m->made = tm_xstrdup(dir);
  }
  if (rc >= 0 && m->dataset->mode == TM_DATASET_MOUNT) {
    rc = m->fs->symlink(m->fs->self, path, to);
    if (rc < 0 && rc != -EEXIST) /* a file that was named twice */
      tm_err_system(err, rc, "cannot make link '%s'", to);
    rc = rc == -EEXIST ? 0 : rc;
  } else if (rc >= 0 && !tm_fs_exists(m->fs, to)) {
    char real[PATH_MAX]; /* copies the target of a link */
    struct tm_copy c = {
      .fs = m->fs, .from = realpath(path, real) ? real : path, .to = to, .stop = &m->stop->is_set
    };
    rc = tm_copy_tree(&c, err);
  }
  free(dir);
  free(to);
  return rc;
}

static int put_all(struct making *m, struct tm_err *err)
{
  const struct tm_dataset *inputs[] = { m->dataset };
  struct tm_splitter_options o = {
    .inputs = inputs, .inputs_len = 1, .mini_batch_size = ITEMS, .stop = m->stop
  };
  struct tm_splitter *splitter = tm_splitter_open(&o);
  struct tm_mini_batch mb = { 0 };
  bool has_any = false;
  int rc;

  while ((rc = tm_splitter_next(splitter, &mb, err)) > 0) {
    struct tm_reader r;
    struct tm_item item;
    tm_reader_init(&r, mb.bytes.data, mb.bytes.len);
    while (rc >= 0 && tm_item_next(&r, &item)) {
      char *path = tm_xstrndup(item.path, item.path_len);
      rc = put_file(m, path, err);
      has_any = true;
      free(path);
    }
    if (rc < 0)
      break;
  }
  if (rc == 0 && !has_any)
    rc = tm_splitter_no_input(splitter, err);
  tm_buf_release(&mb.bytes);
  tm_splitter_close(splitter);
  return rc;
}

/* Keeps (1). */
static int make_place(struct making *m, struct tm_err *err)
{
  char *parent = tm_path_dir(m->folder),
       *only = m->dataset->mode == TM_DATASET_MOUNT ? only_folder(m) : NULL;
  int rc = tm_fs_remove_tree(m->fs, m->folder, err);

  if (rc >= 0)
    rc = tm_fs_make_dirs(m->fs, parent, 0700, err);
  if (rc >= 0 && only) {
    rc = m->fs->symlink(m->fs->self, only, m->folder);
    if (rc < 0)
      tm_err_system(err, rc, "cannot make link '%s'", m->folder);
  } else if (rc >= 0 && (rc = tm_fs_make_dirs(m->fs, m->folder, 0700, err)) >= 0) {
    rc = put_all(m, err);
  }
  if (rc >= 0)
    rc = tm_fs_write_file(m->fs, m->mark, "", 0, 0600, err);
  free(only);
  free(parent);
  return rc;
}

/* The thread. */

struct tm_input_staging {
  struct tm_input_staging_options o;
  struct tm_errand errand;
  struct tm_stop stop;
  int code; /* of the thread until it has ended */
  struct tm_err err;
};

static int take(struct tm_input_staging *in, size_t i, struct tm_err *err)
{
  const struct tm_step_staging *planned = &in->o.step->stagings[i];
  const struct tm_fs *fs = in->o.fs;
  struct tm_dataset *bound = tm_dataset_bind(planned->dataset, in->o.job_dir);
  struct making m = { .fs = fs,
                      .dataset = bound,
                      .folder = tm_path_join(in->o.job_dir, planned->folder),
                      .mark =
                          tm_xprintf("%s/%s/state/intake.%zu", in->o.job_dir, in->o.step->name, i),
                      .base = common_folder(fs, bound),
                      .stop = &in->stop };
  int rc = tm_fs_exists(fs, m.mark) ? 0 : make_place(&m, err);

  if (rc >= 0 && planned->path)
    rc = tm_input_staging_link(fs, m.folder, planned->path, err); /* keeps (2) */
  if (rc < 0)
    tm_err_wrap(err, "%s%s'%s'", planned->dataset->where ? planned->dataset->where : "",
                planned->dataset->where ? ": " : "",
                planned->dataset->name ? planned->dataset->name : planned->folder);
  tm_dataset_free(bound);
  free(m.folder);
  free(m.mark);
  free(m.base);
  free(m.made);
  return rc < 0 ? rc : 0;
}

static void run(void *data)
{
  struct tm_input_staging *in = data;

  for (size_t i = 0; i < in->o.step->stagings_len && in->code == 0; i++)
    in->code = take(in, i, &in->err);
}

static void on_wake(void *data)
{
  struct tm_input_staging *in = data;

  in->o.on_ended(in->o.data, in->code, &in->err);
}

static void free_input_staging(void *data)
{
  struct tm_input_staging *in = data;

  tm_stop_close(&in->stop);
  free(in);
}

struct tm_input_staging *tm_input_staging_start(const struct tm_input_staging_options *o,
                                                struct tm_err *err)
{
  tm_require(o->loop && o->fs && o->step && o->job_dir && o->on_ended);
  struct tm_input_staging *in = TM_NEW(struct tm_input_staging);

  in->o = *o;
  if (tm_stop_open(&in->stop, err) < 0) {
    free(in);
    return NULL;
  }
  in->errand = (struct tm_errand) {
    .loop = o->loop, .run = run, .on_wake = on_wake, .free_data = free_input_staging, .data = in
  };
  return tm_errand_start(&in->errand, err) == 0 ? in : NULL;
}

void tm_input_staging_cancel(struct tm_input_staging *in)
{
  tm_stop_set(&in->stop);
}

void tm_input_staging_stop(struct tm_input_staging *in)
{
  if (!in)
    return;
  tm_input_staging_cancel(in);
  (void)tm_errand_end(&in->errand, TM_ERRAND_JOIN);
}
