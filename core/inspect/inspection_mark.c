/* inspection_mark.c - whether a job's files have changed (inspection.h): their sizes and times, not
 * their contents. */
#include "inspect/inspection.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "record/owner.h"
#include "sys/fs.h"

/* The folders also show files that appear and go: results, requests to cancel, steps. */
static const char *const of_job[] = { ".", "job.json", "job_result.json", "owner" };
static const char *const of_step[] = {
  ".",
  "state/journal",
  "state/manifest",
  "state/failures",
  "logs/sys/running.json",
  "logs/sys/job_report/process_summary.csv",
  "logs/sys/job_report/processed_mini-batches.csv",
  "logs/sys/job_report/workers.csv",
  "logs/user/error.txt",
};
static const char *const folders[] = { ".",        "state",     "logs",
                                       "logs/sys", "logs/user", "logs/sys/job_report",
                                       "output" };

static void add_file(struct tm_hash *hash, const char *dir, const char *name)
{
  const struct tm_fs *fs = tm_fs_real();
  char *path = tm_path_join(dir, name);
  struct tm_stat st = { .size = -1 };
  int64_t words[3];

  (void)fs->stat(fs->self, path, true, &st);
  words[0] = st.size;
  words[1] = st.mtime_ns;
  words[2] = (int64_t)st.ino;
  tm_hash_add(hash, words, sizeof words);
  free(path);
}

uint64_t tm_inspection_mark(const struct tm_inspection *s)
{
  struct tm_hash *hash = tm_hash_new();
  int64_t pid = 0;
  char *host = NULL;
  bool is_running = tm_owner_is_running(s->dir, &pid, &host);
  bool is_stopped = is_running && tm_owner_is_stopped(pid, host);

  tm_hash_add(hash, &is_running, sizeof is_running);
  tm_hash_add(hash, &is_stopped, sizeof is_stopped);
  for (size_t i = 0; i < TM_COUNT_OF(of_job); i++)
    add_file(hash, s->dir, of_job[i]);
  for (size_t i = 0; i < s->steps_len; i++) {
    char *dir = tm_path_join(s->dir, s->steps[i].name ? s->steps[i].name : "");
    for (size_t k = 0; k < TM_COUNT_OF(of_step); k++)
      add_file(hash, dir, of_step[k]);
    free(dir);
  }
  free(host);
  uint64_t mark = tm_hash_end(hash);
  tm_hash_free(hash);
  return mark;
}

void tm_inspection_folders(const struct tm_inspection *s,
                           void (*on_folder)(void *data, const char *path), void *data)
{
  on_folder(data, s->dir);
  for (size_t i = 0; i < s->steps_len; i++)
    for (size_t k = 0; k < TM_COUNT_OF(folders); k++) {
      char *path =
          tm_xprintf("%s/%s/%s", s->dir, s->steps[i].name ? s->steps[i].name : "", folders[k]);
      on_folder(data, path);
      free(path);
    }
}
