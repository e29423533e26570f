/* launcher_links.h - logs/sys/node/<node_id>/launcher.txt: what the command of a node wrote to its
 * standard error, in the logs of each step that had a worker there.
 *
 * It is a second name for <job>/nodes/<node_id>.txt, so a copy of the log folder has the text, too,
 * and new text appears under both names. Where the file system has no second names, it is a link
 * with a relative path, which needs the whole job's folder. Steps that are reused leave their logs
 * behind.
 */
#ifndef TM_REPORT_LAUNCHER_LINKS_H
#define TM_REPORT_LAUNCHER_LINKS_H

#include "base/map.h"
#include "record/events.h"
#include "sys/fs.h"

struct tm_launcher_links {
  const struct tm_fs *fs;
  char *dir;         /* logs/sys/node */
  struct tm_map ids; /* of nodes that were seen */
};

void tm_launcher_links_init(struct tm_launcher_links *l, const struct tm_fs *fs,
                            const char *logs_dir);
/* `e`: WORKER_STARTED. Makes the link, unless it exists, or the node has no command. Fails once for
 * each node. */
int tm_launcher_links_add(struct tm_launcher_links *l, const struct tm_event *e,
                          struct tm_err *err);
void tm_launcher_links_release(struct tm_launcher_links *l);

#endif
