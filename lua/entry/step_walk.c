/* step_walk.c - see step_walk.h. */
#include "entry/step_walk.h"

#include "base/check.h"

void tm_step_walk_open(struct tm_step_walk *w, const struct tm_step *step,
                       struct tm_splitter_options options)
{
  tm_require(step->inputs_len > 0 && !options.schemas);
  const struct tm_dataset *const *inputs = (const struct tm_dataset *const *)step->inputs;
  struct tm_buf tables = TM_BUF_NONE;
  *w = (struct tm_step_walk) { .step = step, .is_table = tm_dataset_is_table(inputs[0]) };
  tm_schemas_init(&w->schemas, step->inputs_len);
  tm_dataset_tables(&tables, inputs, step->inputs_len);
  if (w->is_table)
    w->loader.tables = tm_table_loader_new(tm_fs_real(), tm_buf_str(&tables), NULL, NULL);
  tm_buf_release(&tables);
  options.schemas = &w->schemas;
  w->splitter = tm_splitter_open(&options);
}

int tm_step_walk_load(struct tm_step_walk *w, struct tm_run_call *call, struct tm_err *err)
{
  const struct tm_mini_batch *mb = &w->mini_batch;
  tm_require(mb->dataset < w->step->inputs_len);
  const char *name = w->step->inputs[mb->dataset]->name;
  *call = (struct tm_run_call) { .index = w->index,
                                 .seq = 1,
                                 .try = 1,
                                 .dataset = name ? name : "",
                                 .dataset_number = mb->dataset,
                                 .items = mb->items,
                                 .first_row = -1,
                                 .bytes = mb->bytes.data,
                                 .bytes_len = mb->bytes.len };
  if (!w->is_table)
    return 0;
  int rc = w->schemas.len > 0 ? tm_table_loader_use(w->loader.tables, &w->schemas, err) : 0;
  return rc < 0 ? rc : tm_items_load_rows(&w->loader, call, err);
}

bool tm_step_walk_is_unread(const struct tm_step_walk *w)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, tm_buf_str(&w->mini_batch.bytes), w->mini_batch.bytes.len);
  return w->is_table && tm_item_next(&r, &item) && item.is_entry && item.fault_len > 0;
}

int tm_step_walk_next(struct tm_step_walk *w, struct tm_run_call *call, struct tm_err *err)
{
  int rc;
  while ((rc = tm_splitter_next(w->splitter, &w->mini_batch, err)) > 0 && tm_step_walk_is_unread(w))
    tm_step_walk_load(w, call, &w->fault);
  if (rc == TM_EDAMAGE)
    rc = err->code = TM_EINPUT; /* there is no job: the damage is in the input */
  if (rc > 0 && (rc = tm_step_walk_load(w, call, err)) >= 0) {
    w->index++;
    return 1;
  }
  if (rc < 0 || w->index > 0)
    return rc;
  if (w->fault.code == 0)
    return tm_splitter_no_input(w->splitter, err);
  *err = w->fault;
  return err->code;
}

void tm_step_walk_close(struct tm_step_walk *w)
{
  if (w->splitter)
    tm_splitter_close(w->splitter);
  tm_buf_release(&w->mini_batch.bytes);
  tm_schemas_release(&w->schemas);
  tm_item_loader_release(&w->loader);
  *w = (struct tm_step_walk) { 0 };
}
