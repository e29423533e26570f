/* ort_log.h - what ONNX Runtime logs, until the script's thread moves it elsewhere.
 *
 * The library calls tm_ort_log_add() on any of its threads. At most TM_ORT_LOG_LINES lines are
 * kept, in their order; the rest are counted. Nothing is written to a terminal.
 *
 * A session that is being made logs in detail. Of that, only the number of nodes on each provider
 * is kept, in the words of the library's line: "[CPUExecutionProvider]. Number of nodes: 12".
 */
#ifndef TM_MODEL_ORT_LOG_H
#define TM_MODEL_ORT_LOG_H

#include "base/buf.h"
#include "base/level.h"
#include "base/mem.h"
#include "sys/threads.h"

enum { TM_ORT_LOG_LINES = 64, TM_ORT_LOG_LINE_MAX = 2048 };

struct tm_ort_placed {
  char provider[64];
  int64_t nodes;
};
enum { TM_ORT_PLACED_MAX = 8 };

struct tm_ort_log {
  struct tm_mutex gate; /* protects the rest */
  struct tm_ort_line {
    enum tm_level level;
    char text[TM_ORT_LOG_LINE_MAX]; /* in plain words, without control characters */
  } * lines;                        /* TM_ORT_LOG_LINES */
  size_t len;
  int64_t lost;                                   /* lines that were only counted */
  struct tm_ort_placed placed[TM_ORT_PLACED_MAX]; /* since tm_ort_log_begin_session() */
  size_t placed_len;
};

void tm_ort_log_init(struct tm_ort_log *l);
void tm_ort_log_release(struct tm_ort_log *l);

/* Its type is tm_ort_on_log (ort_api.h); `data` is the log. Any thread. */
void tm_ort_log_add(void *data, int level, const char *category, const char *id, const char *place,
                    const char *message);

/* Takes the lines out: adds each to `out`, as the digit of its level, the text, and "\n". Returns
 * how many more there were. */
int64_t tm_ort_log_take(struct tm_ort_log *l, struct tm_buf *out);
bool tm_ort_log_is_empty(struct tm_ort_log *l);

/* Forgets the placements of the session before. */
void tm_ort_log_begin_session(struct tm_ort_log *l);
/* Those since then; returns their number, at most TM_ORT_PLACED_MAX. */
size_t tm_ort_log_placed(struct tm_ort_log *l, struct tm_ort_placed *out);

#endif
