/* step_view.h - the view of a step before it runs: its folders and its settings. For job and
 * supervisor. */
#ifndef TM_RECORD_STEP_VIEW_H
#define TM_RECORD_STEP_VIEW_H

#include "plan/pipeline.h"
#include "record/events.h"

/* The strings that the view points to; release them. */
struct tm_step_places {
  char *dir, *logs_dir, *output_dir, *output_file; /* the last is NULL with summary_only */
};

void tm_step_view_init(struct tm_step_view *v, struct tm_step_places *p, const struct tm_step *step,
                       uint32_t number, const char *job_dir);
void tm_step_places_release(struct tm_step_places *p);

#endif
