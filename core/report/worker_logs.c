/* worker_logs.c - see worker_logs.h.
 *
 * On the hot path, like tries.c: a line costs some copies. The parts of a line that are constant
 * for a worker are formatted once.
 *
 *  (1) A file is open at most while its worker lives and has a line. TM_WORKER_LOGS_OPEN_MAX are
 *      open at once: another one is closed before. With fewer workers, each file is opened once.
 *  (2) A failure usually affects all workers alike (a full disk, missing permission): only the
 *      first is reported.
 */
#include "report/worker_logs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"

/* Bytes of a line without names and message: eight numbers, two moments, three times, words. */
#define NUMBERS_MAX 512
#define MESSAGE_MAX 1000 /* bytes of the error; user/error/ has the full text */

#define RESTS SIZE_MAX

struct tm_worker_log {
  char *worker;
  struct tm_log_file file;
  size_t place; /* in `open_files`; or RESTS */
  char *front;  /* "|4711|process003|mini-batch " */
  char *node;   /* "; node 0 at host7" */
  uint32_t front_len, node_len;
  uint64_t told_seq;       /* the last try that got a line before its end */
  enum tm_phase told_call; /* likewise, of calls without a mini-batch; IDLE: none */
};

void tm_worker_logs_init(struct tm_worker_logs *l, const struct tm_fs *fs, const char *logs_dir)
{
  *l = (struct tm_worker_logs) { .fs = fs, .dir = tm_path_join(logs_dir, "sys/node") };
  tm_stamp_init(&l->began);
  tm_stamp_init(&l->ended);
}

static int judge(struct tm_worker_logs *l, int rc) /* keeps (2) */
{
  if (rc >= 0 || l->has_failed)
    return 0;
  l->has_failed = true;
  return rc;
}

/* Keeps (1): `w` is about to be opened. */
static void take_place(struct tm_worker_logs *l, struct tm_worker_log *w)
{
  if (l->open_len < TM_WORKER_LOGS_OPEN_MAX) {
    w->place = l->open_len++;
  } else {
    w->place = l->oldest++ % TM_WORKER_LOGS_OPEN_MAX;
    tm_log_file_rest(&l->open_files[w->place]->file);
    l->open_files[w->place]->place = RESTS;
  }
  l->open_files[w->place] = w;
}

/* `w` is closed: the last place is moved to its own. */
static void leave_place(struct tm_worker_logs *l, struct tm_worker_log *w)
{
  if (w->place == RESTS)
    return;
  struct tm_worker_log *last = l->open_files[--l->open_len];
  l->open_files[w->place] = last;
  last->place = w->place;
  w->place = RESTS;
}

static int write_out(struct tm_worker_logs *l, struct tm_worker_log *w, struct tm_err *err)
{
  if (w->file.text.len > 0 && w->place == RESTS)
    take_place(l, w);
  return tm_log_file_flush(&w->file, err);
}

static int write_large(struct tm_worker_logs *l, struct tm_worker_log *w, struct tm_err *err)
{
  return w->file.text.len < TM_LOG_FLUSH_BYTES ? 0 : write_out(l, w, err);
}

static struct tm_worker_log *open_log(struct tm_worker_logs *l, const struct tm_event *e,
                                      struct tm_err *err, int *rc)
{
  struct tm_worker_log *w = TM_NEW(struct tm_worker_log);
  char *path = tm_xprintf("%s/%s/%s.txt", l->dir, e->node_id, e->worker);
  const char *address = tm_text_or_empty(e->node_address);
  take_place(l, w);
  *rc = tm_log_file_open(&w->file, l->fs, path, err);
  w->worker = tm_xstrdup(e->worker);
  w->told_call = TM_PHASE_IDLE;
  w->front = tm_xprintf("|%" PRId64 "|%s|mini-batch ", e->pid, e->worker);
  w->node = tm_xprintf("; node %s%s%s", e->node_id, *address ? " at " : "", address);
  w->front_len = (uint32_t)strlen(w->front);
  w->node_len = (uint32_t)strlen(w->node);
  free(path);
  return w;
}

