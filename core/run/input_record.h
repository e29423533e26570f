/* input_record.h - which files a step has read, and what they were when they were listed: <step>/state/inputs.
 *
 * Links and copies that the job itself has made are no part of it. The lister's thread tells of each file before any of it is handed out, so that a file that is changed later is another one
 * to who looks again. The record is written before the list of mini-batches gets its end. It is of use to reuse.h alone: where
 * it is missing or damaged a step is run again, no more.
 *
 *   "TMINPUTS" version u32 flags u32 (1: files follow, 2: their contents were read)  files u64 bytes u64 hash u64
 *   the files (data/item.h), without what is before the job's directory; a check sum u64 of all before
 */
#ifndef TM_RUN_INPUT_RECORD_H
#define TM_RUN_INPUT_RECORD_H

#include "data/dataset.h"
#include "store/identity.h"

#define TM_INPUT_RECORD_MAX 100000 /* files that are named; of more only the sum is kept */

struct tm_input_record {
  const struct tm_fs *fs;
  const struct tm_dataset *const *inputs; /* bound (plan/bound.h); the caller's */
  struct tm_identity sum;
  uint32_t at; /* the input of the last file */
  struct tm_identity
      before; /* what the sum was before that input; its list is of no meaning but for its length */
};

void tm_input_record_init(struct tm_input_record *r, const struct tm_fs *fs,
                          const struct tm_dataset *const *inputs, bool by_content);
void tm_input_record_release(struct tm_input_record *r);
/* As of on_file in data/cut.h. */
int tm_input_record_add(struct tm_input_record *r, uint32_t input, const struct tm_item *file,
                        struct tm_err *err);

/* Atomic. */
int tm_input_record_write(const struct tm_fs *fs, const char *path, const struct tm_identity *sum,
                          struct tm_err *err);
/* TM_EDAMAGE, TM_EVERSION, -ENOENT. Release `out` in every case. */
int tm_input_record_read(struct tm_identity *out, const struct tm_fs *fs, const char *path,
                         struct tm_err *err);

/* Adds the files that a dataset names now, as its lister would. A set `stop` ends it with -ECANCELED; may be NULL. */
int tm_input_record_list(struct tm_identity *out, const struct tm_fs *fs,
                         const struct tm_dataset *d, const atomic_bool *stop, struct tm_err *err);

#endif
