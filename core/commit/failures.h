/* failures.h - failed_items.jsonl: the lines of the failures log that still count. */
#ifndef TM_COMMIT_FAILURES_H
#define TM_COMMIT_FAILURES_H

#include "commit/journal.h"
#include "commit/output.h"

/* Replaces `path` atomically: the lines of each mini-batch's latest record, in the order of the
 * journal. Without lines the file is removed. Journal and log must be flushed. Memory: two bits per
 * mini-batch. */
int tm_failures_write(const struct tm_journal *j, const struct tm_output *log,
                      uint64_t mini_batches, const char *path, struct tm_err *err);

#endif