static int close_log(struct tm_worker_logs *l, struct tm_worker_log *w, struct tm_err *err)
{
  int rc = write_out(l, w, err);
  (void)tm_log_file_close(&w->file, NULL);
  leave_place(l, w);
  free(w->front);
  free(w->node);
  free(w->worker);
  free(w);
  return rc;
}

static struct tm_worker_log *log_of(struct tm_worker_logs *l, const struct tm_event *e,
                                    struct tm_err *err, int *rc)
{
  uint64_t *place = tm_map_add(&l->places, e->worker, strlen(e->worker), NULL);
  if (*place == 0) {
    *TM_ARRAY_ADD(&l->logs) = open_log(l, e, err, rc);
    *place = l->logs.len;
  }
  return l->logs.at[*place - 1];
}

static void add_count(struct tm_pen *p, int64_t n, const char *words, size_t len)
{
  tm_pen_add_int(p, n);
  tm_pen_add(p, words, len);
}
#define ADD_COUNT(p, n, words) add_count(p, n, words, sizeof(words) - 1)

static void add_times(struct tm_pen *p, struct tm_stamp *began, const struct tm_attempt *a)
{
  if (a->begin_wall_ns > 0) {
    TM_PEN_ADD(p, "began ");
    tm_pen_add_log(p, began, a->begin_wall_ns);
    TM_PEN_ADD(p, ", ");
  }
  tm_pen_add_seconds(p, a->total_ns);
  TM_PEN_ADD(p, " s, process ");
  tm_pen_add_seconds(p, a->cpu_ns);
  TM_PEN_ADD(p, " s, run() ");
  tm_pen_add_seconds(p, a->run_ns);
  TM_PEN_ADD(p, " s");
}

static bool is_good(const struct tm_attempt *a)
{
  return a->status == TM_RUN_DONE || a->status == TM_CANCELED;
}

static void add_line(struct tm_worker_logs *l, struct tm_worker_log *w, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  const char *status = tm_status_name(a->status);
  struct tm_pen p;
  tm_pen_start(&p, &w->file.text, NUMBERS_MAX + w->front_len + w->node_len);
  tm_pen_add_log(&p, &l->ended, e->wall_ns);
  if (is_good(a))
    TM_PEN_ADD(&p, "|INFO");
  else
    TM_PEN_ADD(&p, "|ERROR");
  tm_pen_add(&p, w->front, w->front_len);
  ADD_COUNT(&p, (int64_t)a->index, ", try ");
  ADD_COUNT(&p, a->try, ": ");
  tm_pen_add(&p, status, strlen(status));
  TM_PEN_ADD(&p, "; ");
  if (a->part_first > 0) {
    ADD_COUNT(&p, a->part_first, " to ");
    ADD_COUNT(&p, a->part_first + a->items - 1, " of its items: ");
  }
  if (a->is_uncounted)
    TM_PEN_ADD(&p, "its rows were not counted, ");
  else if (a->items == 1)
    TM_PEN_ADD(&p, "1 item, ");
  else
    ADD_COUNT(&p, a->items, " items, ");
  ADD_COUNT(&p, a->succeeded, " succeeded, ");
  ADD_COUNT(&p, a->failed, " failed");
  int64_t left = tm_attempt_left(a);
  if (left > 0) {
    TM_PEN_ADD(&p, ", ");
    ADD_COUNT(&p, left, " to be tried again");
  }
  TM_PEN_ADD(&p, "; ");
  add_times(&p, &l->began, a);
  tm_pen_add(&p, w->node, w->node_len);
  tm_pen_add_char(&p, '\n');
  tm_pen_stop(&p);
}

static void add_message(struct tm_buf *b, const char *message)
{
  b->len--; /* continues the line */
  tm_buf_add_str(b, ": ");
  tm_text_one_line(b, message, strlen(message), MESSAGE_MAX);
  tm_buf_add_char(b, '\n');
}

