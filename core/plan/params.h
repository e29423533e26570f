/* params.h - the keys that definitions know: one table per constructor, and everything that is made from it: the checks,
 * the did-you-mean, what is compared on resume, the options and help of the command line.
 *
 * A definition comes as a tree (base/json.h). Where the root has `where`, the words of a refusal begin with it:
 *
 *   pipeline.lua:12: ParallelRunConfig: 'run_max_try' is 0; accepted: an integer from 1 on
 */
#ifndef TM_PLAN_PARAMS_H
#define TM_PLAN_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

enum tm_field_type {
  TM_FIELD_INT,     /* integer within min and max; digits in a string too */
  TM_FIELD_SECONDS, /* number within min and max; in a string also "5m", "2h", "none" */
  TM_FIELD_PERCENT, /* the same, of another unit */
  TM_FIELD_SIZE,    /* bytes: a number, or "10MB" */
  TM_FIELD_AMOUNT,  /* of a mini-batch: an integer within min and max, "10MB" or "500rows" */
  TM_FIELD_CHOICE, /* one of the words of `accepts`, which are separated by '|'; true and false may be booleans */
  TM_FIELD_PATH,
  TM_FIELD_FILE_NAME, /* without a folder */
  TM_FIELD_TEXT,
  TM_FIELD_SEPARATOR, /* of delimited rows: one character of ASCII; "\\t" in two is a tab */
  TM_FIELD_BOOL,
  TM_FIELD_NAME,        /* of a step or pipeline: 1 to 32 of a-z 0-9 - _ */
  TM_FIELD_WORD,        /* of a parameter, dataset or output: letters, digits, '-', '_', '.' */
  TM_FIELD_VARIABLES,   /* names with values */
  TM_FIELD_ENVIRONMENT, /* { variables = VARIABLES, module_paths = list of paths } */
  TM_FIELD_SCALAR, /* a string, a number or a boolean, or an object that one of `accepts` made */
  TM_FIELD_NAMES,  /* a list of one or more strings, no two equal; one stands for a list of one */
  TM_FIELD_TYPES,  /* names of columns with their types; in one form { name = { type, formats } } */
  TM_FIELD_LIST,   /* any list */
  TM_FIELD_OBJECT, /* an object that the constructor `accepts` made */
  TM_FIELD_OBJECTS, /* a list of one or more of them */
};

enum {
  TM_FIELD_REQUIRED = 1,
  TM_FIELD_PARAMETER = 2,  /* may be a PipelineParameter */
  TM_FIELD_CHANGEABLE = 4, /* may have changed when a job is resumed */
  TM_FIELD_OR_ONE = 8,     /* of OBJECTS: one object stands for a list of one */
  TM_FIELD_ARGUMENT = 16,  /* may be given in the script's arguments, by exact name: arguments.h */
  TM_FIELD_AT_FIRST = 64,  /* says how a job begins: nothing to a job that is resumed */
  TM_FIELD_ANY_CASE = 32,  /* of CHOICE: words in upper case, accepted in any */
  TM_FIELD_RESULT = 1024,  /* changeable, and yet what comes out may be another: reuse_key.h */
  TM_FIELD_FAILS = 2048,   /* changeable; decides what fails, or whether that is too much */
  TM_FIELD_NODES = 4096,   /* a refusal adds that several nodes are not available yet */
};

struct tm_field {
  const char *name;
  enum tm_field_type type;
  double min, max;       /* of numbers: the unit is the type's; max 0: none */
  const char *otherwise; /* the default as text, or NULL: none, or worked out by the plan */
  const char *accepts;   /* words of CHOICE, constructor of OBJECT and OBJECTS; else NULL */
  unsigned flags;        /* TM_FIELD_REQUIRED | ... */
  const char *help;      /* one line */
};

/* The fields of a constructor ("ParallelRunConfig", "ParallelRunStep", "Pipeline", "PipelineParameter",
 * "OutputFileDatasetConfig", "dataset:register", "dataset:mini_batches", "load_script", "pipeline:submit",
 * "Workspace", "Datastore.register_directory",
 * "datastore:upload", "datastore:download", "Dataset.File.from_files", "Dataset.File.from_archives",
 * "Dataset.File.from_manifest", "Dataset.File.from_failed_items",
 * "Dataset.Tabular.from_delimited_files",
 * "Dataset.Tabular.from_json_lines_files", "Dataset.Tabular.from_sql_query"), in the order of the manual; of
 * "arguments", which are settings that only the script's arguments can give; of "retry_settings" and "resources", tables that
 * the successor's configuration has (aliases.h). NULL: there is no such constructor. Static memory. */
const struct tm_field *tm_params_fields(const char *kind, size_t *n);
/* The name of a constructor, in the order of the manual; NULL behind the last. */
const char *tm_params_kind(size_t i);
const struct tm_field *tm_params_find(const char *kind, const char *name); /* or NULL */

/* Whether every key is known, every required one is there, and every value is accepted. 0, or TM_EUSAGE with words. A
 * PipelineParameter is checked by its default. */
int tm_params_check(const char *kind, const struct tm_json *v, struct tm_err *err);
/* One value, which may be a PipelineParameter where the field allows one. */
int tm_params_check_field(const struct tm_field *f, const struct tm_json *given,
                          struct tm_err *err);

/* The value in its one form, to be freed: INT and SIZE an integer, AMOUNT an integer or the text, NAMES a list, SECONDS and PERCENT a number, VARIABLES an object of
 * strings, ENVIRONMENT {variables, module_paths}, both always there, a CHOICE in any case the word of the table, else a copy. NULL: it is not accepted; the words are "'run_max_try' is 0; accepted: an integer from 1 on". */
struct tm_json *tm_params_value(const struct tm_field *f, const struct tm_json *given,
                                struct tm_err *err);
/* 1 or 0: a boolean, "true", "True", "false" or "False"; -1: something else. */
int tm_params_truth(const struct tm_json *given);
/* A list of objects, or one in its place, that is accepted; nothing is copied. */
bool tm_params_is_objects(const struct tm_field *f, const struct tm_json *given);
/* The default in its one form, to be freed, or NULL when there is none. */
struct tm_json *tm_params_default(const struct tm_field *f);

/* "an integer from 1 on" */
void tm_params_accepted(struct tm_buf *out, const struct tm_field *f);
/* What was given, for people: `"abc"`, `0.5`, `a list`, `a FileDataset`. */
void tm_params_describe(struct tm_buf *out, const struct tm_json *given);
/* "pipeline.lua:12: ParallelRunConfig: " before the words; returns err->code. */
int tm_params_place(const char *kind, const struct tm_json *v, struct tm_err *err);

#endif
