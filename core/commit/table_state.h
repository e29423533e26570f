/* table_state.h - checks state/schema.json of a step over tables before anything of the step
 * starts.
 *
 * Workers read this file before they load rows. A damaged file would fail every remaining
 * mini-batch, one by one.
 */
#ifndef TM_COMMIT_TABLE_STATE_H
#define TM_COMMIT_TABLE_STATE_H

#include "commit/manifest.h"
#include "data/dataset.h"

/* `inputs`: of the step. Reads at most 64 MB. 0 also for a step without tables, and if no rows are
 * listed yet. TM_EDAMAGE: the file is damaged, or missing though rows are listed; TM_EVERSION;
 * TM_EINPUT: the list has ended and no file of it could be read. */
int tm_table_state_check(const struct tm_dataset *const *inputs, size_t n,
                         struct tm_manifest *manifest, const char *schema_file, struct tm_err *err);
/* For a step that is not over: whether the files of grouped rows are there, which only a step with
 * partition_keys has. `n`: its inputs. TM_EDAMAGE: one is missing or empty, or the job has been
 * moved: the list has their paths. 0 also if the list has not ended: then they are made again. */
int tm_table_state_check_groups(size_t n, struct tm_manifest *manifest, const char *state_dir,
                                struct tm_err *err);

#endif
