/* tidemill/pipeline.h - pipelines, and what definitions accept.
 *
 * A pipeline is a definition and the values of its parameters. You may submit it any number of
 * times, and free it as soon as its jobs are submitted. Errors in it name the file and line if it
 * came from a file.
 */
#ifndef TIDEMILL_PIPELINE_H
#define TIDEMILL_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidemill/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tidemill_pipeline;

/* Loads a Lua file that returns tidemill.Pipeline { ... }. The file runs in a new Lua state, during
 * this call only. TIDEMILL_EUSAGE: it cannot be read, is not Lua, fails, or defines no pipeline. */
TIDEMILL_API int tidemill_pipeline_load(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                        const char *path, struct tidemill_error *err);
/* Loads the same from a string. Messages call it `name`. Relative paths start in the folder of
 * `name`; with "" or a bare name, in the current directory. */
TIDEMILL_API int tidemill_pipeline_load_string(struct tidemill_pipeline **out,
                                               struct tidemill_runtime *rt, const char *text,
                                               const char *name, struct tidemill_error *err);
/* Takes the tidemill.Pipeline at `index` of a Lua stack. The state must come from
 * tidemill_lua_open() or on_lua. `name` is as for tidemill_pipeline_load_string(). Leaves the stack
 * as it was, and raises nothing. */
TIDEMILL_API int tidemill_pipeline_from_lua(struct tidemill_pipeline **out,
                                            struct tidemill_runtime *rt, struct lua_State *L,
                                            int index, const char *name,
                                            struct tidemill_error *err);

/* Loads the pipeline of an earlier job from the job's record: the pipeline file as it is now, or
 * else the recorded definition, with the parameters of that job, which you may set again. Submit it
 * with `resume` to resume that job. `job`: a directory, a name, or "latest" for the newest job of
 * the workspace. TIDEMILL_EUSAGE: there is no such job, or its record holds no definition. */
TIDEMILL_API int tidemill_pipeline_load_job(struct tidemill_pipeline **out,
                                            struct tidemill_runtime *rt, const char *job,
                                            struct tidemill_error *err);

/* ---- Building a pipeline ----
 *
 *   tidemill_pipeline_new() -> tidemill_pipeline_add_step() -> its settings, inputs, arguments
 *
 * The calls that add a step or an input give a handle to it. A handle belongs to the pipeline and
 * is valid until the pipeline is freed, in any order of calls. `out` may be NULL if you do not need
 * the handle. tidemill_pipeline_find_step() and tidemill_pipeline_step_input() give handles to
 * what a file or Lua has defined.
 */

struct tidemill_pipeline_step;
struct tidemill_pipeline_input;

/* Begins an empty pipeline. Relative paths start in `dir`; NULL: the current directory. */
TIDEMILL_API int tidemill_pipeline_new(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                       const char *name, const char *dir,
                                       struct tidemill_error *err);
/* Adds a step that runs the script at the path `entry_script`. */
TIDEMILL_API int tidemill_pipeline_add_step(struct tidemill_pipeline_step **out,
                                            struct tidemill_pipeline *p, const char *name,
                                            const char *entry_script, struct tidemill_error *err);
/* The same for a step whose inputs the ONNX model at the path `model` scores, without a script. */
TIDEMILL_API int tidemill_pipeline_add_model_step(struct tidemill_pipeline_step **out,
                                                  struct tidemill_pipeline *p, const char *name,
                                                  const char *model, struct tidemill_error *err);
/* Finds a step of any pipeline by its name. TIDEMILL_EUSAGE: there is no such step. */
TIDEMILL_API int tidemill_pipeline_find_step(struct tidemill_pipeline_step **out,
                                             struct tidemill_pipeline *p, const char *name,
                                             struct tidemill_error *err);
/* Sets a parameter of ParallelRunStep or ParallelRunConfig (`tidemill help parameters` lists them)
 * from text: "mini_batch_size" "5". Separate the names of a list by commas. The value of
 * "environment_variables" is "NAME=VALUE", and each call adds one. */
TIDEMILL_API int tidemill_pipeline_step_set(struct tidemill_pipeline_step *step, const char *key,
                                            const char *value, struct tidemill_error *err);
