/* running.c - see running.h. */
#include "report/running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "base/time.h"
#include "report/log_file.h"

#define WRITE_NS   (2 * TM_S)
#define CHANGED_NS (TM_S / 2) /* if the nodes have changed */

static int remove_file(struct tm_running *r, struct tm_err *err)
{
  int rc = r->fs->unlink(r->fs->self, r->path);
  r->is_there = false;
  if (rc >= 0 || rc == -ENOENT)
    return 0;
  return tm_err_system(err, rc, "cannot remove '%s'", r->path);
}

int tm_running_init(struct tm_running *r, const struct tm_fs *fs, const char *logs_dir,
                    struct tm_err *err)
{
  *r = (struct tm_running) { .fs = fs, .path = tm_path_join(logs_dir, "sys/running.json") };
  return remove_file(r, err);
}

static void add_text(struct tm_buf *out, int64_t wall_ns, const struct tm_activities *activities,
                     const struct tm_nodes_now *nodes)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *list;
  tm_json_set(v, "version", tm_json_new_int(1));
  tm_json_set(v, "written_ms", tm_json_new_int(wall_ns / TM_MS));
  tm_json_set(v, "workers", tm_json_new_int(activities->workers));
  tm_json_set(v, "in_init", tm_json_new_int(activities->in_init));
  list = tm_json_set(v, "running", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < activities->list.len; i++)
    tm_json_add(list, tm_activity_to_json(&activities->list.at[i]));
  if (nodes && nodes->all > 0)
    tm_json_set(v, "nodes", tm_nodes_now_to_json(nodes));
  tm_json_write(out, v, (struct tm_json_style) { .indent = 0 });
  tm_buf_add_char(out, '\n');
  tm_json_free(v);
}

static bool are_same(const struct tm_nodes_now *a, const struct tm_nodes_now *b)
{
  return a->ready == b->ready && a->all == b->all && a->waiting == b->waiting &&
         strcmp(a->reason, b->reason) == 0;
}

int tm_running_tick(struct tm_running *r, const struct tm_event *e,
                    const struct tm_activities *activities, const struct tm_nodes_now *nodes,
                    struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  const struct tm_nodes_now now = nodes ? *nodes : (struct tm_nodes_now) { 0 };
  int64_t every_ns = are_same(&now, &r->nodes) ? WRITE_NS : CHANGED_NS;
  int rc;
  if (!r->path || r->has_failed)
    return 0;
  if (activities->list.len == 0 && (!nodes || nodes->all == 0))
    return r->is_there ? remove_file(r, err) : 0;
  if (r->is_there && e->mono_ns - r->written_ns < every_ns)
    return 0;
  r->written_ns = e->mono_ns;
  r->nodes = now;
  add_text(&text, e->wall_ns, activities, nodes);
  rc = tm_log_replace(r->fs, r->path, &text, err);
  tm_buf_release(&text);
  r->is_there = true;
  r->has_failed = rc < 0;
  return rc;
}

int tm_running_close(struct tm_running *r, struct tm_err *err)
{
  int rc;
  if (!r->path)
    return 0;
  rc = r->is_there ? remove_file(r, err) : 0;
  free(r->path);
  r->path = NULL;
  return rc;
}
