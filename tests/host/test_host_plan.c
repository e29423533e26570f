/* test_host_plan.c - what a host learns before a run: what a job would do and what a table looks
 * like; and, after a run, everything about one mini-batch.
 */
#include "host.h"

#include <unistd.h>

static void holds(const char *text, const char *words)
{
  if (!strstr(text, words))
    fail_msg("'%s' is not in '%s'", words, text);
}

static void must_be_missing(const struct host *h, const char *name)
{
  char path[256];
  host_path(h, name, path);
  assert_int_equal(access(path, F_OK), -1);
}

static void a_plan_shows_what_a_job_would_do_and_makes_nothing(void **state)
{
  struct host h;
  const char *text;
  struct tidemill_plan_options o = TIDEMILL_PLAN_OPTIONS_INIT;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  host_must(&h, tidemill_pipeline_plan(&text, h.pipeline, NULL, &h.err));
  holds(text, "step 'score': 3 mini-batches, 3 items\n");
  holds(text, "(default)");
  assert_null(strstr(text, "is run:"));
  holds(text, "nothing has been run, nothing has been made\n");
  o.json = true;
  o.explain = true;
  host_must(&h,
            tidemill_pipeline_set_param_from(h.pipeline, "workers", "3", "the menu", NULL, &h.err));
  host_must(&h, tidemill_pipeline_plan(&text, h.pipeline, &o, &h.err));
  assert_int_equal(text[0], '{');
  assert_int_equal(text[strlen(text) - 1], '}');
  holds(text, "\"mini_batches\":3");
  holds(text, "\"workers\":{\"value\":3,\"origin\":\"the menu\"}");
  holds(text, "\"why\":\"there is no workspace yet\"");
  must_be_missing(&h, "ws");
  host_end(&h);
}

static void a_plan_says_why_a_step_would_be_reused_or_run(void **state)
{
  struct host h;
  const char *text;
  struct tidemill_plan_options o = TIDEMILL_PLAN_OPTIONS_INIT;
  o.explain = true;
  host_setup(&h, "good", 2, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(h.state, TIDEMILL_STATE_COMPLETED);
  host_must(&h, tidemill_pipeline_plan(&text, h.pipeline, &o, &h.err));
  holds(text, "  is reused: ");
  host_put(&h, "in/good.new", "");
  host_must(&h, tidemill_pipeline_plan(&text, h.pipeline, &o, &h.err));
  holds(text, "  is run: ");
  host_end(&h);
}

static void an_obstacle_to_a_plan_is_reported(void **state)
{
  struct host h;
  const char *text = "";
  struct tidemill_plan_options o = TIDEMILL_PLAN_OPTIONS_INIT;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  host_load(&h);
  host_expect(&h, tidemill_pipeline_plan(NULL, h.pipeline, NULL, &h.err), TIDEMILL_EUSAGE,
              "`out` is NULL");
  host_expect(&h, tidemill_pipeline_plan(&text, NULL, NULL, &h.err), TIDEMILL_EUSAGE,
              "`p` is NULL");
  assert_null(text);
  o.size = 0;
  host_expect(&h, tidemill_pipeline_plan(&text, h.pipeline, &o, &h.err), TIDEMILL_EUSAGE,
              "TIDEMILL_PLAN_OPTIONS_INIT");
  host_expect(&h, tidemill_pipeline_plan(&text, h.pipeline, NULL, &h.err), TIDEMILL_ENOINPUT,
              "no input");
  assert_null(text);
  assert_int_equal(tidemill_pipeline_plan(&text, h.pipeline, NULL, NULL), TIDEMILL_ENOINPUT);
  host_put(&h, "in/good.000", "");
  host_put(&h, "score.lua", "this is not Lua");
  host_expect(&h, tidemill_pipeline_plan(&text, h.pipeline, NULL, &h.err), TIDEMILL_ESCRIPT,
              "score.lua:1");
  host_put(&h, "score.lua", host_score);
  host_expect(&h, tidemill_pipeline_set_param_from(h.pipeline, "workers", NULL, NULL, NULL, &h.err),
              TIDEMILL_EUSAGE, "`value` is NULL");
  host_must(&h, tidemill_pipeline_set_param_from(h.pipeline, "workrs", "3", NULL, NULL, &h.err));
  host_expect(&h, tidemill_pipeline_plan(&text, h.pipeline, NULL, &h.err), TIDEMILL_EUSAGE,
              "did you mean 'workers'");
  host_end(&h);
}

static void a_plan_without_a_pipeline_file_names_its_host(void **state)
{
  struct host h;
  const char *text;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_must(&h, tidemill_pipeline_new(&h.pipeline, h.rt, "built", h.dir, &h.err));
  host_must(&h, tidemill_pipeline_add_step(&h.step, h.pipeline, "first", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in", NULL, &h.err));
  host_must(&h, tidemill_pipeline_plan(&text, h.pipeline, NULL, &h.err));
  holds(text, "pipeline 'built' (of the host)\n");
  holds(text, "step 'first': 1 mini-batch, 1 item\n");
  host_end(&h);
}

static void a_list_on_standard_input_is_left_to_the_host(void **state)
{
  static const char definition[] =
      "local t = require 'tidemill'\n"
      "return t.Pipeline { name = 'case', steps = { t.ParallelRunStep { name = 'score',\n"
      "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua' },\n"
      "  inputs = t.Dataset.File.from_manifest '-' } } }\n";
  struct host h;
  char path[256];
  const char *text;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "own.lua", path);
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, definition, path, &h.err));
  host_expect(&h, tidemill_pipeline_plan(&text, h.pipeline, NULL, &h.err), TIDEMILL_EUSAGE,
              "on standard input, which is the host's");
  host_end(&h);
}

