/* model_script.h - a step with an ONNX model in place of an entry script. Within plan.
 *
 * The step becomes an ordinary one: its entry script is one that is part of tidemill
 * (stdlib/tidemill/model_script.lua), and gets "--model", PATH before the step's other arguments.
 * The model, and the files beside it that have its weights, are side inputs of the step. The script
 * is named "script/<step>/<model>.lua", as its copy in the job's folder. A model may come from
 * anywhere: no code is looked for beside it.
 * The file of "--labels" counts as one that the script reads.
 *
 * params_check.c refuses a definition with both or neither; settings.c sets entry_script and
 * script_text.
 */
#ifndef TM_PLAN_MODEL_SCRIPT_H
#define TM_PLAN_MODEL_SCRIPT_H

#include "data/frame/frame.h"
#include "data/rows/schema.h"
#include "plan/pipeline.h"
#include "plan/read_context.h"

/* Reads what the file of the model says, and adds side inputs and arguments, after those of the
 * definition have been read. Does nothing for a
 * step with an entry script. TM_EUSAGE, with the place, if it is not a whole model. */
int tm_model_script_add(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                        struct tm_err *err);

/* Which columns a step's model wants of rows. It has copies of all that it needs, for threads that
 * may outlive the step, and reads no file. */
struct tm_model_wish;

/* NULL: the step has an entry script. */
struct tm_model_wish *tm_model_wish_of(const struct tm_step *s);
void tm_model_wish_free(struct tm_model_wish *w); /* NULL: a no-op */
/* TM_EUSAGE: the rows lack a column that the model wants, one has a type that an input does not
 * take, or there are more or fewer than its one input takes. Rows are not looked at. */
int tm_model_wish_check(const struct tm_model_wish *w, const struct tm_data_frame *rows,
                        struct tm_err *err);
/* The same for the rows of the table `d`, whose files have these columns. */
int tm_model_wish_check_schema(const struct tm_model_wish *w, const struct tm_dataset *d,
                               const struct tm_schema *schema, struct tm_err *err);

#endif
