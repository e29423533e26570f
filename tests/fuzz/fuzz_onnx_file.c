/* fuzz_onnx_file.c - an ONNX file. It is refused with a message, or what it says is consistent:
 * texts end, sizes are not negative, each tensor of another file is in its list. */
#include "fuzz.h"

#include "model/onnx_file.h"
#include "model/onnx_support.h"

static void check_value(const struct tm_onnx_value *v)
{
  fuzz_require(v->name && v->type);
  fuzz_require(v->has_shape || v->shape.len == 0);
  for (size_t i = 0; i < v->shape.len; i++) {
    const struct tm_onnx_axis *a = &v->shape.at[i];
    fuzz_require(a->size >= -1 && (!a->name || (a->size == -1 && *a->name)));
  }
}

static void check(const struct tm_onnx_file *f)
{
  int64_t nodes = 0;
  for (size_t i = 0; i < f->inputs.len; i++)
    check_value(&f->inputs.at[i]);
  for (size_t i = 0; i < f->outputs.len; i++)
    check_value(&f->outputs.at[i]);
  for (size_t i = 0; i < f->data_files.len; i++) {
    const struct tm_onnx_data_file *d = &f->data_files.at[i];
    fuzz_require(d->location && *d->location && d->tensor && d->tensors > 0);
    fuzz_require(d->offset >= 0 && d->length >= 0 && d->bytes >= d->length);
  }
  for (size_t i = 0; i < f->operators.len; i++)
    nodes += f->operators.at[i].nodes;
  fuzz_require(nodes >= f->nodes); /* those of functions have no graph */
  fuzz_require(f->weights >= 0 && f->opsets.len > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_stream *s = tm_stream_of_bytes((const char *)data, size);
  struct tm_onnx_file f;
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_onnx_file_read_stream(&f, s, (int64_t)size, &err);
  if (rc == 0) {
    check(&f);
    tm_onnx_check_versions(&f, "1.17.0", &err);
    tm_onnx_check_operators(&f, "1.17.0", "No Op registered for", &err);
  } else {
    fuzz_require(rc < 0 && err.code == rc && err.text[0]);
  }
  tm_onnx_file_release(&f);
  tm_stream_close(s);
  return 0;
}
