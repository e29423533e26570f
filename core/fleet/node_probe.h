/* node_probe.h - the messages of a node over a stream before it can be used, their order, and what
 * its answer to the probe means (node/node_report.h). Pure: node.c sends and receives; its user
 * makes the files of the probe and looks at them.
 *
 *   REPORT_AWAITED -> REPORTED -> ASKED -> ANSWERED -> ADMITTED
 *
 *  (1) A report is the first message of a node, and comes once. An answer comes once, after a
 *      probe. Scripts are sent before the node is admitted, and each has one answer.
 *  (2) The text of a report about its machine is shown in messages: one line, without control
 *      characters.
 */
#ifndef TM_FLEET_NODE_PROBE_H
#define TM_FLEET_NODE_PROBE_H

#include <stdbool.h>

#include "base/buf.h"
#include "node/node_report.h"

enum tm_node_probe_phase {
  TM_NODE_REPORT_AWAITED,
  TM_NODE_REPORTED,
  TM_NODE_ASKED,
  TM_NODE_ANSWERED,
  TM_NODE_ADMITTED,
};

/* Zeroed: nothing has come. */
struct tm_node_admission {
  enum tm_node_probe_phase phase;
  struct tm_node_report report; /* from REPORTED on */
  bool is_sending;              /* a script, whose answer has not come */
};
/* The payload of a REPORT. False: it cannot come now, or cannot be read. */
bool tm_node_admission_report(struct tm_node_admission *a, const char *p, size_t n);
/* The payload of a PROBED; release `out` if it is true. */
bool tm_node_admission_answer(struct tm_node_admission *a, struct tm_node_probed *out,
                              const char *p, size_t n);
/* A script is sent now: after the answer, one at a time. */
void tm_node_admission_source(struct tm_node_admission *a);
/* The payload of a SOURCE_TAKEN: "", or what was wrong, one line; to free(). NULL: it cannot come
 * now. */
char *tm_node_admission_taken(struct tm_node_admission *a, const char *p, size_t n);
void tm_node_admission_release(struct tm_node_admission *a);

/* How two sides see the files of a probe. */
enum tm_node_view {
  TM_NODE_SEES_SAME,
  TM_NODE_SEES_TIMES, /* the times differ: two mounts of one file system */
  /* the sizes differ: other files, or a network file system that shows changes late */
  TM_NODE_SEES_OTHER,
};
/* `asked`, `answered`: as this side sees them; size < 0: not there. */
enum tm_node_view tm_node_probe_compare(const struct tm_node_probed *there,
                                        const struct tm_node_file *asked,
                                        const struct tm_node_file *answered);

/* How many workers a node has if process_count_per_node is not given: one for each CPU that it may
 * use, or 1 if it has GPUs. */
int64_t tm_node_report_workers(const struct tm_node_report *r);
/* "pid 4711, 8 CPUs (the affinity), no GPU, 31.2 GB of memory, Slurm job 77". */
void tm_node_report_describe(struct tm_buf *out, const struct tm_node_report *r);

#endif
