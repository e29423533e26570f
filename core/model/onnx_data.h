/* onnx_data.h - the files beside an ONNX model that have the data of its tensors. The model is
 * hostile: some versions of the library read whatever file it names.
 *
 * A file must be named relative to the model, and be in the model's folder or below, also after
 * links are resolved. That is the folder of the path that is given, or the one where the model is
 * if that path is a link: some tools keep all files of a model in one folder, under other names.
 */
#ifndef TM_MODEL_ONNX_DATA_H
#define TM_MODEL_ONNX_DATA_H

#include "model/onnx_file.h"

/* Checks all of them, with the offsets and lengths of their tensors. Negative, with a message that
 * names tensor and file: TM_EINPUT, or an error of the system. */
int tm_onnx_check_data(const struct tm_onnx_file *f, const struct tm_fs *fs, const char *model_path,
                       struct tm_err *err);

#endif
