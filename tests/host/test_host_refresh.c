/* test_host_refresh.c - a host follows a job through its files: a descriptor says when to look, and
 * a record takes what is new. */
#include "host.h"

#include <poll.h>

#define LIMIT_MS 60000

static bool is_readable(int fd, int limit_ms)
{
  struct pollfd p = { .fd = fd, .events = POLLIN };
  return poll(&p, 1, limit_ms) == 1;
}

static int64_t ended(const struct tidemill_record *r)
{
  const struct tidemill_counts *counts = tidemill_record_info(r)->counts;
  return counts->succeeded + counts->failed;
}

static void open_record(struct host *h, struct tidemill_record **r)
{
  host_must(h, tidemill_record_open(r, NULL, tidemill_job_dir(h->job), &h->err));
}

/* Refreshes whenever the descriptor says so, until `n` mini-batches have ended. The job runs in
 * this process. */
static void follow(struct host *h, struct tidemill_record *r, int64_t n)
{
  int fd = tidemill_record_fd(r, &h->err);
  assert_true(fd > 2);
  host_must(h, tidemill_record_refresh(r, &h->err));
  for (int i = 0; ended(r) < n; i++) {
    assert_true(i < LIMIT_MS / 10);
    (void)tidemill_job_wait(h->job, 10, &h->err);
    if (is_readable(fd, 0))
      host_must(h, tidemill_record_refresh(r, &h->err));
  }
  assert_int_equal(tidemill_record_fd(r, &h->err), fd);
}

static bool has_metric(struct tidemill_record *r, const char *name, const char *value)
{
  const char *at = strstr(tidemill_record_metrics(r), name),
             *end = at ? strchr(at + 1, '\n') : NULL;
  size_t n = strlen(value);
  return end && (size_t)(end - at) > n && strncmp(end - n, value, n) == 0;
}

/* Of the folder's job, while the record is open. */
static void a_job_that_is_removed_is_not_exported(struct host *h, struct tidemill_record *r)
{
  struct tidemill_export_options to = TIDEMILL_EXPORT_OPTIONS_INIT;
  const char *dir = tidemill_record_info(r)->dir;
  char other[4096];
  snprintf(other, sizeof(other), "%s.other", dir);
  to.path = other;
  assert_int_equal(rename(dir, other), 0);
  host_expect(h, tidemill_record_export(r, TIDEMILL_FORMAT_JOBLOG, &to, &h->err), TIDEMILL_EUSAGE,
              "is a folder");
  snprintf(other, sizeof(other), "%s.tsv", dir);
  host_expect(h, tidemill_record_export(r, TIDEMILL_FORMAT_JOBLOG, &to, &h->err), -ENOENT,
              "was removed while it was read");
  assert_int_equal(access(other, F_OK), -1);
  snprintf(other, sizeof(other), "%s.other", dir);
  assert_int_equal(rename(other, dir), 0);
}

