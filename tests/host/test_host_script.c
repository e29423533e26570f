/* test_host_script.c - an entry script in the host's own process, from a pipeline or from a job:
 * its errors, its folders, and interrupting it. */
#include "host.h"

#include <pthread.h>
#include <signal.h>

static void holds(const char *text, const char *words)
{
  if (!strstr(text, words))
    fail_msg("'%s' is not in '%s'", words, text);
}

static void on_log(enum tidemill_level level, const char *text, void *data)
{
  struct host *h = data;
  strncat(h->log, text, sizeof h->log - strlen(h->log) - 2);
  strcat(h->log, "\n");
}

static struct tidemill_script_options heard(struct host *h)
{
  struct tidemill_script_options o = TIDEMILL_SCRIPT_OPTIONS_INIT;
  o.on_log = on_log;
  o.data = h;
  return o;
}

static const char *const rows_script =
    "local started = 0\n"
    "function init() started = started + 1 print('begun', started) end\n"
    "function run(m, context)\n"
    "  io.write(context.dataset_name)\n"
    "  local rows = {}\n"
    "  for i, p in ipairs(m) do rows[i] = p:match '[^/]+$' .. ' ' .. arg[1] end\n"
    "  return rows\n"
    "end\n"
    "function shutdown() print 'over' end\n";

/* A step without inputs. */
static void build_step(struct host *h, const char *script)
{
  host_put(h, "score.lua", script);
  host_must(h, tidemill_pipeline_new(&h->pipeline, h->rt, "built", h->dir, &h->err));
  host_must(h, tidemill_pipeline_add_step(&h->step, h->pipeline, "score", "score.lua", &h->err));
}

/* A step with mini-batches of two items. */
static void build(struct host *h, const char *script)
{
  build_step(h, script);
  host_must(h, tidemill_pipeline_step_set(h->step, "mini_batch_size", "2", &h->err));
  host_must(h, tidemill_pipeline_step_set(h->step, "environment_variables", "WHO=me", &h->err));
  host_must(h, tidemill_pipeline_step_add_files(&h->input, h->step, "in", "files", &h->err));
  host_must(h, tidemill_pipeline_step_add_argument(h->step, "word", &h->err));
}

static bool is_there(const char *path)
{
  return access(path, F_OK) == 0;
}

static void a_script_is_run_over_its_mini_batches(void **state)
{
  struct host h;
  struct tidemill_script *s;
  const struct tidemill_mini_batch *m;
  const struct tidemill_returned *r;
  char temp[300];
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  build(&h, rows_script);
  struct tidemill_script_options o = heard(&h);
  host_must(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err));
  tidemill_pipeline_free(h.pipeline); /* the script needs neither it nor the runtime now */
  h.pipeline = NULL;
  const struct tidemill_script_info *info = tidemill_script_info(s);
  assert_string_equal(info->step, "score");
  assert_string_equal(info->job, "");
  assert_string_equal(info->working_dir, h.dir);
  assert_true(info->run_timeout_ns == 60000000000);
  assert_true(info->init_timeout_ns == 0 && !info->interruptible);
  assert_string_equal(tidemill_script_variable(s, 0), "WHO=me");
  assert_null(tidemill_script_variable(s, 1));
  assert_true(is_there(info->temp_dir));
  strcpy(temp, info->temp_dir);
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  assert_int_equal(m->mini_batch, 0);
  assert_int_equal(m->items, 2);
  assert_string_equal(m->dataset, "files");
  assert_string_equal(m->head, "");
  host_must(&h, tidemill_script_init(s, &h.err));
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_int_equal(r->items, 2);
  assert_int_equal(r->elements, 2);
  assert_int_equal(r->items_failed, 0);
  assert_int_equal(r->rows_bytes, strlen(r->rows));
  assert_string_equal(r->rows, "good.000 word\ngood.001 word\n");
  host_must(&h, tidemill_script_run(s, &r, &h.err)); /* once more */
  assert_string_equal(r->rows, "good.000 word\ngood.001 word\n");
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  assert_int_equal(m->mini_batch, 1);
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_string_equal(r->rows, "good.002 word\n");
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_NONE);
  assert_null(m);
  host_must(&h, tidemill_script_shutdown(s, &h.err));
  assert_string_equal(h.log, "begun\t1\nfiles\nfiles\nfiles\nover\n");
  assert_null(tidemill_script_error(s));
  tidemill_script_close(s);
  assert_false(is_there(temp));
  host_end(&h);
}

