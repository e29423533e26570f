/* onnx_words.c - see onnx_words.h. */
#include "model/onnx_words.h"

#include <string.h>

#include "base/text.h"

#define TEXT_MAX 80 /* shown bytes of a text */

static void add_text(struct tm_buf *out, const char *text)
{
  tm_text_one_line(out, text, strlen(text), TEXT_MAX);
}

static void add_shape(struct tm_buf *out, const struct tm_onnx_value *v)
{
  tm_buf_add_str(out, " [");
  for (size_t i = 0; i < v->shape.len; i++) {
    tm_buf_add_str(out, i ? ", " : "");
    if (v->shape.at[i].name)
      add_text(out, v->shape.at[i].name);
    else
      tm_buf_add_int(out, v->shape.at[i].size);
  }
  tm_buf_add_char(out, ']');
}

static void add_values(struct tm_buf *out, const char *label, const struct tm_onnx_value *at,
                       size_t n)
{
  for (size_t i = 0; i < n; i++) {
    tm_buf_printf(out, "%-10s", i == 0 ? label : "");
    add_text(out, at[i].name);
    tm_buf_add_char(out, ' ');
    add_text(out, at[i].type);
    if (at[i].has_shape)
      add_shape(out, &at[i]);
    tm_buf_add_char(out, '\n');
  }
}

static void add_opsets(struct tm_buf *out, const struct tm_onnx_file *f)
{
  for (size_t i = 0; i < f->opsets.len; i++) {
    tm_buf_add_str(out, i ? ", " : "opsets:   ");
    add_text(out, f->opsets.at[i].domain);
    tm_buf_printf(out, " %lld", (long long)f->opsets.at[i].version);
  }
  tm_buf_add_str(out, f->opsets.len > 0 ? "\n" : "");
}

static void add_size(struct tm_buf *out, const struct tm_onnx_file *f)
{
  tm_buf_add_str(out, "size:     ");
  tm_text_count(out, f->nodes, tm_text_counted(f->nodes, " node", " nodes"));
  tm_buf_add_str(out, ", ");
  tm_text_bytes(out, f->weights);
  tm_buf_add_str(out, " of weights\n");
}

static void add_data_files(struct tm_buf *out, const struct tm_onnx_file *f)
{
  for (size_t i = 0; i < f->data_files.len; i++) {
    const struct tm_onnx_data_file *d = &f->data_files.at[i];
    tm_buf_printf(out, "%-10s", i == 0 ? "data:" : "");
    add_text(out, d->location);
    tm_buf_add_str(out, ", ");
    tm_text_bytes(out, d->bytes);
    tm_buf_add_str(out, " of ");
    tm_text_count(out, d->tensors, tm_text_counted(d->tensors, " tensor", " tensors"));
    tm_buf_add_char(out, '\n');
  }
}

void tm_onnx_add_words(struct tm_buf *out, const struct tm_onnx_file *f)
{
  add_values(out, "inputs:", f->inputs.at, f->inputs.len);
  add_values(out, "outputs:", f->outputs.at, f->outputs.len);
  add_opsets(out, f);
  add_size(out, f);
  add_data_files(out, f);
  if (*f->producer) {
    tm_buf_add_str(out, "producer: ");
    add_text(out, f->producer);
    tm_buf_add_str(out, *f->producer_version ? " " : "");
    add_text(out, f->producer_version);
    tm_buf_add_char(out, '\n');
  }
  for (size_t i = 0; i < f->metadata.len; i++) {
    tm_buf_printf(out, "%-10s", i == 0 ? "metadata:" : "");
    add_text(out, f->metadata.at[i].key);
    tm_buf_add_str(out, " = ");
    add_text(out, f->metadata.at[i].value);
    tm_buf_add_char(out, '\n');
  }
}
