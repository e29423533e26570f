/* model_script.h - a step with an ONNX model in place of an entry script. Within plan.
 *
 * The step becomes an ordinary one: its entry script is one that is part of tidemill
 * (stdlib/tidemill/model_script.lua), and gets "--model", PATH before the step's other arguments.
 * The model, and the files beside it that have its weights, are side inputs of the step. The script
 * is named "<model>.lua": messages and records then name the model, and what is searched for from
 * the script's folder is searched for from the model's.
 *
 * params_check.c refuses a definition with both or neither; settings.c sets entry_script and
 * script_text.
 */
#ifndef TM_PLAN_MODEL_SCRIPT_H
#define TM_PLAN_MODEL_SCRIPT_H

#include "data/frame/frame.h"
#include "plan/pipeline.h"
#include "plan/read_context.h"

/* Reads what the file of the model says, and adds side inputs and arguments, after those of the
 * definition have been read. Does nothing for a
 * step with an entry script. TM_EUSAGE, with the place, if it is not a whole model. */
int tm_model_script_add(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                        struct tm_err *err);
/* TM_EUSAGE: the rows lack a column that the step's model wants, or have another number of columns
 * than its one input. */
int tm_model_script_check_columns(const struct tm_step *s, const struct tm_data_frame *rows,
                                  struct tm_err *err);

#endif
