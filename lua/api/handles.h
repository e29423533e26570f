/* handles.h - the steps and inputs of a pipeline, as a host names them.
 *
 * A handle is a place in the pipeline's tree. Steps and inputs are only added, so it stays what it
 * is. There is one handle for each step and input at most; they are freed with the pipeline.
 */
#ifndef TM_API_HANDLES_H
#define TM_API_HANDLES_H

#include "api/own.h"

struct tidemill_pipeline_input {
  struct tidemill_pipeline_step *step;
  size_t at; /* among the inputs of the step */
};

struct tidemill_pipeline_step {
  struct tidemill_pipeline *pipeline;
  size_t at; /* among the steps */
  struct TM_ARRAY(struct tidemill_pipeline_input *) inputs;
};

bool tm_draft_has_step(const struct tidemill_pipeline *p, const char *name);
/* The handle of a step that exists, and of an input that exists. */
struct tidemill_pipeline_step *tm_draft_step(struct tidemill_pipeline *p, size_t at);
struct tidemill_pipeline_input *tm_draft_input(struct tidemill_pipeline_step *step, size_t at);
/* The step's part of the tree, for a change of it. */
struct tm_json *tm_draft_step_tree(const struct tidemill_pipeline_step *step);

#endif
