/* onnx_support.h - why a library cannot load a model that is whole: in better words than its own.
 * Call these when it has refused the model. Pure.
 */
#ifndef TM_MODEL_ONNX_SUPPORT_H
#define TM_MODEL_ONNX_SUPPORT_H

#include "model/onnx_file.h"

/* The newest opset of a domain that this version of ONNX Runtime has, such as 20 for "ai.onnx" and
 * "1.17.0"; 0: unknown. */
int64_t tm_onnx_newest_opset(const char *domain, const char *version);

/* Negative (TM_EVERSION) if the model has an opset, or a version of the format, that is too new for
 * this version: "the model has opset 21 of ai.onnx, and ONNX Runtime 1.17.0 has 20; use 1.18 or
 * newer, or export the model with opset 20". 0: that is not the reason. */
int tm_onnx_check_versions(const struct tm_onnx_file *f, const char *version, struct tm_err *err);

/* Negative (TM_EINPUT) if the model needs a domain that is neither standard, nor of ONNX Runtime,
 * nor defined in the model itself, or if the library's message says that it does not know an
 * operator of the model in this opset: says which node needs it. 0: that is not the reason. */
int tm_onnx_check_operators(const struct tm_onnx_file *f, const char *version, const char *message,
                            struct tm_err *err);

#endif
