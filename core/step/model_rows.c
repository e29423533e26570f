/* model_rows.c - whether the tables of a step have the columns that its model wants: see
 * supervisor_own.h.
 *
 * A first look (job/first_look.h) finds most of this before there is a job, but not for the output
 * of another step, for a query, or where it takes too long. The lister has found the columns when
 * it reports the first mini-batch of an input. So the step fails here at once, rather than each
 * mini-batch in turn.
 */
#include "plan/model_script.h"
#include "step/supervisor_own.h"

int tm_model_rows_check(struct tm_supervisor *s, bool is_complete, struct tm_err *err)
{
  const struct tm_step *step = s->o.step;
  struct tm_schemas schemas;
  int rc;

  if (!step->model || tm_manifest_count(s->manifest) == 0 || (s->has_model_rows && !is_complete))
    return 0;
  struct tm_model_wish *wish = tm_model_wish_of(step);
  s->has_model_rows = true;
  tm_schemas_init(&schemas, step->inputs_len);
  rc = tm_schemas_read(&schemas, s->o.fs, s->schema_file, err);
  for (size_t i = 0; i < step->inputs_len && rc == 0; i++)
    if (tm_dataset_is_table(step->inputs[i]) && schemas.at[i].len > 0)
      rc = tm_model_wish_check_schema(wish, step->inputs[i], &schemas.at[i], err);
  tm_schemas_release(&schemas);
  tm_model_wish_free(wish);
  return rc;
}
