/* launcher_links.c - see launcher_links.h. */
#include "report/launcher_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"

/* From <job>/<step>/logs/sys/node/<node_id>. */
#define TO_JOB "../../../../.."

void tm_launcher_links_init(struct tm_launcher_links *l, const struct tm_fs *fs,
                            const char *logs_dir)
{
  *l = (struct tm_launcher_links) { .fs = fs, .dir = tm_path_join(logs_dir, "sys/node") };
}

static int link_file(const struct tm_fs *fs, const char *from, const char *to, const char *node_id)
{
  int rc = tm_file_link(from, to);
  char *leads_to;

  if (rc >= 0 || rc == -EEXIST)
    return 0;
  leads_to = tm_xprintf("%s/nodes/%s.txt", TO_JOB, node_id);
  rc = fs->symlink(fs->self, leads_to, to);
  free(leads_to);
  return rc == -EEXIST ? 0 : rc;
}

int tm_launcher_links_add(struct tm_launcher_links *l, const struct tm_event *e, struct tm_err *err)
{
  char *from, *dir, *to;
  bool is_new;
  int rc = 0;

  tm_map_add(&l->ids, e->node_id, strlen(e->node_id), &is_new);
  if (!is_new)
    return 0;
  from = tm_xprintf("%s/nodes/%s.txt", e->job->dir, e->node_id);
  dir = tm_path_join(l->dir, e->node_id);
  to = tm_path_join(dir, "launcher.txt");
  if (tm_fs_exists(l->fs, from) && (rc = tm_fs_make_dir(l->fs, dir, 0700, err)) >= 0 &&
      (rc = link_file(l->fs, from, to, e->node_id)) < 0)
    tm_err_system(err, rc, "cannot link '%s' to '%s'", to, from);
  free(from);
  free(dir);
  free(to);
  return rc < 0 ? rc : 0;
}

void tm_launcher_links_release(struct tm_launcher_links *l)
{
  tm_map_release(&l->ids);
  free(l->dir);
  l->dir = NULL;
}
