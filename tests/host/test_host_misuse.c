/* test_host_misuse.c - unusual calls that a host may make: a screen closes its job, calls add to
 * definitions from Lua, a runtime closes before its console, destinations that cannot take rows.
 */
#include "host.h"

/* ---- screens ---- */

struct reader {
  struct host h;
  struct tidemill_screen screen;
  int lines, closed;
  bool closes;
};

static void read_along(const char *text, size_t len, void *data)
{
  static char long_text[5000];
  struct reader *r = data;
  char *kept = strndup(text, len);
  assert_int_equal(r->closed, 0); /* no line comes after it */
  r->lines++;
  if (r->h.job) {
    host_expect(&r->h, tidemill_runtime_close(r->h.rt, &r->h.err), TIDEMILL_EUSAGE,
                "tidemill_runtime_close()");
    r->closed = r->closes;
    if (r->closes)
      tidemill_job_close(r->h.job);
    memset(long_text, 'z', sizeof long_text - 1);
    tidemill_job_say(r->h.job, TIDEMILL_LEVEL_INFO, long_text);
  }
  assert_memory_equal(kept, text, len);
  free(kept);
}

static void begin_reader(struct reader *r, bool closes)
{
  memset(r, 0, sizeof *r);
  host_setup(&r->h, "good", 2, NULL);
  host_runtime(&r->h, NULL);
  r->closes = closes;
  r->screen = (struct tidemill_screen)TIDEMILL_SCREEN_INIT;
  r->screen.write = read_along;
  r->screen.progress = TIDEMILL_PROGRESS_BAR;
  r->screen.data = r;
  r->h.options.screen = &r->screen;
  host_submit(&r->h);
}

static void a_screen_may_say_something_itself(void **state)
{
  struct reader r;
  begin_reader(&r, false);
  tidemill_job_say(r.h.job, TIDEMILL_LEVEL_INFO, "short");
  assert_int_equal(r.lines, 2);
  host_wait(&r.h);
  assert_int_equal(r.h.state, TIDEMILL_STATE_COMPLETED);
  host_end(&r.h);
}

static void a_screen_may_close_its_job(void **state)
{
  struct reader r;
  begin_reader(&r, true);
  host_must(&r.h, tidemill_runtime_run(r.h.rt, HOST_LIMIT_MS, &r.h.err)); /* within a turn */
  assert_int_equal(r.closed, 1);
  r.h.job = NULL;
  host_end(&r.h);
  begin_reader(&r, true);
  tidemill_job_say(r.h.job, TIDEMILL_LEVEL_INFO, "short"); /* within a call */
  assert_int_equal(r.closed, 1);
  r.h.job = NULL;
  host_end(&r.h);
}

/* ---- definitions ---- */

static const char *const bare_text =
    "local t = require 'tidemill'\n"
    "return t.Pipeline { name = 'bare', steps = { t.ParallelRunStep { name = 'score',\n"
    "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua', mini_batch_size = "
    "1 },\n"
    "  inputs = t.Dataset.File.from_files 'in/good.000' } } }\n";

/* One input, not in a list, and no arguments. */
static void a_definition_of_lua_is_added_to(void **state)
{
  struct host h;
  char name[256];
  const char *plan;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_path(&h, "bare.lua", name);
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, bare_text, name, &h.err));
  host_must(&h, tidemill_pipeline_find_step(&h.step, h.pipeline, "score", &h.err));
  host_must(&h, tidemill_pipeline_step_input(&h.input, h.step, 0, &h.err));
  host_must(&h, tidemill_pipeline_input_add_path(h.input, "in/good.001", &h.err));
  host_must(&h, tidemill_pipeline_step_add_files(&h.input, h.step, "in/good.002", "more", &h.err));
  host_must(&h, tidemill_pipeline_step_add_argument(h.step, "word", &h.err));
  host_must(&h, tidemill_pipeline_plan(&plan, h.pipeline, NULL, &h.err));
  if (!strstr(plan, "3 mini-batches, 3 items") || !strstr(plan, "\"word\""))
    fail_msg("%s", plan);
  host_must(&h, tidemill_pipeline_input_set(h.input, "limit", "1", &h.err));
  host_must(&h, tidemill_pipeline_check(h.pipeline, &h.err));
  host_end(&h);
}

