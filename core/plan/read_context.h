/* read_context.h - the context in which a step of a definition is read. Within plan. */
#ifndef TM_PLAN_READ_CONTEXT_H
#define TM_PLAN_READ_CONTEXT_H

#include "plan/outputs.h"
#include "plan/parameters.h"

struct tm_plan_reader {
  const struct tm_values *values;
  char *base_dir;          /* the pipeline file's folder, absolute */
  const char *working_dir; /* of workers, or NULL */
  const char *origin;      /* of the definition's settings: "file" or "option" */
  bool keeps_scripts;      /* they need not exist */
  struct tm_outputs outputs;
};

#endif
