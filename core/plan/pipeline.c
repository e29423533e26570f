/* pipeline.c - see pipeline.h. */
#include "plan/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/onnx_file.h"

static void free_inputs(struct tm_step *s)
{
  for (size_t i = 0; i < s->inputs_len; i++)
    tm_dataset_free(s->inputs[i]);
  for (size_t i = 0; i < s->side_inputs_len; i++)
    tm_dataset_free(s->side_inputs[i]);
  for (size_t i = 0; i < s->stagings_len; i++) {
    tm_dataset_free(s->stagings[i].dataset);
    free(s->stagings[i].folder);
    free(s->stagings[i].path);
  }
  free(s->inputs);
  free(s->side_inputs);
  free(s->stagings);
}

static void free_outputs(struct tm_step *s)
{
  for (size_t i = 0; i < s->outputs_len; i++) {
    free(s->outputs[i].name);
    free(s->outputs[i].folder);
    free(s->outputs[i].destination);
    free(s->outputs[i].archive_format);
    free(s->outputs[i].partition_format);
    free(s->outputs[i].register_as);
    free(s->outputs[i].description);
    tm_json_free(s->outputs[i].tags);
  }
  free(s->outputs);
}

void tm_step_free(struct tm_step *s)
{
  if (!s)
    return;
  free_inputs(s);
  for (size_t i = 0; i < s->arguments_len; i++)
    free(s->arguments[i]);
  for (size_t i = 0; i < s->runner_arguments_len; i++)
    free(s->runner_arguments[i]);
  for (size_t i = 0; i < s->notes_len; i++)
    free(s->notes[i].text);
  free(s->runner_arguments);
  free(s->notes);
  free(s->arguments);
  free(s->name);
  free(s->where);
  free_outputs(s);
  for (size_t i = 0; i < s->paths_len; i++)
    free(s->paths[i].step);
  free(s->paths);
  free(s->needs);
  for (size_t i = 0; i < s->read_paths_len; i++)
    free(s->read_paths[i]);
  free(s->read_paths);
  free(s->working_dir);
  if (s->model)
    tm_onnx_file_release(s->model);
  free(s->model);
  tm_config_release(&s->config);
  tm_json_free(s->effective);
  free(s);
}

struct tm_splitter_options tm_step_splitting(const struct tm_step *s)
{
  return (struct tm_splitter_options) { .inputs = (const struct tm_dataset *const *)s->inputs,
                                        .inputs_len = s->inputs_len,
                                        .mini_batch_size = s->config.mini_batch_size,
                                        .counts_rows = s->config.counts_rows,
                                        .partition_keys = s->config.partition_keys,
                                        .partition_keys_len = s->config.partition_keys_len };
}

char **tm_step_output_names(const struct tm_step *s)
{
  char **names = tm_xcalloc(s->outputs_len + 1, sizeof(char *));
  for (size_t i = 0; i < s->outputs_len; i++)
    names[i] = s->outputs[i].name ? s->outputs[i].name : (char *)"";
  return names;
}

void tm_step_note(struct tm_step *s, enum tm_level level, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  tm_array_reserve((void **)&s->notes, s->notes_len + 1, &s->notes_cap, sizeof(*s->notes));
  s->notes[s->notes_len++] = (struct tm_note) { .level = level, .text = tm_buf_take(&text) };
}

static bool is_in_arguments(const struct tm_step *s, const char *step)
{
  for (size_t i = 0; i < s->paths_len; i++)
    if (strcmp(s->paths[i].step, step) == 0)
      return true;
  return false;
}

static bool is_in_side_inputs(const struct tm_step *s, const char *step)
{
  for (size_t i = 0; i < s->side_inputs_len; i++)
    if (s->side_inputs[i]->step && strcmp(s->side_inputs[i]->step, step) == 0)
      return true;
  return false;
}

/* Drops needs of inputs only. */
static void drop_inputs_needs(struct tm_step *s)
{
  size_t kept = 0;
  for (size_t i = 0; i < s->needs_len; i++)
    if (is_in_arguments(s, s->needs[i]->name) || is_in_side_inputs(s, s->needs[i]->name))
      s->needs[kept++] = s->needs[i];
  s->needs_len = kept;
}

void tm_step_set_inputs(struct tm_step *s, struct tm_dataset **inputs, size_t len)
{
  struct tm_json *record = tm_json_set(s->effective, "inputs", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < s->inputs_len; i++)
    tm_dataset_free(s->inputs[i]);
  free(s->inputs);
  s->inputs = inputs;
  s->inputs_len = len;
  drop_inputs_needs(s);
  for (size_t i = 0; i < len; i++)
    tm_json_add(record, tm_dataset_to_json(inputs[i]));
}

void tm_pipeline_free(struct tm_pipeline *p)
{
  if (!p)
    return;
  for (size_t i = 0; i < p->steps_len; i++)
    tm_step_free(p->steps[i]);
  free(p->steps);
  free(p->name);
  free(p->description);
  free(p->file);
  free(p->only_failed);
  tm_json_free(p->source);
  tm_json_free(p->command);
  tm_json_free(p->params);
  free(p);
}