int tm_worker_logs_add_handed(struct tm_worker_logs *l, const struct tm_event *e,
                              struct tm_err *err)
{
  const struct tm_attempt *a = e->attempt;
  struct tm_buf text = TM_BUF_NONE;
  int rc = 0;
  struct tm_worker_log *w = log_of(l, e, err, &rc);
  tm_buf_printf(&text, "mini-batch %" PRIu64 ", try %" PRIu32 ": handed out, ", a->index, a->try);
  tm_attempt_add_input(&text, a);
  tm_log_add_line(&w->file.text, e->wall_ns, TM_DEBUG, e->pid, e->worker, text.data);
  tm_buf_release(&text);
  return judge(l, rc < 0 ? rc : write_large(l, w, err));
}

int tm_worker_logs_add(struct tm_worker_logs *l, const struct tm_event *e, struct tm_err *err)
{
  int rc = 0;
  if (l->level > TM_INFO && is_good(e->attempt))
    return 0;
  struct tm_worker_log *w = log_of(l, e, err, &rc);
  add_line(l, w, e);
  if (*e->attempt->message)
    add_message(&w->file.text, e->attempt->message);
  return judge(l, rc < 0 ? rc : write_large(l, w, err));
}

/* False: the activity has a line already. */
static bool is_untold(struct tm_worker_log *w, const struct tm_activity *a)
{
  bool is_new = a->seq != 0 ? w->told_seq != a->seq : w->told_call != a->phase;
  if (a->seq != 0)
    w->told_seq = a->seq;
  else
    w->told_call = a->phase;
  return is_new;
}

static void add_begun(struct tm_worker_log *w, const struct tm_event *e,
                      const struct tm_activity *a)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_activity_add_begun(&text, a, e->wall_ns);
  tm_buf_add_str(&text, w->node);
  tm_log_add_line(&w->file.text, e->wall_ns, TM_INFO, a->pid, a->worker, text.data);
  tm_buf_release(&text);
}

int tm_worker_logs_tick(struct tm_worker_logs *l, const struct tm_event *e,
                        const struct tm_activities *activities, struct tm_err *err)
{
  struct tm_event one = *e;
  int rc = 0;
  if (l->level > TM_INFO)
    return 0;
  for (size_t i = 0; i < activities->list.len; i++) {
    const struct tm_activity *a = &activities->list.at[i];
    struct tm_worker_log *w;
    if (a->ns < TM_ACTIVITY_SHOWN_NS || a->pid == 0)
      continue;
    one.worker = a->worker;
    one.node_id = a->node_id;
    one.node_address = a->node_address;
    one.pid = a->pid;
    w = log_of(l, &one, rc < 0 ? NULL : err, &rc);
    if (is_untold(w, a))
      add_begun(w, e, a);
  }
  return judge(l, rc);
}

int tm_worker_logs_end(struct tm_worker_logs *l, const char *worker, struct tm_err *err)
{
  uint64_t *place = tm_map_find(&l->places, worker, strlen(worker));
  size_t at;
  struct tm_worker_log *w, *last;
  if (!place || *place == 0)
    return 0;
  at = (size_t)*place - 1;
  w = l->logs.at[at];
  *place = 0;
  last = l->logs.at[--l->logs.len];
  if (last != w) {
    l->logs.at[at] = last;
    *tm_map_find(&l->places, last->worker, strlen(last->worker)) = at + 1;
  }
  return judge(l, close_log(l, w, err)); /* keeps (1) */
}

int tm_worker_logs_flush(struct tm_worker_logs *l, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < l->logs.len; i++) {
    int one = write_out(l, l->logs.at[i], rc < 0 ? NULL : err);
    rc = rc < 0 ? rc : one;
  }
  return judge(l, rc);
}

int tm_worker_logs_close(struct tm_worker_logs *l, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < l->logs.len; i++) {
    int one = close_log(l, l->logs.at[i], rc < 0 ? NULL : err);
    rc = rc < 0 ? rc : one;
  }
  TM_ARRAY_RELEASE(&l->logs);
  tm_map_release(&l->places);
  free(l->dir);
  l->dir = NULL;
  return judge(l, rc);
}
