/* params_check.h - checks a definition, or a part of it, against the table of params.h.
 *
 * If the root of the tree has `where`, the message of a refusal begins with it:
 *
 *   pipeline.lua:12: ParallelRunConfig: 'run_max_try' is 0; accepted: an integer from 1 on
 */
#ifndef TM_PLAN_PARAMS_CHECK_H
#define TM_PLAN_PARAMS_CHECK_H

#include "base/err.h"
#include "base/json.h"
#include "params/params.h"

/* Checks that every key is known, every required one is given, and every value is accepted. 0, or
 * TM_EUSAGE with a message. A PipelineParameter is checked by its default. In a ParallelRunConfig,
 * the names of aliases.h are accepted, too, each with the range of our setting; no setting may be
 * given under two names. */
int tm_params_check(const char *kind, const struct tm_json *v, struct tm_err *err);
/* Checks one value, which may be a PipelineParameter if the field allows one. */
int tm_params_check_field(const struct tm_field *f, const struct tm_json *given,
                          struct tm_err *err);

#endif
