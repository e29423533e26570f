/* schema.h - the columns of a dataset's rows: names, types, and where their values come from.
 *
 * It is inferred once per job, from the first rows of the first file, and stored as JSON
 * (state/schema.json) for all workers:
 *
 *   {"columns": [{"name": "price", "type": "double"},
 *                {"name": "day", "type": "datetime", "formats": ["%d.%m.%Y"]},
 *                {"name": "born", "type": "datetime", "is_date": true},
 *                {"name": "Path", "type": "string", "of_file": true}]}
 */
#ifndef TM_DATA_ROWS_SCHEMA_H
#define TM_DATA_ROWS_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "data/frame/frame.h"

/* The first rows of a table, from which the types of its columns are inferred (infer.h). */
#define TM_INFER_ROWS 200

struct tm_schema_column {
  char *name;
  enum tm_column_type type;
  char **formats; /* of a datetime, tried in turn; none: ISO 8601 */
  size_t formats_len;
  /* the value is not in the rows but is the same for a whole file: its path, or a part of it */
  bool of_file;
  bool is_date; /* a datetime without a time of day; no meaning for other types */
  /* an earlier column had its name, so it got a number at its end; not in the JSON */
  bool is_renamed;
  /* not needed: left out of frames, and its values are not parsed; not in the JSON */
  bool is_unread;
};

struct tm_schema {
  struct tm_schema_column *columns; /* names are unique */
  size_t len, cap;
  struct tm_map by_name; /* private to schema.c */
};

void tm_schema_release(struct tm_schema *s);                             /* usable again */
void tm_schema_copy(struct tm_schema *to, const struct tm_schema *from); /* `to` is empty */
bool tm_schema_is_equal(const struct tm_schema *a, const struct tm_schema *b);

/* Adds a column with the name or, if that is taken, with "_2", "_3", ... appended; an empty name
 * becomes "Column<n>", n its number from 1. Its type is string. Valid until the next add. */
struct tm_schema_column *tm_schema_add(struct tm_schema *s, const char *name, size_t name_len);
/* Adds a column of exactly this name, which may be "" and must be new. */
struct tm_schema_column *tm_schema_add_exact(struct tm_schema *s, const char *name,
                                             size_t name_len);
/* The number of the column with exactly this name, or -1. */
long tm_schema_find(const struct tm_schema *s, const char *name, size_t name_len);
/* TM_EUSAGE: there is no column of this name; the message lists the columns. */
int tm_schema_refuse(const struct tm_schema *s, const char *name, struct tm_err *err);
/* Replaces type and formats; copies `formats`. With formats, is_date is true if none of them has a
 * time of day. */
void tm_schema_set_type(struct tm_schema_column *c, enum tm_column_type type,
                        const char *const *formats, size_t formats_len);
/* Adds the columns of `more` that `s` lacks, by name. If a column of both has different types, it
 * becomes string, or double for long and double. For files with headers of their own. */
void tm_schema_merge(struct tm_schema *s, const struct tm_schema *more);

/* A builder with a column for each of the schema; unread ones are left out. */
void tm_schema_begin_frame(const struct tm_schema *s, struct tm_frame_builder *b,
                           struct tm_arena *arena);

void tm_schema_write(struct tm_buf *out, const struct tm_schema *s);
/* Reads into an empty schema. The text may be hostile: TM_EDAMAGE, and nothing to release. */
int tm_schema_read(struct tm_schema *s, const char *p, size_t n, struct tm_err *err);

#endif
