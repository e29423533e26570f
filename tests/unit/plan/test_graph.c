/* test_graph.c - which step writes what, which steps read it, and in which order they can run. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "plan/bound.h"
#include "plan/graph.h"
#include "plan/read.h"
#include "tree.h"

struct world {
  char *dir;
  struct tm_json *pipeline;
};

static void setup(struct world *w)
{
  w->dir = folder_make();
  file_put(w->dir, "score.lua", "function run() end", 0600);
  w->pipeline = tree("Pipeline", "p.lua:90", "{'name':'graph','steps':[]}");
}

static void teardown(struct world *w)
{
  tm_json_free(w->pipeline);
  folder_remove(w->dir);
}

static struct tm_json *output(int64_t id, const char *fields)
{
  struct tm_json *v = tree("OutputFileDatasetConfig", NULL, fields);
  v->where = tm_xprintf("p.lua:%d", (int)id);
  v->id = id;
  return v;
}

/* Takes ownership of `inputs` and `outputs`; NULL: inputs are files, and there are no outputs. */
static struct tm_json *add_step(struct world *w, const char *name, struct tm_json *inputs,
                                struct tm_json *outputs)
{
  struct tm_json *steps = tm_json_get(w->pipeline, "steps");
  struct tm_json *step = tree("ParallelRunStep", NULL, "{}");
  step->where = tm_xprintf("p.lua:%zu", 50 + steps->list.len);
  tm_json_set(step, "name", tm_json_new_string(name));
  tm_json_set(step, "parallel_run_config",
              tree("ParallelRunConfig", "p.lua:5", "{'entry_script':'score.lua'}"));
  tm_json_set(step, "inputs",
              inputs ? inputs : tree("FileDataset", "p.lua:3", "{'kind':'files','paths':['in']}"));
  if (outputs)
    tm_json_set(step, "output", outputs);
  return tm_json_add(steps, step);
}

static struct tm_json *list_of(struct tm_json *a, struct tm_json *b)
{
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  tm_json_add(list, a);
  tm_json_add(list, b);
  return list;
}

static struct tm_pipeline *read_pipeline(struct world *w, struct tm_err *err)
{
  char *file = tm_path_join(w->dir, "p.lua");
  struct tm_pipeline *p = tm_pipeline_from_json(w->pipeline, file, NULL, 0, false, err);
  free(file);
  return p;
}

static struct tm_pipeline *accepted(struct world *w)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_pipeline *p = read_pipeline(w, &err);
  if (!p)
    fail_msg("%s", err.text);
  return p;
}

static void refused(struct world *w, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  assert_null(read_pipeline(w, &err));
  assert_string_equal(err.text, words);
  assert_int_equal(err.code, TM_EUSAGE);
  teardown(w);
}

static void drawn(const struct tm_pipeline *p, enum tm_graph_format format, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_graph_add(&text, p, format);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void a_reader_waits_for_the_writer_whatever_their_order(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "reader", output(1, "{'name':'x'}"), NULL);
  add_step(&w, "writer", NULL, output(1, "{'name':'x'}"));
  struct tm_pipeline *p = accepted(&w);
  assert_int_equal(p->steps[0]->needs_len, 1);
  assert_ptr_equal(p->steps[0]->needs[0], p->steps[1]);
  assert_int_equal(p->steps[1]->needs_len, 0);
  assert_string_equal(p->steps[0]->inputs[0]->step, "writer");
  assert_string_equal(p->steps[0]->inputs[0]->paths[0], "writer/output");
  tm_pipeline_free(p);
  teardown(&w);
}

static void further_outputs_have_folders_of_their_names(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "writer", NULL,
           list_of(output(1, "{'name':'rows'}"), output(2, "{'name':'pictures'}")));
  add_step(&w, "reader", output(2, "{'name':'pictures'}"), NULL);
  struct tm_pipeline *p = accepted(&w);
  assert_int_equal(p->steps[0]->outputs_len, 2);
  assert_string_equal(p->steps[0]->outputs[0].folder, "writer/output");
  assert_string_equal(p->steps[0]->outputs[1].folder, "writer/output.pictures");
  assert_string_equal(p->steps[1]->inputs[0]->paths[0], "writer/output.pictures");
  assert_int_equal(p->steps[1]->outputs_len, 1);
  assert_string_equal(p->steps[1]->outputs[0].folder, "reader/output");
  assert_null(p->steps[1]->outputs[0].name);
  tm_pipeline_free(p);
  teardown(&w);
}

