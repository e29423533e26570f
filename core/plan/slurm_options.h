/* slurm_options.h - the setting slurm_options: options of the user for srun. Pure.
 *
 * They are read as srun reads them (getopt_long): "-p debug", "-pdebug", "-vp debug",
 * "--partition debug", "--partition=debug", and unambiguous beginnings of long names. Which options
 * there are, and which have a value, is from `srun --help` of Slurm 22.05. Unknown long options are
 * from other versions: they pass, and a following word that is not an option is their value.
 *
 * Refused, each with the reason: what would break the stream to a node or start none
 * (--output, --ntasks, --label, --test-only, ...), what would hide from us that a node waits
 * (--quiet), what only srun would hear of (--clusters), a word that srun would take for the
 * program, and an option without its value.
 */
#ifndef TM_PLAN_SLURM_OPTIONS_H
#define TM_PLAN_SLURM_OPTIONS_H

#include "base/err.h"

struct tm_buf;

struct tm_slurm_options {
  char **words;  /* NULL-ended, without those for --exclude */
  char *exclude; /* the hosts of all --exclude and -x, separated by commas; NULL: none */
};

/* `words`: NULL-ended, of a list, or split by command_template.h. 0, or TM_EUSAGE with a message
 * that begins with the option; then `out` is empty. */
int tm_slurm_options_read(struct tm_slurm_options *out, char *const *words, struct tm_err *err);
/* Those of `words`, which were read before, that a step of an allocation gets; free each, and the
 * list. Adds the names of the others, "--exclusive, --nodelist": they say which machines a Slurm
 * job gets, and srun refuses them for a step, or takes another machine than it should. `words`: or
 * NULL. */
char **tm_slurm_options_of_step(char *const *words, struct tm_buf *left_out);
void tm_slurm_options_release(struct tm_slurm_options *o);

#endif
