/* input_record.h - the files that a step has read, and their state when they were listed:
 * <step>/state/inputs.
 *
 * Links and copies made by the job itself are not recorded. The lister's thread records each file
 * before any of its items is used, so that a later change is detected. The record is written before
 * the list of mini-batches gets its end. Only reuse.h uses it: if it is missing or damaged, a step
 * is run again, nothing worse.
 *
 *   "TMINPUTS" version u32 flags u32 (1: files follow, 2: their contents were read)
 *   files u64 bytes u64 hash u64
 *   the files (data/item.h), relative to the job's directory; a check sum u64 of all before
 */
#ifndef TM_RECORD_INPUT_RECORD_H
#define TM_RECORD_INPUT_RECORD_H

#include "data/dataset.h"
#include "store/identity.h"

#define TM_INPUT_RECORD_MAX 100000 /* files that are named; beyond that only the sum is stored */

struct tm_input_record {
  const struct tm_fs *fs;
  const struct tm_dataset *const *inputs; /* bound (plan/bound.h); belong to the caller */
  struct tm_identity sum;
  uint32_t at; /* the input of the last file */
  /* the sum before that input; of its list only the length has meaning */
  struct tm_identity before;
};

void tm_input_record_init(struct tm_input_record *r, const struct tm_fs *fs,
                          const struct tm_dataset *const *inputs, bool by_content);
void tm_input_record_release(struct tm_input_record *r);
/* For on_file in data/splitter.h. */
int tm_input_record_add(struct tm_input_record *r, uint32_t input, const struct tm_item *file,
                        struct tm_err *err);

/* Atomic. */
int tm_input_record_write(const struct tm_fs *fs, const char *path, const struct tm_identity *sum,
                          struct tm_err *err);
/* TM_EDAMAGE, TM_EVERSION, -ENOENT. Release `out` in every case. */
int tm_input_record_read(struct tm_identity *out, const struct tm_fs *fs, const char *path,
                         struct tm_err *err);

/* Only how many files there are, and their bytes, without a check of the whole file: for a page.
 * TM_EDAMAGE, TM_EVERSION, or a system error. */
int tm_input_record_sum(int64_t *files, int64_t *bytes, const struct tm_fs *fs, const char *path,
                        struct tm_err *err);

/* Adds the files that a dataset names now, like its lister. If `stop` gets set, it ends with
 * -ECANCELED; may be NULL. */
int tm_input_record_list(struct tm_identity *out, const struct tm_fs *fs,
                         const struct tm_dataset *d, const atomic_bool *stop, struct tm_err *err);

#endif
