/* upload.c - see upload.h; and the thread, see place.h. */
#include "run/upload.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/files/pack.h"
#include "run/copy.h"
#include "run/place.h"
#include "sys/threads.h"

#define MARK_MAX  4096 /* bytes */
#define PUT_TRIES 100

/* The paths of one upload. */
struct paths {
  char *folder, *mark;          /* in the job's directory */
  char *parent, *copy, *before; /* beside the destination; the last: what it replaces */
};

static void paths_init(struct paths *p, const struct tm_step *step, size_t i, const char *job_dir)
{
  const struct tm_step_output *out = &step->outputs[i];
  unsigned job = (unsigned)tm_hash64(job_dir, strlen(job_dir));

  p->folder = tm_path_join(job_dir, out->folder);
  p->mark = tm_xprintf("%s/%s/state/upload.%zu", job_dir, step->name, i);
  p->parent = tm_path_dir(out->destination);
  p->copy = tm_xprintf("%s.tidemill-%08x", out->destination, job);
  p->before = tm_xprintf("%s.before", p->copy);
}

static void paths_release(struct paths *p)
{
  free(p->folder);
  free(p->mark);
  free(p->parent);
  free(p->copy);
  free(p->before);
}

static struct tm_json *mark_of(const char *destination, const struct tm_stat *st)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);

  tm_json_set(v, "destination", tm_json_new_string(destination));
  tm_json_set(v, "dev", tm_json_new_int((int64_t)st->dev));
  tm_json_set(v, "ino", tm_json_new_int((int64_t)st->ino));
  tm_json_set(v, "mtime_ns", tm_json_new_int(st->mtime_ns));
  return v;
}

bool tm_upload_is_done(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                       const char *job_dir)
{
  const char *destination = step->outputs[i].destination;
  struct paths p;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *said = NULL, *is;
  struct tm_stat st;
  bool is_same = false;

  paths_init(&p, step, i, job_dir);
  if (fs->stat(fs->self, destination, false, &st) == 0 && tm_fs_exists(fs, p.mark) &&
      tm_fs_read_file(fs, p.mark, MARK_MAX, &text, NULL) >= 0 &&
      (said = tm_json_parse(tm_buf_str(&text), text.len, NULL))) {
    is = mark_of(destination, &st);
    is_same = tm_json_is_equal(said, is);
    tm_json_free(is);
  }
  tm_json_free(said);
  tm_buf_release(&text);
  paths_release(&p);
  return is_same;
}

/* Keeps (1). */
static int make_archive(const struct tm_fs *fs, const struct paths *p, const char *format,
                        const atomic_bool *stop, struct tm_err *err)
{
  struct tm_pack_options o = {
    .format = format, .mode = 0666, .is_for_others = true, .stop = stop
  };
  int rc = fs->unlink(fs->self, p->copy); /* of one that was killed */

  if (rc < 0 && rc != -ENOENT)
    return tm_err_system(err, rc, "cannot remove '%s'", p->copy);
  rc = tm_fs_make_dirs(fs, p->parent, 0777, err);
  return rc < 0 ? rc : tm_pack_write_as(fs, p->folder, p->copy, &o, err);
}

/* Keeps (1). */
static int make_copy(const struct tm_fs *fs, const struct paths *p, const atomic_bool *stop,
                     struct tm_err *err)
{
  struct tm_copy c = { .fs = fs, .from = p->folder, .to = p->copy, .stop = stop };
  int rc = tm_fs_remove_tree(fs, p->copy, err); /* of one that was killed */

  if (rc >= 0)
    rc = tm_fs_make_dirs(fs, p->copy, 0777,
                         err); /* what is below a job's directory is its owner's alone */
  return rc < 0 ? rc : tm_copy_tree(&c, err);
}

/* Keeps (2). */
static int write_mark(const struct tm_fs *fs, const struct paths *p, const char *destination,
                      struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_stat st;
  int rc = fs->stat(fs->self, p->copy, false, &st);

  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", p->copy);
  struct tm_json *v = mark_of(destination, &st);

  tm_json_write(&text, v, (struct tm_json_style) { 0 });
  rc = tm_fs_write_file(fs, p->mark, text.data, text.len, 0600, err);
  tm_json_free(v);
  tm_buf_release(&text);
  return rc;
}

/* It had been free when the job began. */
static int refuse_taken(const char *destination, struct tm_err *err)
{
  return tm_err_set(err, TM_EUSAGE,
                    "destination '%s' is not free any more: something has been put there since the "
                    "job began; move it away, and go on with the job: what the step has done is "
                    "kept",
                    destination);
}

/* What is at the destination is in the way of a folder: another one that is not empty, a file, a link. */
static bool is_in_the_way(int rc)
{
  return rc == -ENOTEMPTY || rc == -EEXIST || rc == -ENOTDIR;
}

