/* link_roots.h - folders that a copy of a source has, by where they really are: where a link to one of them leads in the copy.
 *
 * The first is the source itself; each folder outside that is copied because a link leads there is another. A link to what is within
 * one of them becomes a relative one within the copy, so that nothing is copied for ever, and no folder twice. Strings alone.
 */
#ifndef TM_PLAN_LINK_ROOTS_H
#define TM_PLAN_LINK_ROOTS_H

#include <stdbool.h>

#include "base/mem.h"

struct tm_link_root {
  char *place;    /* absolute, without links */
  char *relative; /* in the copy; "" is its top */
};

struct tm_link_roots TM_ARRAY(struct tm_link_root);

/* `path` is `dir`, or in it. */
bool tm_link_is_within(const char *dir, const char *path);
void tm_link_roots_add(struct tm_link_roots *r, const char *place, const char *relative);
/* What a link at `relative` in the copy says to lead to `place`; to free(). NULL: that is in none of them. */
char *tm_link_roots_target(const struct tm_link_roots *r, const char *place, const char *relative);
void tm_link_roots_release(struct tm_link_roots *r);

#endif
