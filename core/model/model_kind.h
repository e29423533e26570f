/* model_kind.h - files that users take for ONNX models: what they are, and how to make an ONNX
 * model of them. Pure, but for a look into a folder.
 */
#ifndef TM_MODEL_MODEL_KIND_H
#define TM_MODEL_MODEL_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

#define TM_MODEL_KIND_HEAD 4096 /* the first bytes of a file, which tell its kind */

enum tm_model_kind {
  TM_MODEL_KIND_UNKNOWN, /* none of these: perhaps ONNX */
  TM_MODEL_KIND_EMPTY,
  TM_MODEL_KIND_LFS,
  TM_MODEL_KIND_PYTORCH,
  TM_MODEL_KIND_PICKLE,
  TM_MODEL_KIND_SAFETENSORS,
  TM_MODEL_KIND_GGUF,
  TM_MODEL_KIND_KERAS,
  TM_MODEL_KIND_SAVED_MODEL, /* of TensorFlow */
  TM_MODEL_KIND_GRAPH,       /* of TensorFlow */
  TM_MODEL_KIND_TFLITE,
  TM_MODEL_KIND_ORT,
  TM_MODEL_KIND_ARCHIVE,
  TM_MODEL_KIND_PACKED,
  TM_MODEL_KIND_HTML,
  TM_MODEL_KIND_COUNT
};

/* By the first n bytes of a file of so many. */
enum tm_model_kind tm_model_kind_of(const char *head, size_t n, int64_t size);
/* Whether this kind is a model, and no file of it could be a table. */
bool tm_model_kind_is_model(enum tm_model_kind kind);
/* "the file is a Git LFS pointer; run 'git lfs pull'". TM_EINPUT. */
int tm_model_kind_refuse(enum tm_model_kind kind, struct tm_err *err);
/* For a folder in the place of a model. TM_EINPUT. */
int tm_model_kind_refuse_folder(const struct tm_fs *fs, const char *path, struct tm_err *err);
/* For a file that could not be read as ONNX, with the reason in `err`: it is cut (TM_ENOINPUT), of
 * TensorFlow, or something else. `ir_version`: what was read of it. TM_EINPUT. */
int tm_model_kind_explain(const char *head, size_t n, int64_t ir_version, struct tm_err *err);

#endif