/* Adds one argument for the script. */
TIDEMILL_API int tidemill_pipeline_step_add_argument(struct tidemill_pipeline_step *step,
                                                     const char *text, struct tidemill_error *err);
/* Adds an input of files. `path`: a file, a folder or a pattern. The script reads `name` as
 * context.dataset_name; `name` may be NULL. */
TIDEMILL_API int tidemill_pipeline_step_add_files(struct tidemill_pipeline_input **out,
                                                  struct tidemill_pipeline_step *step,
                                                  const char *path, const char *name,
                                                  struct tidemill_error *err);
/* Adds an input of rows. `path` is read as JSON lines if it ends in .jsonl, .ndjson or .json, or in
 * one of these followed by .gz, in upper or lower case; otherwise as a delimited file. */
TIDEMILL_API int tidemill_pipeline_step_add_table(struct tidemill_pipeline_input **out,
                                                  struct tidemill_pipeline_step *step,
                                                  const char *path, const char *name,
                                                  struct tidemill_error *err);
/* Adds an input whose items are the entries of archives. `path`: a file, a folder or a pattern. */
TIDEMILL_API int tidemill_pipeline_step_add_archives(struct tidemill_pipeline_input **out,
                                                     struct tidemill_pipeline_step *step,
                                                     const char *path, const char *name,
                                                     struct tidemill_error *err);
/* Adds an input of the files that the file `path` lists, one path per line. The list is read while
 * the job runs. */
TIDEMILL_API int tidemill_pipeline_step_add_manifest(struct tidemill_pipeline_input **out,
                                                     struct tidemill_pipeline_step *step,
                                                     const char *path, const char *name,
                                                     struct tidemill_error *err);
/* Adds an input of the files that `from` writes, another step of the same pipeline. */
TIDEMILL_API int tidemill_pipeline_step_add_output_of(struct tidemill_pipeline_input **out,
                                                      struct tidemill_pipeline_step *step,
                                                      struct tidemill_pipeline_step *from,
                                                      const char *name, struct tidemill_error *err);
/* Input `i` of a step, from 0. TIDEMILL_EUSAGE: it has no such input. */
TIDEMILL_API int tidemill_pipeline_step_input(struct tidemill_pipeline_input **out,
                                              struct tidemill_pipeline_step *step, size_t i,
                                              struct tidemill_error *err);
/* Adds one more path to an input. Its items come after the others. */
TIDEMILL_API int tidemill_pipeline_input_add_path(struct tidemill_pipeline_input *input,
                                                  const char *path, struct tidemill_error *err);
/* Sets an option of an input, as text. `key` is one of:
 * - an option of the dataset's constructor (`tidemill help parameters` lists them), as "separator"
 *   ";" or "partition_format" "{store}/{date:yyyy/MM/dd}". "set_column_types" is
 *   "id=long,day=datetime", or JSON: {"day": {"type": "datetime", "formats": ["%d.%m.%Y"]}};
 * - "limit": the largest number of items;
 * - "format", for a table: "csv", "tsv" or "jsonl". Set it before the other options, if the name of
 *   the first file does not tell. */
TIDEMILL_API int tidemill_pipeline_input_set(struct tidemill_pipeline_input *input, const char *key,
                                             const char *value, struct tidemill_error *err);
/* Sets the current directory of all workers. The default is the folder with the copy of their
 * script. Only for a pipeline of tidemill_pipeline_new(). */
TIDEMILL_API int tidemill_pipeline_set_working_dir(struct tidemill_pipeline *p, const char *dir,
                                                   struct tidemill_error *err);
/* Gives the entry script `path` as text, for all steps added so far that name it. The file need not
 * exist. The text is written to the workspace under its hash, so that the job can be resumed.
 * TIDEMILL_EUSAGE: no step names `path`. */
TIDEMILL_API int tidemill_pipeline_set_script(struct tidemill_pipeline *p, const char *path,
                                              const char *text, struct tidemill_error *err);
