/* pipeline.h - a checked definition of a pipeline: plain structs without Lua.
 *
 * read.h makes it from the tree of a definition; then tm_pipeline_free().
 */
#ifndef TM_PLAN_PIPELINE_H
#define TM_PLAN_PIPELINE_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/level.h"
#include "data/splitter.h"
#include "data/dataset.h"
#include "plan/config.h"

/* A folder that a step writes. The first one is <step>/output, each further one
 * <step>/output.<name>. */
struct tm_step_output {
  char *name;             /* or NULL: the step has no explicit output */
  char *folder;           /* in the job's directory: "predict/output" */
  char *destination;      /* absolute; NULL: only in the job's directory */
  bool is_upload;         /* copied there when the step is Completed; else written there directly */
  char *archive_format;   /* of an upload to a packed file: "zip", ...; NULL: a folder */
  char *partition_format; /* for datasets that read it, or NULL */
  char *register_as;      /* registered under this name when the step is Completed, or NULL */
  char *description;      /* of that dataset, or NULL */
  struct tm_json *tags;   /* likewise; an object of strings */
};

/* An argument that is a path in the job's directory. */
struct tm_step_path {
  size_t at;  /* arguments[at] is relative to the job's directory */
  char *step; /* the step that writes it */
};

/* An input or side input with a place of its own while the step runs: inputs.h. */
struct tm_step_staging {
  struct tm_dataset *dataset; /* as defined */
  int64_t input;              /* its number among the inputs; negative: a side input */
  char *folder;               /* in the job's directory: "score/inputs/model" */
  char *path;                 /* absolute: becomes a link to the folder; or NULL */
};

/* About a definition that is accepted. */
struct tm_note {
  enum tm_level level; /* TM_WARNING: something has no effect; it is also shown on the terminal */
  char *text;
};

struct tm_step {
  size_t number; /* its index in the pipeline */
  char *name;
  char *where; /* file:line of the ParallelRunStep */
  struct tm_config config;
  struct tm_dataset **inputs;
  size_t inputs_len;
  struct tm_dataset **side_inputs; /* every worker may read them completely */
  size_t side_inputs_len;
  struct tm_step_staging *stagings;
  size_t stagings_len;
  struct tm_step_output *outputs;
  size_t outputs_len;     /* at least one */
  struct tm_step **needs; /* steps that must be Completed before it begins, without duplicates */
  size_t needs_len;
  char **arguments; /* for the script */
  size_t arguments_len;
  struct tm_step_path *paths; /* arguments that depend on the job: bound.h */
  size_t paths_len;
  char **runner_arguments; /* those that the runner took, as given */
  size_t runner_arguments_len;
  struct tm_note *notes; /* reported when the step starts */
  size_t notes_len, notes_cap;
  char *working_dir; /* current directory of workers; NULL: the folder of the script's copy */
  char **read_paths; /* of datasets in the arguments, absolute: the script may read them */
  size_t read_paths_len, read_paths_cap;
  bool allow_reuse, reuses_by_content;
  bool keeps_script; /* the job keeps its own copy, and the script need not exist */
  /* what the file of the model said, where one is in place of a script; else NULL */
  struct tm_onnx_file *model;
  /* definition and effective settings, with the origin of each, for job.json */
  struct tm_json *effective;
};

struct tm_pipeline {
  char *name;
  char *description; /* or NULL */
  char *file;        /* absolute path of the pipeline file; NULL: given by options */
  struct tm_step **steps;
  size_t steps_len;
  /* those given at this submission: name -> text or value; for a dataset its whole definition */
  struct tm_json *params;
  struct tm_json *source;  /* the record of a definition without a file: source.h; or NULL */
  struct tm_json *command; /* of the command line, for the record: job_record.h; or NULL */
  /* the job whose failed items are the inputs, absolute; NULL: inputs as defined */
  char *only_failed;
};

void tm_pipeline_free(struct tm_pipeline *p); /* NULL is a no-op */
void tm_step_free(struct tm_step *s);         /* of no pipeline; NULL is a no-op */
/* The names of outputs[], "" if there is none; free only the array. */
char **tm_step_output_names(const struct tm_step *s);
/* The options to split the step's inputs; the step must outlive them. Inputs that other steps write
 * must be bound (bound.h); the caller fills the other options. */
struct tm_splitter_options tm_step_splitting(const struct tm_step *s);
/* Replaces the inputs of the definition by others that no step writes; takes over the array and its
 * elements. */
void tm_step_set_inputs(struct tm_step *s, struct tm_dataset **inputs, size_t len);
/* Adds to the notes of a step. Within plan. */
void tm_step_note(struct tm_step *s, enum tm_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
