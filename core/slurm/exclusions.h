/* exclusions.h - hosts on which Slurm must not start a node for a while, because a node was lost or
 * sick there. Pure.
 *
 *  (1) A host is excluded for TM_EXCLUDE_NS after the last such node.
 *  (2) Exclusions never make nodes impossible: the caller asks Slurm whenever a host was added.
 *      While Slurm refuses, the oldest exclusion ends.
 *  (3) Names come from other machines, and go into a command: only plain host names are accepted.
 *      Slurm calls machines by their names without a domain.
 */
#ifndef TM_SLURM_EXCLUSIONS_H
#define TM_SLURM_EXCLUSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define TM_EXCLUDE_NS (600 * INT64_C(1000000000))

struct tm_exclusion {
  char *host;
  int64_t until_ns;
};

/* Zeroed is empty. */
struct tm_exclusions {
  struct TM_ARRAY(struct tm_exclusion) list; /* the oldest first */
  bool is_untested; /* it is not known whether Slurm can grant a node without these hosts */
};

void tm_exclusions_release(struct tm_exclusions *e);
/* False: (3). If the host is there already, its time begins again. */
bool tm_exclusions_add(struct tm_exclusions *e, const char *host, int64_t now_ns);
/* Ends those whose time is over. */
void tm_exclusions_expire(struct tm_exclusions *e, int64_t now_ns);
/* Whether Slurm has to be asked before a node is requested: (2). */
bool tm_exclusions_are_untested(const struct tm_exclusions *e);
/* Slurm is asked about the present hosts. Hosts that are added before the answer are not part of
 * it. */
void tm_exclusions_asked(struct tm_exclusions *e);
/* Slurm did not answer, and has to be asked again. */
void tm_exclusions_unanswered(struct tm_exclusions *e);
/* Its answer. If it refuses, the oldest exclusion ends: returns the host, for free(); else NULL. */
char *tm_exclusions_tested(struct tm_exclusions *e, bool is_granted);
/* All hosts that a node must not use, separated by commas, for free(); NULL: none. `users`: those
 * of the user, or NULL. */
char *tm_exclusions_text(const struct tm_exclusions *e, const char *users);

#endif
