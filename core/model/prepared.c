/* prepared.c - see prepared.h. */
#include "model/prepared.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "model/model_sample.h"
#include "model/onnx_data.h"
#include "model/prepared_copies.h"
#include "model/prepared_key.h"
#include "model/prepared_lock.h"
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
  char *copy, *part;                /* <key>, <key>.part */
  struct tm_prepared_lock lock;
  bool is_unchecked; /* the copy could not be compared */
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

/* Keeps (6). */
static int check_trust(const struct maker *m, struct tm_err *err)
{
  int rc = tm_prepared_mark_trusts(m->fs, m->p->folder, err);

  return rc < 0 ? rc : tm_prepared_mark_trusts(m->fs, m->copy, err);
}

static enum tm_prepared_state state_of(const struct tm_prepared_mark *mark)
{
  return !mark->refused       ? TM_PREPARED_READY
         : mark->is_unchecked ? TM_PREPARED_UNCHECKED
                              : TM_PREPARED_REFUSED;
}

/* 1: there is a sound copy, or a reason not to have one. 0: there is none. */
static int look(struct maker *m, struct tm_err *err)
{
  struct tm_prepared_mark mark;

  if (check_trust(m, err) < 0)
    return finish_plain(m, err);
  int found = tm_prepared_mark_check(&mark, m->fs, m->copy);
  if (found)
    finish(m, state_of(&mark), mark.refused);
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

/* Integers are indexes as often as not: if the model does not take 1, it is given 0. Free axes are
 * often heights and widths: if 1 is too small, they get sizes that images have. */
static int run_plain(struct maker *m, struct tm_model_session *s, struct tm_model_sample *sample,
                     struct tm_results *results, struct tm_err *err)
{
  static const struct tm_sample_numbers tries[] = { { 1, 1 },  { 1, 0 },   { 32, 1 },
                                                    { 32, 0 }, { 224, 1 }, { 224, 0 } };
  const struct tm_model_values *inputs = &tm_model_session_model(s)->signature.inputs;
  size_t n = tm_model_sample_is_free(inputs) ? TM_COUNT_OF(tries) : 2;
  int rc = -1;

  for (size_t i = 0; i < n && rc < 0 && rc != -ECANCELED; i++) {
    tm_results_release(results);
    tm_model_sample_release(sample);
    rc = tm_model_sample_make(sample, inputs, &tries[i], err);
    if (rc == 0)
      rc = run_sample(m, s, sample, results, err);
  }
  m->is_unchecked = rc == TM_EINPUT;
  return m->is_unchecked
             ? tm_err_set(err, rc,
                          "no input that the model takes could be made, so that the copy "
                          "cannot be compared with it")
             : rc;
}

/* `shown`: its path in messages. */
static struct tm_model_session *open_session(struct maker *m, const char *path, const char *shown,
                                             const char *save_to, struct tm_err *err)
{
  struct tm_model_options options = *m->given;

  options.shown = shown;
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
  struct ran copy = { .session = open_session(m, path, path, NULL, err) };
  int rc = copy.session ? run_sample(m, copy.session, sample, &copy.results, err) : err->code;

  if (!copy.session && rc != -ECANCELED)
    tm_err_wrap(err, "the model can be loaded, but its copy cannot");
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
  struct ran plain = { .session = open_session(m, m->path, m->given->shown, NULL, err) };
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
  struct tm_model_session *s = open_session(m, m->path, m->given->shown, path, err);
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

/* A copy that returns other values, or cannot be compared, is remembered, so that nobody makes it
 * again. */
static int refuse_copy(struct maker *m, struct tm_err *why)
{
  const struct tm_prepared_mark mark = { why->text, m->is_unchecked };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_fs_remove_tree(m->fs, m->part, &err);

  rc = rc < 0 ? rc : tm_fs_make_dir(m->fs, m->part, 0700, &err);
  rc = rc < 0 ? rc : tm_prepared_mark_write_refused(m->fs, m->part, &mark, &err);
  (void)(rc < 0 ? rc : put_in_place(m, &err)); /* else the next one makes and refuses it again */
  return finish(m, state_of(&mark), why->text);
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

/* Keeps (3). */
static int refuse_another_try(struct maker *m, const struct tm_prepared_note *note)
{
  struct tm_err err = TM_ERR_NONE;

  (void)tm_fs_remove_tree(m->fs, m->part, NULL);
  if (note->is_late)
    tm_err_set(&err, TM_ELIMIT,
               "a worker of this job has died or was interrupted while it prepared them, and its "
               "time was limited (init_timeout)");
  else
    tm_err_set(&err, TM_ELIMIT,
               "%lld workers of this job have died while they prepared them, perhaps for lack of "
               "memory",
               (long long)note->deaths);
  return finish_plain(m, &err);
}

/* The note is there while the copy is made, and stays if this process dies of it. */
static int make(struct maker *m, struct tm_err *err)
{
  const struct tm_prepared_note none = { 0 };
  struct tm_prepared_note note = tm_prepared_lock_read(&m->lock, m->p->session);
  struct tm_buf lines = TM_BUF_NONE;

  if (note.is_late || note.deaths >= TM_PREPARED_DEATHS_MAX)
    return refuse_another_try(m, &note);
  note.deaths++;
  note.is_late = m->p->is_limited;
  if (tm_prepared_lock_write(&m->lock, &note, m->p->session, err) < 0)
    return finish_plain(m, err);
  tm_prepared_copies_drop_parts(m->fs, m->p->folder);
  int rc = make_in_part(m, err);
  if (m->out->state != TM_PREPARED_MADE)
    (void)tm_fs_remove_tree(m->fs, m->part, NULL);
  note.is_late = true;
  (void)tm_prepared_lock_write(&m->lock, rc == -ECANCELED ? &note : &none, m->p->session, NULL);
  (void)tm_ort_log_take(&m->runtime->log, &lines);
  tm_buf_release(&lines);
  return rc;
}

static int make_locked(struct maker *m, struct tm_err *err)
{
  int rc = look(m, err); /* another one may have made it before we had the lock */

  return rc != 0 ? rc : make(m, err);
}

/* Makes the copy, or waits until another process has. Keeps (4). */
static int make_or_wait(struct maker *m, struct tm_err *err)
{
  int64_t until_ns = tm_clock_mono_ns() + m->p->wait_ns;

  for (;;) {
    int rc = is_stopped(m) ? tm_err_set(err, -ECANCELED, "interrupted")
                           : tm_prepared_lock_take(&m->lock, m->fs, m->copy, true, err);
    if (rc != 0)
      rc = rc < 0 ? finish_plain(m, err) : make_locked(m, err);
    tm_prepared_lock_drop(&m->lock);
    if (rc != 0)
      return rc;
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
  if ((rc = look(m, err)) != 0)
    return rc;
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
    .out = out, .runtime = r, .path = path, .given = options, .p = p, .fs = p->fs
  };

  *out = (struct tm_prepared) { .state = TM_PREPARED_NONE };
  err = TM_ERR_OWN(err);
  int rc = find(&m, err);
  tm_onnx_file_release(&m.file);
  tm_prepared_source_release(&m.source);
  free(m.copy);
  free(m.part);
  return rc < 0 ? tm_err_set(err, -ECANCELED, "interrupted") : 0;
}

void tm_prepared_release(struct tm_prepared *out)
{
  free(out->path);
  free(out->why);
  *out = (struct tm_prepared) { .state = TM_PREPARED_NONE };
}
