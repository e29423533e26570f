/* findings.h - what stands out in a step: rules that look at its model and its facts. Pure.
 *
 * A rule is a row of a table: its name, and a function that says whether it applies, and what it
 * says then (rules.h). A finding claims nothing that its numbers do not support, and names a
 * parameter or a command.
 */
#ifndef TM_INSIGHT_FINDINGS_H
#define TM_INSIGHT_FINDINGS_H

#include "insight/finding.h"

#define TM_FINDINGS_MAX 6

struct tm_findings { /* zeroed: none */
  /* Most worker time lost first; then those of which that is not known, by their weight. */
  struct tm_finding at[TM_FINDINGS_MAX];
  size_t len;
};

/* Adds what stands out in a step; keeps the first ones in that order. */
void tm_findings_add(struct tm_findings *f, const struct tm_finding_input *in);
void tm_findings_release(struct tm_findings *f);

#endif
