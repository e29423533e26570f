/* running.h - logs/sys/running.json: what the workers of a step are doing, if something takes
 * longer than a second, and how many nodes it has, if commands start them. `tidemill status` and
 * `tidemill logs --mini-batch` read it (inspect/inspection.h). One JSON object:
 *
 *   {"version": 1, "written_ms": SINCE THE EPOCH, "workers": 4, "in_init": 0, "running": [ACTIVITY,
 *   ...], "nodes": {...}}
 *
 * The format of an activity is in record/activity.h; the longest one is the first. The format of
 * "nodes" is in record/nodes.h; it is there only if commands start nodes. The file is replaced
 * every two seconds, or half a second after the nodes have changed. It is removed when there is
 * nothing to report. A kill may leave it behind, so readers ignore it if the job has no owner, or
 * if the file is older than the claim of the owner.
 */
#ifndef TM_REPORT_RUNNING_H
#define TM_REPORT_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "record/activity.h"
#include "record/events.h"
#include "sys/fs.h"

struct tm_running {
  const struct tm_fs *fs;
  char *path; /* NULL: closed */
  bool is_there;
  bool has_failed;           /* writing has failed: it is not tried again */
  int64_t written_ns;        /* monotonic */
  struct tm_nodes_now nodes; /* as written */
};

/* Removes the file of an earlier session. */
int tm_running_init(struct tm_running *r, const struct tm_fs *fs, const char *logs_dir,
                    struct tm_err *err);
/* Call it about ten times a second. `nodes`: those of the step now; NULL: no command starts nodes
 * for it. Returns an error only once. */
int tm_running_tick(struct tm_running *r, const struct tm_event *e,
                    const struct tm_activities *activities, const struct tm_nodes_now *nodes,
                    struct tm_err *err);
/* Removes the file. Closed: a no-op. */
int tm_running_close(struct tm_running *r, struct tm_err *err);

#endif