/* What is there goes aside. 0, also where another job has just done that: then there is nothing. */
static int put_aside(const struct tm_fs *fs, const struct paths *p, const char *destination,
                     struct tm_err *err)
{
  int rc = tm_fs_remove_tree(fs, p->before, err);

  if (rc >= 0 && (rc = fs->rename(fs->self, destination, p->before)) < 0 && rc != -ENOENT)
    tm_err_system(err, rc, "cannot rename '%s' to '%s'", destination, p->before);
  return rc == -ENOENT ? 0 : rc;
}

/* With `overwrite` what is there goes aside first, as often as another job puts its own there between; a file is replaced. */
static int put(const struct tm_fs *fs, const struct paths *p, const struct tm_step *step, size_t i,
               struct tm_err *err)
{
  const char *destination = step->outputs[i].destination;
  bool is_file = step->outputs[i].archive_format && !step->config.overwrite;
  struct tm_stat st;
  int rc = is_file && fs->stat(fs->self, destination, false, &st) == 0
               ? -EEXIST
               : fs->rename(fs->self, p->copy, destination);

  if (is_in_the_way(rc) && !step->config.overwrite)
    return refuse_taken(destination, err);
  for (int n = 0; n < PUT_TRIES && is_in_the_way(rc); n++) {
    if ((rc = put_aside(fs, p, destination, err)) < 0)
      return rc;
    rc = fs->rename(fs->self, p->copy, destination);
  }
  if (rc < 0)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", p->copy, destination);
  return tm_fs_sync_dir(fs, p->parent, err);
}

/* What was replaced. Its name is gone for good: a power cut would bring it back beside the destination. What cannot be removed is in
 * nobody's way. */
static void remove_before(const struct tm_fs *fs, const struct paths *p)
{
  if (tm_fs_exists(fs, p->before) && tm_fs_remove_tree(fs, p->before, NULL) >= 0)
    (void)tm_fs_sync_dir(fs, p->parent, NULL);
}

int tm_upload_output(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                     const char *job_dir, const atomic_bool *stop, struct tm_err *err)
{
  const char *destination = step->outputs[i].destination;
  struct paths p;
  int rc = 0;

  paths_init(&p, step, i, job_dir);
  if (!tm_upload_is_done(fs, step, i, job_dir)) {
    const char *format = step->outputs[i].archive_format;
    rc = format ? make_archive(fs, &p, format, stop, err) : make_copy(fs, &p, stop, err);
    if (rc >= 0)
      rc = write_mark(fs, &p, destination, err);
    if (rc >= 0)
      rc = put(fs, &p, step, i, err);
    if (rc == -ECANCELED || rc == TM_EUSAGE)
      tm_fs_remove_tree(fs, p.copy, NULL);
  }
  if (rc >= 0)
    remove_before(fs, &p);
  paths_release(&p);
  return rc < 0 ? tm_err_wrap(err, "output '%s' of step '%s'", step->outputs[i].name, step->name)
                : 0;
}

/* The thread. */

struct tm_upload {
  struct tm_upload_options o;
  struct tm_thread thread;
  struct tm_wake wake;
  atomic_bool stop;
  int code; /* written before the wake is sent */
  struct tm_err err;
};

static void run(void *data)
{
  struct tm_upload *u = data;

  for (size_t i = 0; i < u->o.step->outputs_len && u->code == 0; i++)
    if (u->o.step->outputs[i].is_upload)
      u->code = tm_upload_output(u->o.fs, u->o.step, i, u->o.job_dir, &u->stop, &u->err);
  tm_wake_send(&u->wake);
}

static void on_wake(struct tm_wake *w)
{
  struct tm_upload *u = w->data;

  tm_thread_join(&u->thread);
  u->o.on_ended(u->o.data, u->code, &u->err);
}

static void on_closed(struct tm_wake *w)
{
  free(w->data);
}

struct tm_upload *tm_upload_start(const struct tm_upload_options *o, struct tm_err *err)
{
  struct tm_upload *u = TM_NEW(struct tm_upload);

  u->o = *o;
  tm_wake_open(&u->wake, o->loop, on_wake, u);
  u->wake.on_closed = on_closed;
  if (tm_thread_start(&u->thread, run, u, err) == 0)
    return u;
  tm_wake_close(&u->wake);
  return NULL;
}

void tm_upload_cancel(struct tm_upload *u)
{
  atomic_store(&u->stop, true);
}

void tm_upload_stop(struct tm_upload *u)
{
  if (!u)
    return;
  tm_upload_cancel(u);
  tm_thread_join(&u->thread);
  tm_wake_close(&u->wake);
}
