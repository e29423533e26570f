/* params.h - the keys of definitions: one table per constructor, and everything derived from it:
 * the checks (params_check.h), the did-you-mean, the comparison on resume, the options and help of
 * the command line.
 *
 * A definition comes as a tree (base/json.h).
 */
#ifndef TM_PLAN_PARAMS_H
#define TM_PLAN_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

enum tm_field_type {
  TM_FIELD_INT, /* integer within min and max; also as digits in a string */
  /* number within min and max; in a string also "5m", "2h", "none", and the word in `accepts` */
  TM_FIELD_SECONDS,
  TM_FIELD_PERCENT, /* like SECONDS, with another unit */
  TM_FIELD_SIZE,    /* bytes: a number, or "10MB" */
  TM_FIELD_AMOUNT,  /* of a mini-batch: an integer within min and max, "10MB" or "500rows" */
  /* one of the words in `accepts`, separated by '|'; true and false may be booleans */
  TM_FIELD_CHOICE,
  TM_FIELD_PATH,
  TM_FIELD_FILE_NAME, /* without a folder */
  TM_FIELD_TEXT,      /* of at least `min` bytes */
  TM_FIELD_SEPARATOR, /* of delimited rows: one ASCII character; "\\t" (two characters) is a tab */
  TM_FIELD_BOOL,
  TM_FIELD_NAME,        /* of a step or pipeline: 1 to 32 of a-z 0-9 - _ */
  TM_FIELD_WORD,        /* of a parameter, dataset or output: letters, digits, '-', '_', '.' */
  TM_FIELD_VARIABLES,   /* names with values */
  TM_FIELD_ENVIRONMENT, /* { variables = VARIABLES, module_paths = list of paths } */
  TM_FIELD_SCALAR, /* a string, a number or a boolean, or an object that one of `accepts` made */
  TM_FIELD_NAMES,  /* a list of one or more different strings; a single string counts as a list */
  /* one string, or a list of one or more, which may be equal; kept as it was given */
  TM_FIELD_STRINGS,
  TM_FIELD_TYPES,  /* names of columns with their types; normalized: { name = { type, formats } } */
  TM_FIELD_LIST,   /* any list */
  TM_FIELD_ANY,    /* its reader checks it */
  TM_FIELD_OBJECT, /* an object made by the constructor in `accepts` */
  TM_FIELD_OBJECTS, /* a list of one or more of them */
};

enum {
  TM_FIELD_REQUIRED = 1,
  TM_FIELD_PARAMETER = 2,  /* may be a PipelineParameter */
  TM_FIELD_CHANGEABLE = 4, /* may differ when a job is resumed */
  TM_FIELD_OR_ONE = 8,     /* for OBJECTS: a single object counts as a list */
  TM_FIELD_ARGUMENT = 16,  /* may be given in the script's arguments, by exact name: arguments.h */
  TM_FIELD_AT_FIRST = 64,  /* only matters when a job begins: ignored on resume */
  TM_FIELD_WORDED = 128,   /* `help` is the whole message of a refusal */
  TM_FIELD_ANY_CASE = 32,  /* for CHOICE: words in upper case, accepted in any case */
  TM_FIELD_RESULT = 1024,  /* changeable, but may change results: reuse_key.h */
  TM_FIELD_FAILS = 2048,   /* changeable; affects what fails, or whether failures are too many */
};

/* The limits of a table's rows. */
#define TM_MAX_COLUMNS          65536
#define TM_MAX_RECORD_SIZE      ((size_t)64 << 20)
#define TM_MAX_COLUMNS_MOST     (1 << 24) /* the highest limits that a definition may set */
#define TM_MAX_RECORD_SIZE_MOST ((size_t)1 << 31)

struct tm_field {
  const char *name;
  enum tm_field_type type;
  double min, max;       /* for numbers, in the unit of the type; max 0: no limits */
  const char *otherwise; /* the default as text; NULL: none, or computed by the plan */
  const char *accepts;   /* words of CHOICE, constructors of OBJECT and OBJECTS; or NULL */
  unsigned flags;        /* TM_FIELD_REQUIRED | ... */
  const char *help;      /* one line */
};

/* The fields of a constructor, in the order of the manual: "ParallelRunConfig", "ParallelRunStep",
 * "Pipeline", "PipelineParameter", "OutputFileDatasetConfig", "dataset:register",
 * "dataset:mini_batches", "load_script", "pipeline:submit", "Workspace",
 * "Datastore.register_directory", "datastore:upload", "datastore:download",
 * "Dataset.File.from_files", "Dataset.File.from_archives", "Dataset.File.from_manifest",
 * "Dataset.File.from_failed_items", "Dataset.Tabular.from_delimited_files",
 * "Dataset.Tabular.from_json_lines_files", "Dataset.Tabular.from_sql_query". Also of "arguments",
 * settings that only the script's arguments can give, and of "retry_settings" and "resources",
 * tables in the successor's configuration (aliases.h), and of "dataset", what the constructors of
 * datasets make (data/dataset.h), and of "op:take" and the like, operations on the rows of a table
 * (data/table/table_ops.h). NULL: there is no such constructor. Static memory. */
const struct tm_field *tm_params_fields(const char *kind, size_t *n);
/* The name of a constructor, in the order of the manual; NULL after the last. */
const char *tm_params_kind(size_t i);
const struct tm_field *tm_params_find(const char *kind, const char *name); /* or NULL */

/* The normalized value, to be freed: INT and SIZE an integer, AMOUNT an integer or the text, NAMES
 * a list, SECONDS and PERCENT a number (SECONDS: or the word of the table), VARIABLES an object of
 * strings, ENVIRONMENT {variables, module_paths} with both members, a CHOICE in any case the word
 * of the table, else a copy. NULL: not accepted; the message is
 * "'run_max_try' is 0; accepted: an integer from 1 on". */
struct tm_json *tm_params_value(const struct tm_field *f, const struct tm_json *given,
                                struct tm_err *err);
/* 1 or 0: a boolean, "true", "True", "false" or "False"; -1: something else. */
int tm_params_truth(const struct tm_json *given);
/* Whether it is an accepted list of objects, or a single one; copies nothing. */
bool tm_params_is_objects(const struct tm_field *f, const struct tm_json *given);
/* The normalized default, to be freed, or NULL if there is none. */
struct tm_json *tm_params_default(const struct tm_field *f);

/* Normalizes all given fields, in the order of the manual; `is_full`: adds the defaults of the
 * others. To be freed. NULL: a key is unknown, a required field is missing, or a value is not
 * accepted. Everything that reads definitions from files and messages begins with it. */
struct tm_json *tm_params_settle(const char *kind, const struct tm_json *given, bool is_full,
                                 struct tm_err *err);
/* TM_EUSAGE: "'entry_script' is missing; it is required: a path". */
int tm_params_refuse_missing(const struct tm_field *f, struct tm_err *err);

/* "an integer from 1 on" */
void tm_params_accepted(struct tm_buf *out, const struct tm_field *f);
/* What was given, for messages: `"abc"`, `0.5`, `a list`, `a FileDataset`. */
void tm_params_describe(struct tm_buf *out, const struct tm_json *given);
/* Puts "pipeline.lua:12: ParallelRunConfig: " before the message; returns err->code. */
int tm_params_locate(const char *kind, const struct tm_json *v, struct tm_err *err);

#endif
