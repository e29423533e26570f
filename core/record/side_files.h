/* side_files.h - the files that a step reads beside its inputs, as they were when it began: side
 * inputs, and datasets among its arguments.
 *
 *   <step>/state/side_input.N    the files of number N, with sizes and times (input_record.h); side
 *                                inputs first, from 1, then the datasets
 *   <step>/state/side_contents   hashes of the same files, where a step is reused by contents
 *
 * A file with the same size and time is the same, as for reuse. Where one of them differs and the
 * hashes are known, the contents decide. Files that the job itself keeps are not recorded:
 * outputs of its steps, and copies.
 *
 * The struct has copies of all that it needs: a thread that waits for a file system may outlive the
 * step.
 */
#ifndef TM_RECORD_SIDE_FILES_H
#define TM_RECORD_SIDE_FILES_H

#include "plan/pipeline.h"
#include "store/identity.h"

struct tm_side_files;

/* NULL: the step reads no such files. */
struct tm_side_files *tm_side_files_new(const struct tm_fs *fs, const struct tm_step *step,
                                        const char *state_dir);
void tm_side_files_free(struct tm_side_files *s);

/* Lists the files as they are now; before write or compare. It writes nothing, and may be called on
 * a thread that is left behind. */
void tm_side_files_list(struct tm_side_files *s);
/* Records the files as they were listed. What could not be listed is not recorded: the script will
 * report it. `again`: also where there is a record. `contents`: of the same files, perhaps among
 * others; or NULL. */
int tm_side_files_write(const struct tm_side_files *s, const struct tm_identity *contents,
                        bool again, struct tm_err *err);
/* Adds what differs from the record, in one line that names the files; nothing if all are the same.
 * What has no record counts as the same. */
void tm_side_files_compare(const struct tm_side_files *s, struct tm_buf *words);

#endif
