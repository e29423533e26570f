/* given.h - a value for a PipelineParameter at submission, converted to the type of its default.
 * Within plan, except struct tm_param.
 *
 *   default      given as text (--param)       given as a value (in a file, a job's record)
 *   a string     the text                      a string, or a number
 *   a number     a number in digits            a number, or digits (for settings, parameters.c
 *                                              also reads "1KB" and "5m")
 *   a boolean    true, True, false, False      a boolean, or one of the words
 *   a dataset    a path or pattern,            a path, a list of paths, or a dataset of the
 *                dataset:NAME[:VERSION]        same type
 *
 * dataset:NAME is a registered dataset: in the default's workspace if the default is registered,
 * else in the pipeline file's. Paths replace those of the default and are relative to where they
 * were given; its other properties (format, name) stay.
 */
#ifndef TM_PLAN_GIVEN_H
#define TM_PLAN_GIVEN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/* A value for a PipelineParameter: --param NAME=VALUE, or from a file or a job's record. */
struct tm_param {
  const char *name, *value;   /* as text */
  const struct tm_json *tree; /* or as a value; NULL: as text */
  const char *origin;         /* for messages: "--param", the name of a file */
  const char *base_dir;       /* for paths of a dataset; NULL: the folder of the pipeline file */
  const char *file;           /* prefix for the message of a refusal, or NULL */
  bool is_optional;           /* a pipeline without such a parameter is accepted */
};

/* `base_dir`: the folder of the pipeline file. To free; NULL with a message that has the parameter,
 * what was given and what is accepted. */
struct tm_json *tm_given_read(const struct tm_json *otherwise, const struct tm_param *p,
                              const char *base_dir, struct tm_err *err);

#endif
