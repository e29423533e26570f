/* probe.c - see probe.h.
 *
 *  (1) The thread that was left behind makes no file: before each step it asks whether it was. A
 *      step that hangs ends there.
 *  (2) The file that this side makes is on the server before its time is read: until then, the time
 *      may be this machine's guess.
 */
#include "relay/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "node/temp_left.h"
#include "sys/clock.h"
#include "sys/errand.h"
#include "sys/fs.h"

#define AGAIN_NS    (20 * TM_MS) /* between two looks at a file that is missing */
#define PROBLEM_MAX 2000         /* bytes */

/* Shared with the thread. */
struct work {
  struct tm_errand errand;
  struct tm_probe *probe; /* of the loop's thread */
  const struct tm_fs *fs;
  struct tm_node_probe p;
  int64_t patience_ns;
  char *left_in[2]; /* temp_dir, memory_dir */
  struct tm_temp_removed removed;
  _Atomic(const char *) path; /* what the thread looks at */
  struct tm_node_probed answer;
};

struct tm_probe {
  struct tm_probe_options o;
  struct work *work; /* NULL: it has ended, or was left behind */
  struct tm_timer limit;
};

/* Takes over `text`. */
static char *problem_line(char *text)
{
  struct tm_buf line = TM_BUF_NONE;

  tm_text_one_line(&line, text, strlen(text), PROBLEM_MAX);
  free(text);
  return tm_buf_take(&line);
}

/* ---- on the thread ---- */

/* Takes over `text`. Returns false. */
static bool fail(struct work *w, char *text)
{
  w->answer = (struct tm_node_probed) { .problem = problem_line(text) };
  return false;
}

/* The next step looks at this path. Keeps (1). */
static bool begin(struct work *w, const char *path)
{
  if (!tm_errand_enter(&w->errand))
    return fail(w, tm_xstrdup("left behind"));
  atomic_store(&w->path, path);
  tm_errand_leave(&w->errand);
  return true;
}

/* As it is named within the job directory. */
static const char *short_name(const struct work *w, const char *path)
{
  size_t len = strlen(w->p.job_dir);

  return strncmp(path, w->p.job_dir, len) == 0 && path[len] == '/' ? path + len + 1 : path;
}

static int stat_open(const struct tm_fs *fs, int fd, struct tm_node_file *out)
{
  struct tm_stat st;
  int rc = fs->fstat(fs->self, fd, &st);

  if (rc == 0)
    *out = (struct tm_node_file) { .size = st.size, .time_ns = st.mtime_ns };
  return rc;
}

static bool check_job_dir(struct work *w)
{
  const struct tm_fs *fs = w->fs;
  struct tm_stat st;
  int rc;

  if (!begin(w, w->p.job_dir))
    return false;
  rc = fs->stat(fs->self, w->p.job_dir, true, &st);
  if (rc == 0 && !S_ISDIR(st.mode))
    rc = -ENOTDIR;
  return rc == 0 || fail(w, tm_xprintf("cannot see the job directory '%s': %s", w->p.job_dir,
                                       tm_code_text(rc)));
}

enum sight { SEEN, MISSING, DIFFERENT, UNREADABLE };

/* A text that is shorter than the nonce may be the beginning of it. */
static enum sight look_at_asked(struct work *w, int *code)
{
  const struct tm_fs *fs = w->fs;
  struct tm_buf text = TM_BUF_NONE;
  size_t len = strlen(w->p.nonce);
  int fd = fs->open(fs->self, w->p.asked, O_RDONLY, 0);
  enum sight sight = SEEN;

  *code = fd < 0 ? fd : stat_open(fs, fd, &w->answer.asked);
  if (*code == 0) {
    char *p = tm_buf_extend(&text, len + 1);
    int64_t n = tm_fs_read_at(fs, fd, w->p.asked, p, len + 1, 0, NULL);
    *code = n < 0 ? (int)n : 0;
    if (n > (int64_t)len || (n >= 0 && memcmp(p, w->p.nonce, (size_t)n) != 0))
      sight = DIFFERENT;
    else if (n < (int64_t)len)
      sight = MISSING;
  }
  if (*code < 0)
    sight = *code == -ENOENT || *code == -ESTALE ? MISSING : UNREADABLE;
  tm_fs_close(fs, fd);
  tm_buf_release(&text);
  return sight;
}

static bool read_asked(struct work *w)
{
  int64_t until_ns = tm_clock_mono_ns() + w->patience_ns;
  enum sight sight;
  int code;

  if (!begin(w, w->p.asked))
    return false;
  while ((sight = look_at_asked(w, &code)) == MISSING && tm_clock_mono_ns() < until_ns) {
    tm_clock_pause(AGAIN_NS);
    if (!begin(w, w->p.asked))
      return false;
  }
  if (sight == SEEN)
    return true;
  if (sight == UNREADABLE)
    return fail(w, tm_xprintf("cannot read '%s': %s", w->p.asked, tm_code_text(code)));
  return fail(w, tm_xprintf("the job directory '%s' is another one here: its file '%s' %s",
                            w->p.job_dir, short_name(w, w->p.asked),
                            sight == MISSING ? "is missing" : "has other contents"));
}

