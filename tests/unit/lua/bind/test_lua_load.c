/* test_lua_load.c - loads whole pipeline files and scripts: the result, or the message. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "lua/modules.h"
#include "lua/runtime.h"
#include "plan/read.h"
#include "tree.h"

struct world {
  char *dir, *file;
};

static int setup(void **state)
{
  static struct world w;
  w.dir = folder_make();
  w.file = tm_path_join(w.dir, "p.lua");
  *state = &w;
  return 0;
}

static int teardown(void **state)
{
  struct world *w = *state;
  free(w->file);
  folder_remove(w->dir);
  return 0;
}

static const char *const example =
    "local t = require 'tidemill'\n"
    "local shared = require 'shared'\n"
    "local config = t.ParallelRunConfig {\n"
    "  entry_script = 'score.lua', mini_batch_size = shared.size,\n"
    "  process_count_per_node = t.PipelineParameter { name = 'workers', default_value = 2 },\n"
    "}\n"
    "local score = t.ParallelRunStep {\n"
    "  name = 'predict-digits', parallel_run_config = config,\n"
    "  inputs = { t.Dataset.File.from_files('digits/*.pgm'):as_named_input 'images' },\n"
    "  output = t.OutputFileDatasetConfig { name = 'scores' }, arguments = { '--threshold', '0.5' "
    "},\n"
    "}\n"
    "return t.Pipeline {\n"
    "  name = 'digits', steps = { score },\n"
    "}\n";

static void a_pipeline_file_becomes_a_pipeline(void **state)
{
  struct world *w = *state;
  struct tm_err err = TM_ERR_NONE;
  struct tm_param workers = { .name = "workers", .value = "3" };
  file_put(w->dir, "p.lua", example, 0600);
  file_put(w->dir, "shared.lua", "return { size = 5 }", 0600);
  file_put(w->dir, "score.lua", "function run() end", 0600);
  struct tm_json *v = tm_lua_load_pipeline(w->file, tm_lua_modules(), NULL, NULL, &err);
  if (!v)
    fail_msg("%s", err.text);
  assert_string_equal(v->tag, "Pipeline");
  struct tm_buf where = TM_BUF_NONE;
  tm_buf_printf(&where, "%s:12", w->file); /* of a call that replaced its caller on the stack */
  assert_string_equal(v->where, where.data);
  tm_buf_release(&where);
  struct tm_pipeline *p = tm_pipeline_from_json(v, w->file, &workers, 1, false, &err);
  if (!p)
    fail_msg("%s", err.text);
  const struct tm_step *s = p->steps[0];
  assert_string_equal(s->name, "predict-digits");
  assert_int_equal(s->config.mini_batch_size, 5);
  assert_int_equal(s->config.process_count_per_node, 3);
  assert_string_equal(s->inputs[0]->name, "images");
  assert_string_equal(s->outputs[0].name, "scores");
  assert_string_equal(s->arguments[1], "0.5");
  tm_pipeline_free(p);
  tm_json_free(v);
}

/* Checks for `words` after the file's path. */
static void fails_with(struct world *w, const char *text, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  file_put(w->dir, "p.lua", text, 0600);
  assert_null(tm_lua_load_pipeline(w->file, tm_lua_modules(), NULL, NULL, &err));
  assert_int_equal(err.code, TM_EUSAGE);
  assert_true(strncmp(err.text, w->file, strlen(w->file)) == 0);
  assert_string_equal(err.text + strlen(w->file), words);
}

static void a_refusal_has_the_line_of_the_definition(void **state)
{
  fails_with(
      *state,
      "local t = require 'tidemill'\n\nlocal c = t.ParallelRunConfig {\n  entry_script = 'a',\n  "
      "mini_batchsize = 1,\n}",
      ":3: ParallelRunConfig: unknown key 'mini_batchsize'; did you mean 'mini_batch_size'?");
  fails_with(
      *state, "local t = require 'tidemill'\nreturn t.Pipeline { name = 'digits' }",
      ":2: Pipeline: 'steps' is missing; it is required: a list of one or more ParallelRunStep");
  fails_with(
      *state,
      "local t = require 'tidemill'\nif x then return print() end\nreturn t.Pipeline { name = "
      "'digits' }",
      ": Pipeline: 'steps' is missing; it is required: a list of one or more ParallelRunStep");
}

static void wrong_files_are_refused(void **state)
{
  struct world *w = *state;
  static const char *const ends =
      "; a pipeline file ends with: return tidemill.Pipeline { name = ..., steps = { ... } }";
  static const char *const map = "; an entry script runs by: tidemill map p.lua INPUT...";
  struct tm_buf words = TM_BUF_NONE;
  fails_with(w, "local x = = 1", ":1: unexpected symbol near '='");
  fails_with(w, "\nerror 'no data today'", ":2: no data today");
  tm_buf_printf(&words, ": returns nothing%s%s", ends, map);
  fails_with(w, "", words.data);
  tm_buf_clear(&words);
  tm_buf_printf(&words, ": returns a table%s%s", ends, map);
  fails_with(w, "return {}", words.data);
  tm_buf_clear(&words);
  tm_buf_printf(&words, ": returns a FileDataset%s", ends);
  fails_with(w, "return require('tidemill').Dataset.File.from_files 'a'", words.data);
  tm_buf_clear(&words);
  struct tm_err err = TM_ERR_NONE;
  char *missing = tm_path_join(w->dir, "none/p.lua");
  assert_null(tm_lua_load_pipeline(missing, tm_lua_modules(), NULL, NULL, &err));
  assert_int_equal(err.code, TM_EUSAGE);
  tm_buf_printf(&words, "cannot open pipeline file '%s': no such file or directory", missing);
  assert_string_equal(err.text, words.data);
  free(missing);
  tm_buf_release(&words);
}

static void a_script_is_compiled_and_not_run(void **state)
{
  struct world *w = *state;
  struct tm_err err = TM_ERR_NONE;
  file_put(w->dir, "p.lua", "error 'is not run'", 0600);
  assert_int_equal(tm_lua_check_script(w->file, "score.lua", tm_lua_modules(), &err), 0);
  file_put(w->dir, "p.lua", "function run()\nend end", 0600);
  assert_int_equal(tm_lua_check_script(w->file, "score.lua", tm_lua_modules(), &err), TM_ESCRIPT);
  assert_string_equal(err.text, "score.lua:2: '<eof>' expected near 'end'");
  file_put(w->dir, "p.lua", "local t = require 'tidemill'\nerror 'x'\nreturn t.Pipeline { }", 0600);
  assert_int_equal(tm_lua_check_script(w->file, "a b.lua", tm_lua_modules(), &err), TM_ESCRIPT);
  assert_string_equal(err.text,
                      "'a b.lua' returns a pipeline, and an entry script defines run(); to "
                      "run it: tidemill run 'a b.lua'");
  file_put(w->dir, "p.lua", "local Pipeline = require 'tidemill'\nreturn { run = print }", 0600);
  assert_int_equal(tm_lua_check_script(w->file, "score.lua", tm_lua_modules(), &err), 0);
  char *missing = tm_path_join(w->dir, "x.lua");
  assert_true(tm_lua_check_script(missing, "x.lua", tm_lua_modules(), &err) < 0);
  free(missing);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
UNIT_TESTS({
    TEST(a_pipeline_file_becomes_a_pipeline),
    TEST(a_refusal_has_the_line_of_the_definition),
    TEST(wrong_files_are_refused),
    TEST(a_script_is_compiled_and_not_run),
});
