/* worker_lives.c - see worker_lives.h. */
#include "report/worker_lives.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"

#define DETAIL_MAX 1000 /* bytes */

static const char header[] =
    "Utc Time,Process,Node,Node Address,Pid,Event,Seconds,Max Rss (MB),Detail\n";

int tm_worker_lives_open(struct tm_worker_lives *l, const struct tm_fs *fs, const char *logs_dir,
                         struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, "sys/job_report/workers.csv");
  *l = (struct tm_worker_lives) { .scratch = TM_BUF_NONE };
  int rc = tm_log_file_open(&l->file, fs, path, err);
  free(path);
  if (rc == 0 && tm_log_file_is_empty(&l->file))
    tm_buf_add_str(&l->file.text, header);
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

static void add_text(struct tm_worker_lives *l, const char *s)
{
  tm_buf_clear(&l->scratch);
  tm_text_one_line(&l->scratch, s ? s : "", s ? strlen(s) : 0, DETAIL_MAX);
  tm_text_csv(&l->file.text, tm_buf_str(&l->scratch), l->scratch.len, ',');
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
  add_text(l, e->kind == TM_EVENT_INIT_FAILED ? e->message : e->text);
  tm_buf_add_char(b, '\n');
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