static bool make_answered(struct work *w) /* keeps (2) */
{
  const struct tm_fs *fs = w->fs;
  int fd, rc;

  if (!begin(w, w->p.answered))
    return false;
  rc = fd = fs->open(fs->self, w->p.answered, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (rc >= 0)
    rc = tm_fs_write_at(fs, fd, w->p.answered, w->p.nonce, strlen(w->p.nonce), 0, NULL);
  if (rc >= 0)
    rc = tm_fs_sync(fs, fd, w->p.answered, NULL);
  if (rc >= 0)
    rc = stat_open(fs, fd, &w->answer.answered);
  tm_fs_close(fs, fd);
  return rc >= 0 || fail(w, tm_xprintf("cannot make '%s': %s", w->p.answered, tm_code_text(rc)));
}

static bool check_reads(struct work *w)
{
  for (size_t i = 0; i < w->p.reads_len; i++) {
    const char *path = w->p.reads[i];
    if (!begin(w, path))
      return false;
    int rc = tm_file_check(path, false);
    if (rc < 0)
      return fail(w, tm_xprintf("cannot read '%s': %s", path, tm_code_text(rc)));
  }
  return true;
}

static bool check_writes(struct work *w)
{
  const struct tm_fs *fs = w->fs;

  for (size_t i = 0; i < w->p.writes_len; i++) {
    const char *path = w->p.writes[i];
    struct tm_stat st;
    if (!begin(w, path))
      return false;
    int rc = fs->stat(fs->self, path, true, &st);
    if (rc == 0)
      rc = S_ISDIR(st.mode) ? tm_file_check(path, true) : -ENOTDIR;
    if (rc < 0)
      return fail(w, tm_xprintf("cannot write in '%s': %s", path, tm_code_text(rc)));
  }
  return true;
}

static bool remove_dead(struct work *w)
{
  for (size_t i = 0; i < TM_COUNT_OF(w->left_in); i++) {
    if (!*w->left_in[i])
      continue;
    if (!begin(w, w->left_in[i]))
      return false;
    tm_temp_remove_dead(w->p.job_dir, w->left_in[i], &w->removed);
  }
  return true;
}

static void run(void *data)
{
  struct work *w = data;

  if (remove_dead(w) && check_job_dir(w) && read_asked(w) && make_answered(w) && check_reads(w) &&
      check_writes(w))
    w->answer.problem = tm_xstrdup("");
}

static void free_work(void *data)
{
  struct work *w = data;

  tm_node_probe_release(&w->p);
  tm_node_probed_release(&w->answer);
  for (size_t i = 0; i < TM_COUNT_OF(w->left_in); i++)
    free(w->left_in[i]);
  free(w);
}

/* ---- on the loop's thread ---- */

/* The thread is left behind if it has not ended. */
static void leave(struct tm_probe *probe)
{
  struct work *w = probe->work;

  probe->work = NULL;
  if (w)
    tm_errand_end(&w->errand, 0);
}

static void give(struct tm_probe *probe, struct tm_node_probed *answer)
{
  tm_timer_stop(&probe->limit);
  leave(probe);
  probe->o.on_answer(probe->o.data, answer);
  tm_node_probed_release(answer);
}

static void note_removed(struct tm_probe *probe, const struct tm_temp_removed *r)
{
  char *text =
      tm_xprintf("removed %zu temporary %s that killed nodes of this job had left here, "
                 "and killed %zu %s of theirs",
                 r->folders, tm_text_counted((int64_t)r->folders, "folder", "folders"),
                 r->processes, tm_text_counted((int64_t)r->processes, "process", "processes"));

  if (r->folders > 0 || r->processes > 0)
    probe->o.on_note(probe->o.data, text);
  free(text);
}

static void on_wake(void *data)
{
  struct work *w = data;
  struct tm_node_probed answer = w->answer;

  tm_require(w->probe->work == w && answer.problem);
  note_removed(w->probe, &w->removed);
  w->answer = (struct tm_node_probed) { 0 };
  give(w->probe, &answer);
}

static void on_limit(struct tm_timer *t)
{
  struct tm_probe *probe = t->data;
  struct tm_node_probed answer = { 0 };
  const char *path = atomic_load(&probe->work->path);

  if (tm_errand_wait(&probe->work->errand, 0)) /* on_wake() comes */
    return;
  answer.problem = problem_line(tm_xprintf("the file system of '%s' has not answered for %g s",
                                           path ? path : probe->work->p.job_dir,
                                           (double)probe->o.limit_ns / 1e9));
  give(probe, &answer);
}

static void on_closed(struct tm_timer *t)
{
  free(t->data);
}

struct tm_probe *tm_probe_start(const struct tm_probe_options *o, struct tm_node_probe *p)
{
  struct tm_probe *probe = TM_NEW(struct tm_probe);
  struct work *w = TM_NEW(struct work);
  struct tm_err err = TM_ERR_NONE;

  probe->o = *o;
  tm_timer_open(&probe->limit, o->loop, on_limit, probe);
  probe->limit.on_closed = on_closed;
  w->probe = probe;
  w->p = *p;
  *p = (struct tm_node_probe) { 0 };
  w->fs = o->fs;
  w->patience_ns = o->patience_ns;
  w->left_in[0] = tm_xstrdup(o->temp_dir);
  w->left_in[1] = tm_xstrdup(o->memory_dir);
  w->errand = (struct tm_errand) {
    .loop = o->loop, .run = run, .on_wake = on_wake, .free_data = free_work, .data = w
  };
  if (tm_errand_start(&w->errand, &err) < 0) {
    give(probe, &(struct tm_node_probed) { .problem = problem_line(tm_xstrdup(err.text)) });
    return probe;
  }
  probe->work = w;
  tm_timer_start(&probe->limit, o->limit_ns, 0);
  return probe;
}

void tm_probe_end(struct tm_probe *probe)
{
  if (!probe)
    return;
  leave(probe);
  tm_timer_close(&probe->limit);
}
