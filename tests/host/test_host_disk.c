/* test_host_disk.c - what a host learns from the disk: the jobs of a workspace and their results,
 * whether their files are intact, registered datasets, removal. None of these needs a runtime; the
 * tests use one to make jobs.
 */
#include "host.h"

struct seen {
  int jobs, removed;
  char dirs[4][256];
  enum tidemill_state states[4];
  bool closes;
  int answer;
};

static int on_job(struct tidemill_record *r, void *data)
{
  struct seen *s = data;
  const struct tidemill_record_info *info = tidemill_record_info(r);
  assert_int_equal(info->size, sizeof(*info));
  assert_true(s->jobs < 4);
  snprintf(s->dirs[s->jobs], sizeof s->dirs[0], "%s", info->dir);
  s->states[s->jobs] = info->state;
  s->jobs++;
  s->removed += info->is_removed;
  assert_non_null(strstr(tidemill_record_json(r), info->dir));
  if (s->closes)
    tidemill_record_close(r); /* does nothing: the record belongs to the call */
  return s->answer;
}

static void jobs_of_a_workspace_are_listed_newest_first(void **state)
{
  struct host h;
  char dir[256];
  struct seen s = { .closes = true };
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  struct tidemill_workspace *ws = host_workspace(&h, true);
  assert_int_equal(tidemill_workspace_jobs(ws, false, on_job, &s, &h.err), 0);
  assert_int_equal(s.jobs, 0);
  for (int i = 0; i < 2; i++) {
    host_submit(&h);
    host_wait(&h);
    snprintf(dir, sizeof dir, "%s", tidemill_job_dir(h.job));
    tidemill_job_close(h.job); /* until then it is Running */
    tidemill_pipeline_free(h.pipeline);
    memset(&s, 0, sizeof s);
    host_must(&h, tidemill_workspace_jobs(ws, false, on_job, &s, &h.err));
    assert_int_equal(s.jobs, i + 1);
    assert_string_equal(s.dirs[0], dir);
    assert_int_equal(s.states[0], TIDEMILL_STATE_COMPLETED);
  }
  h.job = NULL;
  h.pipeline = NULL;
  s = (struct seen) { .answer = 7 };
  assert_int_equal(tidemill_workspace_jobs(ws, false, on_job, &s, &h.err), 7);
  assert_int_equal(s.jobs, 1);
  tidemill_workspace_close(ws);
  host_end(&h);
}

struct failed {
  int n;
  char item[256], error[256];
};

static int on_failure(const struct tidemill_failure *f, void *data)
{
  struct failed *all = data;
  all->n++;
  assert_string_equal(f->step, "score");
  assert_string_equal(f->status, "RUN_EXCEPTION");
  assert_int_equal(f->try_number, 2);
  snprintf(all->item, sizeof all->item, "%s", f->item);
  snprintf(all->error, sizeof all->error, "%s", f->error);
  return 0;
}

static void check_step(const struct tidemill_record *r)
{
  const struct tidemill_record_step *step = tidemill_record_step(r, 0);
  struct stat st;
  assert_int_equal(step->size, sizeof(*step));
  assert_string_equal(step->name, "score");
  assert_int_equal(step->state, TIDEMILL_STATE_COMPLETED);
  assert_string_equal(step->cause, "");
  assert_string_equal(step->waits_for, "");
  assert_int_equal(step->sessions, 1);
  assert_true(step->counts->all_created);
  assert_int_equal(step->counts->created, 3);
  assert_int_equal(step->counts->succeeded, 2);
  assert_int_equal(step->counts->items_failed, 1);
  assert_int_equal(step->items_total, 3);
  assert_int_equal(step->damage_at_byte, -1);
  assert_int_equal(step->outputs_len, 1);
  assert_string_equal(tidemill_record_output(r, 0, 0)->path, step->output);
  assert_int_equal(stat(step->output, &st), 0);
  assert_int_equal(stat(step->logs_dir, &st), 0);
  assert_int_equal(stat(step->error_file, &st), 0);
  assert_int_equal(step->errors_len, 1);
  assert_non_null(strstr(tidemill_record_error(r, 0, 0)->error, "no good: bad.000"));
  assert_null(tidemill_record_error(r, 0, 1));
  assert_null(tidemill_record_output(r, 0, 1));
  assert_null(tidemill_record_step(r, 1));
}

