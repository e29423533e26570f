/* prepared.c - see prepared.h. */
#include "model/prepared.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "model/model_sample.h"
#include "model/onnx_data.h"
#include "model/prepared_key.h"
#include "model/prepared_mark.h"
#include "model/prepared_source.h"
#include "sys/clock.h"

#define POLL_NS   (20 * TM_MS)
#define ROOM_MORE ((int64_t)16 << 20) /* bytes, for what is not weights */

struct maker {
  struct tm_prepared *out;
  struct tm_runtime *runtime;
  const char *path; /* of the plain model */
  const struct tm_model_options *given;
  struct tm_preparing *p;
  const struct tm_fs *fs;
  struct tm_onnx_file file;
  struct tm_prepared_source source; /* as it was before its key was computed */
  char *copy, *part, *lock;         /* <key>, <key>.part, <key>.lock */
  int lock_fd;
  int64_t deaths;
};

/* ---- stopping ---- */

void tm_preparing_stop(void *preparing)
{
  struct tm_preparing *p = preparing;

  tm_model_loading_stop(&p->loading);
  struct tm_model_session *s = atomic_load(&p->running);
  if (s)
    tm_model_session_stop(s);
}

static bool is_stopped(const struct maker *m)
{
  return atomic_load(&m->p->loading.is_stopped);
}

/* ---- the result ---- */

static int finish(struct maker *m, enum tm_prepared_state state, const char *why)
{
  m->out->state = state;
  free(m->out->why);
  m->out->why = tm_xstrdup(why);
  if (state == TM_PREPARED_READY || state == TM_PREPARED_MADE)
    m->out->path = tm_path_join(m->copy, TM_PREPARED_MODEL);
  return 1;
}

static int finish_plain(struct maker *m, const struct tm_err *why)
{
  return why->code == -ECANCELED ? -ECANCELED : finish(m, TM_PREPARED_PLAIN, why->text);
}

/* 1: there is a sound copy, or a reason not to have one. 0: there is none. */
static int look(struct maker *m)
{
  struct tm_prepared_mark mark;
  int found = tm_prepared_mark_check(&mark, m->fs, m->copy);

  if (found)
    finish(m, mark.refused ? TM_PREPARED_REFUSED : TM_PREPARED_READY, mark.refused);
  tm_prepared_mark_release(&mark);
  return found;
}

/* ---- comparing ---- */

/* Runs a session with the sample. A stop sets its flag before it looks for the session; here that
 * is shown before the flag is read. */
static int run_sample(struct maker *m, struct tm_model_session *s,
                      const struct tm_model_sample *sample, struct tm_results *results,
                      struct tm_err *err)
{
  size_t n = tm_model_session_model(s)->signature.outputs.len;
  size_t *outputs = tm_xcalloc(n + 1, sizeof *outputs);

  for (size_t i = 0; i < n; i++)
    outputs[i] = i;
  atomic_store(&m->p->running, s);
  int rc = is_stopped(m) ? tm_err_set(err, -ECANCELED, "interrupted")
                         : tm_model_session_run(s, sample->list, outputs, n, results, err);
  atomic_store(&m->p->running, NULL);
  free(outputs);
  return rc;
}

/* Integers are indexes as often as not: if the model does not take 1, it is given 0. */
static int run_plain(struct maker *m, struct tm_model_session *s, struct tm_model_sample *sample,
                     struct tm_results *results, struct tm_err *err)
{
  const struct tm_model_values *inputs = &tm_model_session_model(s)->signature.inputs;
  int rc = -1;

  for (int whole = 1; whole >= 0 && rc < 0 && rc != -ECANCELED; whole--) {
    tm_results_release(results);
    tm_model_sample_release(sample);
    rc = tm_model_sample_make(sample, inputs, whole, err);
    if (rc == 0)
      rc = run_sample(m, s, sample, results, err);
  }
  return rc;
}

static struct tm_model_session *open_session(struct maker *m, const char *path, const char *save_to,
                                             struct tm_err *err)
{
  struct tm_model_options options = *m->given;

  options.save_to = save_to;
  options.rows_max = 0;
  return is_stopped(m) ? (tm_err_set(err, -ECANCELED, "interrupted"), NULL)
                       : tm_model_session_open(m->runtime, path, &options, &m->p->loading, err);
}

/* The outputs are the session's memory, so that it is closed with them. */
struct ran {
  struct tm_model_session *session;
  struct tm_results results;
};

static void release_ran(struct ran *r)
{
  tm_results_release(&r->results);
  tm_model_session_close(r->session);
}

static int compare_with(struct maker *m, const struct ran *plain,
                        const struct tm_model_sample *sample, struct tm_err *err)
{
  const struct tm_model_values *outputs =
      &tm_model_session_model(plain->session)->signature.outputs;
  char *path = tm_path_join(m->part, TM_PREPARED_MODEL);
  struct ran copy = { .session = open_session(m, path, NULL, err) };
  int rc = copy.session ? run_sample(m, copy.session, sample, &copy.results, err) : err->code;

  if (rc == 0 && copy.results.outputs != plain->results.outputs)
    rc = tm_err_set(err, TM_EINPUT, "the copy has other outputs");
  for (size_t i = 0; i < outputs->len && rc == 0; i++)
    rc = tm_model_sample_compare(outputs->at[i].name, &plain->results.at[i], &copy.results.at[i],
                                 err);
  release_ran(&copy);
  free(path);
  return rc;
}

