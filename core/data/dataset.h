/* dataset.h - the definition of a dataset: where its files are and, for a table, the format of its
 * rows. No file is looked at before it is listed. */
#ifndef TM_DATA_DATASET_H
#define TM_DATA_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct tm_archives;
struct tm_table;

enum tm_dataset_kind {
  TM_DATASET_FILES, /* from_files: paths, folders and patterns */
  /* from_manifest: a file of paths, one per line; the path "-" is standard input */
  TM_DATASET_MANIFEST,
  TM_DATASET_FAILED,     /* from_failed_items: a failed_items.jsonl */
  TM_DATASET_DELIMITED,  /* Tabular.from_delimited_files: paths, folders and patterns */
  TM_DATASET_JSON_LINES, /* Tabular.from_json_lines_files */
  TM_DATASET_SQL,        /* Tabular.from_sql_query: the paths are databases */
  /* from_archives: paths, folders and patterns of archives; their entries are the items */
  TM_DATASET_ARCHIVES,
};

/* Where a step finds its files. */
enum tm_dataset_mode {
  TM_DATASET_DIRECT,   /* in place */
  TM_DATASET_MOUNT,    /* links to them */
  TM_DATASET_DOWNLOAD, /* copies of them */
};

struct tm_dataset {
  enum tm_dataset_kind kind;
  enum tm_dataset_mode mode;
  char *place;  /* where the step sees them, as given; NULL: anywhere */
  char *name;   /* as_named_input, or NULL */
  char **paths; /* as written, relative to base_dir */
  size_t paths_len;
  char *base_dir;       /* absolute; NULL: the job's directory, not known before there is a job */
  char *step;           /* the step of the job that writes it; NULL: it exists before the job */
  bool null_separated;  /* of a manifest */
  int64_t input;        /* of failed items: only those of this input; negative: all */
  bool skip_unreadable; /* on_unreadable = "skip"; else an unreadable folder ends the job */
  /* its files are links or copies made by the job: tm_dataset_within(); not in a definition */
  bool is_placed;
  bool takes_hidden;             /* includes hidden files; not in a definition */
  char *partition_format;        /* partition.h, or NULL */
  int64_t limit;                 /* only so many first items; 0: all */
  char *registered;              /* its name in the workspace's registry, or NULL */
  int64_t version;               /* of the registered dataset; 0: not registered */
  char *workspace;               /* absolute; of the registry, or NULL */
  char *where;                   /* file:line of its definition, or NULL */
  struct tm_json *options, *ops; /* of a table or of archives, as given; else NULL */
  struct tm_table *table;        /* the parsed options of a table, else NULL */
  struct tm_archives *archives;  /* the parsed options of archives, else NULL */
};

/* From the object that the Lua constructors make (tag "FileDataset" or "TabularDataset"): keys kind
 * ("files", "manifest", "failed", "delimited", "json_lines", "sql", "archives"), paths, base_dir,
 * name, null_separated, on_unreadable, input, partition_format, limit, mode ("mount", "download"),
 * place, registered, version, workspace; options of archives (archives.h) or of a table (table.h),
 * and ops of a table (table_ops.h); or step instead of base_dir: paths are in the job's directory.
 * Unknown keys and wrong types are refused with `where`. Free it. */
struct tm_dataset *tm_dataset_from_json(const struct tm_json *v, struct tm_err *err);
/* The constructor that makes such an object, by its kind; "Dataset.File.from_files" without one. */
const char *tm_dataset_constructor(const struct tm_json *v);
struct tm_json *tm_dataset_to_json(const struct tm_dataset *d);
/* Adds the definitions of the inputs that are tables as one JSON array, with null for the others.
 * Adds nothing if none is a table. */
void tm_dataset_tables(struct tm_buf *out, const struct tm_dataset *const *inputs, size_t n);
struct tm_dataset *tm_dataset_copy(const struct tm_dataset *d);
/* A copy with its paths in the directory of a job; free it. */
struct tm_dataset *tm_dataset_bind(const struct tm_dataset *d, const char *job_dir);
/* A dataset of all files in the absolute folder, for a folder with links to or copies of the files
 * of `d`. It has the name and columns of `d`; free it. */
struct tm_dataset *tm_dataset_within(const struct tm_dataset *d, const char *folder);
bool tm_dataset_is_table(const struct tm_dataset *d);
/* "FileDataset", "TabularDataset" */
const char *tm_dataset_tag(const struct tm_dataset *d);
/* Whether it is read from standard input, which can be read only once. */
bool tm_dataset_is_stdin(const struct tm_dataset *d);
void tm_dataset_free(struct tm_dataset *d);

/* Whether its items are entries of archives that a worker extracts before run() gets their
 * paths. */
bool tm_dataset_is_extracted(const struct tm_dataset *d);

#endif
