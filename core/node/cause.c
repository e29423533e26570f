/* cause.c - finds out why a worker has ended: its status, who killed it, memory, its last output.
 *
 *   killed by us            the table of deadlines.c knows the cause
 *   SIGKILL by another      the kernel's log, if readable, names processes killed for lack of
 *                           memory. Otherwise the kernel's count of such kills: if it has grown by
 *                           more than the accounted ones, one is attributed to this worker. The
 *                           message says that this is a guess.
 *   everything else         signal or status are clear; the last lines of stderr often say more
 *
 * One line goes to the supervisor, and so to the terminal; everything into _main.txt and
 * user/error/.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/check.h"
#include "base/time.h"
#include "node/node_own.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define TAIL_MAX   4096 /* bytes of stderr that are read */
#define TAIL_LINES 10

enum tm_memory_kill tm_keeper_memory_kill(enum tm_end_cause cause, int signal, bool is_logged,
                                          int64_t new_kills)
{
  if (cause != TM_END_SIGNAL || signal != SIGKILL)
    return TM_KILL_OTHER;
  if (is_logged)
    return TM_KILL_LOGGED;
  return new_kills > 0 ? TM_KILL_COUNTED : TM_KILL_OTHER;
}

const char *tm_keeper_last_lines(const char *text, size_t len, int lines)
{
  tm_require(lines > 0);
  size_t at = len;
  while (at > 0 && text[at - 1] == '\n')
    at--;
  while (at > 0 && (text[at - 1] != '\n' || --lines > 0))
    at--;
  return text + at;
}

/* The end of a file, of which nothing before `from` is looked at. */
static void read_tail(const char *path, int64_t from, struct tm_buf *out)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, NULL);
  if (fd >= 0 && fs->fstat(fs->self, fd, &st) == 0 && st.size > from) {
    from = st.size - from > TAIL_MAX ? st.size - TAIL_MAX : from;
    size_t n = (size_t)(st.size - from);
    int64_t got = tm_fs_read_at(fs, fd, path, tm_buf_extend(out, n), n, from, NULL);
    out->len = got > 0 ? (size_t)got : 0;
  }
  if (fd >= 0)
    tm_fs_close(fs, fd);
}

/* Names of workers are not reused, so it holds nothing of an earlier worker. */
static char *stderr_path(const struct tm_keeper_worker *w)
{
  const struct tm_node_step *s = &w->step->s;
  return tm_xprintf("%s/user/stderr/%s/%s.stderr.txt", s->logs_dir, s->node_id, w->name);
}

void tm_keeper_last_line(const char *path, int64_t from, char out[TM_LAST_LINE_MAX + 1])
{
  struct tm_buf tail = TM_BUF_NONE, line = TM_BUF_NONE;
  read_tail(path, from, &tail);
  if (tail.len > 0) {
    const char *at = tm_keeper_last_lines(tail.data, tail.len, 1);
    size_t n = (size_t)(tail.data + tail.len - at);
    while (n > 0 && (at[n - 1] == '\n' || at[n - 1] == '\r')) /* ssh ends its lines with both */
      n--;
    tm_text_one_line(&line, at, n, TM_LAST_LINE_MAX - 3);
  }
  snprintf(out, TM_LAST_LINE_MAX + 1, "%s", tm_buf_str(&line));
  tm_buf_release(&tail);
  tm_buf_release(&line);
}

static void find_last_line(const struct tm_keeper_worker *w, struct tm_ended *ended)
{
  char *path = stderr_path(w);
  tm_keeper_last_line(path, 0, ended->last_line);
  free(path);
}

static enum tm_memory_kill find_memory_kill(struct tm_keeper *k, const struct tm_keeper_worker *w,
                                            const struct tm_ended *ended)
{
  if (ended->cause != TM_END_SIGNAL || ended->signal != SIGKILL || k->readings == NULL)
    return TM_KILL_OTHER;
  int64_t new_kills = k->readings->kills() - k->memory_kills;
  bool is_logged = k->readings->log_names(w->pid, w->started_ns);
  if (new_kills > 0)
    k->memory_kills++; /* accounts for this one */
  return tm_keeper_memory_kill(ended->cause, ended->signal, is_logged, new_kills);
}

