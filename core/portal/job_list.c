/* job_list.c - see job_list.h. */
#include "portal/job_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "portal/feed.h"

static void release_row(struct tm_job_row *row)
{
  free(row->key);
  free(row->pipeline);
  free(row->note);
}

static void clear(struct tm_job_list *l)
{
  for (size_t i = 0; i < l->rows.len; i++)
    release_row(&l->rows.at[i]);
  l->rows.len = l->running = 0;
}

void tm_job_list_release(struct tm_job_list *l)
{
  clear(l);
  TM_ARRAY_RELEASE(&l->rows);
}

void tm_job_list_add(struct tm_job_list *l, const struct tm_job_row *row)
{
  *TM_ARRAY_ADD(&l->rows) = *row;
  l->running += row->state == TIDEMILL_STATE_RUNNING && !row->is_damaged;
}

static int compare(const void *a, const void *b)
{
  const struct tm_job_row *x = a, *y = b;
  bool x_runs = x->state == TIDEMILL_STATE_RUNNING, y_runs = y->state == TIDEMILL_STATE_RUNNING;
  if (x_runs != y_runs)
    return x_runs ? -1 : 1;
  if (x->begin_ns != y->begin_ns)
    return x->begin_ns > y->begin_ns ? -1 : 1;
  return strcmp(y->key, x->key);
}

static uint64_t add_hash(uint64_t seed, const struct tm_job_row *row)
{
  int64_t numbers[] = { row->state,     row->is_damaged, row->is_stopped, row->created,
                        row->succeeded, row->failed,     row->all_created };
  seed = tm_hash64_seed(row->key, strlen(row->key), seed);
  return tm_hash64_seed(numbers, sizeof numbers, seed);
}

void tm_job_list_sort(struct tm_job_list *l)
{
  if (l->rows.len > 0)
    qsort(l->rows.at, l->rows.len, sizeof *l->rows.at, compare);
  l->version = 0;
  for (size_t i = 0; i < l->rows.len; i++)
    l->version = add_hash(l->version, &l->rows.at[i]);
}

static bool has_part(const char *text, const char *part, size_t n)
{
  for (; *text; text++) {
    size_t i = 0;
    while (i < n && text[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
      i++;
    if (i == n)
      return true;
  }
  return false;
}

bool tm_job_list_matches(const struct tm_job_row *row, const char *filter)
{
  for (;;) {
    filter += strspn(filter, " ");
    size_t n = strcspn(filter, " ");
    if (n == 0)
      return true;
    if (!has_part(row->key, filter, n) && !has_part(row->pipeline, filter, n) &&
        !has_part(tidemill_state_name(row->state), filter, n))
      return false;
    filter += n;
  }
}

size_t tm_job_list_page(const struct tm_job_list *l, const char *filter, int64_t page,
                        void (*on_row)(const struct tm_job_row *row, void *data), void *data)
{
  size_t matching = 0;
  for (size_t i = 0; i < l->rows.len; i++) {
    if (!tm_job_list_matches(&l->rows.at[i], filter))
      continue;
    if ((int64_t)(matching++ / TM_JOB_LIST_PAGE) == page - 1)
      on_row(&l->rows.at[i], data);
  }
  return matching;
}

const char *tm_state_symbol(enum tidemill_state state, bool has_failures)
{
  switch (state) {
  case TIDEMILL_STATE_RUNNING: return "◐";
  case TIDEMILL_STATE_COMPLETED: return "✓";
  case TIDEMILL_STATE_FAILED: return "✗";
  case TIDEMILL_STATE_CANCELED: return "■";
  case TIDEMILL_STATE_SKIPPED: return "–";
  case TIDEMILL_STATE_INTERRUPTED: return "!";
  case TIDEMILL_STATE_WAITING: return "…";
  }
  return "?";
}

const char *tm_state_class(enum tidemill_state state, bool has_failures)
{
  switch (state) {
  case TIDEMILL_STATE_RUNNING: return "run";
  case TIDEMILL_STATE_COMPLETED: return has_failures ? "warn" : "good";
  case TIDEMILL_STATE_FAILED:
  case TIDEMILL_STATE_INTERRUPTED: return "bad";
  case TIDEMILL_STATE_CANCELED:
  case TIDEMILL_STATE_SKIPPED:
  case TIDEMILL_STATE_WAITING: return "stop";
  }
  return "stop";
}

/* ---- reading ---- */

static void add_note(struct tm_buf *out, const struct tidemill_record_info *job)
{
  if (*job->fault)
    tm_buf_printf(out, "cannot be read: %s", job->fault);
  else if (*job->cause)
    tm_buf_add_str(out, job->cause);
  else if (job->is_stopped)
    tm_buf_add_str(out, "stopped by Ctrl-Z or SIGSTOP");
  else if (*job->cancel_asked_by)
    tm_buf_add_str(out, "is being canceled");
  else if (job->state == TIDEMILL_STATE_INTERRUPTED)
    tm_buf_add_str(out, "its process died, or was killed; it can be resumed");
  else if (job->state == TIDEMILL_STATE_CANCELED)
    tm_buf_add_str(out, "can be resumed");
  else if (job->counts && job->counts->items_failed > 0)
    tm_text_count(out, job->counts->items_failed,
                  tm_text_counted(job->counts->items_failed, " item failed, as tolerated",
                                  " items failed, as tolerated"));
  if (!*job->fault && job->steps_reused > 0) {
    tm_buf_add_str(out, out->len > 0 ? "; " : "");
    tm_buf_printf(out, "%zu of %zu steps reused", job->steps_reused, job->steps_len);
  }
}

static int on_job(struct tidemill_record *record, void *data)
{
  const struct tidemill_record_info *job = tidemill_record_info(record);
  struct tm_buf note = TM_BUF_NONE;
  add_note(&note, job);
  tm_buf_add_str(&note, "");
  struct tm_job_row row = { .key = tm_xstrdup(tm_path_base(job->dir)),
                            .pipeline = tm_xstrdup(tm_text_or_empty(job->pipeline)),
                            .note = tm_buf_take(&note),
                            .state = job->state,
                            .is_damaged = *job->fault != '\0',
                            .is_stopped = job->is_stopped,
                            .begin_ns = job->begin_ns,
                            .elapsed_ns = job->elapsed_ns };
  if (job->counts) {
    row.created = job->counts->created;
    row.succeeded = job->counts->succeeded;
    row.failed = job->counts->failed;
    row.all_created = job->counts->all_created;
  }
  tm_job_list_add(data, &row);
  return 0;
}

static int64_t now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * TM_S + t.tv_nsec;
}

int tm_job_list_refresh(struct tm_job_list *l, struct tidemill_workspace *ws, int64_t now_ns,
                        struct tm_err *err)
{
  if (l->is_read && now_ns < l->due_ns)
    return 0;
  struct tm_job_list fresh = { .running = 0 };
  int64_t begin_ns = now();
  int rc = tidemill_workspace_jobs(ws, false, on_job, &fresh, err);
  if (rc < 0) {
    tm_job_list_release(&fresh);
    return rc;
  }
  tm_job_list_sort(&fresh);
  tm_job_list_release(l);
  *l = fresh;
  l->is_read = true;
  l->due_ns = tm_feed_due(now(), now() - begin_ns);
  return 0;
}
