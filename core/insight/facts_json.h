/* facts_json.h - what is known of a job as JSON. Pure. */
#ifndef TM_INSIGHT_FACTS_JSON_H
#define TM_INSIGHT_FACTS_JSON_H

#include "base/json.h"
#include "insight/facts.h"

const char *tm_fact_state_name(enum tm_fact_state s); /* "Running" */
/* Both: to tm_json_free(). Members that are not known are null. */
struct tm_json *tm_fact_job_to_json(const struct tm_fact_job *job); /* without the steps */
struct tm_json *tm_fact_step_to_json(const struct tm_fact_job *job, size_t step);

#endif
