/* onnx_own.h - what the files that read an ONNX file share. */
#ifndef TM_MODEL_ONNX_OWN_H
#define TM_MODEL_ONNX_OWN_H

#include "base/map.h"
#include "model/onnx_file.h"
#include "model/protobuf.h"

struct tm_onnx_walk {
  struct tm_protobuf_reader *reader;
  struct tm_onnx_file *out;
  size_t held; /* bytes kept so far */
  int depth;
  struct tm_map initializers, operators, data_files; /* names; of the latter two, the index */
};

/* Fields that a message has once. A second one would be merged with the first by other readers, so
 * that they see another model: it is refused. */
struct tm_onnx_once {
  uint64_t seen; /* a bit for each number below 64 */
};
int tm_onnx_once(struct tm_onnx_once *o, const struct tm_protobuf_field *f, struct tm_err *err);

/* Counts n more bytes that are kept. */
int tm_onnx_hold(struct tm_onnx_walk *w, size_t n, struct tm_err *err);
/* Replaces *out by the text of a field. A NUL in it becomes U+FFFD. */
int tm_onnx_text(struct tm_onnx_walk *w, const struct tm_protobuf_field *f, char **out,
                 struct tm_err *err);
/* Goes one message deeper, and back. */
int tm_onnx_deeper(struct tm_onnx_walk *w, struct tm_err *err);

/* The message in a field, or, without one, all of the stream. */
struct tm_protobuf tm_onnx_inner(struct tm_onnx_walk *w, const struct tm_protobuf_field *f);

/* A TensorProto: adds its bytes to the weights, and its file to the files of data. `keeps_name`: it
 * is an initializer of the model's graph. */
int tm_onnx_read_tensor(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                        bool keeps_name, struct tm_err *err);
/* A ValueInfoProto. `out` is zeroed, and to be released in any case. */
int tm_onnx_read_value(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                       struct tm_onnx_value *out, struct tm_err *err);
void tm_onnx_value_release(struct tm_onnx_value *v);

#endif