struct lines {
  int n, logs, answer;
  char text[4][200], log[200];
};

static int on_line(const char *line, void *data)
{
  struct lines *l = data;
  assert_true(l->n < 4);
  snprintf(l->text[l->n++], sizeof l->text[0], "%s", line);
  return l->answer;
}

static void on_log(enum tidemill_level level, const char *text, void *data)
{
  struct lines *l = data;
  assert_int_equal(level, TIDEMILL_LEVEL_WARNING);
  l->logs++;
  snprintf(l->log, sizeof l->log, "%s", text);
}

static void the_head_of_a_table_is_its_columns_and_first_rows(void **state)
{
  struct host h;
  struct lines l = { 0 };
  char path[256];
  const char *paths[] = { path };
  struct tidemill_head_options o = TIDEMILL_HEAD_OPTIONS_INIT;
  host_setup(&h, NULL);
  host_put(&h, "rows.csv", "id,name\n1,a\n2,b\n3,c\n");
  host_path(&h, "rows.csv", path);
  o.paths = paths;
  o.paths_len = 1;
  o.rows = 2;
  o.on_line = on_line;
  o.on_log = on_log;
  o.data = &l;
  host_must(&h, tidemill_head(&o, &h.err));
  assert_int_equal(l.n, 3);
  assert_string_equal(l.text[0], "columns: id long, name string");
  assert_string_equal(l.text[1], "rows:    1, a");
  assert_string_equal(l.text[2], "         2, b");
  assert_int_equal(l.logs, 0);
  l = (struct lines) { .answer = 7 };
  assert_int_equal(tidemill_head(&o, &h.err), 7);
  assert_int_equal(l.n, 1);
  l = (struct lines) { 0 };
  o.rows = 0;
  host_must(&h, tidemill_head(&o, &h.err));
  assert_int_equal(l.n, 1);
  host_end(&h);
}

