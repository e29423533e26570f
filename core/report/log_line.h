/* log_line.h - parses what log.h and tries.h write: log lines, and rows of
 * processed_mini-batches.csv. Pure; nothing is trusted, because scripts write to some of these
 * files.
 */
#ifndef TM_REPORT_LOG_LINE_H
#define TM_REPORT_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/level.h"

/* "2026-01-31 23:59:58,123|INFO|4711|process000|message"; pointers are within the line. */
struct tm_log_line {
  int64_t wall_ns; /* since the epoch */
  enum tm_level level;
  const char *process, *message;
  size_t process_len, message_len;
};
/* False: not a log line; it belongs to the line before it (a stack). */
bool tm_log_line_read(const char *line, size_t len, struct tm_log_line *out);
/* "2026-01-31 23:59:58,123456" or "2026-01-31T23:59:58.123456Z": sets the moment, and returns its
 * length; 0: not a moment. */
size_t tm_log_moment(const char *s, size_t len, int64_t *wall_ns);
/* Whether the text has `word`, not as a part of a longer one. */
bool tm_log_has_word(const char *text, size_t len, const char *word);
/* For "mini-batch 17, ..." or "mini-batch 17: ...": 17; -1: the text begins differently. */
int64_t tm_log_mini_batch(const char *message, size_t len);
/* Like tm_log_mini_batch(), or "... mini-batch 17, try 2..." anywhere in the text: the keeper's
 * form. */
int64_t tm_log_try_of(const char *message, size_t len);

struct tm_log_error {
  int64_t mini_batch; /* -1: the first error of an init() */
  int64_t try_number;
};
/* What follows the first line of an error in a worker's log of errors: the stack, or the last lines
 * that a worker printed before it died; `*len` 0: nothing follows. Lines of the message before the
 * stack are left out, and the last line break. NULL: the text has no such error. */
const char *tm_log_error_rest(const char *text, size_t n, const struct tm_log_error *e,
                              size_t *len);

/* Splits one row of a CSV file without line breaks in its fields. The fields are NUL-ended, in the
 * caller's `row`, which is overwritten. Returns their number, at most `max`. */
size_t tm_csv_split(char *row, size_t len, char **fields, size_t max);

#endif
