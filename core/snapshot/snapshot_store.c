/* snapshot_store.c - the packed snapshots of a workspace: each is kept once, under its hash
 * (snapshot.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/archive/pack.h"
#include "snapshot/snapshot.h"
#include "snapshot/snapshot_own.h"

static char *packed_name(const char *store, const char *hash)
{
  return tm_xprintf("%s/%s.tar.zst", store, hash);
}

int tm_snapshot_keep(const struct tm_fs *fs, const struct tm_snapshot *s, const char *store,
                     struct tm_err *err)
{
  char *packed = packed_name(store, s->hash);
  int rc = 0;
  if (!tm_fs_exists(fs, packed)) {
    rc = tm_fs_make_dirs(fs, store, 0700, err);
    rc = rc < 0 ? rc : tm_pack_write(fs, s->dir, packed, err);
  }
  free(packed);
  return rc;
}

int tm_snapshot_restore(const struct tm_fs *fs, const char *store, const char *hash, const char *to,
                        struct tm_err *err)
{
  char *packed = packed_name(store, hash), *temporary = tm_xprintf("%s.tmp", to);
  char found[17];
  int rc = tm_fs_remove_tree(fs, temporary, err);
  if (rc == 0)
    rc = tm_fs_make_dirs(fs, temporary, 0700, err);
  if (rc >= 0)
    rc = tm_pack_read(fs, packed, temporary, err);
  if (rc == 0)
    rc = tm_snapshot_hash_dir(fs, temporary, found, err);
  if (rc == 0 && strcmp(found, hash) != 0)
    rc = tm_err_set(err, TM_EDAMAGE, "'%s' is damaged: what it holds is not what its name says",
                    packed);
  if (rc == 0)
    rc = tm_snapshot_place(fs, temporary, to, err);
  if (rc < 0)
    tm_fs_remove_tree(fs, temporary, NULL);
  free(temporary);
  free(packed);
  return rc;
}
