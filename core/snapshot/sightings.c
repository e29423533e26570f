/* sightings.c - see sightings.h. */
#include "snapshot/sightings.h"

#include <stdlib.h>

void tm_sightings_add(struct tm_sightings *s, const struct tm_fs *fs, const char *path)
{
  struct tm_stat st;
  if (fs->stat(fs->self, path, true, &st) == 0)
    *TM_ARRAY_ADD(s) = (struct tm_sighting) { .path = tm_xstrdup(path), .st = st };
}

static bool is_same(const struct tm_stat *a, const struct tm_stat *b)
{
  return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

const char *tm_sightings_changed(const struct tm_sightings *s, const struct tm_fs *fs)
{
  struct tm_stat now;
  for (size_t i = 0; i < s->len; i++)
    if (fs->stat(fs->self, s->at[i].path, true, &now) < 0 || !is_same(&s->at[i].st, &now))
      return s->at[i].path;
  return NULL;
}

void tm_sightings_release(struct tm_sightings *s)
{
  for (size_t i = 0; i < s->len; i++)
    free(s->at[i].path);
  TM_ARRAY_RELEASE(s);
}
