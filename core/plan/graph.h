/* graph.h - which step waits for which: a step reads what others write, as inputs or by a path in
 * its arguments.
 *
 * Steps keep the order of the definition. Caller: tm_graph_link() once all steps have been read;
 * again after inputs were changed.
 */
#ifndef TM_PLAN_GRAPH_H
#define TM_PLAN_GRAPH_H

#include "plan/pipeline.h"

/* Fills `needs` of each step. TM_EUSAGE: steps wait for each other; the message has their places,
 * but not the pipeline's. */
int tm_graph_link(struct tm_pipeline *p, struct tm_err *err);
bool tm_step_needs(const struct tm_step *s, const struct tm_step *other);

enum tm_graph_format { TM_GRAPH_TEXT, TM_GRAPH_DOT, TM_GRAPH_MERMAID };
/* Adds a picture of the pipeline: an ASCII tree, in which a step that waits for several is below
 * each, complete only below the first; or source text for a drawing program. */
void tm_graph_add(struct tm_buf *out, const struct tm_pipeline *p, enum tm_graph_format format);

#endif