void tm_keeper_find_cause(struct tm_keeper *k, const struct tm_keeper_worker *w,
                          struct tm_ended *ended)
{
  ended->was_frozen = w->frozen_due_ns != INT64_MAX;
  ended->own_kb = w->memory.own_kb;
  ended->mapped_kb = w->memory.mapped_kb;
  ended->memory_limit_kb = w->step->s.memory_limit / 1024;
  ended->memory = find_memory_kill(k, w, ended);
  if (ended->cause != TM_END_STOPPED && ended->cause != TM_END_KILLED)
    find_last_line(w, ended);
}

/* ---- the logs ---- */

static void add_mini_batch(struct tm_buf *out, const struct tm_page_view *v)
{
  if (v->phase != TM_PHASE_LOAD && v->phase != TM_PHASE_PREFETCH && v->phase != TM_PHASE_RUN &&
      v->phase != TM_PHASE_RETURN)
    return;
  tm_buf_printf(out, "; mini-batch %" PRIu64 ", try %" PRIu32, v->index, v->try);
  if (v->item > 0)
    tm_buf_printf(out, ", item %" PRIu32, v->item);
}

static void add_tail(struct tm_buf *out, const struct tm_keeper_worker *w)
{
  struct tm_buf tail = TM_BUF_NONE;
  char *path = stderr_path(w);
  read_tail(path, 0, &tail);
  free(path);
  if (tail.len > 0) {
    const char *end = tail.data + tail.len;
    tm_buf_add_str(out, "the last lines of its stderr:\n");
    for (const char *at = tm_keeper_last_lines(tail.data, tail.len, TAIL_LINES); at < end;) {
      const char *stop = memchr(at, '\n', (size_t)(end - at));
      stop = stop ? stop : end;
      tm_buf_add_char(out, '\t');
      tm_text_one_line(out, at, (size_t)(stop - at), 0);
      tm_buf_add_char(out, '\n');
      at = stop + 1;
    }
  }
  tm_buf_release(&tail);
}

static void log_death(struct tm_keeper *k, const struct tm_keeper_worker *w, const char *what,
                      const struct tm_buf *tail)
{
  const struct tm_node_step *s = &w->step->s;
  struct tm_buf text = TM_BUF_NONE;
  tm_time_log(&text, tm_clock_wall_ns());
  tm_buf_printf(&text,
                "|ERROR|%ld|%s|%s; what it printed is in user/stdout/%s/ and user/stderr/%s/\n",
                (long)w->pid, w->name, what, s->node_id, s->node_id);
  tm_buf_add(&text, tail->data, tail->len);
  tm_keeper_log_error(k, w, text.data, text.len);
  tm_buf_release(&text);
}

void tm_keeper_log_end(struct tm_keeper *k, const struct tm_keeper_worker *w,
                       const struct tm_ended *ended)
{
  struct tm_buf what = TM_BUF_NONE, tail = TM_BUF_NONE;
  bool was_asked = ended->cause == TM_END_STOPPED || ended->cause == TM_END_KILLED;
  tm_ended_describe(&what, ended);
  if (ended->cause != TM_END_STOPPED)
    add_mini_batch(&what, &ended->view);
  if (!was_asked)
    add_tail(&tail, w);
  tm_buf_add_str(&what, "; lived ");
  tm_time_duration(&what, ended->lived_ns);
  tm_buf_add_str(&what, ", at most ");
  tm_text_bytes(&what, ended->max_rss_kb * 1024);
  tm_buf_add_str(&what, " resident");
  tm_keeper_log(w->step, was_asked ? TM_INFO : TM_WARNING, "%s ended: pid %u, %s%s%.*s", w->name,
                ended->pid, tm_buf_str(&what), tail.len > 0 ? "\n" : "",
                tail.len > 0 ? (int)tail.len - 1 : 0, tm_buf_str(&tail));
  if (!was_asked)
    log_death(k, w, tm_buf_str(&what), &tail);
  tm_buf_release(&what);
  tm_buf_release(&tail);
}
