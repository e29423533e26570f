/* worker_lives.c - see worker_lives.h. */
#include "report/worker_lives.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "report/log_line.h"

#define DETAIL_MAX 1000 /* bytes */
#define FILE_MAX   (1u << 30)
#define OFFSET     "clock offset " /* followed by seconds */
#define OFFSET_MAX 1e9             /* seconds: a node may say anything */
#define INIT       "init() took "  /* likewise */

static const char header[] =
    "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail,Cause,"
    "Max Own (MB)\n";
#define WITH_CAUSE 10 /* columns */
#define WITH_OWN   11

struct cause {
  const char *word;
  bool was_asked, was_killed;
};
static const struct cause causes[] = {
  [TM_END_STOPPED] = { "stopped", true, false },  [TM_END_EXITED] = { "exited", false, false },
  [TM_END_SIGNAL] = { "signal", false, true },    [TM_END_TIMEOUT] = { "timeout", false, true },
  [TM_END_SHUTDOWN] = { "shutdown", true, true }, [TM_END_MEMORY] = { "memory", false, true },
  [TM_END_FROZEN] = { "frozen", false, true },    [TM_END_KILLED] = { "killed", true, false },
};

int tm_worker_lives_open(struct tm_worker_lives *l, const struct tm_fs *fs, const char *logs_dir,
                         struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, "sys/job_report/workers.csv");
  *l = (struct tm_worker_lives) { .scratch = TM_BUF_NONE };
  int rc = tm_log_file_open(&l->file, fs, path, err);
  free(path);
  l->columns = WITH_OWN;
  if (rc == 0 && tm_log_file_is_empty(&l->file))
    tm_buf_add_str(&l->file.text, header);
  else if (rc == 0)
    l->columns = tm_log_file_columns(&l->file);
  return rc;
}

static const char *word_of(const struct tm_event *e)
{
  switch (e->kind) {
  case TM_EVENT_WORKER_STARTED: return "started";
  case TM_EVENT_WORKER_READY: return "ready";
  case TM_EVENT_INIT_FAILED: return "init_failed";
  case TM_EVENT_WORKER_ENDED: return "ended";
  default: return NULL;
  }
}

/* A worker without an end of its process was not started, or its node was lost. */
static const char *cause_of(const struct tm_event *e)
{
  if (e->kind != TM_EVENT_WORKER_ENDED)
    return "";
  if (!e->ended)
    return e->lived_ns > 0 ? "lost" : "not_started";
  return tm_check(e->ended->cause < TM_COUNT_OF(causes)) ? causes[e->ended->cause].word : "";
}

static void add_text(struct tm_worker_lives *l, const char *s)
{
  tm_buf_clear(&l->scratch);
  tm_text_one_line(&l->scratch, s ? s : "", s ? strlen(s) : 0, DETAIL_MAX);
  tm_text_csv(&l->file.text, tm_buf_str(&l->scratch), l->scratch.len, ',');
}

static void add_own(struct tm_buf *b, const struct tm_ended *ended)
{
  tm_buf_add_char(b, ',');
  if (ended && ended->own_kb > 0)
    tm_buf_printf(b, "%.1f", (double)ended->own_kb / 1024);
}

void tm_worker_lives_add(struct tm_worker_lives *l, const struct tm_event *e)
{
  struct tm_buf *b = &l->file.text;
  const char *word = word_of(e);
  if (!word)
    return;
  tm_time_iso(b, e->wall_ns);
  tm_buf_printf(b, ",%s,%s,", e->worker ? e->worker : "", e->node_id ? e->node_id : "");
  add_text(l, e->node_address);
  tm_buf_add_char(b, ',');
  if (e->pid > 0)
    tm_buf_printf(b, "%" PRId64, e->pid);
  tm_buf_printf(b, ",%s,", word);
  if (e->kind != TM_EVENT_WORKER_STARTED && e->lived_ns > 0)
    tm_buf_printf(b, "%.6f", (double)e->lived_ns / (double)TM_S);
  tm_buf_add_char(b, ',');
  if (e->ended && e->ended->max_rss_kb > 0)
    tm_buf_printf(b, "%.1f", (double)e->ended->max_rss_kb / 1024);
  tm_buf_add_char(b, ',');
  if (e->kind == TM_EVENT_WORKER_STARTED && e->clock_offset_ns != 0)
    tm_buf_printf(b, OFFSET "%.6f s", (double)e->clock_offset_ns / (double)TM_S);
  else if (e->kind == TM_EVENT_WORKER_READY && e->init_ns > 0)
    tm_buf_printf(b, INIT "%.6f s", (double)e->init_ns / (double)TM_S);
  else
    add_text(l, e->kind == TM_EVENT_INIT_FAILED ? e->message : e->text);
  if (l->columns >= WITH_CAUSE)
    tm_buf_printf(b, ",%s", cause_of(e));
  if (l->columns >= WITH_OWN)
    add_own(b, e->ended);
  tm_buf_add_char(b, '\n');
}

static const struct cause *find_cause(const char *word)
{
  for (size_t i = 0; i < TM_COUNT_OF(causes); i++)
    if (strcmp(word, causes[i].word) == 0)
      return &causes[i];
  return NULL;
}

bool tm_worker_lives_died(const char *cause)
{
  const struct cause *c = find_cause(cause);
  return *cause && !(c && c->was_asked);
}

bool tm_worker_lives_was_killed(const char *cause)
{
  const struct cause *c = find_cause(cause);
  return c && c->was_killed;
}

/* The seconds after `words`, with which a detail must begin; 0: it does not. */
static int64_t ns_after(const char *detail, const char *words)
{
  size_t n = strlen(words);
  double seconds = 0;
  char *number;
  if (strncmp(detail, words, n) != 0)
    return 0;
  number = tm_xstrndup(detail + n, strcspn(detail + n, " "));
  if (!tm_text_number(number, &seconds) || !(seconds > -OFFSET_MAX && seconds < OFFSET_MAX))
    seconds = 0;
  free(number);
  return (int64_t)(seconds * (double)TM_S);
}

int64_t tm_worker_lives_init_ns(const char *event, const char *detail)
{
  int64_t ns = strcmp(event, "ready") == 0 ? ns_after(detail, INIT) : 0;
  return ns > 0 ? ns : 0;
}

int64_t tm_worker_lives_clock_offset(const char *logs_dir, const char *worker)
{
  enum { PROCESS = 1, EVENT = 5, DETAIL = 8, COLUMNS = 10 };
  char *path = tm_path_join(logs_dir, "sys/job_report/workers.csv"), *f[COLUMNS], *end;
  struct tm_buf text = TM_BUF_NONE;
  int64_t offset_ns = 0;
  if (tm_fs_read_file(tm_fs_real(), path, FILE_MAX, &text, NULL) >= 0)
    for (char *at = text.data; at && (end = strchr(at, '\n')); at = end + 1)
      if (tm_csv_split(at, (size_t)(end - at), f, COLUMNS) == COLUMNS &&
          strcmp(f[PROCESS], worker) == 0 && strcmp(f[EVENT], "started") == 0)
        offset_ns = ns_after(f[DETAIL], OFFSET);
  tm_buf_release(&text);
  free(path);
  return offset_ns;
}

int tm_worker_lives_flush(struct tm_worker_lives *l, struct tm_err *err)
{
  return tm_log_file_flush(&l->file, err);
}

int tm_worker_lives_close(struct tm_worker_lives *l, struct tm_err *err)
{
  int rc = tm_log_file_close(&l->file, err);
  tm_buf_release(&l->scratch);
  return rc;
}
