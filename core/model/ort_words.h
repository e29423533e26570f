/* ort_words.h - what ONNX Runtime says, without what only its own developers can read; pure.
 *
 *   [ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running Add node.
 *   Name:'sum' Status Message: /onnxruntime_src/onnxruntime/core/.../element_wise_ops.h:540 void
 *   onnxruntime::BroadcastIterator::Init(ptrdiff_t, ptrdiff_t) axis == 1 || axis == largest was
 *   false. Attempting to broadcast an axis by a dimension other than 1. 2 by 3
 *
 * becomes
 *
 *   node 'sum' (Add): Attempting to broadcast an axis by a dimension other than 1. 2 by 3
 */
#ifndef TM_MODEL_ORT_WORDS_H
#define TM_MODEL_ORT_WORDS_H

#include "base/buf.h"

/* Adds a message without codes, places and functions in the library's sources, and the checks that
 * failed there, unless nothing else is left. Line breaks become blanks; other bytes stay as they
 * are. */
void tm_ort_words_add(struct tm_buf *out, const char *message);

#endif
