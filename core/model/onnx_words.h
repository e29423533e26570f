/* onnx_words.h - shows a user what an ONNX file says. */
#ifndef TM_MODEL_ONNX_WORDS_H
#define TM_MODEL_ONNX_WORDS_H

#include "base/buf.h"
#include "model/onnx_file.h"

/* Adds lines such as "inputs:   image float32 [n, 1, 28, 28]". Texts are of the file: they are made
 * safe for a terminal. */
void tm_onnx_add_words(struct tm_buf *out, const struct tm_onnx_file *f);

#endif