static void readers_have_the_partition_format_of_the_output(void **state)
{
  struct world w;
  setup(&w);
  (void)state;
  const char *fields = "{'name':'x','partition_format':'{shop}/*.csv'}";
  add_step(&w, "writer", NULL, output(1, fields));
  add_step(&w, "reader", output(1, fields), NULL);
  struct tm_pipeline *p = accepted(&w);
  assert_string_equal(p->steps[0]->outputs[0].partition_format, "{shop}/*.csv");
  assert_string_equal(p->steps[1]->inputs[0]->partition_format, "{shop}/*.csv");
  tm_pipeline_free(p);
  teardown(&w);

  setup(&w);
  add_step(&w, "writer", NULL, output(3, "{'name':'x','partition_format':'{shop'}"));
  refused(&w,
          "p.lua:3: OutputFileDatasetConfig: 'partition_format' is \"{shop\": '{' is not closed");
}

static void outputs_among_arguments_are_paths_in_the_job(void **state)
{
  struct world w;
  struct tm_bound b;
  setup(&w);
  struct tm_json *arguments = tree(NULL, NULL, "['--error_threshold','3','--to']");
  tm_json_add(arguments, output(1, "{'name':'x'}"));
  struct tm_json *writer = add_step(&w, "writer", NULL, output(1, "{'name':'x'}"));
  tm_json_set(writer, "arguments", arguments);
  struct tm_json *reader = add_step(&w, "reader", NULL, NULL);
  arguments = tree(NULL, NULL, "['--from']");
  tm_json_add(arguments, output(1, "{'name':'x'}"));
  tm_json_set(reader, "arguments", arguments);
  struct tm_pipeline *p = accepted(&w);
  assert_int_equal(p->steps[0]->needs_len, 0); /* its own */
  assert_int_equal(p->steps[1]->needs_len, 1);
  tm_bound_init(&b, p->steps[0], "/job");
  assert_int_equal(b.arguments_len, 2);
  assert_string_equal(b.arguments[0], "--to");
  assert_string_equal(b.arguments[1], "/job/writer/output");
  tm_bound_release(&b);
  struct tm_buf record = TM_BUF_NONE;
  tm_json_write(&record, tm_json_get(p->steps[1]->effective, "arguments"),
                (struct tm_json_style) { 0 });
  assert_string_equal(tm_buf_str(&record), "[\"--from\",{\"path\":\"writer/output\"}]");
  tm_buf_release(&record);
  tm_pipeline_free(p);
  teardown(&w);
}

static void inputs_get_the_job_s_directory(void **state)
{
  struct world w;
  struct tm_bound b;
  setup(&w);
  add_step(&w, "writer", NULL, output(1, "{'name':'x'}"));
  add_step(&w, "reader", output(1, "{'name':'x'}"), NULL);
  struct tm_pipeline *p = accepted(&w);
  assert_null(p->steps[1]->inputs[0]->base_dir);
  tm_bound_init(&b, p->steps[1], "/job");
  assert_string_equal(b.inputs[0]->base_dir, "/job");
  tm_bound_release(&b);
  tm_bound_init(&b, p->steps[0], "/job");
  assert_string_equal(b.inputs[0]->base_dir, w.dir);
  tm_bound_release(&b);
  tm_pipeline_free(p);
  teardown(&w);
}

static void cycles_are_refused_with_their_places(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "first", NULL, output(1, "{'name':'a'}"));
  add_step(&w, "second", list_of(output(1, "{'name':'a'}"), output(3, "{'name':'c'}")),
           output(2, "{'name':'b'}"));
  add_step(&w, "third", output(2, "{'name':'b'}"), output(3, "{'name':'c'}"));
  add_step(&w, "last", output(3, "{'name':'c'}"), NULL);
  refused(&w, "p.lua:90: Pipeline: steps wait for each other: step 'second' (p.lua:51), which "
              "reads what is written by 'third' (p.lua:52), which reads what is written by "
              "'second'; accepted: steps that can run one after the other");
  setup(&w);
  add_step(&w, "alone", output(1, "{'name':'a'}"), output(1, "{'name':'a'}"));
  refused(&w, "p.lua:90: Pipeline: steps wait for each other: step 'alone' (p.lua:50), which reads "
              "what is written by 'alone'; accepted: steps that can run one after the other");
}

static void outputs_of_no_step_here_are_refused(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "reader", output(7, "{'name':'foreign'}"), NULL);
  refused(&w, "p.lua:50: ParallelRunStep: 'inputs[1]': output 'foreign' (p.lua:7) is written by no "
              "step of this pipeline; accepted: one that is in 'output' of a step in 'steps'");
  setup(&w);
  struct tm_json *step = add_step(&w, "reader", NULL, NULL);
  tm_json_set(step, "arguments", tree(NULL, NULL, "['--x']"));
  tm_json_add(tm_json_get(step, "arguments"), output(7, "{'name':'foreign'}"));
  refused(&w, "p.lua:50: ParallelRunStep: 'arguments[2]': output 'foreign' (p.lua:7) is written by "
              "no step of this pipeline; accepted: one that is in 'output' of a step in "
              "'steps'");
}

