/* findings.h - what stands out in a step: rules that look at its model and its facts. Pure.
 *
 * A rule is a row of a table: its name, and a function that says whether it applies, and what it
 * says then. A finding claims nothing that its numbers do not support, and names a parameter or a
 * command.
 */
#ifndef TM_INSIGHT_FINDINGS_H
#define TM_INSIGHT_FINDINGS_H

#include "base/buf.h"
#include "insight/facts.h"
#include "insight/step_model.h"
#include "report/error_groups.h"

#define TM_FINDINGS_MAX 6

enum tm_weight { TM_WEIGHT_LOW, TM_WEIGHT_MIDDLE, TM_WEIGHT_HIGH };

struct tm_finding {
  const char *rule; /* "burst" */
  char letter;      /* 'A' to 'F' */
  enum tm_weight weight;
  char *head, *text;      /* "A burst of one error", and the rest of the sentence; own */
  int64_t lost_ns;        /* of worker time; -1: not known */
  int64_t from_ns, to_ns; /* where it is in the timeline; 0: nowhere in particular */
  const char *section;    /* where the page shows it: "failures", "timeline", "workers", ... */
  size_t step;
};

struct tm_findings {
  struct tm_finding at[TM_FINDINGS_MAX]; /* most worker time lost first */
  size_t len;
};

struct tm_finding_input {
  const struct tm_fact_job *job;
  size_t step;
  const struct tm_step_model *model;
  const struct tm_error_groups *groups;
};
/* Adds what stands out in a step; keeps those that lost most. */
void tm_findings_add(struct tm_findings *f, const struct tm_finding_input *in);
void tm_findings_release(struct tm_findings *f);

#endif
