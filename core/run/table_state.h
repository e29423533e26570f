/* table_state.h - checks state/schema.json of a step over tables before anything of the step
 * starts.
 *
 * Workers read this file before they load rows. A damaged file would fail every remaining
 * mini-batch, one by one.
 */
#ifndef TM_RUN_TABLE_STATE_H
#define TM_RUN_TABLE_STATE_H

#include "plan/pipeline.h"
#include "run/manifest.h"

/* Reads at most 64 MB. 0 also for a step without tables, and if no mini-batch is listed yet.
 * TM_EDAMAGE: the file is damaged, or missing though mini-batches are listed; TM_EVERSION. */
int tm_table_state_check(const struct tm_step *step, struct tm_manifest *manifest,
                         const char *schema_file, struct tm_err *err);

#endif
