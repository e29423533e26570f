/* names.h - names of the original that do not exist here, each with its replacement.
 *
 * The constructors, their options, the modules and the objects in Lua look up unknown names in this
 * table. The sentences complete a message: "tidemill.PipelineData does not exist; write
 * OutputFileDatasetConfig { name }".
 */
#ifndef TM_PLAN_NAMES_H
#define TM_PLAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* What to write instead of `name` in `owner`; NULL: not in the table. Static memory.
 *
 * `owner` is a constructor of params/params.h, or "tidemill", "Dataset", "Dataset.File",
 * "Dataset.Tabular", "FileDataset", "TabularDataset", "DataType", "Workspace", "workspace",
 * "Datastore", "datastore", "Job", "context", "EntryScript", "logger", "as_upload", "as_mount",
 * "a data frame", "a column" or "group_by()"; lower case means an object or a function. */
const char *tm_names_find(const char *owner, const char *name);

/* Adds what is known of a name that nothing here has, for `tidemill help NAME`: a setting under
 * another name, a name or an argument of the original, or Python. False: nothing is known. */
bool tm_names_explain(struct tm_buf *out, const char *name);

/* Refuses a key that the constructor `kind` does not have. The message says what to write instead,
 * or which constructor has the key, or has the nearest key, or all keys. Returns TM_EUSAGE. */
int tm_names_refuse_key(const char *kind, const char *key, struct tm_err *err);

/* What to write instead of an argument of the original's runner, given without its dashes.
 * `is_ignored`: it has no effect here, and a pipeline that gives it runs. */
const char *tm_names_find_argument(const char *name, size_t len, bool *is_ignored);

/* What to write instead of a string with an expression of YAML, "${{inputs.model}}"; NULL: another
 * value. Static memory. */
const char *tm_names_of_value(const struct tm_json *value);

/* What to do with a file of the original that was given instead of a Lua file, by its suffix; NULL:
 * unknown. Static memory. */
const char *tm_names_of_file(const char *path);

#endif
