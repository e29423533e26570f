/* onnx_file.h - what an ONNX file says about its model: read by our own code, without a library.
 * The bytes are hostile.
 *
 * Weights are skipped, not read: a model of gigabytes takes some kilobytes of memory and as many
 * reads as it has tensors. What is kept (names, types, shapes) is at most TM_ONNX_HELD_MAX.
 *
 *   struct tm_onnx_file f;
 *   int rc = tm_onnx_file_read(&f, tm_fs_real(), "model.onnx", err);
 *   ...
 *   tm_onnx_file_release(&f);    in any case
 *
 * Messages say what is wrong and what to do, without the name of the model, which callers put in
 * front: "cannot load 'model.onnx': the file is a Git LFS pointer; run 'git lfs pull'".
 */
#ifndef TM_MODEL_ONNX_FILE_H
#define TM_MODEL_ONNX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "data/stream/stream.h"
#include "sys/fs.h"

#define TM_ONNX_HELD_MAX  (64 << 20) /* bytes */
#define TM_ONNX_DEPTH_MAX 32         /* graphs and types within each other */

struct tm_onnx_axis {
  int64_t size; /* -1: free */
  char *name;   /* of a free one, or NULL */
};

struct tm_onnx_value {
  char *name;
  char *type;      /* "float32", "sequence<map<int64,float32>>"; "" : not stated */
  int32_t element; /* of a tensor, its enum tm_tensor_type, or another one of ONNX; 0: no tensor */
  bool has_shape;  /* else of any rank */
  struct TM_ARRAY(struct tm_onnx_axis) shape;
};

struct tm_onnx_opset {
  char *domain; /* "ai.onnx" for the standard one */
  int64_t version;
};

struct tm_onnx_pair {
  char *key, *value;
};

/* A file beside the model that has data of tensors. */
struct tm_onnx_data_file {
  char *location;         /* as the model has it; unchecked */
  char *tensor;           /* the name of the tensor that ends last */
  int64_t offset, length; /* of that tensor, in bytes */
  int64_t tensors, bytes; /* of all tensors there */
};

/* A kind of node. */
struct tm_onnx_operator {
  char *domain; /* "ai.onnx" for the standard one */
  char *type;   /* "Conv" */
  char *node;   /* the name of the first such node, or what it makes; may be "" */
  int64_t nodes;
};

struct tm_onnx_file {
  int64_t size;    /* of the file */
  int64_t weights; /* bytes of all tensors that are stored, also in other files */
  int64_t nodes;   /* in all graphs */
  int64_t ir_version, model_version;
  char *producer, *producer_version, *graph;    /* "" if not stated */
  struct TM_ARRAY(struct tm_onnx_value) inputs; /* without those that are initializers */
  struct TM_ARRAY(struct tm_onnx_value) outputs;
  struct TM_ARRAY(struct tm_onnx_opset) opsets;
  struct TM_ARRAY(struct tm_onnx_pair) metadata;
  struct TM_ARRAY(struct tm_onnx_data_file) data_files;
  struct TM_ARRAY(struct tm_onnx_operator) operators;
  struct TM_ARRAY(
      struct tm_onnx_opset) functions; /* of the model's own: their domains; version 0 */
};

/* `out` need not be initialised. Negative: TM_EINPUT for a file that is not an ONNX model or not a
 * whole one, TM_ELIMIT, or an error of the system. */
int tm_onnx_file_read(struct tm_onnx_file *out, const struct tm_fs *fs, const char *path,
                      struct tm_err *err);
/* The same for a stream of so many bytes, which stays the caller's. */
int tm_onnx_file_read_stream(struct tm_onnx_file *out, struct tm_stream *s, int64_t size,
                             struct tm_err *err);
void tm_onnx_file_release(struct tm_onnx_file *f); /* zeroed: a no-op */

/* Whether the file is a model by its contents: of ONNX, or of another kind that tm_onnx_file_read()
 * refuses by name. False if it cannot be read. */
bool tm_onnx_is_model(const struct tm_fs *fs, const char *path);

/* "float32", the name of a type by its number in TensorProto.DataType; NULL: there is none. */
const char *tm_onnx_type_name(int32_t type);
/* Bits of an element; 0 for strings and unknown types. */
int tm_onnx_type_bits(int32_t type);

#endif
