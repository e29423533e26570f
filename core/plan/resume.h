/* resume.h - what has changed between the definition that a job was started with and the one it is resumed with.
 *
 * Both are the `effective` of a step (pipeline.h), the old one read from job.json. Whoever wrote the record may have
 * added "snapshot_hash" (snapshot.h); where both have it, a difference is a changed script.
 */
#ifndef TM_PLAN_RESUME_H
#define TM_PLAN_RESUME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

struct tm_field;

struct tm_change {
  char *key;          /* "mini_batch_size", "inputs", "arguments", "script", ... */
  char *before, *now; /* for people, one line; "none" where there was or is no value */
  char *what;         /* of the script: which files differ, filled by the caller; or NULL */
  bool is_allowed;    /* resuming goes on with it; it is said */
  const struct tm_field *field; /* of a setting; else NULL */
};

/* Zero-initialised is empty. */
struct tm_changes {
  struct tm_change *at;
  size_t len, cap;
};

/* Adds each difference of one step, in the order of the manual. Where a value came from makes none. */
void tm_resume_compare(const struct tm_json *before, const struct tm_json *now,
                       struct tm_changes *out);
/* 0 when all are allowed; else TM_ECHANGED, and the words name each that is not, with both values and the way on. */
int tm_resume_verdict(const struct tm_changes *changes, const char *step, struct tm_err *err);
void tm_changes_release(struct tm_changes *changes);

#endif