static void a_wrong_head_is_refused(void **state)
{
  struct host h;
  struct lines l = { 0 };
  const char *none[] = { NULL }, *missing[] = { "/nowhere/rows.csv" };
  struct tidemill_head_options o = TIDEMILL_HEAD_OPTIONS_INIT;
  host_setup(&h, NULL);
  host_expect(&h, tidemill_head(NULL, &h.err), TIDEMILL_EUSAGE, "`options` is NULL");
  host_expect(&h, tidemill_head(&o, &h.err), TIDEMILL_EUSAGE, "`paths`");
  o.paths = none;
  o.paths_len = 1;
  o.on_line = on_line;
  o.data = &l;
  host_expect(&h, tidemill_head(&o, &h.err), TIDEMILL_EUSAGE, "has a NULL, at 0");
  o.paths = missing;
  o.rows = -1;
  host_expect(&h, tidemill_head(&o, &h.err), TIDEMILL_EUSAGE, "`rows` is -1");
  o.rows = 1;
  o.size = 0;
  host_expect(&h, tidemill_head(&o, &h.err), TIDEMILL_EUSAGE, "TIDEMILL_HEAD_OPTIONS_INIT");
  o.size = sizeof o;
  host_expect(&h, tidemill_head(&o, &h.err), TIDEMILL_ENOINPUT, "/nowhere/rows.csv");
  assert_int_equal(tidemill_head(&o, NULL), TIDEMILL_ENOINPUT);
  assert_int_equal(l.n, 0);
  host_end(&h);
}

struct told {
  char text[4000];
  size_t len;
  int ends;
};

static int on_log_line(const struct tidemill_log_line *line, void *data)
{
  struct told *t = data;
  if (!line) {
    t->ends++;
    return 0;
  }
  assert_int_equal(line->size, sizeof(*line));
  assert_true(t->len + line->text_bytes + 2 < sizeof t->text);
  memcpy(t->text + t->len, line->text, line->text_bytes);
  t->len += line->text_bytes;
  t->text[t->len++] = '\n';
  return 0;
}

static void everything_about_a_mini_batch_is_returned(void **state)
{
  struct host h;
  char dir[256];
  struct told t = { .len = 0 };
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  assert_int_equal(o.mini_batch, -1);
  host_setup(&h, "bad", 1, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_run_job_in(&h, dir, sizeof dir);
  o.mini_batch = 0;
  host_must(&h, tidemill_workspace_logs(NULL, dir, &o, on_log_line, &t, &h.err));
  holds(t.text, "mini-batch 0 of step 'score'");
  holds(t.text, "try 1: RUN_EXCEPTION");
  holds(t.text, "try 2: RUN_EXCEPTION");
  holds(t.text, "no good: bad.000");
  assert_int_equal(t.ends, 1);
  o.mini_batch = 2;
  host_expect(&h, tidemill_workspace_logs(NULL, dir, &o, on_log_line, &t, &h.err), TIDEMILL_EUSAGE,
              "has no mini-batch 2");
  o.step = "scor";
  host_expect(&h, tidemill_workspace_logs(NULL, dir, &o, on_log_line, &t, &h.err), TIDEMILL_EUSAGE,
              "there is no step 'scor'");
  o.step = NULL;
  o.errors = true;
  host_expect(&h, tidemill_workspace_logs(NULL, dir, &o, on_log_line, &t, &h.err), TIDEMILL_EUSAGE,
              "with `step` alone");
  o.errors = false;
  o.mini_batch = -2;
  host_expect(&h, tidemill_workspace_logs(NULL, dir, &o, on_log_line, &t, &h.err), TIDEMILL_EUSAGE,
              "`mini_batch` is -2");
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_plan_shows_what_a_job_would_do_and_makes_nothing),
    cmocka_unit_test(a_plan_says_why_a_step_would_be_reused_or_run),
    cmocka_unit_test(an_obstacle_to_a_plan_is_reported),
    cmocka_unit_test(a_plan_without_a_pipeline_file_names_its_host),
    cmocka_unit_test(a_list_on_standard_input_is_left_to_the_host),
    cmocka_unit_test(the_head_of_a_table_is_its_columns_and_first_rows),
    cmocka_unit_test(a_wrong_head_is_refused),
    cmocka_unit_test(everything_about_a_mini_batch_is_returned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
