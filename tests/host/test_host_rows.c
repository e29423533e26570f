/* test_host_rows.c - a host does what the program does for its user: it reads rows as they are
 * committed, puts them where it wants them, shows progress on a screen, and sets up the standard
 * descriptors of a command.
 */
#include "host.h"

#include "api/command_host.h"
#include "sys/fs.h"

static void expect(struct host *h, int rc, const char *words)
{
  assert_int_equal(rc, TIDEMILL_EUSAGE);
  if (!strstr(h->err.text, words))
    fail_msg("'%s' is not in '%s'", words, h->err.text);
}

static void read_file(const char *path, char *out, size_t size)
{
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  out[fread(out, 1, size - 1, f)] = '\0';
  fclose(f);
}

/* A pipeline of one step, whose script returns the names of its items. */
static void build(struct host *h)
{
  host_must(h, tidemill_pipeline_new(&h->pipeline, h->rt, "built", h->dir, &h->err));
  host_must(h, tidemill_pipeline_add_step(&h->step, h->pipeline, "step", "score.lua", &h->err));
  host_must(h, tidemill_pipeline_step_set(h->step, "mini_batch_size", "1", &h->err));
  host_must(h, tidemill_pipeline_step_set(h->step, "process_count_per_node", "1", &h->err));
}

/* Copies its rows to `out`. */
static void run(struct host *h, char *out, size_t size)
{
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  host_must(h, tidemill_job_submit(&h->job, h->pipeline, &h->options, &h->err));
  host_wait(h);
  assert_int_equal(h->state, TIDEMILL_STATE_COMPLETED);
  host_must(h, tidemill_job_step(h->job, 0, &step, &h->err));
  read_file(step.output_file, out, size);
}

