/* Which paths a node must be able to use for a step. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "job/probe_paths.h"

static void expect_reads(const struct tm_step *step, const char *expected)
{
  struct tm_probe_paths p = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  tm_probe_paths_add(&p, step, "/job/script");
  tm_probe_paths_add(&p, step, "/job/script"); /* as a second step with the same paths */
  for (size_t i = 0; i < p.reads.len; i++)
    tm_buf_printf(&text, "%s;", p.reads.at[i]);
  tm_buf_add_str(&text, "|");
  for (size_t i = 0; i < p.writes.len; i++)
    tm_buf_printf(&text, "%s;", p.writes.at[i]);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
  tm_probe_paths_release(&p);
}

static struct tm_dataset dataset(enum tm_dataset_kind kind, char **paths, size_t len)
{
  return (struct tm_dataset) {
    .kind = kind, .paths = paths, .paths_len = len, .base_dir = (char *)"/base"
  };
}

static void inputs_are_named_without_their_patterns(void **state)
{
  char *paths[] = { (char *)"in/*.txt", (char *)"/data/{a,b}/*", (char *)"one.txt",
                    (char *)"folder", (char *)"../up/\\*x" };
  struct tm_dataset files = dataset(TM_DATASET_FILES, paths, 5);
  struct tm_dataset *inputs[] = { &files };
  struct tm_step step = { .inputs = inputs, .inputs_len = 1 };
  expect_reads(&step, "/job/script;/base/in;/data;/base/one.txt;/base/folder;/up/*x;|");
}

static void lists_and_outputs_of_steps_are_left_out(void **state)
{
  char *path[] = { (char *)"x" };
  struct tm_dataset list = dataset(TM_DATASET_MANIFEST, path, 1),
                    failed = dataset(TM_DATASET_FAILED, path, 1),
                    output = dataset(TM_DATASET_FILES, path, 1);
  struct tm_dataset *inputs[] = { &list, &failed, &output };
  struct tm_step step = { .inputs = inputs, .inputs_len = 3 };
  output.base_dir = NULL;
  output.step = (char *)"first";
  expect_reads(&step, "/job/script;|");
}

static void what_else_a_script_reads_comes_before_inputs(void **state)
{
  char *in[] = { (char *)"in" }, *side[] = { (char *)"model" },
       *modules[] = { (char *)"/lib", NULL }, *argument[] = { (char *)"/arguments" };
  struct tm_dataset input = dataset(TM_DATASET_FILES, in, 1),
                    beside = dataset(TM_DATASET_FILES, side, 1);
  struct tm_dataset *inputs[] = { &input }, *sides[] = { &beside };
  struct tm_step step = { .inputs = inputs,
                          .inputs_len = 1,
                          .side_inputs = sides,
                          .side_inputs_len = 1,
                          .working_dir = (char *)"/here",
                          .read_paths = argument,
                          .read_paths_len = 1,
                          .config.module_paths = modules };
  expect_reads(&step, "/job/script;/here;/lib;/base/model;/arguments;/base/in;|");
}

static void destinations_are_written_by_scripts(void **state)
{
  struct tm_step_output outputs[] = { { .destination = (char *)"/first" },
                                      { .destination = (char *)"/second" },
                                      { .destination = (char *)"/copied", .is_upload = true },
                                      { .destination = NULL } };
  struct tm_step step = { .outputs = outputs, .outputs_len = 4 };
  step.config.output_action = TM_APPEND_ROW;
  expect_reads(&step, "/job/script;|/second;");
  step.config.output_action = TM_SUMMARY_ONLY;
  expect_reads(&step, "/job/script;|/first;/second;");
}

static void there_is_a_limit(void **state)
{
  size_t len = 2 * TM_PROBE_PATHS_MAX;
  char **paths = tm_xcalloc(len, sizeof(*paths));
  struct tm_dataset files = dataset(TM_DATASET_FILES, paths, len);
  struct tm_dataset *inputs[] = { &files };
  struct tm_step step = { .inputs = inputs, .inputs_len = 1 };
  struct tm_probe_paths p = { 0 };
  for (size_t i = 0; i < len; i++)
    paths[i] = tm_xprintf("%zu", i);
  tm_probe_paths_add(&p, &step, NULL);
  assert_int_equal(p.reads.len, TM_PROBE_PATHS_MAX);
  assert_string_equal(p.reads.at[0], "/base/0");
  tm_probe_paths_release(&p);
  for (size_t i = 0; i < len; i++)
    free(paths[i]);
  free(paths);
}

UNIT_TESTS({
    cmocka_unit_test(inputs_are_named_without_their_patterns),
    cmocka_unit_test(lists_and_outputs_of_steps_are_left_out),
    cmocka_unit_test(what_else_a_script_reads_comes_before_inputs),
    cmocka_unit_test(destinations_are_written_by_scripts),
    cmocka_unit_test(there_is_a_limit),
});