static void a_running_job_is_followed_to_its_end(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL, *now = NULL;
  host_setup(&h, "good", 5, "wait", 1, "bad", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  open_record(&h, &r);
  follow(&h, r, 0); /* a result may stay in its worker while that waits in the next run() */
  assert_int_equal(tidemill_record_info(r)->state, TIDEMILL_STATE_RUNNING);
  assert_true(tidemill_record_info(r)->elapsed_ns >= 0);
  assert_true(has_metric(r, "\ntidemill_job_running{", "} 1"));
  assert_true(has_metric(r, "\ntidemill_mini_batches_failed{", "} 0"));
  host_go(&h, 1);
  follow(&h, r, 7);
  host_wait(&h);
  tidemill_job_close(h.job); /* until then it is Running */
  h.job = NULL;
  int fd = tidemill_record_fd(r, &h.err);
  while (tidemill_record_info(r)->state == TIDEMILL_STATE_RUNNING) {
    assert_true(is_readable(fd, LIMIT_MS));
    host_must(&h, tidemill_record_refresh(r, &h.err));
  }
  host_must(&h, tidemill_record_open(&now, NULL, tidemill_record_info(r)->dir, &h.err));
  assert_string_equal(tidemill_record_json(r), tidemill_record_json(now));
  assert_string_equal(tidemill_record_step(r, 0)->text, tidemill_record_step(now, 0)->text);
  assert_string_equal(tidemill_record_result(r), tidemill_record_result(now));
  char *metrics = strdup(tidemill_record_metrics(r)); /* which had some of the rows before */
  assert_string_equal(metrics, tidemill_record_metrics(now));
  free(metrics);
  assert_true(has_metric(r, "\ntidemill_job_running{", "} 0"));
  assert_true(has_metric(r, "\ntidemill_mini_batches_failed{", "} 1"));
  assert_true(has_metric(r, "\ntidemill_workers{", "} 0"));
  a_job_that_is_removed_is_not_exported(&h, now);
  assert_non_null(strstr(tidemill_record_error(r, 0, 0)->error, "no good: bad.000"));
  tidemill_record_close(now);
  tidemill_record_close(r);
  host_end(&h);
}

struct table {
  int tries, failed, events, most;
  bool has_memory;
  char words[1000];
  int64_t bytes;
};

static int on_try(const struct tidemill_try *t, void *data)
{
  struct table *all = data;
  assert_int_equal(t->size, sizeof(*t));
  assert_true(t->mini_batch >= 0 && t->try_number >= 1 && t->begun_ns > 0 && t->items == 1);
  assert_true(t->run_ns <= t->elapsed_ns && strncmp(t->worker, "process", 7) == 0);
  assert_string_equal(t->node_id, "0");
  assert_non_null(strstr(t->first_item, "/in/"));
  all->failed += strcmp(t->status, "RUN_DONE") != 0;
  if (strcmp(t->category, "error") == 0)
    assert_non_null(strstr(t->error, "no good: bad.000"));
  all->bytes += t->result_bytes;
  return ++all->tries == all->most ? 7 : 0;
}

static int on_event(const struct tidemill_life_event *e, void *data)
{
  struct table *all = data;
  assert_int_equal(e->size, sizeof(*e));
  assert_true(e->time_ns > 0 && e->pid > 0 && strncmp(e->worker, "process", 7) == 0);
  assert_true(strcmp(e->event, "ended") != 0 || e->lived_ns > 0);
  all->has_memory |= e->max_rss_bytes > 0;
  strcat(all->words, e->event);
  strcat(all->words, " ");
  all->events++;
  return 0;
}

/* Two good ones, two tries of a bad one, and one that waits. */
static void tries_and_workers_are_read_as_they_come(void **state)
{
  struct host h;
  struct table all = { .most = 3 };
  struct tidemill_record *r = NULL;
  int64_t tries_at = 0, workers_at = 0;
  host_setup(&h, "good", 2, "wait", 1, "bad", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  open_record(&h, &r);
  host_must(&h, tidemill_record_tries(r, 0, &tries_at, on_try, &all, &h.err));
  assert_int_equal(all.tries, 0); /* nobody has turned the loop */
  host_go(&h, 1);
  host_wait(&h);
  assert_int_equal(tidemill_record_tries(r, 0, &tries_at, on_try, &all, &h.err), 7);
  assert_int_equal(all.tries, 3);
  host_must(&h, tidemill_record_tries(r, 0, &tries_at, on_try, &all, &h.err));
  assert_int_equal(all.tries, 5);
  assert_int_equal(all.failed, 2);
  assert_int_equal(all.bytes, 2 * strlen("good.000\n") + strlen("wait.000\n"));
  host_must(&h, tidemill_record_tries(r, 0, &tries_at, on_try, &all, &h.err));
  assert_int_equal(all.tries, 5);
  host_must(&h, tidemill_record_tries_since(r, 0, 0, &tries_at, &h.err));
  host_must(&h, tidemill_record_tries(r, 0, &tries_at, on_try, &all, &h.err));
  assert_int_equal(all.tries, 10);
  host_must(&h, tidemill_record_tries_since(r, 0, INT64_MAX, &tries_at, &h.err));
  host_must(&h, tidemill_record_tries(r, 0, &tries_at, on_try, &all, &h.err));
  assert_int_equal(all.tries, 10);
  host_expect(&h, tidemill_record_tries_since(r, 0, 0, NULL, &h.err), TIDEMILL_EUSAGE,
              "`position`");
  host_must(&h, tidemill_record_workers(r, 0, &workers_at, on_event, &all, &h.err));
  int events = all.events; /* the other worker may have had nothing to do, or not have been ready */
  assert_in_range(events, 3, 6);
  assert_true(all.has_memory && strncmp(all.words, "started ", 8) == 0);
  assert_non_null(strstr(all.words, "ready "));
  assert_string_equal(all.words + strlen(all.words) - strlen("ended "), "ended ");
  host_must(&h, tidemill_record_workers(r, 0, &workers_at, on_event, &all, &h.err));
  assert_int_equal(all.events, events);
  tidemill_record_close(r);
  host_end(&h);
}

struct measured {
  int machines, processes, disks;
};

static int on_sample(const struct tidemill_sample *s, void *data)
{
  struct measured *all = data;
  assert_int_equal(s->size, sizeof(*s));
  assert_int_equal(s->time_ns, 1500000000);
  assert_true(s->cpu_percent == 12.5);
  assert_int_equal(s->memory_total_bytes, 4 << 20);
  assert_int_equal(s->memory_used_bytes, 1 << 20);
  assert_int_equal(s->disk_read_bytes, 2 << 20);
  assert_int_equal(s->disk_written_bytes, 3 << 20);
  assert_int_equal(s->network_sent_bytes, 5 << 20);
  assert_int_equal(s->network_received_bytes, -1);
  all->machines++;
  return 0;
}

static int on_process(const struct tidemill_process_sample *s, void *data)
{
  struct measured *all = data;
  assert_int_equal(s->size, sizeof(*s));
  assert_int_equal(s->time_ns, 2000000000);
  assert_string_equal(s->process, "process001");
  assert_string_equal(s->program, "tidemill");
  assert_true(s->pid == 41 && s->parent_pid == 40 && s->cpu_percent == 99.5);
  assert_int_equal(s->rss_bytes, 7 << 20);
  assert_int_equal(s->disk_read_bytes, 8 << 20);
  assert_int_equal(s->disk_written_bytes, 9 << 20);
  return ++all->processes == 1 ? 7 : 0;
}

static int on_disk(const struct tidemill_disk_sample *s, void *data)
{
  struct measured *all = data;
  assert_int_equal(s->size, sizeof(*s));
  assert_int_equal(s->time_ns, 3000000000);
  assert_string_equal(s->device, "/dev/sda1");
  assert_string_equal(s->mount_point, "/data");
  assert_int_equal(s->total_bytes, 10 << 20);
  assert_int_equal(s->used_bytes, 4 << 20);
  assert_int_equal(s->free_bytes, 5 << 20);
  assert_true(s->used_percent == 44.4);
  all->disks++;
  return 0;
}

/* The job is too short for samples of its own. */
static void put_samples(const char *job_dir)
{
  static const char *const files[][2] = {
    { "node_resource_usage.csv",
      "Utc Time,Cpu Percent,Memory Total (MB),Memory Used (MB),Disk Io Read (MB),"
      "Disk Io Write (MB),Network Sent (MB)\n1970-01-01T00:00:01.500000Z,12.5,4,1,2,3,5\n" },
    { "processes_resource_usage.csv",
      "Utc Time,Process,Pid,Parent Pid,Name,Cpu Percent,Memory Rss (MB),Disk Io Read (MB),"
      "Disk Io Write (MB)\n"
      "1970-01-01T00:00:02.000000Z,process001,41,40,tidemill,99.5,7,8,9\n"
      "1970-01-01T00:00:02.000000Z,process001,41,40,tidemill,99.5,7,8,9\n" },
    { "node_disk_usage.csv",
      "Utc Time,Device,Mount Point,Total (MB),Used (MB),Free (MB),Used Percent\n"
      "1970-01-01T00:00:03.000000Z,/dev/sda1,/data,10,4,5,44.4\n" },
  };
  char path[500];
  snprintf(path, sizeof path, "mkdir -p '%s/score/logs/perf/3'", job_dir);
  assert_int_equal(system(path), 0);
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/score/logs/perf/3/%s", job_dir, files[i][0]);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(files[i][1], f);
    assert_int_equal(fclose(f), 0);
  }
}

static void resources_are_read_as_they_come(void **state)
{
  struct host h;
  struct measured all = { 0 };
  struct tidemill_record *r = NULL;
  int64_t at = 0, rows_at = 0, disks_at = 0;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  open_record(&h, &r);
  put_samples(tidemill_record_info(r)->dir);
  host_must(&h, tidemill_record_samples(r, 0, "3", &at, on_sample, &all, &h.err));
  host_must(&h, tidemill_record_samples(r, 0, "3", &at, on_sample, &all, &h.err));
  assert_int_equal(tidemill_record_process_samples(r, 0, "3", &rows_at, on_process, &all, &h.err),
                   7);
  host_must(&h, tidemill_record_process_samples(r, 0, "3", &rows_at, on_process, &all, &h.err));
  host_must(&h, tidemill_record_disk_samples(r, 0, "3", &disks_at, on_disk, &all, &h.err));
  at = 0;
  host_must(&h, tidemill_record_samples(r, 0, "17", &at, on_sample, &all, &h.err));
  assert_true(all.machines == 1 && all.processes == 2 && all.disks == 1);
  host_expect(&h, tidemill_record_samples(r, 0, "../3", &at, on_sample, &all, &h.err),
              TIDEMILL_EUSAGE, "'../3' is not the id of a node");
  host_expect(&h, tidemill_record_process_samples(r, 0, NULL, &at, on_process, &all, &h.err),
              TIDEMILL_EUSAGE, "`node_id`");
  host_expect(&h, tidemill_record_disk_samples(r, 9, "3", &at, on_disk, &all, &h.err),
              TIDEMILL_EUSAGE, "there is no step 9");
  tidemill_record_close(r);
  host_end(&h);
}

static void what_cannot_be_read_says_why(void **state)
{
  struct host h;
  struct table all = { 0 };
  struct tidemill_record *r = NULL;
  int64_t at = 0, negative = -1;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  open_record(&h, &r);
  host_expect(&h, tidemill_record_tries(NULL, 0, &at, on_try, &all, &h.err), TIDEMILL_EUSAGE,
              "`r`");
  host_expect(&h, tidemill_record_tries(r, 0, NULL, on_try, &all, &h.err), TIDEMILL_EUSAGE,
              "`position`");
  host_expect(&h, tidemill_record_tries(r, 0, &at, NULL, &all, &h.err), TIDEMILL_EUSAGE,
              "`on_try`");
  host_expect(&h, tidemill_record_tries(r, 1, &at, on_try, &all, &h.err), TIDEMILL_EUSAGE,
              "there is no step 1; there are 1");
  host_expect(&h, tidemill_record_workers(r, 0, &negative, on_event, &all, &h.err), TIDEMILL_EUSAGE,
              "position -1 is negative; 0 is the beginning");
  tidemill_record_close(r);
  host_end(&h);
}

static void sessions_are_counted(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  open_record(&h, &r);
  const struct tidemill_session *s = tidemill_record_session(r, 0, 0);
  assert_non_null(s);
  assert_int_equal(s->size, sizeof(*s));
  assert_int_equal(s->number, 1);
  assert_int_equal(s->mini_batches, 3);
  assert_int_equal(s->begin_ns, tidemill_record_info(r)->begin_ns);
  assert_ptr_equal(tidemill_record_session(r, 0, 0), s);
  assert_null(tidemill_record_session(r, 0, 1));
  assert_null(tidemill_record_session(r, 1, 0));
  assert_null(tidemill_record_session(NULL, 0, 0));
  tidemill_record_close(r);
  host_end(&h);
}

struct files {
  int n[3], most, all;
  bool has_rows, has_definition, has_tries;
};

static int on_file(const struct tidemill_job_file *f, void *data)
{
  struct files *all = data;
  assert_int_equal(f->size, sizeof(*f));
  assert_true(f->path[0] != '/' && f->bytes >= 0 && f->changed_ns > 0);
  all->n[f->kind]++;
  if (strcmp(f->path, "score/output/parallel_run_step.txt") == 0)
    all->has_rows = f->kind == TIDEMILL_FILE_OUTPUT && f->bytes == strlen("good.000\n");
  if (strcmp(f->path, "job.json") == 0)
    all->has_definition = f->kind == TIDEMILL_FILE_RECORD;
  if (strcmp(f->path, "score/logs/sys/job_report/processed_mini-batches.csv") == 0)
    all->has_tries = f->kind == TIDEMILL_FILE_LOG;
  assert_null(strstr(f->path, "linked"));
  return ++all->all == all->most ? 7 : 0;
}

static void the_files_of_a_job_are_listed(void **state)
{
  struct host h;
  struct files all = { .most = -1 }, some = { .most = 2 };
  struct tidemill_record *r = NULL;
  char path[400];
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  open_record(&h, &r);
  snprintf(path, sizeof path, "%s/score/output/linked", tidemill_record_info(r)->dir);
  assert_int_equal(symlink("/", path), 0);
  host_must(&h, tidemill_record_files(r, on_file, &all, &h.err));
  assert_true(all.has_rows && all.has_definition && all.has_tries);
  assert_int_equal(all.n[TIDEMILL_FILE_OUTPUT], 1);
  assert_int_equal(tidemill_record_files(r, on_file, &some, &h.err), 7);
  assert_int_equal(some.all, 2);
  host_expect(&h, tidemill_record_files(r, NULL, NULL, &h.err), TIDEMILL_EUSAGE, "`on_file`");
  host_expect(&h, tidemill_record_files(NULL, on_file, &all, &h.err), TIDEMILL_EUSAGE, "`r`");
  tidemill_record_close(r);
  host_end(&h);
}

struct heard {
  int lines, ends, most;
  bool has_error;
};

static int on_line(const struct tidemill_log_line *line, void *data)
{
  struct heard *all = data;
  all->ends += line == NULL;
  if (!line)
    return 0;
  assert_string_equal(line->step, "score");
  all->has_error |= memmem(line->text, line->text_bytes, "no good: bad.000", 16) != NULL;
  return ++all->lines == all->most ? 7 : 0;
}

static void lines_are_read_as_they_come(void **state)
{
  struct host h;
  struct heard all = { .most = 3 }, whole = { 0 };
  struct tidemill_logs *logs = NULL;
  char dir[400];
  host_setup(&h, "good", 2, "wait", 1, "bad", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  snprintf(dir, sizeof dir, "%s", tidemill_job_dir(h.job));
  host_must(&h, tidemill_logs_open(&logs, NULL, dir, NULL, &h.err));
  assert_true(tidemill_logs_fd(logs) > 2);
  while (all.lines < 3) { /* the first lines come before any result */
    (void)tidemill_job_wait(h.job, 10, &h.err);
    if (is_readable(tidemill_logs_fd(logs), 0))
      assert_true(tidemill_logs_read(logs, on_line, &all, &h.err) == (all.lines == 3 ? 7 : 0));
  }
  host_must(&h, tidemill_logs_read(logs, on_line, &all, &h.err)); /* to their end */
  assert_false(tidemill_logs_is_over(logs));
  host_go(&h, 1);
  host_wait(&h);
  tidemill_job_close(h.job);
  h.job = NULL;
  while (!tidemill_logs_is_over(logs)) {
    assert_true(is_readable(tidemill_logs_fd(logs), LIMIT_MS));
    host_must(&h, tidemill_logs_read(logs, on_line, &all, &h.err));
  }
  host_must(&h, tidemill_workspace_logs(NULL, dir, NULL, on_line, &whole, &h.err));
  assert_int_equal(all.lines, whole.lines);
  assert_true(all.has_error && whole.has_error);
  assert_true(all.ends > 1 && whole.ends == 1);
  tidemill_logs_close(logs);
  host_end(&h);
}

static void logs_that_cannot_be_opened_say_why(void **state)
{
  struct host h;
  struct tidemill_logs *logs = NULL;
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  char dir[400];
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_run_job_in(&h, dir, sizeof dir);
  o.mini_batch = 1;
  host_expect(&h, tidemill_logs_open(&logs, NULL, dir, &o, &h.err), TIDEMILL_EUSAGE,
              "tidemill_workspace_logs()");
  o.mini_batch = -1;
  o.worker = "process9";
  host_expect(&h, tidemill_logs_open(&logs, NULL, dir, &o, &h.err), TIDEMILL_EUSAGE,
              "there is no worker 'process9'; known: process00");
  assert_null(logs);
  host_expect(&h, tidemill_logs_open(&logs, NULL, "/none/such", NULL, &h.err), TIDEMILL_EUSAGE,
              "'/none/such'");
  host_expect(&h, tidemill_logs_read(NULL, on_line, &o, &h.err), TIDEMILL_EUSAGE, "`logs`");
  assert_true(tidemill_logs_fd(NULL) < 0 && tidemill_logs_is_over(NULL));
  tidemill_logs_close(NULL);
  host_end(&h);
}

/* Rows of tries may come after the journal's records of their mini-batches. */
static void add_row(const char *job_dir)
{
  char path[500];
  snprintf(path, sizeof path, "%s/score/logs/sys/job_report/processed_mini-batches.csv", job_dir);
  FILE *f = fopen(path, "a");
  assert_true(f && fputs("9,1\n", f) >= 0 && fclose(f) == 0);
}

/* What the record has returned stays valid then. */
static void a_job_without_changes_costs_nothing(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL;
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  open_record(&h, &r);
  assert_int_equal(tidemill_record_refresh(r, &h.err), 1); /* it may have changed since */
  const char *text = tidemill_record_json(r);
  const struct tidemill_record_step *step = tidemill_record_step(r, 0);
  assert_int_equal(tidemill_record_refresh(r, &h.err), 0);
  assert_ptr_equal(tidemill_record_json(r), text);
  assert_ptr_equal(tidemill_record_step(r, 0), step);
  add_row(tidemill_job_dir(h.job));
  assert_int_equal(tidemill_record_refresh(r, &h.err), 1);
  tidemill_record_close(r);
  host_end(&h);
}

static int refresh_lent(struct tidemill_record *r, void *data)
{
  struct host *h = data;
  host_expect(h, tidemill_record_refresh(r, &h->err), TIDEMILL_EUSAGE, "tidemill_record_open()");
  host_expect(h, tidemill_record_fd(r, &h->err), TIDEMILL_EUSAGE, "tidemill_record_open()");
  return 7;
}

static void what_cannot_be_refreshed_says_why(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL;
  char command[400];
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  open_record(&h, &r);
  tidemill_job_close(h.job);
  h.job = NULL;
  struct tidemill_workspace *ws = host_workspace(&h, false);
  assert_int_equal(tidemill_workspace_jobs(ws, false, refresh_lent, &h, &h.err), 7);
  tidemill_workspace_close(ws);
  host_expect(&h, tidemill_record_refresh(NULL, &h.err), TIDEMILL_EUSAGE,
              "tidemill_record_refresh()");
  host_expect(&h, tidemill_record_fd(NULL, &h.err), TIDEMILL_EUSAGE, "tidemill_record_fd()");
  int fd = tidemill_record_fd(r, &h.err);
  snprintf(command, sizeof command, "mv '%s' '%s.away'", tidemill_record_info(r)->dir,
           tidemill_record_info(r)->dir);
  assert_int_equal(system(command), 0);
  assert_true(is_readable(fd, LIMIT_MS));
  assert_true(tidemill_record_refresh(r, &h.err) < 0);
  assert_non_null(strstr(h.err.text, tidemill_record_info(r)->dir));
  assert_string_equal(tidemill_record_info(r)->fault, h.err.text);
  assert_true(tidemill_record_info(r)->is_removed);
  assert_null(tidemill_record_step(r, 0));
  snprintf(command, sizeof command, "mv '%s.away' '%s'", tidemill_record_info(r)->dir,
           tidemill_record_info(r)->dir);
  assert_int_equal(system(command), 0);
  assert_int_equal(tidemill_record_refresh(r, &h.err), 1);
  assert_string_equal(tidemill_record_info(r)->fault, "");
  assert_false(tidemill_record_info(r)->is_removed);
  assert_int_equal(tidemill_record_step(r, 0)->counts->succeeded, 2);
  tidemill_record_close(r);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_running_job_is_followed_to_its_end),
    cmocka_unit_test(tries_and_workers_are_read_as_they_come),
    cmocka_unit_test(resources_are_read_as_they_come),
    cmocka_unit_test(what_cannot_be_read_says_why),
    cmocka_unit_test(sessions_are_counted),
    cmocka_unit_test(the_files_of_a_job_are_listed),
    cmocka_unit_test(lines_are_read_as_they_come),
    cmocka_unit_test(logs_that_cannot_be_opened_say_why),
    cmocka_unit_test(a_job_without_changes_costs_nothing),
    cmocka_unit_test(what_cannot_be_refreshed_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
