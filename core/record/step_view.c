/* step_view.c - see step_view.h. */
#include "record/step_view.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/path.h"

void tm_step_view_init(struct tm_step_view *v, struct tm_step_places *p, const struct tm_step *step,
                       uint32_t number, const char *job_dir)
{
  tm_require(step->name && job_dir[0] == '/');
  p->dir = tm_path_join(job_dir, step->name);
  p->logs_dir = tm_path_join(p->dir, "logs");
  p->output_dir = tm_path_join(p->dir, "output");
  p->output_file = step->config.output_action == TM_APPEND_ROW
                       ? tm_path_join(p->output_dir, step->config.append_row_file_name)
                       : NULL;
  int64_t nodes = step->config.launches_nodes ? step->config.node_count : 1;
  *v = (struct tm_step_view) { .number = number,
                               .name = step->name,
                               .dir = p->dir,
                               .logs_dir = p->logs_dir,
                               .output_dir = p->output_dir,
                               .output_file = p->output_file,
                               .script_name = step->config.entry_script,
                               .effective = step->effective,
                               .workers = step->config.process_count_per_node * nodes,
                               .launches_nodes = step->config.launches_nodes,
                               .logging_level = step->config.logging_level,
                               .verdict = TM_RUNNING,
                               .cause = "" };
}

void tm_step_places_release(struct tm_step_places *p)
{
  free(p->dir);
  free(p->logs_dir);
  free(p->output_dir);
  free(p->output_file);
  *p = (struct tm_step_places) { .dir = NULL };
}
