/* worker_setup.c - see worker_setup.h. */
#include "step/worker_setup.h"

#include <stdlib.h>

#include "base/mem.h"

/* One for each input, "" for an input without a name; free only the array. */
static char **input_names(const struct tm_step *step)
{
  char **names = tm_xcalloc(step->inputs_len + 1, sizeof(char *));
  for (size_t i = 0; i < step->inputs_len; i++)
    names[i] = step->inputs[i]->name ? step->inputs[i]->name : (char *)"";
  return names;
}

static char *tables_of(const struct tm_step *step)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_dataset_tables(&text, (const struct tm_dataset *const *)step->inputs, step->inputs_len);
  return tm_buf_take(&text);
}

void tm_setup_of_step(struct tm_setup *s, const struct tm_step *step)
{
  const struct tm_config *config = &step->config;
  *s = (struct tm_setup) { .script_name = config->entry_script,
                           .library_dir = config->library_dir,
                           .has_own_script = config->script_text != NULL,
                           .arguments = step->arguments,
                           .arguments_len = step->arguments_len,
                           .runner_arguments = step->runner_arguments,
                           .runner_arguments_len = step->runner_arguments_len,
                           .datasets = input_names(step),
                           .datasets_len = step->inputs_len,
                           .tables = tables_of(step),
                           .outputs = tm_step_output_names(step),
                           .outputs_len = step->outputs_len,
                           .logging_level = config->logging_level,
                           .append_row = config->output_action == TM_APPEND_ROW,
                           .escapes_line_breaks = config->escapes_line_breaks,
                           .separator = config->append_row_separator,
                           .is_interruptible = config->interruptible == TM_INTERRUPTIBLE,
                           .max_result_size = config->max_result_size,
                           .memory_limit = config->worker_memory_limit,
                           .run_timeout_ns = config->run_invocation_timeout_ns,
                           .init_timeout_ns = config->init_timeout_ns,
                           .load_timeout_ns = config->load_timeout_ns };
}

int64_t tm_setup_cores(int64_t cores, int64_t workers)
{
  int64_t share = workers > 0 ? cores / workers : cores;

  return share > 0 ? share : 1;
}

void tm_setup_release_step(struct tm_setup *s)
{
  free(s->datasets);
  free(s->tables);
  free(s->outputs);
  s->datasets = s->outputs = NULL;
  s->tables = NULL;
}
