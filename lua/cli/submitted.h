/* submitted.h - the values that PipelineParameters are given at a submission: of the command line, of a file, of a job's record.
 *
 * What is given first counts, so a caller adds in this order: the words of --param, the file of --params-file, the record of the
 * job that is resumed or submitted again. Zeroed is empty; release it in every case.
 */
#ifndef TM_CLI_SUBMITTED_H
#define TM_CLI_SUBMITTED_H

#include "cli/options.h"
#include "plan/pipeline.h"

struct tm_submitted {
  struct TM_ARRAY(struct tm_param) given; /* each with memory of its own */
};

/* "NAME=VALUE"; of two of one name the last counts. TM_EUSAGE: it is of another form. `cwd`: what paths of datasets are against. */
int tm_submitted_add_words(struct tm_submitted *s, const struct tm_words *words, const char *cwd,
                           struct tm_err *err);
/* A JSON object of names and values, or a Lua file (*.lua) that returns a table of them. Paths of datasets are against its folder. */
int tm_submitted_add_file(struct tm_submitted *s, const char *file, const char *cwd,
                          struct tm_err *err);
/* Those that a job was given, of its record. */
void tm_submitted_add_given(struct tm_submitted *s, const struct tm_json *record);
/* Those that a job had, given or not. A pipeline may lack them. `job`: how it is called. */
void tm_submitted_add_used(struct tm_submitted *s, const struct tm_json *record, const char *job);
void tm_submitted_release(struct tm_submitted *s);

#endif
