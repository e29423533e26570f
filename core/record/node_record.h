/* node_record.h - <job>/nodes/<id>.json: what a job knows of a node that a command has started.
 *
 *   every update               id, directory
 *   begin, before the launch    compute_target, epoch, asked (when), command, host if it is
 *                               known; of a node of Slurm: name, may_run, and allocation if it is a
 *                               step of that Slurm job
 *   update, when it starts      started, host, machine, pid, uid, boot_id, cpus, ...
 *   update, when it ends        ended, why
 *
 * `may_run` is true until it is certain that the node's Slurm job has ended. A later session
 * cancels the Slurm jobs for which it is still true: tm_node_record_each_left(). `directory` is the
 * inode of the job directory: a copy of it, perhaps of a job that runs, has another one. (The
 * number of its device differs between machines.) The file has mode 0600. It is replaced
 * atomically, and not fsynced, because a power cut ends the commands of nodes, too.
 *
 * When it is read, it may hold anything: opening it never waits, and a damaged file is ignored.
 */
#ifndef TM_RECORD_NODE_RECORD_H
#define TM_RECORD_NODE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "sys/fs.h"

#define TM_NODE_RECORD_MAX ((size_t)4 << 20) /* bytes that are read */

/* Sets the members of `changes`, an object, and frees it. Replaces a file that cannot be read.
 * The folder <job>/nodes exists. */
int tm_node_record_update(const struct tm_fs *fs, const char *job_dir, uint32_t id,
                          struct tm_json *changes, struct tm_err *err);

/* A node of Slurm whose end is not certain. */
struct tm_node_left {
  uint32_t id;
  const char *name; /* of the Slurm job or step: any text */
  bool is_step;
  bool is_elsewhere; /* another directory wrote the record: the Slurm job may be that one's */
};
typedef void (*tm_on_node_left)(void *data, const struct tm_node_left *left);
/* Calls on_left for each such node in <job>/nodes, in any order. The folder may be missing. */
void tm_node_record_each_left(const struct tm_fs *fs, const char *job_dir, tm_on_node_left on_left,
                              void *data);

#endif
