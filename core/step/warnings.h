/* warnings.h - what a step warns of once, however often it happens, and the sums that it reports
 * when it has ended. It only counts; its caller says the words.
 */
#ifndef TM_STEP_WARNINGS_H
#define TM_STEP_WARNINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "data/frame/fault_list.h"

enum tm_warning {
  TM_WARNS_SURPLUS,   /* more elements returned than there are items */
  TM_WARNS_SHORT,     /* rows without an element count as failed */
  TM_WARNS_UNCOUNTED, /* rows of a failed mini-batch could not be counted */
  TM_WARNING_KINDS
};

struct tm_warnings { /* zero: nothing has happened */
  bool has[TM_WARNING_KINDS];
  struct tm_row_faults {
    int64_t mini_batches; /* that had some */
    int64_t count;
    char what[100];
  } faults[TM_FAULT_LIST_KINDS]; /* in rows of this session, by kind */
};

/* True the first time. */
bool tm_warnings_is_first(struct tm_warnings *w, enum tm_warning kind);
/* Adds faults of one kind in the rows of a mini-batch. True if they are the first of their kind. */
bool tm_warnings_add_faults(struct tm_warnings *w, const struct tm_fault_entry *e);
/* Adds the sum of one kind. False if the first warning has said it: at most one mini-batch had
 * such faults. */
bool tm_warnings_describe(const struct tm_warnings *w, int kind, struct tm_buf *out);

#endif
