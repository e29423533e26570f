/* inspection_running.c - what the workers of a running step are doing, from the file that its
 * supervisor writes (report/running.h): see inspection.h.
 *
 *  (1) A file that is older than the owner's claim to the job is from an earlier session, and is
 *      ignored.
 *  (2) The file is up to a few seconds old: its age is added to the times. If it is older, the
 *      supervisor itself is stopped, and nothing is added.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/time.h"
#include "inspect/inspection.h"
#include "sys/fs.h"

#define FILE_MAX   (64u << 20) /* bytes */
#define AGE_MAX_MS 10000

static int64_t changed_ns(const char *path)
{
  struct tm_stat st;
  return tm_fs_real()->stat(tm_fs_real()->self, path, true, &st) == 0 ? st.mtime_ns : -1;
}

static bool is_of_session(const char *path, const char *job_dir) /* keeps (1) */
{
  char *owner = tm_path_join(job_dir, "owner");
  int64_t claimed_ns = changed_ns(owner), written_ns = changed_ns(path);
  free(owner);
  return written_ns >= 0 && claimed_ns >= 0 && written_ns >= claimed_ns;
}

static void take(struct tm_step_inspection *s, const struct tm_json *v, int64_t now_wall_ns)
{
  struct tm_activities *out = &s->activities;
  const struct tm_json *list = tm_json_get(v, "running");
  int64_t written_ms = tm_json_int(v, "written_ms", 0);
  int64_t age_ms = written_ms > 0 ? now_wall_ns / TM_MS - written_ms : 0;
  if (tm_json_int(v, "version", 0) != 1 || !list || list->type != TM_JSON_ARRAY)
    return;
  if (age_ms < 0 || age_ms > AGE_MAX_MS) /* keeps (2) */
    age_ms = 0;
  (void)tm_nodes_now_from_json(&s->nodes, tm_json_get(v, "nodes"));
  out->workers = tm_json_int(v, "workers", 0);
  out->in_init = tm_json_int(v, "in_init", 0);
  for (size_t i = 0; i < list->list.len; i++) {
    struct tm_activity one;
    if (!tm_activity_from_json(&one, list->list.at[i]))
      continue;
    one.ns += age_ms * TM_MS;
    *TM_ARRAY_ADD(&out->list) = one;
  }
}

void tm_inspection_read_running(struct tm_step_inspection *s, const char *dir, const char *job_dir,
                                int64_t now_wall_ns)
{
  char *path = tm_path_join(dir, "logs/sys/running.json");
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  if (is_of_session(path, job_dir) &&
      tm_fs_read_file(tm_fs_real(), path, FILE_MAX, &text, NULL) >= 0)
    v = tm_json_parse(tm_buf_str(&text), text.len, NULL);
  if (v)
    take(s, v, now_wall_ns);
  tm_json_free(v);
  tm_buf_release(&text);
  free(path);
}