static void two_writers_of_one_place_are_refused(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "first", NULL, output(1, "{'name':'a'}"));
  add_step(&w, "second", NULL, output(1, "{'name':'a'}"));
  refused(&w, "p.lua:51: ParallelRunStep: output 'a' (p.lua:1) is written by step 'first' "
              "(p.lua:50), too; accepted: outputs of its own for each step");
  setup(&w);
  add_step(&w, "first", NULL, list_of(output(1, "{'name':'a'}"), output(2, "{'name':'a'}")));
  refused(&w, "p.lua:50: ParallelRunStep: two outputs are named 'a', at p.lua:1 and p.lua:2; "
              "accepted: a name for each");
  setup(&w);
  add_step(&w, "first", NULL, output(1, "{'name':'a','destination':'/out/x'}"));
  add_step(&w, "second", NULL, output(2, "{'name':'b','destination':'/out/y/../x/z'}"));
  refused(&w, "p.lua:2: OutputFileDatasetConfig: 'destination' is '/out/x/z', where step 'first' "
              "writes its output 'a' ('/out/x', at p.lua:1); accepted: a folder for each output, "
              "and none within another");
  setup(&w);
  add_step(&w, "first", NULL, output(1, "{'name':'a','mode':'upload'}"));
  refused(&w, "p.lua:1: OutputFileDatasetConfig: 'a' is uploaded, and has no 'destination'; "
              "accepted: the folder that it is to appear as; without as_upload() it is in the "
              "job's directory");
}

static void destinations_beside_each_other_are_accepted(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "first", NULL, output(1, "{'name':'a','destination':'out'}"));
  add_step(&w, "second", NULL, output(2, "{'name':'b','destination':'out2','mode':'upload'}"));
  struct tm_pipeline *p = accepted(&w);
  char *path = tm_path_join(w.dir, "out");
  assert_string_equal(p->steps[0]->outputs[0].destination, path);
  assert_false(p->steps[0]->outputs[0].is_upload);
  assert_true(p->steps[1]->outputs[0].is_upload);
  free(path);
  tm_pipeline_free(p);
  teardown(&w);
}

static void work_over_another_job_s_output_is_not_taken_over(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "writer", NULL, output(1, "{'name':'x'}"));
  struct tm_json *reader = add_step(&w, "reader", output(1, "{'name':'x'}"), NULL);
  tm_json_set(reader, "arguments", tree(NULL, NULL, "['--resume_from','latest']"));
  refused(&w,
          "p.lua:51: ParallelRunStep: '--resume_from' is in 'arguments' of a step that reads "
          "the output of step 'writer': the work of 'latest' used an earlier output, which this "
          "job writes again; accepted: for steps whose inputs exist before the job; to resume that "
          "job itself: tidemill resume latest");
}

static void nor_is_work_done_with_it_beside(void **state)
{
  for (int as_argument = 0; as_argument < 2; as_argument++) {
    struct world w;
    setup(&w);
    add_step(&w, "writer", NULL, output(1, "{'name':'x'}"));
    struct tm_json *reader = add_step(&w, "reader", NULL, NULL);
    struct tm_json *arguments =
        tm_json_set(reader, "arguments", tree(NULL, NULL, "['--resume_from','latest']"));
    if (as_argument)
      tm_json_add(arguments, output(1, "{'name':'x'}"));
    else
      tm_json_add(tm_json_set(reader, "side_inputs", tm_json_new(TM_JSON_ARRAY)),
                  output(1, "{'name':'x'}"));
    refused(&w, "p.lua:51: ParallelRunStep: '--resume_from' is in 'arguments' of a step that reads "
                "the output of step 'writer': the work of 'latest' used an earlier output, which "
                "this job writes again; accepted: for steps whose inputs exist before the job; to "
                "resume that job itself: tidemill resume latest");
  }
}

