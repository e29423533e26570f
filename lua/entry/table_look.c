/* table_look.c - see table_look.h. */
#include "entry/table_look.h"

#include <stdlib.h>
#include <string.h>

#include "agent/script.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/frame/frame_text.h"
#include "store/workspace.h"

#define VALUE_MAX 40 /* shown bytes of a value */

void tm_table_look_init(struct tm_table_look *l, const struct tm_step *step)
{
  const struct tm_dataset *const *inputs = (const struct tm_dataset *const *)step->inputs;
  struct tm_buf tables = TM_BUF_NONE;
  *l = (struct tm_table_look) { .is_table = tm_dataset_is_table(inputs[0]) };
  tm_schemas_init(&l->schemas, step->inputs_len);
  tm_dataset_tables(&tables, inputs, step->inputs_len);
  if (l->is_table)
    l->loader = tm_table_loader_new(tm_fs_real(), tm_buf_str(&tables), NULL, NULL);
  tm_buf_release(&tables);
}

void tm_table_look_open_job(struct tm_table_look *l, const struct tm_json *inputs,
                            const char *job_dir, const char *step, const struct tm_buf *bytes)
{
  struct tm_reader r;
  struct tm_item item;
  struct tm_buf tables = TM_BUF_NONE;
  char *schema_file = tm_xprintf("%s/%s/state/schema.json", job_dir, step);
  char *index_dir = tm_workspace_index_dir(job_dir, step);
  *l = (struct tm_table_look) { .is_table = false };
  tm_reader_init(&r, tm_buf_str(bytes), bytes->len);
  l->is_table = inputs && tm_item_next(&r, &item) && item.is_rows;
  if (l->is_table)
    tm_json_write(&tables, inputs, (struct tm_json_style) { 0 });
  if (l->is_table)
    l->loader = tm_table_loader_new(tm_fs_real(), tables.data, schema_file, index_dir);
  tm_buf_release(&tables);
  free(schema_file);
  free(index_dir);
}

void tm_table_look_release(struct tm_table_look *l)
{
  tm_table_loader_free(l->loader);
  tm_schemas_release(&l->schemas);
}

void tm_table_look_cut_options(struct tm_table_look *l, struct tm_cut_options *options)
{
  options->schemas = &l->schemas;
}

int tm_table_look_load(struct tm_table_look *l, const struct tm_mini_batch *mb, struct tm_err *err)
{
  struct tm_rows_part all = { 0, 0 };
  if (!l->is_table)
    return 0;
  int rc = l->schemas.len > 0 ? tm_table_loader_use(l->loader, &l->schemas, err) : 0;
  return rc < 0 ? rc
                : tm_table_load(l->loader, mb->dataset, mb->bytes.data, mb->bytes.len, all,
                                &l->frame, err);
}

bool tm_table_look_is_unread(const struct tm_table_look *l, const struct tm_mini_batch *mb)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, tm_buf_str(&mb->bytes), mb->bytes.len);
  return l->is_table && tm_item_next(&r, &item) && item.is_entry && item.fault_len > 0;
}

int tm_table_look_next(struct tm_table_look *l, struct tm_cut *cut, struct tm_mini_batch *mb,
                       struct tm_err *err)
{
  int rc;
  while ((rc = tm_cut_next(cut, mb, err)) > 0 && tm_table_look_is_unread(l, mb))
    tm_table_look_load(l, mb, &l->fault);
  return rc > 0 && tm_table_look_load(l, mb, err) < 0 ? err->code : rc;
}

int tm_table_look_no_input(const struct tm_table_look *l, const struct tm_cut *cut,
                           struct tm_err *err)
{
  if (l->fault.code == 0)
    return tm_cut_no_input(cut, err);
  *err = l->fault;
  return err->code;
}

void tm_table_look_give(struct tm_table_look *l, struct tm_run_call *call, struct tm_item *range)
{
  struct tm_reader r;
  call->first_row = -1;
  if (!l->is_table)
    return;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  if (tm_item_next(&r, range) && range->is_rows && !range->is_group) {
    call->range = range;
    call->first_row = range->first_row < 0 ? -1 : range->first_row + range->from;
  }
  call->frame = &l->frame;
  call->items = (uint32_t)l->frame.len;
}

static void add_row(struct tm_buf *out, const struct tm_data_frame *f, int64_t row)
{
  struct tm_buf value = TM_BUF_NONE;
  for (size_t i = 0; i < f->n; i++) {
    const struct tm_column *c = &f->columns[i];
    tm_buf_clear(&value);
    if (tm_column_is_null(c, row))
      tm_buf_add_str(&value, "null");
    else
      tm_frame_add_value(&value, c, row);
    tm_buf_add_str(out, i ? ", " : "");
    tm_text_one_line(out, tm_buf_str(&value), value.len, VALUE_MAX);
  }
  tm_buf_release(&value);
}

void tm_table_look_add(struct tm_buf *out, const struct tm_table_look *l, int64_t rows,
                       const char *indent)
{
  const struct tm_data_frame *f = &l->frame;
  if (!l->is_table)
    return;
  tm_buf_printf(out, "%scolumns: ", indent);
  for (size_t i = 0; i < f->n; i++) {
    tm_buf_add_str(out, i ? ", " : "");
    /* names come from a file, too */
    tm_text_one_line(out, f->names[i], strlen(f->names[i]), VALUE_MAX);
    tm_buf_printf(out, " %s", tm_column_type_name(f->columns[i].type));
  }
  tm_buf_add_char(out, '\n');
  for (int64_t i = 0; i < rows && i < f->len; i++) {
    tm_buf_printf(out, "%s%s ", indent, i == 0 ? "rows:   " : "        ");
    add_row(out, f, i);
    tm_buf_add_char(out, '\n');
  }
}
