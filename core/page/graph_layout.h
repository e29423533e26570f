/* graph_layout.h - where the steps of a pipeline are in its picture: a column for each rank, so
 * that a step is to the right of all steps that it needs. Pure. */
#ifndef TM_PAGE_GRAPH_LAYOUT_H
#define TM_PAGE_GRAPH_LAYOUT_H

#include <stddef.h>

#include "insight/facts.h"

#define TM_GRAPH_STEPS 60 /* with more, a picture is not readable */

struct tm_graph_layout {
  size_t column[TM_GRAPH_STEPS], row[TM_GRAPH_STEPS];
  size_t columns, rows; /* rows: of the longest column */
  size_t in_column[TM_GRAPH_STEPS];
};

/* At most TM_GRAPH_STEPS steps. A damaged record may say that a step needs itself or a later one:
 * the layout ignores that. */
void tm_graph_layout(struct tm_graph_layout *g, const struct tm_fact_job *job);

#endif
