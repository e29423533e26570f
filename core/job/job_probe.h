/* job_probe.h - asks a node that a command has started whether it sees the files of the job and can
 * use the paths of its steps (node/node_report.h).
 *
 *   begin -> looks which paths exist -> makes <job>/nodes/<id>.asked, sends PROBE
 *   answered -> looks at both files, again for 10 s -> admits the node, or refuses it
 *
 * The looks are taken on threads: a file system may hang. A thread whose node has ended meanwhile
 * is left behind, as in stale_inputs.h. Everything else runs on the loop's thread.
 */
#ifndef TM_JOB_JOB_PROBE_H
#define TM_JOB_JOB_PROBE_H

#include "job/launched_node.h"
#include "node/node_report.h"

struct tm_job_probe;

/* The node has reported its machine. `n` has no probe yet, and gets one. */
void tm_job_probe_begin(struct tm_launched_node *n);
/* Its answer. The node is admitted or refused now, or in a later turn. */
void tm_job_probe_answered(struct tm_launched_node *n, const struct tm_node_probed *probed);
/* Call it about ten times a second: looks again, because a network file system may show files
 * late. */
void tm_job_probe_tick(struct tm_launched_node *n);
/* The node is ready, or is not used any more: removes both files, and ends the sending of scripts
 * (job_source.h). Without a probe: a no-op. */
void tm_job_probe_end(struct tm_launched_node *n);

#endif
