/* probe.h - answers PROBE (node/node_report.h): whether this machine sees the files that the
 * supervisor sees, and can use what the steps name. Before that, removes what killed keepers of the
 * job have left on this machine.
 *
 * A file system may hang. So a thread does the work, and what it has not answered after a limit is
 * a problem, which names the path. At the end of the relay a thread that hangs is left behind.
 */
#ifndef TM_RELAY_PROBE_H
#define TM_RELAY_PROBE_H

#include "node/node_report.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct tm_probe;

struct tm_probe_options {
  struct tm_loop *loop;
  const struct tm_fs *fs; /* tm_fs_real() */
  /* How long a file that the supervisor has just made may be missing here: network file systems
   * remember for a while that a name is not there. */
  int64_t patience_ns;
  int64_t limit_ns; /* for all of it; more than the patience */
  /* Where keepers of this machine make temporary folders; "": nowhere. What killed keepers of the
   * job have left there is removed first (node/temp_left.h). Copied. */
  const char *temp_dir, *memory_dir;
  void (*on_note)(void *data, const char *text); /* what was removed; before on_answer */
  /* Once, unless tm_probe_end() comes before. */
  void (*on_answer)(void *data, const struct tm_node_probed *answer);
  void *data;
};

/* Takes over the contents of `p`. End it with tm_probe_end(). */
struct tm_probe *tm_probe_start(const struct tm_probe_options *o, struct tm_node_probe *p);
/* Frees it when the loop turns. NULL: a no-op. */
void tm_probe_end(struct tm_probe *probe);

#endif
