/* outputs.h - what the steps of a pipeline write, and what of it is read by others. Within plan.
 *
 * An output is known by the id of the object that its constructor made (base/json.h): it stands in `output` of one step, and in
 * `inputs` and `arguments` of any others, whatever order they are in. So all outputs are collected before a step is read.
 *
 * In a definition a dataset out of an output is {kind, output, name, ...}, with the constructor's object in the place of paths;
 * the output itself stands for its files. As inputs both become datasets in the job's directory (data/dataset.h): {kind, paths, step, ...}.
 */
#ifndef TM_PLAN_OUTPUTS_H
#define TM_PLAN_OUTPUTS_H

#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "plan/pipeline.h"

struct tm_output_known {
  const struct tm_json *config, *step; /* of the tree, which must live as long */
  char *folder, *destination;          /* as of struct tm_step_output */
  struct tm_dataset
      *read_as; /* the input that somebody has read it as, or NULL: others copy that */
};

struct tm_outputs {
  struct TM_ARRAY(struct tm_output_known) known;
  struct tm_map by_id;
  struct tm_map by_step; /* its place in the tree -> its first in `known` */
};

/* Those of all `steps` (a list). TM_EUSAGE with the place: one output of two steps, two of one name in a step, two in one place.
 * Release it in every case. */
int tm_outputs_init(struct tm_outputs *o, const struct tm_json *steps, const char *base_dir,
                    struct tm_err *err);
void tm_outputs_release(struct tm_outputs *o);

/* Fills `outputs` of the step, and what its record says of them. */
int tm_outputs_fill(const struct tm_outputs *o, struct tm_step *s, const struct tm_json *v,
                    struct tm_err *err);
void tm_outputs_free(struct tm_step *s);

/* An input as data/dataset.h reads it, to be freed; what is no output is copied. NULL: no step of this pipeline writes it; words
 * without a place. */
struct tm_json *tm_outputs_input(const struct tm_outputs *o, const struct tm_json *v,
                                 struct tm_err *err);
/* What has been read of an output that says the same, so that many readers are cheap; NULL: nothing yet. */
const struct tm_dataset *tm_outputs_read_as(const struct tm_outputs *o, const struct tm_json *v);
void tm_outputs_keep(const struct tm_outputs *o, const struct tm_json *v,
                     const struct tm_dataset *d);
/* Whether the value is an output, or a dataset out of one. */
bool tm_outputs_is_output(const struct tm_json *v);
/* Which one it is; NULL as above. */
const struct tm_output_known *tm_outputs_find(const struct tm_outputs *o, const struct tm_json *v,
                                              struct tm_err *err);

/* The dataset of such a definition as it will be, for the checks where it is defined. To be freed. */
struct tm_json *tm_output_as_dataset(const struct tm_json *v, const char *step, const char *folder);

#endif
