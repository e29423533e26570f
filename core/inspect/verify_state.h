/* verify_state.h - checks the files in the folder state/ of a step that no journal covers: whether
 * the files of every step are there, and the files of a step over tables by their own check sums.
 * For verify.c.
 */
#ifndef TM_INSPECT_VERIFY_STATE_H
#define TM_INSPECT_VERIFY_STATE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "commit/manifest.h"
#include "inspect/verify_upload.h"

#define TM_VERIFY_GONE "it has been removed or emptied"

int64_t tm_verify_size_of(const char *path); /* -1: there is no such file */
/* Reports each file that is missing or empty. False: there is one. */
bool tm_verify_state_files(struct tm_faults *faults, const char *step_dir);
/* Reads schema.json and the rows in groups-N, and compares them with the list of mini-batches: it
 * says which inputs have rows, and where their last groups end. `step`: of job.json. Returns 0 or a
 * system error: a file could not be read. */
int tm_verify_state_tables(struct tm_faults *faults, const char *step_dir,
                           const struct tm_json *step, struct tm_manifest *manifest,
                           struct tm_err *err);

#endif