/* Sets the value of a PipelineParameter from text. The last call for a name wins. */
TIDEMILL_API int tidemill_pipeline_set_param(struct tidemill_pipeline *p, const char *name,
                                             const char *value, struct tidemill_error *err);
/* Like tidemill_pipeline_set_param(), and records where the value comes from. `origin` is shown in
 * plans and in the job's record, for instance "--param"; NULL: "given". Relative paths of datasets
 * start in `dir`; NULL: the folder of the pipeline. */
TIDEMILL_API int tidemill_pipeline_set_param_from(struct tidemill_pipeline *p, const char *name,
                                                  const char *value, const char *origin,
                                                  const char *dir, struct tidemill_error *err);
/* Sets parameters from a file: a JSON object, or a Lua file (.lua) that returns a table. Relative
 * paths of datasets start in its folder. */
TIDEMILL_API int tidemill_pipeline_set_params_file(struct tidemill_pipeline *p, const char *path,
                                                   struct tidemill_error *err);
/* Takes the parameters of an earlier job (`job` as for tidemill_pipeline_load_job()). If that job
 * ran only the failed items of another job, takes these items too. Each plan and submission reports
 * the other differences from that job to on_log. */
TIDEMILL_API int tidemill_pipeline_set_like(struct tidemill_pipeline *p, const char *job,
                                            struct tidemill_error *err);
enum tidemill_only_failed {
  TIDEMILL_ONLY_FAILED_SOME, /* the pipeline runs the failed items */
  TIDEMILL_ONLY_FAILED_NONE, /* there is nothing to do */
};
/* Runs only the items that failed in an earlier job. Each step gets the failed items of the step
 * with its name; a step without failed items is left out. Set the parameters first. Returns one
 * of the enumerators above, or fails. After TIDEMILL_ONLY_FAILED_NONE, `err` has a message with
 * code 0, and a submission fails with TIDEMILL_ENOINPUT. */
TIDEMILL_API int tidemill_pipeline_set_only_failed(struct tidemill_pipeline *p, const char *job,
                                                   struct tidemill_error *err);
/* Records where the caller will put the rows of the first step with tidemill_job_put_output(), so
 * that a later process that resumes the job knows the place. The library itself puts nothing there.
 * `path`: absolute, or relative to the current directory. The job of a pipeline file records no
 * such place. */
TIDEMILL_API int tidemill_pipeline_set_output_file(struct tidemill_pipeline *p, const char *path,
                                                   bool overwrite, struct tidemill_error *err);
/* The absolute path of that place, also of a job that was loaded with tidemill_pipeline_load_job().
 * NULL: none was given. `overwrite` may be NULL. */
TIDEMILL_API const char *tidemill_pipeline_output_file(const struct tidemill_pipeline *p,
                                                       bool *overwrite);
/* Records the command line that submits the job, so that `tidemill status` can show it: its words,
 * NULL-ended, the first one the program, and the current directory. Leave out passwords. A resumed
 * job keeps the command that started it. */
TIDEMILL_API int tidemill_pipeline_set_command(struct tidemill_pipeline *p,
                                               const char *const *words,
                                               struct tidemill_error *err);
/* Checks the pipeline as a submission does. Creates nothing. TIDEMILL_EUSAGE: the definition is
 * wrong. TIDEMILL_ESCRIPT: a script is not valid Lua. */
TIDEMILL_API int tidemill_pipeline_check(struct tidemill_pipeline *p, struct tidemill_error *err);
/* The name in its definition. */
TIDEMILL_API const char *tidemill_pipeline_name(const struct tidemill_pipeline *p);

enum tidemill_graph {
  TIDEMILL_GRAPH_TEXT, /* a tree of lines */
  TIDEMILL_GRAPH_DOT,  /* for Graphviz */
  TIDEMILL_GRAPH_MERMAID,
};
/* Renders which step waits for which. Does not compile the scripts. Uses the result of an earlier
 * check if the pipeline has not changed since. */
TIDEMILL_API int tidemill_pipeline_graph(const char **out, struct tidemill_pipeline *p,
                                         enum tidemill_graph format, struct tidemill_error *err);

