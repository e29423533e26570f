/* json_infer.h - the columns of JSON lines, from the first objects, in the order in which keys
 * first appear.
 *
 * A column of objects, arrays or values of different types is string. Lines that are not objects
 * are skipped. A line longer than the limit is skipped piece by piece if invalid lines are dropped,
 * else refused; an object whose keys make more columns than the limit is refused. At most one line
 * is held, by the caller.
 *
 * Steps: _new; _add for each piece of text, as UTF-8, until _is_done or the end of the text; _end.
 * Pure.
 */
#ifndef TM_DATA_ROWS_JSON_INFER_H
#define TM_DATA_ROWS_JSON_INFER_H

#include "data/rows/json_lines.h"

struct tm_json_infer;

/* `rows`: objects to look at. `schema` is empty, and belongs to the caller. */
struct tm_json_infer *tm_json_infer_new(const struct tm_json_lines_options *options, int64_t rows,
                                        struct tm_schema *schema);
/* Takes whole lines, with `is_last` all of the text, and returns how many bytes; pass the rest
 * again, before the next text. TM_EINPUT: refused, with a message without a place. */
int64_t tm_json_infer_add(struct tm_json_infer *f, const char *p, size_t n, bool is_last,
                          struct tm_err *err);
bool tm_json_infer_is_done(const struct tm_json_infer *f);
int64_t tm_json_infer_rows(const struct tm_json_infer *f); /* objects so far */
/* The current line, from 1, and its offset in the file. */
int64_t tm_json_infer_line(const struct tm_json_infer *f, int64_t *at);
/* Sets the types, and frees. */
void tm_json_infer_end(struct tm_json_infer *f);

#endif