static void a_record_has_the_result_of_a_job(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL;
  struct failed failed = { 0 };
  host_setup(&h, "good", 2, "bad", 1, NULL);
  host_runtime(&h, NULL);
  host_run_job(&h);
  struct tidemill_workspace *ws = host_workspace(&h, false);
  host_must(&h, tidemill_record_open(&r, ws, "latest", &h.err));
  const struct tidemill_record_info *info = tidemill_record_info(r);
  assert_string_equal(info->pipeline, "case");
  assert_non_null(strstr(info->file, "/pipeline.lua"));
  assert_int_equal(info->state, TIDEMILL_STATE_COMPLETED);
  assert_true(info->begin_ns > 0 && info->end_ns >= info->begin_ns && info->elapsed_ns >= 0);
  assert_int_equal(info->steps_len, 1);
  assert_int_equal(info->counts->failed, 1);
  assert_string_equal(info->fault, "");
  check_step(r);
  host_must(&h, tidemill_record_failures(r, NULL, on_failure, &failed, &h.err));
  host_must(&h, tidemill_record_failures(r, "score", on_failure, &failed, &h.err));
  assert_int_equal(failed.n, 2);
  assert_non_null(strstr(failed.item, "/in/bad.000"));
  assert_non_null(strstr(failed.error, "no good: bad.000"));
  host_expect(&h, tidemill_record_failures(r, "scor", on_failure, &failed, &h.err), TIDEMILL_EUSAGE,
              "there is no step 'scor'; there are: score");
  assert_non_null(strstr(tidemill_record_definition(r), "\"mini_batch_size\""));
  assert_non_null(strstr(tidemill_record_result(r), "\"Completed\""));
  assert_non_null(strstr(tidemill_record_json(r), "\"is_listed\":true"));
  tidemill_record_close(r);
  host_expect(&h, tidemill_record_open(&r, ws, "lates", &h.err), TIDEMILL_EUSAGE,
              "there is no job 'lates'");
  assert_null(r);
  tidemill_workspace_close(ws);
  host_end(&h);
}

/* A waiting mini-batch is named once it has run for a second. Before, and on a busy machine, the
 * other worker may be named, because it is still starting. */
static void expect_running(struct host *h, const char *dir)
{
  struct tidemill_record *r = NULL;
  const struct tidemill_activity *a = NULL;
  for (int i = 0; i < 3000 && !a; i++) {
    tidemill_record_close(r);
    assert_int_equal(tidemill_job_wait(h->job, 10, &h->err), -ETIMEDOUT);
    host_must(h, tidemill_record_open(&r, NULL, dir, &h->err));
    if (tidemill_record_step(r, 0)->running_len == 1)
      a = tidemill_record_running(r, 0, 0);
    if (a && a->mini_batch < 0)
      a = NULL;
  }
  assert_non_null(a);
  assert_int_equal(tidemill_record_step(r, 0)->running_len, 1);
  assert_int_equal(a->size, sizeof(*a));
  assert_true(a->elapsed_ns >= 1000000000 && a->pid > 0);
  assert_int_equal(a->mini_batch, 1);
  assert_int_equal(a->try_number, 1);
  assert_non_null(strstr(a->text, ": mini-batch 1, try 1, for "));
  assert_null(tidemill_record_running(r, 0, 1));
  assert_null(tidemill_record_running(r, 1, 0));
  assert_null(tidemill_record_running(NULL, 0, 0));
  tidemill_record_close(r);
}