static void a_dropped_step_is_waited_for_no_more(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "writer", NULL, output(1, "{'name':'x'}"));
  struct tm_json *reader = add_step(&w, "reader", output(1, "{'name':'x'}"), NULL);
  struct tm_json *arguments = tm_json_set(reader, "arguments", tm_json_new(TM_JSON_ARRAY));
  tm_json_add(arguments, tm_json_new_string("--from"));
  tm_json_add(arguments, output(1, "{'name':'x'}"));
  struct tm_pipeline *p = accepted(&w);
  assert_string_equal(p->steps[1]->arguments[1], "writer/output");
  tm_pipeline_drop_step(p, 0, "/earlier");
  assert_int_equal(p->steps[0]->needs_len, 0);
  assert_int_equal(p->steps[0]->paths_len, 0);
  assert_string_equal(p->steps[0]->arguments[1], "/earlier/writer/output");
  struct tm_buf record = TM_BUF_NONE;
  tm_json_write(&record, tm_json_get(p->steps[0]->effective, "arguments"),
                (struct tm_json_style) { 0 });
  assert_string_equal(tm_buf_str(&record), "[\"--from\",\"/earlier/writer/output\"]");
  tm_buf_release(&record);
  tm_pipeline_free(p);
  tm_json_set(reader, "arguments", tm_json_new(TM_JSON_ARRAY));
  p = accepted(&w);
  tm_step_set_inputs(p->steps[1], tm_xcalloc(1, sizeof(struct tm_dataset *)), 0);
  assert_int_equal(p->steps[1]->needs_len, 0);
  tm_pipeline_free(p);
  teardown(&w);
}

/*   cut -> sharpen -> join
 *      `-> blur ------^      lone */
static void pictures_show_which_step_waits_for_which(void **state)
{
  struct world w;
  setup(&w);
  add_step(&w, "cut", NULL, output(1, "{'name':'x'}"));
  add_step(&w, "sharpen", output(1, "{'name':'x'}"), output(2, "{'name':'x'}"));
  add_step(&w, "blur", output(1, "{'name':'x'}"), output(3, "{'name':'x'}"));
  add_step(&w, "join", list_of(output(2, "{'name':'x'}"), output(3, "{'name':'x'}")), NULL);
  add_step(&w, "lone", NULL, NULL);
  struct tm_pipeline *p = accepted(&w);
  drawn(p, TM_GRAPH_TEXT,
        "cut\n"
        "|-- sharpen\n"
        "|   `-- join (also waits for blur)\n"
        "`-- blur\n"
        "    `-- join, above\n"
        "lone\n");
  drawn(p, TM_GRAPH_DOT,
        "digraph \"graph\" {\n  rankdir=LR;\n  node [shape=box];\n  \"cut\";\n  \"sharpen\";\n"
        "  \"cut\" -> \"sharpen\";\n  \"blur\";\n  \"cut\" -> \"blur\";\n  \"join\";\n"
        "  \"sharpen\" -> \"join\";\n  \"blur\" -> \"join\";\n  \"lone\";\n}\n");
  drawn(p, TM_GRAPH_MERMAID,
        "flowchart LR\n  s0[\"cut\"]\n  s1[\"sharpen\"]\n  s2[\"blur\"]\n  s3[\"join\"]\n"
        "  s4[\"lone\"]\n  s0 --> s1\n  s0 --> s2\n  s1 --> s3\n  s2 --> s3\n");
  tm_pipeline_free(p);
  teardown(&w);
}

static void a_long_chain_is_read_and_drawn(void **state)
{
  enum { LONG = 3000 };
  struct world w;
  setup(&w);
  for (int i = 0; i < LONG; i++) {
    char *name = tm_xprintf("step-%d", i);
    add_step(&w, name, i > 0 ? output(i, "{'name':'x'}") : NULL, output(i + 1, "{'name':'x'}"));
    free(name);
  }
  struct tm_pipeline *p = accepted(&w);
  struct tm_buf text = TM_BUF_NONE;
  assert_ptr_equal(p->steps[LONG - 1]->needs[0], p->steps[LONG - 2]);
  tm_graph_add(&text, p, TM_GRAPH_TEXT);
  assert_string_equal(text.data + text.len - strlen("`-- step-2999\n"), "`-- step-2999\n");
  tm_buf_release(&text);
  tm_pipeline_free(p);
  teardown(&w);
}

UNIT_TESTS({
    cmocka_unit_test(a_reader_waits_for_the_writer_whatever_their_order),
    cmocka_unit_test(further_outputs_have_folders_of_their_names),
    cmocka_unit_test(readers_have_the_partition_format_of_the_output),
    cmocka_unit_test(outputs_among_arguments_are_paths_in_the_job),
    cmocka_unit_test(inputs_get_the_job_s_directory),
    cmocka_unit_test(cycles_are_refused_with_their_places),
    cmocka_unit_test(outputs_of_no_step_here_are_refused),
    cmocka_unit_test(two_writers_of_one_place_are_refused),
    cmocka_unit_test(destinations_beside_each_other_are_accepted),
    cmocka_unit_test(work_over_another_job_s_output_is_not_taken_over),
    cmocka_unit_test(nor_is_work_done_with_it_beside),
    cmocka_unit_test(a_dropped_step_is_waited_for_no_more),
    cmocka_unit_test(pictures_show_which_step_waits_for_which),
    cmocka_unit_test(a_long_chain_is_read_and_drawn),
});
