/* schema.h - the columns that the rows of a dataset have: names, types, and where their values come from.
 *
 * It is found once per job, from the first rows of the first file, and kept as JSON (state/schema.json) for all workers:
 *
 *   {"columns": [{"name": "price", "type": "double"}, {"name": "day", "type": "datetime", "formats": ["%d.%m.%Y"]},
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
#include "data/frame.h"

struct tm_schema_column {
  char *name;
  enum tm_column_type type;
  char **formats; /* of a datetime, tried in turn; none: ISO 8601 */
  size_t formats_len;
  bool
      of_file; /* the value is not in the rows but the same for all of a file: its path, or a part of it */
  bool
      is_date; /* a datetime whose texts have no time of day; says nothing of a column of another type */
  bool
      is_unread; /* nobody asks for it: no column of a frame, and its values are not looked at; not in the JSON */
};

struct tm_schema {
  struct tm_schema_column *columns; /* no two of one name */
  size_t len, cap;
  struct tm_map by_name; /* schema.c's own */
};

void tm_schema_release(struct tm_schema *s);                             /* usable again */
void tm_schema_copy(struct tm_schema *to, const struct tm_schema *from); /* `to` is empty */
bool tm_schema_is_equal(const struct tm_schema *a, const struct tm_schema *b);

/* Adds a column with the name or, where that is taken, with the name and "_2", "_3", ... behind it; a name that is "" is
 * "Column<n>", n its number from 1. Its type is string. Valid until the next add. */
struct tm_schema_column *tm_schema_add(struct tm_schema *s, const char *name, size_t name_len);
/* Adds a column of exactly this name, which may be "" and is not there yet. */
struct tm_schema_column *tm_schema_add_exact(struct tm_schema *s, const char *name,
                                             size_t name_len);
/* The number of the column with exactly this name, or -1. */
long tm_schema_find(const struct tm_schema *s, const char *name, size_t name_len);
/* TM_EUSAGE: there is no column of this name; the words say which there are. */
int tm_schema_refuse(const struct tm_schema *s, const char *name, struct tm_err *err);
/* Replaces type and formats; `formats` are copied. With formats, it is a date when none of them has a time of day. */
void tm_schema_set_type(struct tm_schema_column *c, enum tm_column_type type,
                        const char *const *formats, size_t formats_len);
/* Adds what `more` has and `s` has not, by name. Where both have a column, types that differ become string, or double
 * for long and double. For files with headers of their own. */
void tm_schema_merge(struct tm_schema *s, const struct tm_schema *more);

/* A builder with a column for each of the schema; those that are unread are left out. */
void tm_schema_begin_frame(const struct tm_schema *s, struct tm_frame_builder *b,
                           struct tm_arena *arena);

void tm_schema_write(struct tm_buf *out, const struct tm_schema *s);
/* Into an empty schema. The text may be hostile: TM_EDAMAGE, and nothing is to be released. */
int tm_schema_read(struct tm_schema *s, const char *p, size_t n, struct tm_err *err);

#endif
