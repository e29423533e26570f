/* slurm_command.h - the commands of Slurm that start a node, ask about it and end it. Pure. Their
 * options are explained in srun(1), squeue(1), scancel(1) and scontrol(1) of Slurm 22.05.
 *
 * All argvs are NULL-ended, for tm_command_words_free() (command_template.h).
 */
#ifndef TM_SLURM_COMMAND_H
#define TM_SLURM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one node asks for. */
struct tm_slurm_request {
  const char *name;     /* of the Slurm job */
  int64_t processes;    /* CPUs; 0: a whole machine; with `allocation`: not known */
  char *const *options; /* the user's for srun, NULL-ended; or NULL */
  const char *exclude;  /* hosts, separated by commas; NULL: none */
  char *const *program; /* the command of the node, NULL-ended */
  const char
      *allocation;  /* the id of the Slurm job whose machine `host` it uses; NULL: a new job */
  const char *host; /* with `allocation` */
};

/* "tidemill-<job>-<epoch>-<id>": at most 100 characters, of [A-Za-z0-9._-]; others of the job's
 * name become '_', and the middle of a long one is left out. The caller frees it. `epoch`: of the
 * supervisor (record/job_dir.h); `id`: of the node. */
char *tm_slurm_command_name(const char *job, uint64_t epoch, uint32_t id);
/* The beginning that all names of a supervisor share: without the last "-<id>". Likewise. */
char *tm_slurm_command_names(const char *job, uint64_t epoch);
/* Whether the functions above may have made this name for node `id`: for names that were read from
 * a file. Other Slurm jobs of a user may have names that only begin like ours. */
bool tm_slurm_command_is_name(const char *name, uint32_t id);
/* Both lists in one; NULL if both are empty. The caller frees it. `users`: or NULL. */
char *tm_slurm_command_exclude(const char *users, const char *const *hosts, size_t hosts_len);

/* Starts the node: srun with one task. `options` come after ours and override them, because srun
 * takes the last; only the host of a step comes after them. A step ignores `exclude`. */
char **tm_slurm_command_start(const struct tm_slurm_request *r);
/* Asks whether the cluster could ever grant it: the same with --test-only. It starts nothing.
 * Not for a step: srun would test a new job. */
char **tm_slurm_command_test(const struct tm_slurm_request *r);
/* Lists the Slurm jobs with these names or ids, in the format that slurm_text.h reads. `len` > 0.
 * Names: only those of user `uid`, because any user may use any name. */
char **tm_slurm_command_queue_of_names(const char *const *names, size_t len, uint32_t uid);
char **tm_slurm_command_queue_of_ids(const uint32_t *ids, size_t len);
/* Ends them. `scancel --name=a,b` ends nothing, and exits with 0: so one name at a time. */
char **tm_slurm_command_cancel(const uint32_t *ids, size_t len);
char **tm_slurm_command_cancel_name(const char *name);
/* Ends this user's Slurm jobs and steps of these names. scancel does not know steps by their names,
 * so a shell asks squeue for the ids. Succeeds if squeue does. `len` > 0. */
char **tm_slurm_command_cancel_names(const char *const *names, size_t len);
/* The same for all of a supervisor; `names`: tm_slurm_command_names(). */
char **tm_slurm_command_cancel_all(const char *names, bool has_steps);
/* The same in one line for the user's shell: ends the Slurm jobs, or steps, with this name, and
 * those whose names begin with it and a '-'. The caller frees it. */
char *tm_slurm_command_cancel_by_hand(const char *name, bool are_steps);
/* Prints the hosts of SLURM_JOB_NODELIST, one per line. */
char **tm_slurm_command_hosts(const char *list);

#endif
