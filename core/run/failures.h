/* failures.h - failed_items.jsonl: those lines of the failures log that still count. */
#ifndef TM_RUN_FAILURES_H
#define TM_RUN_FAILURES_H

#include "run/journal.h"
#include "run/output.h"

/* Writes `path`, all or nothing: the lines of each mini-batch's latest record, in the order of the journal. Without any the
 * file is removed. All of journal and log has been flushed. Memory: two bits for each mini-batch. */
int tm_failures_write(const struct tm_journal *j, const struct tm_output *log,
                      uint64_t mini_batches, const char *path, struct tm_err *err);

#endif
