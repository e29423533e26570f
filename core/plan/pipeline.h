/* pipeline.h - what the user asked for, checked: plain structs, nothing of Lua, no file touched but those it names.
 *
 * A pipeline comes as a tree of values (base/json.h) that the Lua constructors made, with tags and the file:line of each
 * definition. Caller: tm_pipeline_from_json() with the parameters of this submission; read; tm_pipeline_free().
 */
#ifndef TM_PLAN_PIPELINE_H
#define TM_PLAN_PIPELINE_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "data/cut.h"
#include "data/dataset.h"
#include "plan/config.h"

/* A folder that a step writes. The first one is <step>/output, each further one <step>/output.<name>. */
struct tm_step_output {
  char *name;           /* or NULL: the step was given no output */
  char *folder;         /* in the job's directory: "predict/output" */
  char *destination;    /* absolute; NULL: in the job's directory alone */
  bool is_upload;       /* it appears there when the step is Completed; else it is written there */
  char *archive_format; /* of an upload that is a file, packed: "zip", ...; NULL: it is a folder */
  char *partition_format; /* of what reads it, or NULL */
  char *register_as;      /* the dataset that it becomes when the step is Completed, or NULL */
  char *description;      /* of that dataset, or NULL */
  struct tm_json *tags;   /* likewise; an object of strings */
};

/* An argument that is a place in the job's directory. */
struct tm_step_path {
  size_t at;  /* arguments[at] is relative to that */
  char *step; /* that writes it */
};

/* An input or side input that is at a place of its own while the step runs: inputs.h. */
struct tm_step_intake {
  struct tm_dataset *dataset; /* as it was defined */
  int64_t input;              /* its number among the inputs; negative: it is a side input */
  char *folder;               /* in the job's directory: "score/inputs/model" */
  char *path;                 /* absolute: a link to that; or NULL */
};

struct tm_step {
  size_t number; /* its place among those of the pipeline */
  char *name;
  char *where; /* file:line of the ParallelRunStep */
  struct tm_config config;
  struct tm_dataset **inputs;
  size_t inputs_len;
  struct tm_dataset **side_inputs; /* every worker may read them whole */
  size_t side_inputs_len;
  struct tm_step_intake *intakes;
  size_t intakes_len;
  struct tm_step_output *outputs;
  size_t outputs_len;     /* one at least */
  struct tm_step **needs; /* that must be Completed before it begins, each once */
  size_t needs_len;
  char **arguments; /* for the script */
  size_t arguments_len;
  struct tm_step_path *paths; /* those of the arguments that depend on the job: bound.h */
  size_t paths_len;
  char **runner_arguments; /* those that the runner took, as they were given */
  size_t runner_arguments_len;
  char **notes; /* to be said when the step starts */
  size_t notes_len, notes_cap;
  char *working_dir; /* current directory of workers; NULL: the folder of the script's copy */
  char **read_paths; /* of datasets among the arguments, absolute: the script may read them */
  size_t read_paths_len, read_paths_cap;
  bool allow_reuse, reuses_by_content;
  bool keeps_script; /* the job goes on with its own copy, and the script need not be there */
  struct tm_json *
      effective; /* definition and effective settings, with the origin of each: what job.json says */
};

struct tm_pipeline {
  char *name;
  char *description; /* or NULL */
  char *file;        /* absolute path of the pipeline file; NULL: it was given by options */
  struct tm_step **steps;
  size_t steps_len;
  struct tm_json *
      params; /* those given at this submission: name -> text, or value; of a dataset all that it is */
  struct tm_json
      *source; /* what the record keeps of a definition without a file: source.h; or NULL */
  char *
      only_failed; /* the job whose failed items are the inputs, absolute; NULL: inputs are as defined */
};

/* A value given for a PipelineParameter: --param NAME=VALUE, or one of a file or of a job's record. */
struct tm_param {
  const char *name, *value;   /* as text */
  const struct tm_json *tree; /* or as a value; NULL: as text */
  const char *origin;         /* for people: "--param", the name of a file */
  const char *base_dir;       /* of paths of a dataset; NULL: the folder of the pipeline file */
  const char *file;           /* that begins the words of a refusal, or NULL */
  bool is_optional;           /* a pipeline without such a parameter is well */
};

/* `v`: tag "Pipeline". NULL with words: file:line, key, what was given, what is accepted, the nearest known name. `keeps_scripts`:
 * the job has copies of its scripts, and those that the definition names need not be there. */
struct tm_pipeline *tm_pipeline_from_json(const struct tm_json *v, const char *file,
                                          const struct tm_param *params, size_t params_len,
                                          bool keeps_scripts, struct tm_err *err);
/* The same of what a host has built, without a file: `dir` (absolute) is what relative paths are against, `working_dir` (or NULL) where
 * workers are; settings have the origin "option". */
struct tm_pipeline *tm_pipeline_from_calls(const struct tm_json *v, const char *dir,
                                           const char *working_dir, const struct tm_param *params,
                                           size_t params_len, bool keeps_scripts,
                                           struct tm_err *err);
void tm_pipeline_free(struct tm_pipeline *p);
/* The names of outputs[], "" for one without; the array alone is to be freed. */
char **tm_step_output_names(const struct tm_step *s);
/* How the step's inputs are cut; they and its config must live as long. Inputs that other steps write are those of bound.h; the rest
 * of the options is the caller's to fill. */
struct tm_cut_options tm_step_cut(const struct tm_step *s);
/* Other inputs than those of the definition, which no step writes; the array and what is in it is taken over. */
void tm_step_set_inputs(struct tm_step *s, struct tm_dataset **inputs, size_t len);
/* Who reads what it writes does not wait for it any more: arguments that are paths of its outputs are those in `job_dir`, absolute,
 * where it has run. */
void tm_pipeline_drop_step(struct tm_pipeline *p, size_t at, const char *job_dir);
/* Adds to the notes of a step. Within plan. */
void tm_step_note(struct tm_step *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
