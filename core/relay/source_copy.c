/* source_copy.c - see source_copy.h.
 *
 *  (1) Nothing is written outside the new folder: base/tree_bytes.h refuses names that lead out of
 *      it, and links are made last. A link that leads out of the folder is not made. It was
 *      dangling on the supervisor's machine, otherwise the snapshot would have its target.
 *  (2) The folder's hash is compared, so that workers run the same script as on the supervisor's
 *      machine.
 *  (3) A thread that was left behind makes no file: before each step it checks whether it was.
 */
#include "relay/source_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/tree_bytes.h"
#include "node/temp_owner.h"
#include "sys/errand.h"
#include "sys/handoff.h"

#define WAKE_BYTES  ((size_t)16 << 10) /* the loop hears when so many were used */
#define PROBLEM_MAX 2000               /* bytes */

struct link {
  char *path, *target;
};

/* Shared with the thread. */
struct work {
  struct tm_errand errand;
  struct tm_source_copy *source; /* of the loop's thread */
  const struct tm_fs *fs;
  struct tm_handoff handoff;
  struct tm_node_source s;
  int folder; /* open while it is held; or -1 */
  /* of the thread: */
  size_t unsaid; /* bytes that were used, and not reported to the loop */
  int file;      /* that is written, or -1 */
  char *path;    /* its path */
  int64_t at;
  struct TM_ARRAY(struct link) links;
  struct tm_err err; /* read by the loop when the thread has ended */
};

struct tm_source_copy {
  struct tm_source_copy_options o;
  struct work *work;
  size_t added, used; /* bytes; used: as the loop knows */
  bool is_over;
};

/* ---- on the thread ---- */

/* Reports used bytes to the loop before all n have come: a piece may be longer than the limit. */
static bool read_bytes(void *data, char *p, size_t n)
{
  struct work *w = data;

  while (n > 0) {
    size_t some = n < WAKE_BYTES ? n : WAKE_BYTES;
    if (!tm_handoff_get(&w->handoff, p, some))
      return false;
    p += some;
    n -= some;
    w->unsaid += some;
    if (w->unsaid >= WAKE_BYTES) {
      w->unsaid = 0;
      tm_errand_wake(&w->errand);
    }
  }
  return true;
}

/* Keeps (3). */
static int go_on(struct work *w, struct tm_err *err)
{
  if (!tm_errand_enter(&w->errand))
    return tm_err_set(err, -ECANCELED, "left behind");
  tm_errand_leave(&w->errand);
  return 0;
}

static int on_folder(void *data, const char *name, struct tm_err *err)
{
  struct work *w = data;
  char *path = tm_path_join(w->s.dir, name);
  int rc = go_on(w, err);

  if (rc == 0 && (rc = w->fs->mkdir(w->fs->self, path, 0700)) == -ENOENT)
    rc = tm_fs_make_dirs(w->fs, path, 0700, err); /* modules come without the folder above */
  else if (rc < 0 && rc != -ECANCELED)
    tm_err_system(err, rc, "cannot make folder '%s'", path);
  free(path);
  return rc;
}

static int on_file(void *data, const char *name, bool is_program, struct tm_err *err)
{
  struct work *w = data;
  int rc = go_on(w, err);

  if (rc < 0)
    return rc;
  free(w->path);
  w->path = tm_path_join(w->s.dir, name);
  w->at = 0;
  w->file = rc = tm_fs_open(w->fs, w->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                            is_program ? 0700 : 0600, err);
  return rc < 0 ? rc : 0;
}

static int on_piece(void *data, const char *p, size_t n, struct tm_err *err)
{
  struct work *w = data;
  int rc = go_on(w, err);

  if (rc == 0 && n > 0)
    rc = tm_fs_write_at(w->fs, w->file, w->path, p, n, w->at, err);
  w->at += (int64_t)n;
  if (n == 0) {
    tm_fs_close(w->fs, w->file);
    w->file = -1;
  }
  return rc < 0 ? rc : 0;
}

/* Keeps (1). */
static int on_link(void *data, const char *name, const char *target, struct tm_err *err)
{
  struct work *w = data;

  if (tm_tree_link_is_within(name, target))
    *TM_ARRAY_ADD(&w->links) = (struct link) { tm_path_join(w->s.dir, name), tm_xstrdup(target) };
  return 0;
}

