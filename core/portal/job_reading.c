/* job_reading.c - looks at the folder of jobs, and reads them; see job_list.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "portal/feed.h"
#include "portal/job_list.h"
#include "portal/moment.h"

#define IDLE_NS (30 * TM_S)
#define REMOVED ".removed-" /* in the names of folders of jobs that are being removed */

static int64_t ns_of(const struct timespec *t)
{
  return (int64_t)t->tv_sec * TM_S + t->tv_nsec;
}

/* ---- one job ---- */

static void add_note(struct tm_buf *out, const struct tidemill_record_info *job)
{
  if (*job->fault)
    tm_buf_printf(out, "cannot be read: %s", job->fault);
  else if (*job->cause)
    tm_buf_add_str(out, job->cause);
  else if (job->is_stopped)
    tm_buf_add_str(out, "stopped by Ctrl-Z or SIGSTOP");
  else if (job->state == TIDEMILL_STATE_RUNNING && *job->cancel_asked_by)
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

static void forget(struct tm_job_row *row)
{
  free(row->pipeline);
  free(row->note);
  row->pipeline = row->note = NULL;
  row->is_read = false;
}

static void release_row(struct tm_job_row *row)
{
  forget(row);
  tidemill_record_close(row->record);
  free(row->key);
}

static void fill(struct tm_job_row *row, const struct tidemill_record_info *job)
{
  struct tm_buf note = TM_BUF_NONE;
  add_note(&note, job);
  tm_buf_add_str(&note, "");
  row->pipeline = tm_xstrdup(tm_text_or_empty(job->pipeline));
  row->note = tm_buf_take(&note);
  row->state = job->state;
  row->is_damaged = *job->fault != '\0';
  row->is_stopped = job->is_stopped;
  row->begin_ns = job->begin_ns;
  row->elapsed_ns = job->elapsed_ns;
  row->is_reused = job->steps_len > 0 && job->steps_reused == job->steps_len;
  row->items_failed = 0;
  if (!job->counts)
    return;
  row->created = job->counts->created;
  row->succeeded = job->counts->succeeded;
  row->failed = job->counts->failed;
  row->items_failed = job->counts->items_failed;
  row->all_created = job->counts->all_created;
}

void tm_job_row_read(struct tm_job_row *row, const char *dir)
{
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_path_join(dir, row->key);
  forget(row);
  row->is_read = true;
  int rc = row->record ? tidemill_record_refresh(row->record, &err)
                       : tidemill_record_open(&row->record, NULL, path, &err);
  if (rc >= 0) {
    fill(row, tidemill_record_info(row->record));
  } else {
    row->is_damaged = true;
    row->pipeline = tm_xstrdup("");
    row->note = tm_xprintf("cannot be read: %s", err.text);
  }
  if (rc < 0 || row->state != TIDEMILL_STATE_RUNNING) {
    tidemill_record_close(row->record);
    row->record = NULL;
  }
  free(path);
}

/* ---- the folder ---- */

void tm_job_list_init(struct tm_job_list *l, const char *workspace)
{
  *l = (struct tm_job_list) { .dir = tm_path_join(workspace, "jobs") };
}

void tm_job_list_release(struct tm_job_list *l)
{
  for (size_t i = 0; i < l->rows.len; i++)
    release_row(&l->rows.at[i]);
  TM_ARRAY_RELEASE(&l->rows);
  free(l->dir);
  l->dir = NULL;
}

int64_t tm_job_list_rest(struct tm_job_list *l, int64_t now_ns)
{
  int64_t at = l->used_ns + IDLE_NS, next = 0;
  for (size_t i = 0; i < l->rows.len; i++) {
    struct tm_job_row *row = &l->rows.at[i];
    if (row->record && at > now_ns)
      next = at;
    if (!row->record || at > now_ns)
      continue;
    tidemill_record_close(row->record);
    row->record = NULL;
    row->is_read = false;
  }
  return next;
}

static int64_t order_of(int folder, const char *key)
{
  struct stat st;
  int64_t ns = tm_job_name_time(key);
  char *path = ns > 0 ? NULL : tm_path_join(key, "job.json");
  if (path && fstatat(folder, path, &st, 0) == 0)
    ns = ns_of(&st.st_mtim);
  free(path);
  return ns;
}

static bool has_file(int folder, const char *key, const char *name)
{
  char *path = tm_path_join(key, name);
  bool has = faccessat(folder, path, F_OK, 0) == 0;
  free(path);
  return has;
}

/* A folder of this name that is in the folder now. */
static void see(struct tm_job_list *l, struct tm_map *rows, int folder, const char *key)
{
  struct stat st;
  if (key[0] == '.' || strstr(key, REMOVED) || fstatat(folder, key, &st, 0) < 0 ||
      !S_ISDIR(st.st_mode))
    return;
  const uint64_t *known = tm_map_find(rows, key, strlen(key));
  if (!known && !has_file(folder, key, "job.json")) /* it has just begun */
    return;
  if (!known) {
    struct tm_job_row fresh = { .key = tm_xstrdup(key), .order_ns = order_of(folder, key) };
    tm_job_list_add(l, &fresh);
  }
  struct tm_job_row *row = &l->rows.at[known ? *known : l->rows.len - 1];
  if (!known || row->changed_ns != ns_of(&st.st_mtim)) {
    row->changed_ns = ns_of(&st.st_mtim);
    row->has_result = has_file(folder, key, "job_result.json");
    row->is_read = false;
  }
  row->is_new = true;
  if (row->record || (!row->has_result && !row->is_read))
    tm_job_row_read(row, l->dir);
}

static void drop_gone(struct tm_job_list *l)
{
  for (size_t i = 0; i < l->rows.len; i++)
    if (!l->rows.at[i].is_new) {
      release_row(&l->rows.at[i]);
      l->rows.at[i--] = l->rows.at[--l->rows.len];
    }
}

/* `dir` NULL: a workspace without jobs has no such folder. */
static void look(struct tm_job_list *l, DIR *dir)
{
  struct tm_map rows = { .len = 0 };
  for (size_t i = 0; i < l->rows.len; i++) {
    l->rows.at[i].is_new = false;
    *tm_map_add(&rows, l->rows.at[i].key, strlen(l->rows.at[i].key), NULL) = i;
  }
  for (struct dirent *d; dir && (d = readdir(dir));)
    see(l, &rows, dirfd(dir), d->d_name);
  tm_map_release(&rows);
  drop_gone(l);
}

int tm_job_list_refresh(struct tm_job_list *l, int64_t now_ns, struct tm_err *err)
{
  if (now_ns < l->due_ns)
    return 0;
  int64_t begin_ns = tm_moment_spent_ns();
  DIR *dir = opendir(l->dir);
  l->used_ns = now_ns;
  if (!dir && errno != ENOENT)
    return tm_err_system(err, -errno, "cannot read folder '%s'", l->dir);
  look(l, dir);
  if (dir)
    closedir(dir);
  tm_job_list_sort(l);
  l->due_ns = tm_feed_due(tm_moment_now_ns(), tm_moment_spent_ns() - begin_ns);
  return 0;
}