/* Keeps (1). */
static int compare(struct maker *m, struct tm_err *err)
{
  struct ran plain = { .session = open_session(m, m->path, NULL, err) };
  struct tm_model_sample sample = { 0 };
  int rc = plain.session ? run_plain(m, plain.session, &sample, &plain.results, err) : err->code;

  if (rc == 0)
    rc = compare_with(m, &plain, &sample, err);
  tm_model_sample_release(&sample);
  release_ran(&plain);
  return rc;
}

/* ---- making ---- */

static int check_room(const struct maker *m, struct tm_err *err)
{
  int64_t need = 2 * m->file.weights + ROOM_MORE;
  struct tm_volume v;
  struct tm_buf text = TM_BUF_NONE;
  int rc = m->fs->volume(m->fs->self, m->p->folder, &v);

  if (rc < 0)
    return tm_err_system(err, rc, "cannot read '%s'", m->p->folder);
  if (v.free_bytes >= need)
    return 0;
  tm_buf_printf(&text, "there is no room in '%s': a copy takes up to ", m->p->folder);
  tm_text_bytes(&text, need);
  tm_buf_add_str(&text, ", and ");
  tm_text_bytes(&text, v.free_bytes);
  tm_buf_add_str(&text, " are free");
  tm_err_set(err, -ENOSPC, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  return -ENOSPC;
}

/* Writes the copy to its preliminary folder; what the library logs meanwhile is for nobody. */
static int write_copy(struct maker *m, struct tm_err *err)
{
  char *path = tm_path_join(m->part, TM_PREPARED_MODEL);
  struct tm_model_session *s = open_session(m, m->path, path, err);
  int rc = s ? 0 : err->code;

  tm_model_session_close(s);
  free(path);
  return rc;
}

static int put_in_place(struct maker *m, struct tm_err *err)
{
  int rc = tm_fs_remove_tree(m->fs, m->copy, err);

  if (rc >= 0 && (rc = m->fs->rename(m->fs->self, m->part, m->copy)) < 0)
    tm_err_system(err, rc, "cannot rename '%s'", m->part);
  return rc < 0 ? rc : tm_fs_sync_dir(m->fs, m->p->folder, err);
}

/* A copy that returns other values is remembered, so that nobody makes it again. */
static int refuse_copy(struct maker *m, struct tm_err *why)
{
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_fs_remove_tree(m->fs, m->part, &err);

  rc = rc < 0 ? rc : tm_fs_make_dir(m->fs, m->part, 0700, &err);
  rc = rc < 0 ? rc : tm_prepared_mark_write_refused(m->fs, m->part, why->text, &err);
  (void)(rc < 0 ? rc : put_in_place(m, &err)); /* else the next one makes and refuses it again */
  return finish(m, TM_PREPARED_REFUSED, why->text);
}

static int make_in_part(struct maker *m, struct tm_err *err)
{
  int rc = tm_fs_remove_tree(m->fs, m->part, err);

  rc = rc < 0 ? rc : check_room(m, err);
  rc = rc < 0 ? rc : tm_fs_make_dir(m->fs, m->part, 0700, err);
  rc = rc < 0 ? rc : write_copy(m, err);
  if (rc < 0)
    return finish_plain(m, err);
  rc = compare(m, err);
  if (tm_prepared_source_has_changed(&m->source, m->fs)) /* keeps (5) */
    return finish(m, TM_PREPARED_PLAIN, "its files were replaced while the copy was made");
  if (rc < 0)
    return rc == TM_EINPUT ? refuse_copy(m, err) : finish_plain(m, err);
  rc = tm_prepared_mark_write(m->fs, m->part, err);
  rc = rc < 0 ? rc : put_in_place(m, err);
  return rc < 0 ? finish_plain(m, err) : finish(m, TM_PREPARED_MADE, NULL);
}

/* The number of bytes of the lock's file counts the deaths: one more while it is made. */
static int count_death(struct maker *m, int64_t deaths, struct tm_err *err)
{
  int rc = m->fs->ftruncate(m->fs->self, m->lock_fd, deaths);

  return rc < 0 ? tm_err_system(err, rc, "cannot write '%s'", m->lock) : 0;
}

static int make(struct maker *m, struct tm_err *err)
{
  struct tm_buf lines = TM_BUF_NONE;
  int rc;

  if (m->deaths >= TM_PREPARED_DEATHS_MAX) {
    (void)tm_fs_remove_tree(m->fs, m->part, NULL);
    tm_err_set(err, TM_ELIMIT,
               "%lld workers have died while they prepared it, perhaps for lack of memory; "
               "'tidemill clean' forgets that",
               (long long)m->deaths);
    return finish_plain(m, err);
  }
  if (count_death(m, m->deaths + 1, err) < 0)
    return finish_plain(m, err);
  rc = make_in_part(m, err);
  if (m->out->state != TM_PREPARED_MADE)
    (void)tm_fs_remove_tree(m->fs, m->part, NULL);
  (void)count_death(m, 0, NULL);
  (void)tm_ort_log_take(&m->runtime->log, &lines);
  tm_buf_release(&lines);
  return rc;
}

/* ---- the lock ---- */

static void let_go(struct maker *m)
{
  tm_fs_close(m->fs, m->lock_fd); /* which ends the lock */
  m->lock_fd = -1;
}

/* Whether the file that is locked still has its name: `tidemill clean` removes it. */
static bool is_named(const struct maker *m, struct tm_stat *own)
{
  struct tm_stat named;

  return m->fs->fstat(m->fs->self, m->lock_fd, own) == 0 &&
         m->fs->stat(m->fs->self, m->lock, false, &named) == 0 && named.ino == own->ino &&
         named.dev == own->dev;
}

/* 1: it is ours. 0: another process has it. */
static int take_lock(struct maker *m, struct tm_err *err)
{
  struct tm_stat own;

  for (;;) {
    m->lock_fd = tm_fs_open(m->fs, m->lock, O_RDWR | O_CREAT | O_NOFOLLOW, 0600, err);
    if (m->lock_fd < 0)
      return m->lock_fd;
    int rc = tm_lock_take(m->lock_fd, false);
    if (rc == 0 && is_named(m, &own)) {
      m->deaths = own.size;
      return 1;
    }
    let_go(m);
    if (rc < 0)
      return rc == -EWOULDBLOCK ? 0 : tm_err_system(err, rc, "cannot lock '%s'", m->lock);
  }
}

/* Makes the copy, or waits until another process has. Keeps (4). */
static int make_or_wait(struct maker *m, struct tm_err *err)
{
  int64_t until_ns = tm_clock_mono_ns() + m->p->wait_ns;

  for (;;) {
    int rc = is_stopped(m) ? tm_err_set(err, -ECANCELED, "interrupted") : take_lock(m, err);
    if (rc < 0)
      return finish_plain(m, err);
    if (rc > 0) { /* another one may have made it before we had the lock */
      rc = look(m) ? 1 : make(m, err);
      let_go(m);
      return rc;
    }
    if (tm_clock_mono_ns() >= until_ns)
      return finish(m, TM_PREPARED_BUSY, NULL);
    tm_clock_pause(POLL_NS);
  }
}

/* ---- all ---- */

static int find_named(struct maker *m, struct tm_err *err)
{
  char key[TM_PREPARED_KEY_SIZE];
  int rc = tm_prepared_key(key, m->fs, m->path, &m->file, m->runtime->version, m->given,
                           &m->p->loading.is_stopped, err);

  if (rc < 0)
    return finish_plain(m, err);
  m->copy = tm_path_join(m->p->folder, key);
  m->part = tm_xprintf("%s.part", m->copy);
  m->lock = tm_xprintf("%s.lock", m->copy);
  if (look(m))
    return 1;
  rc = tm_fs_make_dir(m->fs, m->p->folder, 0700, err);
  return rc < 0 ? finish_plain(m, err) : make_or_wait(m, err);
}

static int find(struct maker *m, struct tm_err *err)
{
  tm_prepared_source_add(&m->source, m->fs, m->path);
  int rc = tm_onnx_file_read(&m->file, m->fs, m->path, err);

  if (rc == 0)
    rc = tm_onnx_check_data(&m->file, m->fs, m->path, err);
  if (rc < 0 || m->file.weights < m->p->weights_min)
    return finish(m, TM_PREPARED_NONE, NULL);
  if (m->runtime->api.minor < TM_PREPARED_SINCE) {
    tm_err_set(err, TM_EVERSION, "ONNX Runtime %s cannot do that; 1.%d or newer can",
               m->runtime->version, TM_PREPARED_SINCE);
    return finish_plain(m, err);
  }
  tm_prepared_source_add_data(&m->source, m->fs, m->path, &m->file);
  return find_named(m, err);
}

int tm_prepared_find(struct tm_prepared *out, struct tm_runtime *r, const char *path,
                     const struct tm_model_options *options, struct tm_preparing *p,
                     struct tm_err *err)
{
  struct maker m = {
    .out = out, .runtime = r, .path = path, .given = options, .p = p, .fs = p->fs, .lock_fd = -1
  };

  *out = (struct tm_prepared) { .state = TM_PREPARED_NONE };
  err = TM_ERR_OWN(err);
  int rc = find(&m, err);
  tm_onnx_file_release(&m.file);
  tm_prepared_source_release(&m.source);
  free(m.copy);
  free(m.part);
  free(m.lock);
  return rc < 0 ? tm_err_set(err, -ECANCELED, "interrupted") : 0;
}

void tm_prepared_release(struct tm_prepared *out)
{
  free(out->path);
  free(out->why);
  *out = (struct tm_prepared) { .state = TM_PREPARED_NONE };
}
