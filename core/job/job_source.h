/* job_source.h - sends a node the scripts of its steps, as ship_source asks: once for each script,
 * after the probe and before the node is admitted. A node that cannot take one is refused.
 *
 *   begin -> thread: reads the job's copy -> SOURCE_DATA, piece by piece -> taken -> the next one
 *                                                                                -> admits the node
 *
 * It sends the scripts of all steps of the node's group that are not over; the job has their copies
 * from its beginning. At most 400 KB of a script are in memory for a node: the thread waits for the
 * loop, and the loop sends a piece when the piece before it has left.
 */
#ifndef TM_JOB_JOB_SOURCE_H
#define TM_JOB_JOB_SOURCE_H

#include <stdbool.h>

#include "job/launched_node.h"

struct tm_job_source;

/* The node's answer to the probe is good. `sizes_alone`: for tm_node_admit(). */
void tm_job_source_begin(struct tm_launched_node *n, bool sizes_alone);
/* Its answer to a script: "", or what was wrong. */
void tm_job_source_taken(struct tm_launched_node *n, const char *problem);
/* tm_job_probe_end() calls it. Without sources: a no-op. */
void tm_job_source_end(struct tm_launched_node *n);

#endif
