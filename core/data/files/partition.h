/* partition.h - a partition format: which parts of a path are values of columns. Pure: text in, values out.
 *
 *   {store}/{date:yyyy/MM/dd}/x.csv      .../sales/north/2026/01/31/x.csv  ->  store = "north", date = 2026-01-31
 *
 *   {name}          a string: one character or more of one name of the path, as few as fit
 *   {name:fields}   a datetime, of yyyy MM dd HH mm ss (digits, as many as letters) with any signs between them; '/' too.
 *                   yyyy must be there, and before each field those that it is a part of; what is missing is its first
 *   {name:%}        a string, of a name in which some bytes are written otherwise, as tm_partition_add_name() writes it: %2F is
 *                   '/'; the whole value %null is null, %empty the empty string
 *   *  ?            any run of characters, one character, of one name; no value
 *   all else        itself
 *
 * The format stands for the end of the path, from its first name on to the last: as many names as it has, however many
 * folders are above. A '/' in front means nothing.
 */
#ifndef TM_DATA_FILES_PARTITION_H
#define TM_DATA_FILES_PARTITION_H

#include <stddef.h>

#include "base/err.h"
#include "data/key.h"

#define TM_PARTITION_KEYS_MAX 32

struct tm_partition;

/* NULL, with words that begin with what is wrong: "'{date:YYYY}': 'YYYY' is no field; did you mean 'yyyy'?". To free. */
struct tm_partition *tm_partition_new(const char *format, struct tm_err *err);
void tm_partition_free(struct tm_partition *p); /* NULL: a no-op */

size_t tm_partition_len(const struct tm_partition *p); /* keys, at least one */
/* Its name, NUL-ended; in the order of the format. Memory of `p`. */
const char *tm_partition_key(const struct tm_partition *p, size_t i);
enum tm_key_type tm_partition_type(const struct tm_partition *p, size_t i); /* STRING or DATETIME */

/* Adds the value (NULL: null) as a name of a path for {name:%}: a name that begins with no dot, and never is empty. */
void tm_partition_add_name(struct tm_buf *out, const char *value, size_t n);

/* The values of a path, tm_partition_len() of them; they point into the path and into `p`, until the next call. One of {name:%}
 * may be NULL. TM_EINPUT, with words, when it does not fit. Uses memory of `p`: one thread at a time. */
int tm_partition_match(struct tm_partition *p, const char *path, size_t len, struct tm_key *out,
                       struct tm_err *err);

#endif
