/* dry.h - what would be run: for --dry-run. Reads the inputs as a job would, makes nothing. */
#ifndef TM_CLI_DRY_H
#define TM_CLI_DRY_H

#include "plan/pipeline.h"

/* Writes to standard output, for each step: its mini-batches, the first and the last of them, the effective settings with
 * the origin of each. `json`: one object on one line,
 *
 *   {"pipeline", "file" (null: there is none), "steps": [{"name", "mini_batches", "items", "first": {"index", "items", "from", "to"}, "last",
 *    "settings": {NAME: {"value", "origin"}}, "reuse": that of `explained`}]}
 *
 * `explained`: what explain.h says of each step, or NULL.
 * The exit status, or a negative code with words: an input that cannot be read, or that holds nothing. */
int tm_dry_run(const struct tm_pipeline *pipeline, const struct tm_json *explained, bool json,
               struct tm_err *err);
/* --dry-run beside --resume: TM_EUSAGE. */
int tm_dry_refuse_resume(struct tm_err *err);

#endif