static void workers_are_where_the_host_says(void **state)
{
  struct host h;
  char rows[400], here[256];
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_put(&h, "score.lua", "function run(files) return { io.popen('pwd -P'):read() } end");
  host_must(&h, tidemill_pipeline_new(&h.pipeline, h.rt, "built", h.dir, &h.err));
  host_must(&h, tidemill_pipeline_add_step(&h.step, h.pipeline, "step", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_set_working_dir(h.pipeline, h.dir, &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in", NULL, &h.err));
  run(&h, rows, sizeof rows);
  snprintf(here, sizeof here, "%s\n", h.dir);
  assert_string_equal(rows, here);
  tidemill_job_close(h.job);
  h.job = NULL;
  tidemill_pipeline_free(h.pipeline);
  host_load(&h);
  expect(&h, tidemill_pipeline_set_working_dir(h.pipeline, "/", &h.err), "tidemill_pipeline_new()");
  host_end(&h);
}

/* Rows. */

/* While the job runs, a reader finds this many bytes of complete rows. */
static void on_rows(struct host *h, const struct tidemill_event *e)
{
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  char path[400], rows[400];
  if (e->kind != TIDEMILL_EVENT_ROWS)
    return;
  assert_string_equal(e->step, "score");
  host_must(h, tidemill_job_step(e->job, 0, &step, &h->err));
  assert_int_equal(step.output_bytes, e->output_bytes);
  snprintf(path, sizeof path, "%s.partial", step.output_file);
  /* the last rows can be reported together with the end of the step */
  read_file(access(path, R_OK) == 0 ? path : step.output_file, rows, sizeof rows);
  assert_true(strlen(rows) >= (size_t)e->output_bytes);
  assert_int_equal(rows[e->output_bytes - 1], '\n');
  assert_int_equal(strncmp(rows, "xgood.", 6), 0);
  *(int *)h->data += 1;
}

/* The waiting item is the first: a worker could hold back the result of an item after it. */
static void rows_are_read_as_they_are_committed(void **state)
{
  struct host h;
  int told = 0;
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  host_setup(&h, "wait", 1, "xgood", 2, NULL);
  host_runtime(&h, NULL);
  h.on_event = on_rows;
  h.data = &told;
  host_submit(&h);
  while (h.rows < 2 * 10) /* of the two items that do not wait */
    assert_int_equal(tidemill_job_wait(h.job, 10, &h.err), -ETIMEDOUT);
  assert_true(told >= 1);
  host_go(&h, 1);
  host_wait(&h);
  assert_int_equal(h.rows, 2 * 10 + 9);
  host_must(&h, tidemill_job_step(h.job, 0, &step, &h.err));
  assert_int_equal(step.output_bytes, 2 * 10 + 9);
  host_end(&h);
}

static void rows_are_put_where_they_are_wanted(void **state)
{
  struct host h;
  char path[256], rows[400];
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "rows.txt", path);
  host_must(&h, tidemill_output_check(h.rt, path, false, &h.err));
  host_submit(&h);
  expect(&h, tidemill_job_put_output(h.job, 0, path, false, &h.err), "is not Completed");
  host_wait(&h);
  host_must(&h, tidemill_job_put_output(h.job, 0, path, false, &h.err));
  read_file(path, rows, sizeof rows);
  assert_string_equal(rows, "good.000\n");
  expect(&h, tidemill_output_check(h.rt, path, false, &h.err),
         "is there already; name another file, or replace it: `overwrite`");
  expect(&h, tidemill_job_put_output(h.job, 0, path, false, &h.err), "is there already");
  host_put(&h, "rows.txt", "other");
  host_must(&h, tidemill_job_put_output(h.job, 0, path, true, &h.err));
  read_file(path, rows, sizeof rows);
  assert_string_equal(rows, "good.000\n");
  expect(&h, tidemill_output_check(h.rt, h.dir, true, &h.err), "is not a regular file");
  host_path(&h, "none/rows.txt", path);
  expect(&h, tidemill_job_put_output(h.job, 0, path, true, &h.err), "no such file");
  expect(&h, tidemill_job_put_output(h.job, 7, path, true, &h.err), "there is no step 7");
  host_end(&h);
}

static void the_place_of_rows_is_known_to_the_pipeline(void **state)
{
  struct host h;
  char path[256];
  bool overwrite = true;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  assert_null(tidemill_pipeline_output_file(h.pipeline, &overwrite));
  assert_false(overwrite);
  host_path(&h, "rows.txt", path);
  host_must(&h, tidemill_pipeline_set_output_file(h.pipeline, path, true, &h.err));
  assert_string_equal(tidemill_pipeline_output_file(h.pipeline, &overwrite), path);
  assert_true(overwrite);
  expect(&h, tidemill_pipeline_set_output_file(h.pipeline, NULL, true, &h.err), "path");
  host_end(&h);
}

static void the_command_of_a_job_is_recorded(void **state)
{
  static const char *const words[] = { "score it", "--fast", NULL };
  struct host h;
  struct tidemill_record *r = NULL;
  const char *directory = NULL;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  host_must(&h, tidemill_pipeline_set_command(h.pipeline, words, &h.err));
  expect(&h, tidemill_pipeline_set_command(h.pipeline, NULL, &h.err), "words");
  host_must(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err));
  host_wait(&h);
  host_must(&h, tidemill_record_open(&r, NULL, tidemill_job_dir(h.job), &h.err));
  assert_string_equal(tidemill_record_command(r, &directory), "'score it' --fast");
  assert_int_equal(directory[0], '/');
  tidemill_record_close(r);
  host_end(&h);
}

/* Screens. */

static void keep_text(const char *text, size_t len, void *data)
{
  struct host *h = data;
  size_t had = strlen(h->log);
  snprintf(h->log + had, sizeof(h->log) - had, "%.*s", (int)len, text);
}

static void readers_follow_the_progress(void **state)
{
  struct host h;
  struct tidemill_screen screen = TIDEMILL_SCREEN_INIT;
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  screen.write = keep_text;
  screen.data = &h;
  screen.progress = TIDEMILL_PROGRESS_PLAIN;
  h.options.screen = &screen;
  host_submit(&h);
  memset(&screen, 0xff, sizeof screen); /* the library has its own copy */
  tidemill_job_say(h.job, TIDEMILL_LEVEL_INFO, "a line of ours");
  tidemill_job_say(h.job, TIDEMILL_LEVEL_INFO, "a line of ours");
  tidemill_job_say(h.job, TIDEMILL_LEVEL_WARNING, "take care");
  assert_string_equal(h.log, "a line of ours\nwarning: take care\n");
  host_wait(&h);
  assert_non_null(strstr(h.log, "\nscore: 100% 2 of 2 mini-batches, 2 items, 0 failed"));
  assert_non_null(strstr(h.log, "\nCompleted: case, "));
  h.options.screen = &(struct tidemill_screen) { .write = keep_text };
  expect(&h, tidemill_job_submit(&h.job, h.pipeline, &h.options, &h.err), "TIDEMILL_SCREEN_INIT");
  tidemill_job_say(NULL, TIDEMILL_LEVEL_INFO, "nobody");
  host_end(&h);
}

/* Puts `path` in place of descriptor `fd`, until restore(). */
static int replace(int fd, const char *path, int flags)
{
  int before = dup(fd), file = open(path, flags, 0600);
  assert_true(before >= 0 && file >= 0);
  assert_int_equal(dup2(file, fd), fd);
  close(file);
  return before;
}

static void restore(int fd, int before)
{
  assert_int_equal(dup2(before, fd), fd);
  close(before);
}

static void a_command_lends_its_descriptors(void **state)
{
  struct host h;
  char rows[400], path[256];
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, &o);
  tm_runtime_be_command(h.rt, tm_fs_real());
  build(&h);
  host_put(&h, "list", "in/good.002\nin/good.001\n");
  host_must(&h, tidemill_pipeline_step_add_manifest(&h.input, h.step, "-", NULL, &h.err));
  host_path(&h, "list", path);
  int before = replace(0, path, O_RDONLY);
  char cwd[400];
  assert_non_null(getcwd(cwd, sizeof cwd));
  assert_int_equal(chdir(h.dir), 0); /* the paths in a list are relative to the current directory */
  run(&h, rows, sizeof rows);
  assert_int_equal(chdir(cwd), 0);
  restore(0, before);
  assert_string_equal(rows, "good.002\ngood.001\n");
  expect(&h, tidemill_pipeline_step_set(h.step, "run_max_try", "0", &h.err),
         "'--run-max-try' is \"0\"; accepted: ");
  tidemill_pipeline_free(h.pipeline);
  host_path(&h, "printed", path);
  fflush(stdout);
  before = replace(1, path, O_WRONLY | O_CREAT);
  int rc =
      tidemill_pipeline_load_string(&h.pipeline, h.rt, "print 'to people' return 1", "", &h.err);
  fflush(stdout);
  restore(1, before);
  assert_true(rc < 0);
  read_file(path, rows, sizeof rows);
  assert_string_equal(rows, "to people\n");
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(workers_are_where_the_host_says),
    cmocka_unit_test(rows_are_read_as_they_are_committed),
    cmocka_unit_test(rows_are_put_where_they_are_wanted),
    cmocka_unit_test(the_place_of_rows_is_known_to_the_pipeline),
    cmocka_unit_test(the_command_of_a_job_is_recorded),
    cmocka_unit_test(readers_follow_the_progress),
    cmocka_unit_test(a_command_lends_its_descriptors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
