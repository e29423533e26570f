/* given.h - a value that a PipelineParameter is given at a submission, read as what its default is. Within plan.
 *
 *   default      given as text (--param)       given as a value (a file of parameters, a job's record)
 *   a string     the text                      a string, or a number
 *   a number     a number in digits            a number, or digits (parameters.c: also "1KB" and "5m", for settings)
 *   a boolean    true, True, false, False      a boolean, or one of the words
 *   a dataset    a path or pattern,            a path, a list of paths, or a dataset of the same type
 *                dataset:NAME[:VERSION]
 *
 * dataset:NAME is a registered dataset: of the default's workspace where that is registered, too, else of the pipeline
 * file's.
 * Paths take the place of the default's; what else it says of its files (their form, a name) stays. They are relative to where
 * they were given.
 */
#ifndef TM_PLAN_GIVEN_H
#define TM_PLAN_GIVEN_H

#include "base/err.h"
#include "base/json.h"
#include "plan/pipeline.h"

/* `base_dir`: the folder of the pipeline file. To free; NULL, and words with the parameter, what was given and what is accepted. */
struct tm_json *tm_given_read(const struct tm_json *otherwise, const struct tm_param *p,
                              const char *base_dir, struct tm_err *err);

#endif