static int make_links(struct work *w)
{
  int rc = 0;

  for (size_t i = 0; i < w->links.len && rc >= 0; i++) {
    const struct link *l = &w->links.at[i];
    if ((rc = go_on(w, &w->err)) == 0 && (rc = w->fs->symlink(w->fs->self, l->target, l->path)) < 0)
      tm_err_system(&w->err, rc, "cannot make link '%s'", l->path);
  }
  return rc;
}

static int make_folders(struct work *w)
{
  char *folder = tm_path_dir(w->s.dir);
  int rc = go_on(w, &w->err);

  if (rc == 0)
    rc = tm_temp_hold(folder, &w->folder, &w->s.incarnation, &w->err);
  if (rc == 0 && (rc = w->fs->mkdir(w->fs->self, w->s.dir, 0700)) < 0)
    tm_err_system(&w->err, rc, "cannot make the folder '%s'", w->s.dir);
  free(folder);
  return rc;
}

static void run(void *data)
{
  struct work *w = data;
  struct tm_tree_reader reader = { .data = w,
                                   .read = read_bytes,
                                   .on_folder = on_folder,
                                   .on_file = on_file,
                                   .on_piece = on_piece,
                                   .on_link = on_link };
  char hash[17];

  if (make_folders(w) < 0 || tm_tree_read(&reader, hash, &w->err) < 0 || make_links(w) < 0)
    return;
  if (strcmp(hash, w->s.hash) != 0) /* keeps (2) */
    tm_err_set(&w->err, TM_EDAMAGE, "the copy in '%s' has the hash %s, and not %s", w->s.dir, hash,
               w->s.hash);
}

static void free_work(void *data)
{
  struct work *w = data;

  tm_fs_close(w->fs, w->file);
  tm_fs_close(w->fs, w->folder);
  for (size_t i = 0; i < w->links.len; i++) {
    free(w->links.at[i].path);
    free(w->links.at[i].target);
  }
  TM_ARRAY_RELEASE(&w->links);
  free(w->path);
  tm_handoff_release(&w->handoff);
  tm_node_source_release(&w->s);
  free(w);
}

/* ---- on the loop's thread ---- */

static void use(struct tm_source_copy *source, size_t all)
{
  size_t n = all - source->used;

  source->used = all;
  if (n > 0)
    source->o.on_used(source->o.data, n);
}

static void take(struct tm_source_copy *source)
{
  struct tm_buf line = TM_BUF_NONE;
  const struct tm_err *err = &source->work->err;

  if (err->code < 0)
    tm_text_one_line(&line, err->text, strlen(err->text), PROBLEM_MAX);
  source->is_over = true;
  use(source, source->added);
  source->o.on_taken(source->o.data, tm_buf_str(&line));
  tm_buf_release(&line);
}

static void on_wake(void *data)
{
  struct work *w = data;
  struct tm_source_copy *source = w->source;

  if (!source || source->is_over) /* it was ended, or has heard it */
    return;
  if (tm_errand_wait(&w->errand, 0))
    take(source);
  else
    use(source, source->added - tm_handoff_len(&w->handoff));
}

struct tm_source_copy *tm_source_copy_begin(const struct tm_source_copy_options *o,
                                            struct tm_node_source *s, struct tm_err *err)
{
  struct tm_source_copy *source = TM_NEW(struct tm_source_copy);
  struct work *w = TM_NEW(struct work);

  source->o = *o;
  source->work = w;
  w->source = source;
  w->fs = o->fs;
  w->folder = w->file = -1;
  w->s = *s;
  *s = (struct tm_node_source) { 0 };
  tm_handoff_init(&w->handoff, TM_SOURCE_COPY_LIMIT);
  w->errand = (struct tm_errand) {
    .loop = o->loop, .run = run, .on_wake = on_wake, .free_data = free_work, .data = w
  };
  if (tm_errand_start(&w->errand, err) == 0)
    return source;
  free(source);
  return NULL;
}

bool tm_source_copy_add(struct tm_source_copy *source, const char *p, size_t n)
{
  source->added += n;
  if (!source->is_over)
    return tm_handoff_give(&source->work->handoff, p, n);
  use(source, source->added);
  return true;
}

bool tm_source_copy_is_over(const struct tm_source_copy *source)
{
  return source->is_over;
}

void tm_source_copy_end(struct tm_source_copy *source, int64_t patience_ns)
{
  if (!source)
    return;
  source->work->source = NULL;
  tm_handoff_close(&source->work->handoff);
  tm_errand_end(&source->work->errand, patience_ns);
  free(source);
}
