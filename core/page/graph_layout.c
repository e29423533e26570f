/* graph_layout.c - see graph_layout.h. A pipeline lists each step behind those that it needs. */
#include "page/graph_layout.h"

#include "base/check.h"

void tm_graph_layout(struct tm_graph_layout *g, const struct tm_fact_job *job)
{
  tm_require(job->steps.len <= TM_GRAPH_STEPS);
  *g = (struct tm_graph_layout) { 0 };
  for (size_t i = 0; i < job->steps.len; i++) {
    const struct tm_fact_step *s = &job->steps.at[i];
    size_t column = 0;
    for (size_t a = 0; a < s->after.len; a++)
      if (s->after.at[a] < i && g->column[s->after.at[a]] + 1 > column)
        column = g->column[s->after.at[a]] + 1;
    g->column[i] = column;
    g->row[i] = g->in_column[column]++;
    g->columns = column + 1 > g->columns ? column + 1 : g->columns;
    g->rows = g->in_column[column] > g->rows ? g->in_column[column] : g->rows;
  }
}
