/* finding.h - something that stands out in a step, and what a rule looks at. */
#ifndef TM_INSIGHT_FINDING_H
#define TM_INSIGHT_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "insight/facts.h"
#include "insight/step_model.h"
#include "report/error_groups.h"

enum tm_weight { TM_WEIGHT_LOW, TM_WEIGHT_MIDDLE, TM_WEIGHT_HIGH };

struct tm_finding {
  const char *rule; /* "burst" */
  char letter;      /* 'A' to 'F' */
  enum tm_weight weight;
  char *head, *text;      /* "A burst of one error:", and the sentences after it; own */
  int64_t lost_ns;        /* of worker time; -1: not known */
  int64_t from_ns, to_ns; /* where it is in the timeline; 0: nowhere in particular */
  const char *section;    /* where the page shows it: "failures", "timeline", "workers", ... */
  size_t step;
};

struct tm_finding_input {
  const struct tm_fact_job *job;
  size_t step;
  const struct tm_step_model *model;    /* settled */
  const struct tm_error_groups *groups; /* listed; NULL: not known */
};

#endif
