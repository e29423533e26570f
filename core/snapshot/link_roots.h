/* link_roots.h - the real paths of the folders in a copy of a source: tells where a link to one of
 * them leads in the copy.
 *
 * The first is the source itself; the others are outside folders that are copied because a link
 * leads there. A link into one of them becomes a relative link within the copy, so that copying
 * ends and no folder is copied twice. Pure string operations.
 */
#ifndef TM_SNAPSHOT_LINK_ROOTS_H
#define TM_SNAPSHOT_LINK_ROOTS_H

#include <stdbool.h>

#include "base/mem.h"

struct tm_link_root {
  char *place;    /* absolute, without links */
  char *relative; /* in the copy; "" is the top */
};

struct tm_link_roots TM_ARRAY(struct tm_link_root);

/* Whether `path` is `dir`, or in it. */
bool tm_link_is_within(const char *dir, const char *path);
void tm_link_roots_add(struct tm_link_roots *r, const char *place, const char *relative);
/* The target for a link at `relative` in the copy that leads to `place`; to free(). NULL: `place`
 * is in none of them. */
char *tm_link_roots_target(const struct tm_link_roots *r, const char *place, const char *relative);
void tm_link_roots_release(struct tm_link_roots *r);

#endif
