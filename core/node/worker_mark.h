/* worker_mark.h - the marker in the environment of all descendants of a job's workers and launches,
 * and of no other process. It identifies the processes that a killed keeper has left.
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
 *
 * A launch is a command that the keeper runs for the supervisor (launcher.c). In its marker the
 * name is "launch", or "kept" if it outlives its keeper, and the number is that of the launch:
 *
 *  (3) A launch that is kept carries the stream of another node, which the supervisor holds. While
 *      the session lives, the next keeper adopts it.
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

/* The marker of a launch. To free. */
char *tm_launch_mark(const char *job_dir, const struct tm_incarnation *i, bool is_kept,
                     uint32_t launch);

/* Kills this user's processes of incarnations of the job that are over while `present` lives, and
 * waits for their ends, at most TM_MARKED_END_NS. Keeps (3). Returns the number killed. */
size_t tm_job_kill_over(const char *job_dir, const struct tm_incarnation *present);
/* Likewise for the processes of one incarnation. Keeps (3). */
size_t tm_incarnation_kill(const char *job_dir, const struct tm_incarnation *i);
/* Likewise for one kept launch. */
size_t tm_launch_kill(const char *job_dir, const struct tm_incarnation *i, uint32_t launch);
/* Likewise for all kept launches of a session, if no keeper of the node lives. */
size_t tm_session_kill_kept(const char *job_dir, uint64_t epoch, uint32_t node);
/* Likewise for all incarnations. The caller has the job's lock and has started no keeper. */
size_t tm_job_kill_all(const char *job_dir);
#define TM_MARKED_END_NS (5 * INT64_C(1000000000))

#endif