static void a_running_job_is_inspected_and_left_alone(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL;
  struct tidemill_clean *c = NULL;
  struct tidemill_clean_options o = TIDEMILL_CLEAN_OPTIONS_INIT;
  host_setup(&h, "good", 2, "wait", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  while (h.done < 1) /* the second result may arrive together with that of the waiting one */
    assert_int_equal(tidemill_job_wait(h.job, 10, &h.err), -ETIMEDOUT);
  const char *dir = tidemill_job_dir(h.job);
  host_must(&h, tidemill_record_open(&r, NULL, dir, &h.err)); /* a directory needs no workspace */
  assert_int_equal(tidemill_record_info(r)->state, TIDEMILL_STATE_RUNNING);
  assert_int_equal(tidemill_record_info(r)->pid, getpid());
  assert_int_equal(tidemill_record_info(r)->end_ns, 0);
  assert_int_equal(tidemill_record_step(r, 0)->state, TIDEMILL_STATE_RUNNING);
  assert_null(tidemill_record_result(r));
  tidemill_record_close(r);
  expect_running(&h, dir);
  host_expect(&h, tidemill_workspace_verify(NULL, dir, NULL, NULL, NULL, &h.err), TIDEMILL_EINUSE,
              dir);
  o.jobs = &dir;
  o.jobs_len = 1;
  host_must(&h, tidemill_clean_new(&c, NULL, &o, &h.err));
  assert_string_equal(tidemill_clean_job(c, 0)->kept, "it is running");
  host_expect(&h, tidemill_clean_remove(c, 0, &h.err), TIDEMILL_EUSAGE, "job 0 stays");
  tidemill_clean_free(c);
  host_go(&h, 1);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  host_end(&h);
}

struct checked {
  int faults, steps;
  int64_t committed, at;
};

static void on_fault(const char *path, int64_t at, const char *what, void *data)
{
  struct checked *c = data;
  c->faults++;
  c->at = at;
  assert_true(*path == '/' && *what);
}

static void on_step(const struct tidemill_verified *v, void *data)
{
  struct checked *c = data;
  c->steps++;
  c->committed = v->committed;
}

static void a_bad_byte_of_a_job_is_found(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL;
  struct checked c = { 0 };
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_run_job(&h);
  struct tidemill_workspace *ws = host_workspace(&h, false);
  assert_int_equal(tidemill_workspace_verify(ws, "latest", on_fault, on_step, &c, &h.err), 0);
  assert_int_equal(c.steps, 1);
  assert_int_equal(c.committed, 3);
  host_must(&h, tidemill_record_open(&r, ws, "latest", &h.err));
  int fd = open(tidemill_record_step(r, 0)->output, O_WRONLY);
  assert_int_equal(pwrite(fd, "x", 1, 2), 1);
  close(fd);
  tidemill_record_close(r);
  assert_true(tidemill_workspace_verify(ws, "latest", on_fault, on_step, &c, &h.err) > 0);
  assert_true(c.faults > 0);
  assert_true(tidemill_workspace_verify(ws, "latest", NULL, NULL, NULL, NULL) > 0);
  tidemill_workspace_close(ws);
  host_end(&h);
}

static int on_faulty(struct tidemill_record *job, void *data)
{
  struct seen *s = data;
  s->jobs++;
  assert_non_null(strstr(tidemill_record_info(job)->fault, "damaged"));
  assert_null(tidemill_record_json(job));
  assert_null(tidemill_record_step(job, 0));
  return 0;
}

static void an_unreadable_record_is_reported_and_not_opened(void **state)
{
  struct host h;
  struct tidemill_record *r = NULL;
  char path[300];
  struct seen s = { 0 };
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  snprintf(path, sizeof path, "%s/job.json", tidemill_job_dir(h.job));
  FILE *f = fopen(path, "w");
  fputs("{", f);
  assert_int_equal(fclose(f), 0);
  struct tidemill_workspace *ws = host_workspace(&h, false);
  host_expect(&h, tidemill_record_open(&r, ws, "latest", &h.err), TIDEMILL_EDAMAGE,
              "job.json' is damaged");
  assert_null(r);
  host_must(&h, tidemill_workspace_jobs(ws, true, on_faulty, &s, &h.err));
  assert_int_equal(s.jobs, 1);
  tidemill_workspace_close(ws);
  host_end(&h);
}

/* Logs. */

struct heard {
  int lines, ends;
  char text[4096];
};

static int on_line(const struct tidemill_log_line *line, void *data)
{
  struct heard *h = data;
  h->ends += line == NULL;
  if (!line)
    return 0;
  assert_int_equal(line->size, sizeof(*line));
  assert_string_equal(line->step, "score");
  h->lines++;
  strncat(h->text, line->text, line->text_bytes < 300 ? line->text_bytes : 300);
  return h->lines == 20 ? 9 : 0;
}

static void lines_of_logs_come_in_order(void **state)
{
  struct host h;
  struct heard heard = { 0 };
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  host_setup(&h, "good", 2, "bad", 1, NULL);
  host_runtime(&h, NULL);
  host_run_job(&h);
  struct tidemill_workspace *ws = host_workspace(&h, false);
  o.errors = true;
  host_must(&h, tidemill_workspace_logs(ws, "latest", &o, on_line, &heard, &h.err));
  assert_true(heard.lines > 0 && heard.ends == 1);
  assert_non_null(strstr(heard.text, "no good: bad.000"));
  o.step = "scor";
  host_expect(&h, tidemill_workspace_logs(ws, "latest", &o, on_line, &heard, &h.err),
              TIDEMILL_EUSAGE, "there is no step 'scor'; known: score");
  o.step = "score";
  o.worker = "process9";
  host_expect(&h, tidemill_workspace_logs(ws, "latest", &o, on_line, &heard, &h.err),
              TIDEMILL_EUSAGE, "there is no worker 'process9'; known: process00");
  heard = (struct heard) { .lines = 19 };
  assert_int_equal(tidemill_workspace_logs(ws, "latest", NULL, on_line, &heard, &h.err), 9);
  o.size = 0;
  host_expect(&h, tidemill_workspace_logs(ws, "latest", &o, on_line, &heard, &h.err),
              TIDEMILL_EUSAGE, "TIDEMILL_LOGS_OPTIONS_INIT");
  host_expect(&h, tidemill_workspace_logs(ws, NULL, NULL, on_line, &heard, &h.err), TIDEMILL_EUSAGE,
              "`job`");
  host_expect(&h, tidemill_workspace_logs(ws, "latest", NULL, NULL, NULL, &h.err), TIDEMILL_EUSAGE,
              "`on_line` is NULL");
  tidemill_workspace_close(ws);
  host_end(&h);
}

/* Removing. */

static void jobs_are_removed_one_by_one_and_stay_in_the_history(void **state)
{
  struct host h;
  struct tidemill_clean *c = NULL;
  struct tidemill_clean_options o = TIDEMILL_CLEAN_OPTIONS_INIT;
  struct seen s = { 0 };
  int64_t bytes;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_run_job(&h);
  host_run_job(&h);
  struct tidemill_workspace *ws = host_workspace(&h, false);
  host_must(&h, tidemill_clean_new(&c, ws, NULL, &h.err));
  assert_null(tidemill_clean_job(c, 0)); /* Completed jobs stay */
  tidemill_clean_free(c);
  o.all = true;
  host_must(&h, tidemill_clean_new(&c, ws, &o, &h.err));
  assert_int_equal(tidemill_clean_job(c, 1)->state, TIDEMILL_STATE_COMPLETED);
  assert_string_equal(tidemill_clean_job(c, 1)->kept, "");
  assert_true(tidemill_clean_job(c, 1)->bytes > 0);
  assert_null(tidemill_clean_job(c, 2));
  assert_true(tidemill_clean_scripts(c, &bytes) == 1 && bytes > 0);
  host_must(&h, tidemill_clean_remove(c, 0, &h.err));
  host_expect(&h, tidemill_clean_remove(c, 0, &h.err), TIDEMILL_EUSAGE, "is removed already");
  host_expect(&h, tidemill_clean_remove(c, 2, &h.err), TIDEMILL_EUSAGE, "does not exist");
  host_expect(&h, tidemill_clean_remove_scripts(c, &h.err), TIDEMILL_EUSAGE, "is still there");
  host_must(&h, tidemill_clean_remove(c, 1, &h.err));
  host_must(&h, tidemill_clean_remove_scripts(c, &h.err));
  tidemill_clean_free(c);
  host_must(&h, tidemill_workspace_jobs(ws, false, on_job, &s, &h.err));
  assert_int_equal(s.jobs, 0);
  host_must(&h, tidemill_workspace_jobs(ws, true, on_job, &s, &h.err));
  assert_int_equal(s.removed, 2);
  tidemill_workspace_close(ws);
  host_end(&h);
}

/* Datasets. */

static int count_dataset(struct tidemill_dataset *d, void *data)
{
  int *n = data;
  ++*n;
  tidemill_dataset_close(d); /* does nothing */
  return 0;
}

static struct tidemill_registration registration(const char *const *paths, const char *const *tags)
{
  struct tidemill_registration r = TIDEMILL_REGISTRATION_INIT;
  r.name = "digits";
  r.paths = paths;
  r.paths_len = 1;
  r.tags = tags;
  r.tags_len = tags ? 1 : 0;
  r.description = "for tests";
  return r;
}

static void datasets_are_registered_shown_and_unregistered(void **state)
{
  struct host h;
  char pattern[256];
  const char *paths[] = { pattern }, *tags[] = { "n=2" }, *words;
  struct tidemill_dataset *d = NULL;
  int n = 0;
  host_setup(&h, "good", 2, NULL);
  host_path(&h, "in/*", pattern);
  struct tidemill_registration r = registration(paths, tags);
  struct tidemill_workspace *ws = host_workspace(&h, true);
  assert_int_equal(tidemill_dataset_register(&d, ws, &r, &h.err), TIDEMILL_REGISTERED_NOW);
  const struct tidemill_dataset_info *info = tidemill_dataset_info(d);
  assert_string_equal(info->name, "digits");
  assert_int_equal(info->version, 1);
  assert_int_equal(info->files, 2);
  assert_true(info->registered_ns > 0);
  assert_string_equal(info->description, "for tests");
  assert_string_equal(tidemill_dataset_path(d, 0), pattern);
  assert_null(tidemill_dataset_path(d, 1));
  assert_string_equal(tidemill_dataset_tag(d, 0), "n=2");
  assert_int_equal(tidemill_dataset_changes(d, &words, &h.err), TIDEMILL_COMPARED_SAME);
  host_put(&h, "in/good.000", "more");
  assert_int_equal(tidemill_dataset_changes(d, &words, &h.err), TIDEMILL_COMPARED_CHANGED);
  assert_non_null(strstr(words, "good.000"));
  assert_non_null(strstr(tidemill_dataset_json(d), "\"changed\":\""));
  tidemill_dataset_close(d);
  r.create_new_version = true;
  assert_int_equal(tidemill_dataset_register(NULL, ws, &r, &h.err), TIDEMILL_REGISTERED_NOW);
  host_must(&h, tidemill_workspace_datasets(ws, "digits", count_dataset, &n, &h.err));
  assert_int_equal(n, 2);
  host_must(&h, tidemill_workspace_datasets(ws, NULL, count_dataset, &n, &h.err));
  assert_int_equal(n, 3);
  host_must(&h, tidemill_dataset_open(&d, ws, "digits", 0, &h.err));
  assert_int_equal(tidemill_dataset_info(d)->version, 2);
  tidemill_dataset_close(d);
  host_expect(&h, tidemill_dataset_open(&d, ws, "digit", 0, &h.err), TIDEMILL_EUSAGE, "'digits'");
  assert_int_equal(tidemill_dataset_unregister(ws, "digits", 0, &h.err), 2);
  tidemill_workspace_close(ws);
  host_end(&h);
}

static void a_chosen_job_stays_if_its_output_was_registered_since(void **state)
{
  struct host h;
  struct tidemill_clean *c = NULL;
  struct tidemill_clean_options o = TIDEMILL_CLEAN_OPTIONS_INIT;
  struct tidemill_record *r = NULL;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_run_job(&h);
  struct tidemill_workspace *ws = host_workspace(&h, false);
  o.all = true;
  host_must(&h, tidemill_clean_new(&c, ws, &o, &h.err));
  const struct tidemill_clean_job *job = tidemill_clean_job(c, 0);
  assert_string_equal(job->kept, "");
  struct tidemill_registration output = registration(&job->dir, NULL);
  assert_int_equal(tidemill_dataset_register(NULL, ws, &output, &h.err), TIDEMILL_REGISTERED_NOW);
  host_expect(&h, tidemill_clean_remove(c, 0, &h.err), TIDEMILL_EINUSE,
              "the registered dataset 'digits'");
  host_must(&h, tidemill_record_open(&r, ws, job->dir, &h.err)); /* it is there */
  tidemill_record_close(r);
  tidemill_clean_free(c);
  tidemill_workspace_close(ws);
  host_end(&h);
}

/* Refusals. */

static void a_missing_workspace_is_refused(void **state)
{
  struct host h;
  struct tidemill_workspace_options o = TIDEMILL_WORKSPACE_OPTIONS_INIT;
  struct tidemill_workspace *ws = NULL;
  char path[256];
  host_setup(&h, NULL);
  host_path(&h, "none", path);
  o.path = path;
  host_expect(&h, tidemill_workspace_open(&ws, &o, &h.err), TIDEMILL_EUSAGE,
              "there is no workspace");
  assert_null(ws);
  o.path = "";
  host_expect(&h, tidemill_workspace_open(&ws, &o, &h.err), TIDEMILL_EUSAGE, "`path` is empty");
  o.size = 0;
  host_expect(&h, tidemill_workspace_open(&ws, &o, &h.err), TIDEMILL_EUSAGE, "_OPTIONS_INIT");
  setenv("TIDEMILL_WORKSPACE", path, 1);
  host_expect(&h, tidemill_workspace_open(&ws, NULL, &h.err), TIDEMILL_EUSAGE,
              "TIDEMILL_WORKSPACE names");
  assert_int_equal(mkdir(path, 0700), 0);
  host_must(&h, tidemill_workspace_open(&ws, NULL, &h.err));
  assert_string_equal(tidemill_workspace_path(ws), path);
  tidemill_workspace_close(ws);
  unsetenv("TIDEMILL_WORKSPACE");
  host_end(&h);
}

static void null_arguments_are_named(void **state)
{
  struct host h;
  struct tidemill_registration r = TIDEMILL_REGISTRATION_INIT;
  struct tidemill_clean_options clean = TIDEMILL_CLEAN_OPTIONS_INIT;
  struct tidemill_record *record = NULL;
  struct tidemill_dataset *d = NULL;
  struct tidemill_clean *c = NULL;
  enum tidemill_state failed = TIDEMILL_STATE_FAILED;
  host_setup(&h, NULL);
  struct tidemill_workspace *ws = host_workspace(&h, true);
  struct tidemill_error *err = &h.err;
  host_expect(&h, tidemill_workspace_open(NULL, NULL, err), TIDEMILL_EUSAGE, "`out` is NULL");
  host_expect(&h, tidemill_workspace_jobs(NULL, false, on_job, NULL, err), TIDEMILL_EUSAGE,
              "`ws` is NULL");
  host_expect(&h, tidemill_workspace_jobs(ws, false, NULL, NULL, err), TIDEMILL_EUSAGE,
              "`on_job` is NULL");
  host_expect(&h, tidemill_record_open(NULL, ws, "latest", err), TIDEMILL_EUSAGE, "`out` is NULL");
  host_expect(&h, tidemill_record_open(&record, ws, NULL, err), TIDEMILL_EUSAGE, "`job` is NULL");
  host_expect(&h, tidemill_record_failures(NULL, NULL, on_failure, NULL, err), TIDEMILL_EUSAGE,
              "`r` is");
  host_expect(&h, tidemill_workspace_verify(ws, NULL, NULL, NULL, NULL, err), TIDEMILL_EUSAGE,
              "`job` is");
  host_expect(&h, tidemill_workspace_datasets(NULL, NULL, count_dataset, NULL, err),
              TIDEMILL_EUSAGE, "`ws`");
  host_expect(&h, tidemill_workspace_datasets(ws, NULL, NULL, NULL, err), TIDEMILL_EUSAGE,
              "`on_dataset`");
  host_expect(&h, tidemill_dataset_open(NULL, ws, "x", 0, err), TIDEMILL_EUSAGE, "`out` is NULL");
  host_expect(&h, tidemill_dataset_open(&d, NULL, "x", 0, err), TIDEMILL_EUSAGE, "`ws` is NULL");
  host_expect(&h, tidemill_dataset_open(&d, ws, NULL, 0, err), TIDEMILL_EUSAGE, "`name` is NULL");
  host_expect(&h, tidemill_dataset_open(&d, ws, "x", -1, err), TIDEMILL_EUSAGE, "version -1");
  host_expect(&h, tidemill_dataset_register(NULL, ws, NULL, err), TIDEMILL_EUSAGE,
              "`registration` is NULL");
  host_expect(&h, tidemill_dataset_register(NULL, ws, &r, err), TIDEMILL_EUSAGE,
              "`name`, and `paths`");
  const char *paths[] = { "in/*" }, *tags[] = { "noequal" };
  r = registration(paths, tags);
  host_expect(&h, tidemill_dataset_register(NULL, ws, &r, err), TIDEMILL_EUSAGE, "NAME=VALUE");
  r.size = 0;
  host_expect(&h, tidemill_dataset_register(NULL, ws, &r, err), TIDEMILL_EUSAGE,
              "TIDEMILL_REGISTRATION_INIT");
  host_expect(&h, tidemill_dataset_unregister(ws, NULL, 0, err), TIDEMILL_EUSAGE, "`name` is NULL");
  host_expect(&h, tidemill_dataset_unregister(ws, "x", -1, err), TIDEMILL_EUSAGE, "version -1");
  host_expect(&h, tidemill_dataset_changes(NULL, NULL, err), TIDEMILL_EUSAGE, "`d` is NULL");
  host_expect(&h, tidemill_clean_new(NULL, ws, NULL, err), TIDEMILL_EUSAGE, "`out` is NULL");
  clean.jobs_len = 1;
  host_expect(&h, tidemill_clean_new(&c, ws, &clean, err), TIDEMILL_EUSAGE, "`jobs` is NULL");
  clean.jobs_len = 0;
  clean.all = true;
  clean.states = &failed;
  clean.states_len = 1;
  host_expect(&h, tidemill_clean_new(&c, ws, &clean, err), TIDEMILL_EUSAGE, "exclude each other");
  host_expect(&h, tidemill_clean_remove(NULL, 0, err), TIDEMILL_EUSAGE, "`c` is NULL");
  host_expect(&h, tidemill_clean_remove_scripts(NULL, err), TIDEMILL_EUSAGE, "`c` is NULL");
  assert_true(!record && !d && !c);
  tidemill_workspace_close(ws);
  host_end(&h);
}

static void queries_of_a_null_object_return_nothing(void **state)
{
  int64_t bytes = 1;
  assert_null(tidemill_workspace_path(NULL));
  assert_null(tidemill_record_info(NULL));
  assert_null(tidemill_record_step(NULL, 0));
  assert_null(tidemill_record_output(NULL, 0, 0));
  assert_null(tidemill_record_error(NULL, 0, 0));
  assert_null(tidemill_record_json(NULL));
  assert_null(tidemill_record_definition(NULL));
  assert_null(tidemill_record_result(NULL));
  assert_null(tidemill_record_command(NULL, NULL));
  assert_null(tidemill_record_words(NULL, NULL));
  assert_null(tidemill_dataset_info(NULL));
  assert_null(tidemill_dataset_path(NULL, 0));
  assert_null(tidemill_dataset_tag(NULL, 0));
  assert_null(tidemill_dataset_json(NULL));
  assert_null(tidemill_clean_job(NULL, 0));
  assert_int_equal(tidemill_clean_scripts(NULL, &bytes), 0);
  assert_int_equal(bytes, 0);
  tidemill_workspace_close(NULL);
  tidemill_record_close(NULL);
  tidemill_dataset_close(NULL);
  tidemill_clean_free(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(jobs_of_a_workspace_are_listed_newest_first),
    cmocka_unit_test(a_record_has_the_result_of_a_job),
    cmocka_unit_test(a_running_job_is_inspected_and_left_alone),
    cmocka_unit_test(a_bad_byte_of_a_job_is_found),
    cmocka_unit_test(an_unreadable_record_is_reported_and_not_opened),
    cmocka_unit_test(lines_of_logs_come_in_order),
    cmocka_unit_test(jobs_are_removed_one_by_one_and_stay_in_the_history),
    cmocka_unit_test(datasets_are_registered_shown_and_unregistered),
    cmocka_unit_test(a_chosen_job_stays_if_its_output_was_registered_since),
    cmocka_unit_test(a_missing_workspace_is_refused),
    cmocka_unit_test(null_arguments_are_named),
    cmocka_unit_test(queries_of_a_null_object_return_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
