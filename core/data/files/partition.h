/* partition.h - a partition format: which parts of a path are values of columns. Pure: text in,
 * values out.
 *
 *   {store}/{date:yyyy/MM/dd}/x.csv
 *       .../sales/north/2026/01/31/x.csv  ->  store = "north", date = 2026-01-31
 *
 *   {name}          a string: one or more characters of one name of the path, as few as fit
 *   {name:fields}   a datetime, from yyyy MM dd HH mm ss (as many digits as letters) with any other
 *                   characters between them, also '/'. yyyy is required, and each field requires
 *                   the larger ones; a missing field has its first value
 *   {name:%}        a string in which some bytes are encoded, as by tm_partition_add_name():
 *                   %2F is '/'; the whole value %null is null, %empty the empty string
 *   *  ?            any run of characters, or one character, of one name; not a value
 *   all else        itself
 *
 * The format describes the end of the path, from the first name of the format to the last: as many
 * names as it has, below any folders. A leading '/' has no meaning.
 */
#ifndef TM_DATA_FILES_PARTITION_H
#define TM_DATA_FILES_PARTITION_H

#include <stddef.h>

#include "base/err.h"
#include "data/key.h"

#define TM_PARTITION_KEYS_MAX 32

struct tm_partition;

/* Free it. NULL: the format is wrong, and the message begins with the wrong part: "'YYYY' in
 * '{date:...}' is not a field of a datetime; did you mean 'yyyy'?; accepted: yyyy, MM, ...". */
struct tm_partition *tm_partition_new(const char *format, struct tm_err *err);
void tm_partition_free(struct tm_partition *p); /* NULL: a no-op */

size_t tm_partition_len(const struct tm_partition *p); /* keys, at least one */
/* The name of key i, NUL-ended, in the order of the format. Memory of `p`. */
const char *tm_partition_key(const struct tm_partition *p, size_t i);
enum tm_key_type tm_partition_type(const struct tm_partition *p, size_t i); /* STRING or DATETIME */

/* Encodes the value (NULL: null) as a name in a path for {name:%}; it is never empty and never
 * begins with a dot. */
void tm_partition_add_name(struct tm_buf *out, const char *value, size_t n);

/* The values of a path, tm_partition_len() of them; they point into the path and into `p`, valid
 * until the next call. A value of {name:%} may be NULL. TM_EINPUT with a message if the path does
 * not fit. Uses memory of `p`: one thread at a time. */
int tm_partition_match(struct tm_partition *p, const char *path, size_t len, struct tm_key *out,
                       struct tm_err *err);

#endif
