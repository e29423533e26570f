/* sightings.h - the state of files and folders when they were read. It tells afterwards whether all
 * were read as of one moment: none of them has changed between its reading and the end.
 *
 * Zero-initialised is empty.
 */
#ifndef TM_SNAPSHOT_SIGHTINGS_H
#define TM_SNAPSHOT_SIGHTINGS_H

#include "base/mem.h"
#include "sys/fs.h"

struct tm_sighting {
  char *path;
  struct tm_stat st;
};

struct tm_sightings TM_ARRAY(struct tm_sighting);

/* Call it before reading `path`. A missing file is left to the reader to report. */
void tm_sightings_add(struct tm_sightings *s, const struct tm_fs *fs, const char *path);
/* The first path that has changed or vanished; NULL: none. Memory of the sightings. */
const char *tm_sightings_changed(const struct tm_sightings *s, const struct tm_fs *fs);
void tm_sightings_release(struct tm_sightings *s);

#endif
