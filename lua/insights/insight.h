/* insight.h - private structs of an insight.
 *
 *   insight.c    opens and refreshes it
 *   insight_json.c  writes it
 *   insight_page.c, report_file.c  writes it as a page, and that to a file
 *   step_rows.c  the models of its steps
 *   error_stacks.c  the stacks of their errors
 *   job_facts.c, definition_facts.c, before_facts.c, data_facts.c, next.c  its facts
 */
#ifndef TM_INSIGHT_OF_JOB_H
#define TM_INSIGHT_OF_JOB_H

#include <tidemill.h>

#include "records/disk.h"
#include "insight/facts.h"
#include "insight/findings.h"
#include "insight/step_model.h"

struct tm_sample_places { /* in the tables of a node */
  int64_t machine, processes, disks;
  struct tm_table_faults machine_faults, processes_faults, disks_faults;
};

struct tm_insight_stacks {
  struct tm_map known;                 /* of which error: the place in `texts`, + 1 */
  struct TM_ARRAY(char *) texts;       /* NULL: there is no stack */
  struct TM_ARRAY(const char *) shown; /* for each listed group, as last asked for */
};

struct tm_insight_step {
  struct tm_step_model model;  /* `has_model` */
  bool has_model;              /* the step has begun here: it was not reused */
  int64_t events_at, tries_at; /* places in its tables */
  struct tm_table_faults events_faults, tries_faults;
  struct TM_ARRAY(struct tm_sample_places) samples; /* of each node of the model */
  struct tm_insight_stacks stacks;
};

struct tm_insight_before { /* a step of the last Completed job */
  char *name;
  struct tm_fact_effort effort;
};

struct tidemill_insight {
  struct tidemill_insight_options o;
  struct tidemill_record *record; /* NULL: the job was removed before */
  struct tm_fact_job job;
  struct TM_ARRAY(char *) strings; /* of the facts */
  struct TM_ARRAY(char *) paths;   /* of job.files */
  struct TM_ARRAY(
      struct tm_insight_step) steps; /* one for each of job.steps, once rows were read */
  char *workspace;                   /* absolute; NULL: there is none */
  struct tm_json *before;            /* job.json of the last Completed job; NULL: there is none */
  struct TM_ARRAY(struct tm_insight_before) before_steps;
  char *before_name;
  int64_t before_elapsed_ns, before_items, before_items_failed;
  bool has_looked_before;
  struct tm_findings findings; /* as last asked for */
  char *json;                  /* as last returned */
  struct tm_buf html;
  int64_t opened_ns; /* monotonic */
};

/* A copy that lives as long as the facts; NULL for NULL and "". */
const char *tm_insight_keep(struct tidemill_insight *in, const char *text);
/* The same of a string from malloc(), which is not copied. */
const char *tm_insight_own(struct tidemill_insight *in, char *text);
int64_t tm_insight_now_ns(const struct tidemill_insight *in);

/* Fills the facts from the record. */
void tm_insight_read_facts(struct tidemill_insight *in);
/* Lists its files, and what its steps read and wrote, as they are now: logs may grow behind the
 * record. */
void tm_insight_read_files(struct tidemill_insight *in);
/* data_facts.c: for read_files(). */
void tm_insight_read_data(struct tidemill_insight *in);
/* Fills them for a job whose directory is gone. */
void tm_insight_read_history(struct tidemill_insight *in, const struct tm_history_job *job);
void tm_insight_release_facts(struct tidemill_insight *in);
/* definition_facts.c: for read_facts(). */
void tm_insight_read_definition(struct tidemill_insight *in);
/* before_facts.c: looks once for the last Completed job of the pipeline. */
void tm_insight_look_before(struct tidemill_insight *in);
void tm_insight_release_before(struct tidemill_insight *in);
/* What each step took, now and in that job; for read_facts(). */
void tm_insight_read_efforts(struct tidemill_insight *in);
/* next.c: for read_facts(), of a job that does not run. */
void tm_insight_read_next(struct tidemill_insight *in);

/* Feeds what is new in the tables of a step. False: nothing is. */
bool tm_insight_read_rows(struct tidemill_insight *in, size_t step);
/* The errors of a step, from the record; NULL: they were not read. */
const struct tm_error_groups *tm_insight_groups(const struct tidemill_insight *in, size_t step);
/* What stands out in all steps; valid until the next call for the insight. */
const struct tm_findings *tm_insight_findings(struct tidemill_insight *in);
/* What a page shows of it; `options` as given. TM_EUSAGE: there is no such step. */
int tm_insight_add_page(struct tidemill_insight *in, struct tm_buf *out,
                        const struct tidemill_html_options *options, struct tm_err *err);
void tm_insight_release_step(struct tm_insight_step *s);
/* error_stacks.c: fills stacks.shown of a step. */
void tm_insight_read_stacks(struct tidemill_insight *in, size_t step);
void tm_insight_release_stacks(struct tm_insight_stacks *s);

#endif
