/* worker_mark.h - the marker in the environment of all descendants of a job's workers, and nowhere
 * else. Whoever ends what a killed keeper has left knows those processes by it.
 *
 *   <job>:<epoch>.<node>.<number>:<worker name>:<worker number>[,<marker of an outer worker>]
 *   ------ mark of the job
 *   ------------------------------ mark of the incarnation
 *
 * <job> is the path of the job's directory, shortened with a hash if it is long. It has no ':' and
 * no ','.
 *
 * A node of a job has one keeper after another, also in one session. Each is an incarnation of the
 * node, with an id that is used once in the life of the job: the epoch of the session
 * (record/job_dir.h, 16 hex digits), the id of the node, and a number that counts the keepers of
 * the node in that session. Two nodes of a job may be one machine, so only processes of
 * incarnations that are known to be over are killed:
 *
 *  (1) Those of other sessions. A session starts its first keeper when it has the job's lock and
 *      the keepers of earlier sessions have ended.
 *  (2) Those of this session, of the same node, with a smaller number. A node has one keeper at a
 *      time.
 */
#ifndef TM_NODE_WORKER_MARK_H
#define TM_NODE_WORKER_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_incarnation {
  uint64_t epoch; /* of the session */
  uint32_t node;
  uint32_t number; /* of the keeper on its node, in its session */
};

/* The mark of all workers of the job in this directory. To free. */
char *tm_job_mark(const char *job_dir);
/* The mark of the workers of one keeper of that job. To free. */
char *tm_incarnation_mark(const char *job_dir, const struct tm_incarnation *i);
/* Whether a marker belongs to an incarnation that is over. `rest`: what follows the mark of the
 * job in it. `present`: one that lives. Keeps (1) and (2). */
bool tm_incarnation_is_over(const char *rest, const struct tm_incarnation *present);

/* Kills this user's processes of incarnations of the job that are over while `present` lives, and
 * waits for their ends, at most TM_MARKED_END_NS. Returns the number killed. */
size_t tm_job_kill_over(const char *job_dir, const struct tm_incarnation *present);
/* Likewise for the processes of one incarnation. */
size_t tm_incarnation_kill(const char *job_dir, const struct tm_incarnation *i);
/* Likewise for all incarnations. The caller has the job's lock and has started no keeper. */
size_t tm_job_kill_all(const char *job_dir);
#define TM_MARKED_END_NS (5 * INT64_C(1000000000))

#endif