static void keep_line(enum tidemill_level level, const char *text, void *data)
{
  struct host *h = data;
  strncat(h->log, text, sizeof h->log - strlen(h->log) - 2);
  strcat(h->log, "\n");
}

static void a_file_of_parameters_prints_to_the_host(void **state)
{
  struct host h;
  char path[256];
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  host_setup(&h, "good", 1, NULL);
  o.on_log = keep_line;
  o.data = &h;
  host_runtime(&h, &o);
  host_load(&h);
  host_put(&h, "values.lua", "print 'heard' io.write 'too' return { workers = 1 }");
  host_path(&h, "values.lua", path);
  host_must(&h, tidemill_pipeline_set_params_file(h.pipeline, path, &h.err));
  assert_string_equal(h.log, "heard\ntoo\n");
  host_must(&h, tidemill_pipeline_check(h.pipeline, &h.err));
  host_end(&h);
}

/* ---- consoles ---- */

static void a_runtime_outlives_its_console(void **state)
{
  struct host h;
  struct tidemill_console *c;
  const char *out;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_must(&h, tidemill_console_new(&c, h.rt, NULL, &h.err));
  host_expect(&h, tidemill_runtime_close(h.rt, &h.err), TIDEMILL_EUSAGE,
              "tidemill_console_close()");
  assert_int_equal(tidemill_console_feed(c, "1 + 1", 5, NULL, &out), TIDEMILL_PIECE_DONE);
  assert_string_equal(out, "2");
  tidemill_console_close(c);
  host_end(&h);
}

/* ---- numbers, names ---- */

static void numbers_out_of_range_are_refused(void **state)
{
  struct host h;
  struct tidemill_script *s;
  assert_null(tidemill_constructor(SIZE_MAX));
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_expect(&h, tidemill_script_load_again(&s, h.rt, "latest", -1, NULL, &h.err), TIDEMILL_EUSAGE,
              "no mini-batch -1");
  host_end(&h);
}

/* A pipeline that passes the check can run. */
static void an_output_that_cannot_be_put_is_refused_before(void **state)
{
  struct host h;
  char path[400];
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  snprintf(path, sizeof path, "%s/%0255d", h.dir, 7); /* the longest name that is allowed */
  host_must(&h, tidemill_output_check(h.rt, path, false, &h.err));
  host_must(&h, tidemill_job_put_output(h.job, 0, path, false, &h.err));
  host_must(&h, tidemill_job_put_output(h.job, 0, path, true, &h.err));
  snprintf(path, sizeof path, "%s/%0256d", h.dir, 7);
  host_expect(&h, tidemill_output_check(h.rt, path, false, &h.err), TIDEMILL_EUSAGE,
              "name too long");
  bool is_root = geteuid() == 0;
  host_path(&h, "closed", path);
  assert_int_equal(mkdir(path, 0555), 0);
  host_path(&h, "closed/rows.txt", path);
  assert_int_equal(chmod(h.dir, 0755), 0);
  if (is_root)
    assert_int_equal(seteuid(65534), 0);
  int rc = tidemill_output_check(h.rt, path, false, &h.err);
  if (is_root)
    assert_int_equal(seteuid(0), 0);
  host_expect(&h, rc, TIDEMILL_EUSAGE, "permission denied");
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_screen_may_say_something_itself),
    cmocka_unit_test(a_screen_may_close_its_job),
    cmocka_unit_test(a_definition_of_lua_is_added_to),
    cmocka_unit_test(a_file_of_parameters_prints_to_the_host),
    cmocka_unit_test(a_runtime_outlives_its_console),
    cmocka_unit_test(numbers_out_of_range_are_refused),
    cmocka_unit_test(an_output_that_cannot_be_put_is_refused_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
