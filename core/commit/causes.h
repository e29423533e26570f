/* causes.h - why items failed although their run() returned: context:fail(), an entry of an archive
 * that cannot be read, too few returned elements. Collects the distinct reasons of one try, each
 * with the number of its items and the first of them.
 *
 * Caller: zero it; add while the lines of the failures log are written (failed_lines.h); emit
 * `list` with the try (events.h); release. A try without such items allocates nothing.
 */
#ifndef TM_COMMIT_CAUSES_H
#define TM_COMMIT_CAUSES_H

#include "base/map.h"
#include "base/mem.h"
#include "record/events.h"

struct tm_causes {
  struct TM_ARRAY(struct tm_item_cause) list; /* in the order of arrival; owns its strings */
  struct tm_map known;                        /* message: place in the list + 1 */
};

/* `message`: any bytes. `item` NULL: nobody knows which items failed. `detail` may be NULL. */
void tm_causes_add(struct tm_causes *c, const char *message, size_t message_len, const char *item,
                   size_t item_len, int64_t items, const char *detail);
/* "2 items failed; the first, 'a.txt': too dark; and 1 other cause". Adds nothing if there is no
 * cause. */
void tm_causes_add_text(struct tm_buf *out, const struct tm_causes *c);
void tm_causes_release(struct tm_causes *c); /* zeroed: a no-op */

#endif
