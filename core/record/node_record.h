/* node_record.h - <job>/nodes/<id>.json: what a job knows of a node that a command has started.
 *
 *   begin, before the launch    id, compute_target, epoch, asked (when), command, host if it is
 *                               known; of a node of Slurm: name, may_run, and allocation if it is a
 *                               step of that Slurm job
 *   update, when it starts      started, host, machine, pid, uid, boot_id, cpus, ...
 *   update, when it ends        ended, why
 *
 * `may_run` is true until it is certain that the node's Slurm job has ended. A later session
 * cancels the Slurm jobs for which it is still true: tm_node_record_each_left(). The file has mode
 * 0600. It is replaced atomically, and not fsynced, because a power cut ends the commands of nodes,
 * too.
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

/* A node of Slurm whose end is not certain. `name`: any text. */
typedef void (*tm_on_node_left)(void *data, uint32_t id, const char *name, bool is_step);
/* Calls on_left for each such node in <job>/nodes, in any order. The folder may be missing. */
void tm_node_record_each_left(const struct tm_fs *fs, const char *job_dir, tm_on_node_left on_left,
                              void *data);

#endif
