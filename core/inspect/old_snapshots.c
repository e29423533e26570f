/* old_snapshots.c - see old_snapshots.h. The jobs are those in the workspace, and those in its
 * history whose directories are elsewhere and still exist. */
#include "inspect/old_snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "record/job_record.h"
#include "store/history.h"
#include "store/jobs.h"

#define SUFFIX   ".tar.zst"
#define HASH_LEN 16

struct search {
  const struct tm_fs *fs;
  struct tm_map used; /* hashes */
  struct tm_map seen; /* directories that count as removed, or were read */
  char *store;
  struct tm_old_snapshots *out;
};

/* Adds the hashes of an existing job. */
static int add_job(struct search *s, const char *dir, struct tm_err *err)
{
  char *record = tm_path_join(dir, "job.json");
  bool is_new, is_there;
  tm_map_add(&s->seen, dir, strlen(dir), &is_new);
  is_there = is_new && tm_fs_exists(s->fs, record);
  struct tm_json *v = is_there ? tm_job_record_load(dir, err) : NULL;
  const struct tm_json *steps = v ? tm_json_get(v, "steps") : NULL;
  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++) {
    const struct tm_json *definition = tm_json_get(steps->list.at[i], "definition");
    const char *hash = tm_json_str(definition, "snapshot_hash", "");
    tm_map_add(&s->used, hash, strlen(hash), NULL);
  }
  tm_json_free(v);
  free(record);
  return is_there && !v ? err->code : 0;
}

static int add_jobs(struct search *s, const char *workspace, struct tm_err *err)
{
  struct tm_jobs jobs = { 0 };
  struct tm_history history = { 0 };
  int rc = tm_jobs_list(&jobs, s->fs, workspace, err);
  for (size_t i = 0; i < jobs.len && rc >= 0; i++)
    rc = add_job(s, jobs.at[i], err);
  if (rc >= 0)
    rc = tm_history_list(&history, workspace, err);
  for (size_t i = 0; i < history.len && rc >= 0; i++)
    rc = add_job(s, history.at[i].dir, err);
  tm_history_release(&history);
  tm_jobs_release(&jobs);
  return rc < 0 ? rc : 0;
}

static int on_name(void *data, const char *name, int type)
{
  struct search *s = data;
  struct tm_stat st;
  if (strlen(name) != HASH_LEN + strlen(SUFFIX) || strcmp(name + HASH_LEN, SUFFIX) != 0 ||
      tm_map_find(&s->used, name, HASH_LEN))
    return 0;
  char *path = tm_path_join(s->store, name);
  if (s->fs->stat(s->fs->self, path, false, &st) == 0)
    s->out->bytes += st.size;
  *TM_ARRAY_ADD(&s->out->paths) = path;
  return 0;
}

int tm_old_snapshots_find(struct tm_old_snapshots *out, const struct tm_fs *fs,
                          const char *workspace, char *const *gone, size_t gone_len,
                          struct tm_err *err)
{
  struct search s = { .fs = fs, .out = out };
  *out = (struct tm_old_snapshots) { .bytes = 0 };
  for (size_t i = 0; i < gone_len; i++)
    tm_map_add(&s.seen, gone[i], strlen(gone[i]), NULL);
  s.store = tm_path_join(workspace, "snapshots");
  int rc = add_jobs(&s, workspace, err);
  if (rc == 0)
    (void)tm_dir_read(s.store, on_name, &s); /* missing: nothing was stored */
  tm_map_release(&s.used);
  tm_map_release(&s.seen);
  free(s.store);
  return rc;
}

int tm_old_snapshots_remove(const struct tm_old_snapshots *s, const struct tm_fs *fs,
                            struct tm_err *err)
{
  for (size_t i = 0; i < s->paths.len; i++) {
    int rc = fs->unlink(fs->self, s->paths.at[i]);
    if (rc < 0)
      return tm_err_system(err, rc, "cannot remove '%s'", s->paths.at[i]);
  }
  return 0;
}

void tm_old_snapshots_release(struct tm_old_snapshots *s)
{
  TM_ARRAY_RELEASE_EACH(&s->paths);
}
