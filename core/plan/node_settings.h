/* node_settings.h - the settings that say where nodes come from, and what must hold between them:
 * node_count, compute_target, node_command, node_hosts and slurm_options. Pure: its caller reads
 * the file of hosts. Within plan.
 *
 *   compute_target = "local" has node_count 1.
 *   Only "exec" has node_command, which it needs, and node_hosts. Only "slurm" has slurm_options
 *   (slurm_options.h), and slurm_allocation = "new".
 *   Placeholders of node_command: {host} {node_id} {program} {job_dir} {processes}.
 *   {processes} needs process_count_per_node, which each node decides otherwise.
 *   {host} needs node_hosts: at least node_count different names. Names beyond that are spares.
 *   No name begins with "-", or has control characters, blanks or characters of a shell.
 */
#ifndef TM_PLAN_NODE_SETTINGS_H
#define TM_PLAN_NODE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "plan/config.h"

#define TM_NODE_HOSTS_MAX ((size_t)16 << 20) /* bytes of a file of hosts */

struct tm_node_settings {
  int64_t node_count;
  bool is_exec;                  /* compute_target */
  bool has_processes;            /* process_count_per_node is given */
  const struct tm_json *command; /* a string, or a list of strings; NULL: not given */
  const struct tm_json *hosts;   /* a list of names, or the name of a file; NULL: not given */
  const char *hosts_text;        /* what that file holds: one name per line, empty lines count for
                                  * nothing, and so does what follows a '#' */
  bool is_slurm;                 /* compute_target; not with is_exec */
  const struct tm_json *slurm_options; /* as for `command` */
  bool wants_slurm_jobs;               /* slurm_allocation = "new" */
};

/* Fills node_command and node_hosts, or slurm_options and slurm_exclude of `c`, which
 * tm_config_release() frees, also after TM_EUSAGE. The message has no file:line. */
int tm_node_settings_check(const struct tm_node_settings *s, struct tm_config *c,
                           struct tm_err *err);

#endif