struct tidemill_plan_options {
  size_t size;
  bool json; /* one JSON object, as `tidemill run --dry-run --json` prints; else lines of text */
  /* Also says for each step whether an earlier result would be reused and why, or what changed. */
  bool explain;
  bool no_reuse; /* as for a job: a full destination does not count as an earlier result */
};
#define TIDEMILL_PLAN_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_plan_options)

/* Says what a job of this pipeline would do, as `tidemill run --dry-run` prints it: for each step
 * its number of mini-batches, the first and last of them, and the settings with their origins. It
 * checks all that a submission checks, and reads the inputs as a job does, which takes as long. It
 * creates nothing. `options` may be NULL. Messages about the inputs go to the runtime's on_log
 * before this returns; do not free `p` from there. TIDEMILL_EUSAGE: the definition is wrong, an
 * input is a list on standard input, or something would stop the job, such as a destination that is
 * not empty. TIDEMILL_ESCRIPT: a script is not valid Lua. TIDEMILL_ENOINPUT: an input is empty.
 * TIDEMILL_EINPUT, or a system error. */
TIDEMILL_API int tidemill_pipeline_plan(const char **out, struct tidemill_pipeline *p,
                                        const struct tidemill_plan_options *options,
                                        struct tidemill_error *err);
TIDEMILL_API void tidemill_pipeline_free(struct tidemill_pipeline *p);

/* ---- Parameters ---- (what definitions accept, for forms and help; the library checks them by the
 * same table) */

enum tidemill_parameter_type {
  TIDEMILL_PARAMETER_INTEGER = 1,
  TIDEMILL_PARAMETER_SECONDS, /* a number */
  TIDEMILL_PARAMETER_PERCENT, /* a number */
  TIDEMILL_PARAMETER_SIZE,    /* bytes, or "10MB" */
  TIDEMILL_PARAMETER_AMOUNT,  /* items, "10MB" or "500rows" */
  TIDEMILL_PARAMETER_CHOICE,  /* one of `choices` */
  TIDEMILL_PARAMETER_BOOL,    /* "true", "false" */
  TIDEMILL_PARAMETER_TEXT,
  TIDEMILL_PARAMETER_CHARACTER, /* exactly one */
  TIDEMILL_PARAMETER_NAME,
  TIDEMILL_PARAMETER_NAMES,     /* a list of names */
  TIDEMILL_PARAMETER_FILE_NAME, /* without a folder */
  TIDEMILL_PARAMETER_PATH,
  TIDEMILL_PARAMETER_VARIABLES, /* names with values */
  TIDEMILL_PARAMETER_TYPES,     /* column names with types */
  TIDEMILL_PARAMETER_OTHER,     /* lists and objects, which only a definition in Lua can make */
};

struct tidemill_parameter {
  size_t size;
  const char *name; /* "run_max_try" */
  enum tidemill_parameter_type type;
  const char *help;          /* one line */
  const char *default_value; /* as text; NULL: there is none, or it is computed */
  const char *choices;       /* "append_row|summary_only"; NULL: the type is not CHOICE */
  double min, max;           /* of numbers; both 0: any number */
  bool required;
  bool may_be_parameter; /* a PipelineParameter may give its value */
  bool changeable;       /* it may have another value when a job is resumed */
  char accepted[256];    /* "an integer from 1 on" */
};
#define TIDEMILL_PARAMETER_INIT TIDEMILL_SIZED(struct tidemill_parameter)

/* The name of constructor `i`, in the order of the manual: "ParallelRunConfig", "ParallelRunStep",
 * ... Here a constructor is any Lua function or method that takes parameters by name. "arguments"
 * has those arguments of a step that the runner itself takes. NULL: there is no constructor `i`.
 * Static memory. Any thread. */
TIDEMILL_API const char *tidemill_constructor(size_t i);
/* Describes parameter `i` of a constructor, in the order of the manual. Set the `size` of `out`
 * first. The texts are in static memory, or in `out`. False: there is no such parameter or
 * constructor. Any thread. */
TIDEMILL_API bool tidemill_parameter(const char *constructor, size_t i,
                                     struct tidemill_parameter *out);

#ifdef __cplusplus
}
#endif
#endif
