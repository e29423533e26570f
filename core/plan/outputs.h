/* outputs.h - the outputs of the steps of a pipeline, and which of them others read. Within plan.
 *
 * An output is identified by the id of the object that its constructor made (base/json.h). It
 * appears in `output` of one step, and in `inputs` and `arguments` of any others, in any order. So
 * all outputs are collected before a step is read.
 *
 * In a definition, a dataset from an output is {kind, output, name, ...}, with the constructor's
 * object instead of paths; the output itself means its files. As inputs both become datasets in the
 * job's directory (data/dataset.h): {kind, paths, step, ...}.
 */
#ifndef TM_PLAN_OUTPUTS_H
#define TM_PLAN_OUTPUTS_H

#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "plan/pipeline.h"

struct tm_output_known {
  const struct tm_json *config, *step; /* in the tree, which must outlive this */
  char *folder, *destination;          /* as in struct tm_step_output */
  /* the input that some step has read it as, or NULL: others copy that */
  struct tm_dataset *read_as;
};

struct tm_outputs {
  struct TM_ARRAY(struct tm_output_known) known;
  struct tm_map by_id;
  struct tm_map by_step; /* the step's node in the tree -> its first in `known` */
};

/* Collects the outputs of all `steps` (a list). TM_EUSAGE with the place: an output of two steps,
 * two with one name in a step, two in one place. Release it in every case. */
int tm_outputs_init(struct tm_outputs *o, const struct tm_json *steps, const char *base_dir,
                    struct tm_err *err);
void tm_outputs_release(struct tm_outputs *o);

/* Fills `outputs` of the step, and their record. */
int tm_outputs_fill(const struct tm_outputs *o, struct tm_step *s, const struct tm_json *v,
                    struct tm_err *err);

/* An input for data/dataset.h, to be freed; anything that is not an output is copied. NULL with a
 * message without file:line: no step of this pipeline writes it. */
struct tm_json *tm_outputs_input(const struct tm_outputs *o, const struct tm_json *v,
                                 struct tm_err *err);
/* The dataset that was read for an equal output, so that many readers are cheap; NULL: none yet. */
const struct tm_dataset *tm_outputs_read_as(const struct tm_outputs *o, const struct tm_json *v);
void tm_outputs_keep(const struct tm_outputs *o, const struct tm_json *v,
                     const struct tm_dataset *d);
/* Whether the value is an output, or a dataset from one. */
bool tm_outputs_is_output(const struct tm_json *v);
/* The output; NULL as above. */
const struct tm_output_known *tm_outputs_find(const struct tm_outputs *o, const struct tm_json *v,
                                              struct tm_err *err);

/* The future dataset of such a definition, for the checks where it is defined. To be freed. */
struct tm_json *tm_output_as_dataset(const struct tm_json *v, const char *step, const char *folder);

#endif
