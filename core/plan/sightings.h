/* sightings.h - what files and folders were when they were read, so that it can be told afterwards whether all were read as they
 * were at one moment: the last one was read, and none of them has changed since it was seen.
 *
 * Zero-initialised is empty.
 */
#ifndef TM_PLAN_SIGHTINGS_H
#define TM_PLAN_SIGHTINGS_H

#include "base/mem.h"
#include "sys/fs.h"

struct tm_sighting {
  char *path;
  struct tm_stat st;
};

struct tm_sightings TM_ARRAY(struct tm_sighting);

/* Looks at it, before it is read. One that is not there says so when it is read. */
void tm_sightings_add(struct tm_sightings *s, const struct tm_fs *fs, const char *path);
/* The first that is another one now, or gone; NULL: none. The sightings'. */
const char *tm_sightings_changed(const struct tm_sightings *s, const struct tm_fs *fs);
void tm_sightings_release(struct tm_sightings *s);

#endif