static void an_edited_script_is_loaded_again(void **state)
{
  struct host h;
  struct tidemill_script *s;
  const struct tidemill_returned *r;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  build(&h, "function run(m) local x = nil\nreturn x.y end");
  struct tidemill_script_options o = heard(&h);
  host_must(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err));
  assert_int_equal(tidemill_script_next(s, NULL, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  host_must(&h, tidemill_script_init(s, &h.err));
  host_expect(&h, tidemill_script_run(s, &r, &h.err), TIDEMILL_ESCRIPT, "run() failed at ");
  assert_null(r);
  const struct tidemill_script_error *e = tidemill_script_error(s);
  holds(e->where, "score.lua:2");
  holds(e->text, "attempt to index local 'x'");
  holds(e->stack, "score.lua:2: in function");
  host_put(&h, "score.lua", "function run(m) return { 'mended' } end");
  host_must(&h, tidemill_script_init(s, &h.err));
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_string_equal(r->rows, "mended\n");
  assert_null(tidemill_script_error(s));
  host_put(&h, "score.lua", "run = 7");
  host_expect(&h, tidemill_script_init(s, &h.err), TIDEMILL_ESCRIPT, "defines 'run' as a number");
  host_expect(&h, tidemill_script_run(s, &r, &h.err), TIDEMILL_EUSAGE,
              "tidemill_script_init() comes first");
  host_put(&h, "score.lua", "function init() error 'no model' end function run() end");
  host_expect(&h, tidemill_script_init(s, &h.err), TIDEMILL_ESCRIPT, "init() failed at ");
  host_put(&h, "score.lua", "function run(m) return 1 end function shutdown() error 'no' end");
  host_must(&h, tidemill_script_init(s, &h.err));
  host_expect(&h, tidemill_script_run(s, NULL, &h.err), TIDEMILL_ESCRIPT,
              "run() returned a number");
  host_expect(&h, tidemill_script_shutdown(s, &h.err), TIDEMILL_ESCRIPT, "shutdown() failed");
  assert_int_equal(tidemill_script_run(s, NULL, NULL), TIDEMILL_EUSAGE);
  tidemill_script_close(s);
  host_end(&h);
}

static void files_that_a_script_leaves_are_reported(void **state)
{
  struct host h;
  struct tidemill_script *s;
  char dir[300], command[1000];
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  build(&h, "function run(m)\n"
            "  local e = require 'tidemill.entry_script'()\n"
            "  e.logger:info 'logged'\n"
            "  assert(io.open(e.output_dir .. '/mine', 'w')):close()\n"
            "  assert(io.open(e.temp_dir .. '/gone', 'w')):close()\n"
            "  return {}\nend");
  struct tidemill_script_options o = heard(&h);
  host_must(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err));
  assert_int_equal(tidemill_script_next(s, NULL, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  host_must(&h, tidemill_script_init(s, &h.err));
  host_must(&h, tidemill_script_run(s, NULL, &h.err));
  snprintf(dir, sizeof dir, "%s", tidemill_script_info(s)->dir);
  tidemill_script_close(s);
  holds(h.log, "output_dir: ");
  holds(h.log, dir);
  snprintf(command, sizeof command, "test -f %s/output/mine && test ! -e %s/temp && rm -r %s", dir,
           dir, dir);
  assert_int_equal(system(command), 0);
  host_end(&h);
}

static void a_table_has_paths_and_options(void **state)
{
  struct host h;
  struct tidemill_script *s;
  const struct tidemill_mini_batch *m;
  const struct tidemill_returned *r;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  host_put(&h, "a.csv", "id;name\n1;one\n2;two\n");
  host_put(&h, "b.csv", "id;name\n3;three\n");
  build_step(&h, "function run(df) return df:select('name', 'id') end");
  struct tidemill_pipeline *p = h.pipeline;
  struct tidemill_script_options o = heard(&h);
  host_must(&h, tidemill_pipeline_step_set(h.step, "append_row_file_name", "rows.csv", &h.err));
  host_must(&h, tidemill_pipeline_step_add_table(&h.input, h.step, "a.csv", NULL, &h.err));
  host_must(&h, tidemill_pipeline_input_add_path(h.input, "b.csv", &h.err));
  host_must(&h, tidemill_pipeline_input_set(h.input, "separator", ";", &h.err));
  host_must(
      &h, tidemill_pipeline_input_set(h.input, "set_column_types", "{\"id\": \"string\"}", &h.err));
  host_must(&h, tidemill_script_load(&s, p, &o, &h.err));
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  holds(m->head, "columns: id string, name string");
  host_must(&h, tidemill_script_init(s, &h.err));
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_string_equal(r->rows, "name,id\none,1\ntwo,2\n");
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  assert_int_equal(m->items, 1);
  tidemill_script_close(s);
  host_end(&h);
}

static void an_option_that_does_not_fit_the_input_is_refused(void **state)
{
  struct host h;
  struct tidemill_pipeline_step *second;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  host_must(&h, tidemill_pipeline_new(&h.pipeline, h.rt, "built", h.dir, &h.err));
  struct tidemill_pipeline *p = h.pipeline;
  host_expect(&h, tidemill_pipeline_input_set(NULL, "limit", "1", &h.err), TIDEMILL_EUSAGE,
              "`input` is NULL");
  host_must(&h, tidemill_pipeline_add_step(&h.step, p, "score", "score.lua", &h.err));
  host_expect(&h, tidemill_pipeline_input_add_path(NULL, "b.csv", &h.err), TIDEMILL_EUSAGE,
              "`input` is NULL");
  host_expect(&h, tidemill_pipeline_step_add_manifest(&h.input, h.step, NULL, NULL, &h.err),
              TIDEMILL_EUSAGE, "`path` is NULL");
  host_must(&h, tidemill_pipeline_step_add_table(&h.input, h.step, "a.csv", NULL, &h.err));
  host_expect(&h, tidemill_pipeline_input_set(h.input, "seperator", ";", &h.err), TIDEMILL_EUSAGE,
              "did you mean 'separator'");
  host_expect(&h, tidemill_pipeline_input_set(h.input, "header", "two", &h.err), TIDEMILL_EUSAGE,
              "Dataset.Tabular.from_delimited_files: 'header' is \"two\"; accepted: ");
  host_expect(&h, tidemill_pipeline_input_set(h.input, "limit", "no", &h.err), TIDEMILL_EUSAGE,
              "'limit' is \"no\"; accepted: an integer from 1 on");
  host_expect(&h, tidemill_pipeline_input_set(h.input, "limit", NULL, &h.err), TIDEMILL_EUSAGE,
              "`value` is NULL");
  host_must(&h, tidemill_pipeline_add_step(&second, p, "second", "score.lua", &h.err));
  host_must(&h, tidemill_pipeline_step_add_output_of(&h.input, second, h.step, NULL, &h.err));
  host_expect(&h, tidemill_pipeline_input_add_path(h.input, "b.csv", &h.err), TIDEMILL_EUSAGE,
              "what another step writes");
  host_end(&h);
}

static void archives_and_lists_are_inputs(void **state)
{
  struct host h;
  struct tidemill_script *s;
  const struct tidemill_mini_batch *m;
  const struct tidemill_returned *r;
  char command[400];
  host_setup(&h, "good", 4, NULL);
  host_runtime(&h, NULL);
  snprintf(command, sizeof command, "cd %s && tar -cf a.tar in/* && ls -d in/*.00[12] >list",
           h.dir);
  assert_int_equal(system(command), 0);
  build_step(&h, rows_script);
  host_must(&h, tidemill_pipeline_step_add_argument(h.step, "word", &h.err));
  host_must(&h, tidemill_pipeline_step_add_archives(&h.input, h.step, "a.tar", "packed", &h.err));
  host_must(&h, tidemill_pipeline_input_set(h.input, "entries", "**/*.003", &h.err));
  host_must(&h, tidemill_pipeline_step_add_manifest(&h.input, h.step, "list", "listed", &h.err));
  host_must(&h, tidemill_pipeline_input_set(h.input, "limit", "1", &h.err));
  host_must(&h, tidemill_script_load(&s, h.pipeline, NULL, &h.err));
  host_must(&h, tidemill_script_init(s, &h.err));
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  assert_string_equal(m->dataset, "packed");
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_string_equal(r->rows, "good.003 word\n");
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  assert_string_equal(m->dataset, "listed");
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_string_equal(r->rows, "good.001 word\n");
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_NONE);
  tidemill_script_close(s);
  host_end(&h);
}

static const char two[] = "local t = require 'tidemill'\n"
                          "local c = t.ParallelRunConfig { entry_script = 'score.lua' }\n"
                          "local out = t.OutputFileDatasetConfig { name = 'out' }\n"
                          "local function step(name, i, o, a) return t.ParallelRunStep { name = "
                          "name, inputs = i, output = o, arguments = a,\n"
                          "  parallel_run_config = c } end\n"
                          "return t.Pipeline { name = 'two', steps = { step('one', "
                          "t.Dataset.File.from_files 'in/*', out, { out }),\n"
                          "  step('second', out:as_input(), nil, {}) } }\n";

static void an_unloadable_script_is_refused_with_a_message(void **state)
{
  struct host h;
  struct tidemill_script *s;
  char path[256];
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  build(&h, rows_script);
  struct tidemill_script_options o = heard(&h);
  host_expect(&h, tidemill_script_load(NULL, h.pipeline, &o, &h.err), TIDEMILL_EUSAGE,
              "`out` is NULL");
  host_expect(&h, tidemill_script_load(&s, NULL, &o, &h.err), TIDEMILL_EUSAGE, "`p` is NULL");
  assert_null(s);
  o.size = 0;
  host_expect(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err), TIDEMILL_EUSAGE,
              "TIDEMILL_SCRIPT_OPTIONS_INIT");
  o.size = sizeof o;
  o.step = "scone";
  host_expect(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err), TIDEMILL_EUSAGE,
              "no step 'scone'; accepted: 'score'");
  o.step = NULL;
  host_must(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err));
  host_expect(&h, tidemill_script_run(s, NULL, &h.err), TIDEMILL_EUSAGE,
              "tidemill_script_init() comes first");
  host_must(&h, tidemill_script_init(s, &h.err));
  host_expect(&h, tidemill_script_run(s, NULL, &h.err), TIDEMILL_EUSAGE,
              "tidemill_script_next() comes first");
  host_expect(&h, tidemill_script_next(s, NULL, &h.err), TIDEMILL_ENOINPUT, "in");
  tidemill_script_close(s);
  tidemill_script_close(NULL);
  tidemill_script_interrupt(NULL);
  assert_null(tidemill_script_info(NULL));
  host_put(&h, "score.lua", "this is not Lua");
  host_expect(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err), TIDEMILL_ESCRIPT,
              "score.lua:1");
  tidemill_pipeline_free(h.pipeline);
  host_put(&h, "score.lua", "function run(m) return { arg[1] } end");
  host_put(&h, "in/x", "");
  host_path(&h, "two.lua", path);
  host_must(&h, tidemill_pipeline_load_string(&h.pipeline, h.rt, two, path, &h.err));
  host_expect(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err), TIDEMILL_EUSAGE,
              "`step` says which: 'one', 'second'");
  o.step = "second";
  host_expect(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err), TIDEMILL_EUSAGE,
              "it reads what another step writes");
  o.step = "one";
  host_must(&h, tidemill_script_load(&s, h.pipeline, &o, &h.err));
  const struct tidemill_returned *r;
  assert_int_equal(tidemill_script_next(s, NULL, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  host_must(&h, tidemill_script_init(s, &h.err));
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_memory_equal(r->rows, tidemill_script_info(s)->output_dir, r->rows_bytes - 1);
  tidemill_script_close(s);
  host_end(&h);
}

static void a_mini_batch_of_a_job_is_run_again(void **state)
{
  struct host h;
  struct tidemill_script *s;
  const struct tidemill_mini_batch *m;
  host_setup(&h, "bad", 1, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  struct tidemill_script_options o = heard(&h);
  host_expect(&h, tidemill_script_load_again(&s, h.rt, "latest", 7, &o, &h.err), TIDEMILL_EUSAGE,
              "mini-batch 7");
  host_must(&h, tidemill_script_load_again(&s, h.rt, "latest", 0, &o, &h.err));
  assert_string_equal(tidemill_script_info(s)->job, tidemill_job_dir(h.job));
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  assert_int_equal(m->items, 1);
  host_must(&h, tidemill_script_init(s, &h.err));
  host_expect(&h, tidemill_script_run(s, NULL, &h.err), TIDEMILL_ESCRIPT, "no good: bad.000");
  holds(tidemill_script_error(s)->where, "score.lua:10");
  assert_int_equal(tidemill_script_next(s, &m, &h.err), TIDEMILL_NEXT_NONE);
  tidemill_script_close(s);
  host_must(&h, tidemill_script_load_again(&s, h.rt, tidemill_job_dir(h.job), 1, NULL, &h.err));
  const struct tidemill_returned *r;
  assert_int_equal(tidemill_script_next(s, NULL, &h.err), TIDEMILL_NEXT_MINI_BATCH);
  host_must(&h, tidemill_script_init(s, &h.err));
  host_must(&h, tidemill_script_run(s, &r, &h.err));
  assert_string_equal(r->rows, "good.000\n");
  tidemill_script_close(s);
  host_end(&h);
}

/* ---- interrupting ---- */

static const char *const loops =
    "-- the interruption may come before the loop begins: all is in line 3\n"
    "function run(m)\n"
    "  print 'it runs' local n = 0 while true do n = n + 1 end\n"
    "end\n";

struct watch {
  struct host h;
  struct tidemill_script *s;
  pthread_mutex_t mutex;
  pthread_cond_t runs;
  bool is_running, is_over;
};

static void on_runs(enum tidemill_level level, const char *text, void *data)
{
  struct watch *w = data;
  pthread_mutex_lock(&w->mutex);
  w->is_running = true;
  pthread_cond_signal(&w->runs);
  pthread_mutex_unlock(&w->mutex);
}

/* Repeats the interruption until it takes effect. */
static void *interrupt(void *data)
{
  struct watch *w = data;
  pthread_mutex_lock(&w->mutex);
  while (!w->is_running)
    pthread_cond_wait(&w->runs, &w->mutex);
  while (!w->is_over) {
    struct timespec t;
    tidemill_script_interrupt(w->s);
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 10000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->runs, &w->mutex, &t);
  }
  pthread_mutex_unlock(&w->mutex);
  return NULL;
}

static volatile sig_atomic_t profs;

static void on_prof(int signal)
{
  profs++;
}

static void another_thread_interrupts_a_compiled_loop(void **state)
{
  struct watch w = { .is_running = false };
  struct tidemill_script *other;
  struct sigaction own = { .sa_handler = on_prof }, now;
  pthread_t thread;
#ifdef __SANITIZE_THREAD__ /* which keeps the signal until the loop makes a system call */
  skip();
#endif
  pthread_mutex_init(&w.mutex, NULL);
  pthread_cond_init(&w.runs, NULL);
  sigaction(SIGPROF, &own, NULL);
  host_setup(&w.h, "good", 1, NULL);
  host_runtime(&w.h, NULL);
  build(&w.h, loops);
  struct tidemill_script_options o = TIDEMILL_SCRIPT_OPTIONS_INIT;
  o.interruptible = true;
  o.on_log = on_runs;
  o.data = &w;
  host_must(&w.h, tidemill_script_load(&w.s, w.h.pipeline, &o, &w.h.err));
  assert_true(tidemill_script_info(w.s)->interruptible);
  host_expect(&w.h, tidemill_script_load(&other, w.h.pipeline, &o, &w.h.err), TIDEMILL_EINUSE,
              "another script of this process");
  assert_int_equal(tidemill_script_next(w.s, NULL, &w.h.err), TIDEMILL_NEXT_MINI_BATCH);
  tidemill_script_interrupt(w.s); /* nothing runs any more */
  host_must(&w.h, tidemill_script_init(w.s, &w.h.err));
  assert_int_equal(pthread_create(&thread, NULL, interrupt, &w), 0);
  host_expect(&w.h, tidemill_script_run(w.s, NULL, &w.h.err), TIDEMILL_ESCRIPT,
              "run() was interrupted");
  pthread_mutex_lock(&w.mutex);
  w.is_over = true;
  pthread_mutex_unlock(&w.mutex);
  pthread_join(thread, NULL);
  holds(tidemill_script_error(w.s)->where, "score.lua:3");
  tidemill_script_close(w.s);
  sigaction(SIGPROF, NULL, &now);
  assert_true(now.sa_handler == on_prof); /* the host's handler again */
  assert_int_equal(profs, 0);
  host_must(&w.h, tidemill_script_load(&w.s, w.h.pipeline, &o, &w.h.err));
  tidemill_script_close(w.s);
  host_end(&w.h);
}

static void a_script_that_is_not_interrupted_takes_no_signal(void **state)
{
  struct host h;
  struct tidemill_script *s;
  struct sigaction now;
  signal(SIGPROF, SIG_DFL);
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  build(&h, rows_script);
  host_must(&h, tidemill_script_load(&s, h.pipeline, NULL, &h.err));
  host_must(&h, tidemill_script_init(s, &h.err));
  tidemill_script_interrupt(s);
  sigaction(SIGPROF, NULL, &now);
  assert_true(now.sa_handler == SIG_DFL);
  tidemill_script_close(s);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_script_is_run_over_its_mini_batches),
    cmocka_unit_test(an_edited_script_is_loaded_again),
    cmocka_unit_test(files_that_a_script_leaves_are_reported),
    cmocka_unit_test(a_table_has_paths_and_options),
    cmocka_unit_test(an_option_that_does_not_fit_the_input_is_refused),
    cmocka_unit_test(archives_and_lists_are_inputs),
    cmocka_unit_test(an_unloadable_script_is_refused_with_a_message),
    cmocka_unit_test(a_mini_batch_of_a_job_is_run_again),
    cmocka_unit_test(another_thread_interrupts_a_compiled_loop),
    cmocka_unit_test(a_script_that_is_not_interrupted_takes_no_signal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
