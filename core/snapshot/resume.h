/* resume.h - the differences between the definition that started a job and the one that resumes it.
 *
 * Both are the `effective` of a step (pipeline.h), the old one read from job.json. The writer of
 * the record may have added "snapshot_hash" (snapshot.h); if both have it, a difference means a
 * changed script.
 */
#ifndef TM_SNAPSHOT_RESUME_H
#define TM_SNAPSHOT_RESUME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

struct tm_field;

struct tm_change {
  char *key;          /* "mini_batch_size", "inputs[1].paths", "arguments[2]", "script", ... */
  char *before, *now; /* for messages, one line; "none" if there is no value */
  /* for the script: which files differ; the caller fills it; or NULL */
  char *what;
  bool is_allowed;              /* resuming is allowed, with a message */
  const struct tm_field *field; /* of a setting; else NULL */
};

/* Zero-initialised is empty. */
struct tm_changes {
  struct tm_change *at;
  size_t len, cap;
};

/* Adds each difference of one step, in the order of the manual. Origins of values are ignored. */
void tm_resume_compare(const struct tm_json *before, const struct tm_json *now,
                       struct tm_changes *out);
/* 0 if all are allowed; else TM_ECHANGED with a message that names each other one, with both values
 * and the remedy. */
int tm_resume_verdict(const struct tm_changes *changes, const char *step, struct tm_err *err);
/* TM_ECHANGED, with the same message about something else. */
int tm_resume_refuse(const char *step, const char *what, struct tm_err *err);
void tm_changes_release(struct tm_changes *changes);

#endif
