/* dataset.h - the definition of a dataset: where its files are, and of a table how its rows are written. Nothing is looked at
 * before it is listed. */
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
  TM_DATASET_FILES,    /* from_files: paths, folders and patterns */
  TM_DATASET_MANIFEST, /* from_manifest: a file of paths, one a line; the path "-" is standard input */
  TM_DATASET_FAILED,     /* from_failed_items: a failed_items.jsonl */
  TM_DATASET_DELIMITED,  /* Tabular.from_delimited_files: paths, folders and patterns */
  TM_DATASET_JSON_LINES, /* Tabular.from_json_lines_files */
  TM_DATASET_SQL,        /* Tabular.from_sql_query: the paths are databases */
  TM_DATASET_ARCHIVES, /* from_archives: paths, folders and patterns of archives; their entries are the items */
};

/* Where a step finds its files. */
enum tm_dataset_mode {
  TM_DATASET_DIRECT,   /* where they are */
  TM_DATASET_MOUNT,    /* links to them */
  TM_DATASET_DOWNLOAD, /* copies of them */
};

struct tm_dataset {
  enum tm_dataset_kind kind;
  enum tm_dataset_mode mode;
  char *place;  /* where these are to be seen, as given; or NULL: anywhere */
  char *name;   /* as_named_input, or NULL */
  char **paths; /* as written, relative ones against base_dir */
  size_t paths_len;
  char *base_dir;      /* absolute; NULL: the job's directory, which is known when there is a job */
  char *step;          /* of the job, that writes it; NULL: it is there before the job */
  bool null_separated; /* of a manifest */
  int64_t input;       /* of failed items: only those of the input of this number; negative: all */
  bool skip_unreadable; /* on_unreadable = "skip"; else an unreadable folder ends the job */
  bool
      is_placed; /* its files are links or copies that the job has made: tm_dataset_within(); in no definition */
  bool takes_hidden;      /* of who looks at all that is in its folders; in no definition */
  char *partition_format; /* partition.h, or NULL */
  int64_t limit;          /* only so many of its first items; 0: all */
  char *registered;       /* the name that it was got by from the workspace's registry, or NULL */
  int64_t version;        /* of that; 0: not registered */
  char *workspace;        /* absolute; the registry's, or NULL */
  char *where;            /* file:line of its definition, or NULL */
  struct tm_json *options, *ops; /* of a table or of archives, as they were given; else NULL */
  struct tm_table *table;        /* what they say of a table, */
  struct tm_archives *archives;  /* or of archives */
};

/* From the object that the Lua constructors make (tag "FileDataset" or "TabularDataset"): keys kind ("files", "manifest", "failed",
 * "delimited", "json_lines", "sql", "archives"), paths, base_dir, name, null_separated, on_unreadable, input, partition_format, limit,
 * mode ("mount", "download"), place, registered, version, workspace, of archives options (archives.h), of a table options (table.h)
 * and ops (table_ops.h); or step in place of base_dir: paths are in the job's directory. Unknown keys and wrong types are refused with
 * `where`. To free. */
struct tm_dataset *tm_dataset_from_json(const struct tm_json *v, struct tm_err *err);
struct tm_json *tm_dataset_to_json(const struct tm_dataset *d);
/* Adds the definitions of the inputs that are tables as one JSON array, with null in the place of the others. Adds nothing
 * when none is a table. */
void tm_dataset_tables(struct tm_buf *out, const struct tm_dataset *const *inputs, size_t n);
struct tm_dataset *tm_dataset_copy(const struct tm_dataset *d);
/* The same in the directory of a job; to free. */
struct tm_dataset *tm_dataset_bind(const struct tm_dataset *d, const char *job_dir);
/* All the files of a folder (absolute), which are those of `d` elsewhere, with its name and columns; to free. */
struct tm_dataset *tm_dataset_within(const struct tm_dataset *d, const char *folder);
bool tm_dataset_is_table(const struct tm_dataset *d);
/* "FileDataset", "TabularDataset" */
const char *tm_dataset_tag(const struct tm_dataset *d);
/* It is read from standard input: once, and never again. */
bool tm_dataset_is_stdin(const struct tm_dataset *d);
void tm_dataset_free(struct tm_dataset *d);

/* Its items are entries of archives, which a worker extracts before run() gets their paths. */
bool tm_dataset_is_extracted(const struct tm_dataset *d);

#endif
