/* temp_owner.h - the file `.keeper` in a folder for temporary folders names its keeper.
 *
 * A keeper locks its folder for its lifetime, then writes the file: its machine and its
 * incarnation. So a folder that has the file and is not locked belongs to a dead keeper. The
 * keeper's processes may be killed, and the folder removed, while other nodes of the job live on
 * this machine.
 *
 * Other machines may see the folder, but not its lock. So only folders of this machine may be
 * removed. If folders cannot be locked, the file is not written.
 */
#ifndef TM_NODE_TEMP_OWNER_H
#define TM_NODE_TEMP_OWNER_H

#include <stdbool.h>

#include "base/err.h"
#include "node/worker_mark.h"

#define TM_TEMP_KEEPER ".keeper"

struct tm_temp_machine {
  char boot_id[64]; /* "": not known, as the host */
  char host[256];
};
struct tm_temp_machine tm_temp_this_machine(void);

/* Writes the file in the folder `path`, which was just locked. */
void tm_temp_own(const char *path, const struct tm_incarnation *i);

/* Makes the folder, or takes an existing one, and locks it; a relay and its keeper may both hold
 * it. *fd: -1, or the descriptor from an earlier call; open while the folder is held. */
int tm_temp_hold(const char *path, int *fd, const struct tm_incarnation *i, struct tm_err *err);
/* Whether the path still names the open folder. */
bool tm_temp_is_held(const char *path, int fd);

struct tm_temp_owner {
  bool is_here;      /* it is on this machine, or was before the machine restarted */
  bool is_same_boot; /* the machine has not restarted: the keeper's processes may still be there */
  struct tm_incarnation incarnation;
};
/* Reads the file in the folder `path`. False: there is none, or it cannot be read. */
bool tm_temp_owner_read(struct tm_temp_owner *out, const char *path,
                        const struct tm_temp_machine *here);
/* The same for the text of a file. Pure. */
bool tm_temp_owner_parse(struct tm_temp_owner *out, const char *text,
                         const struct tm_temp_machine *here);

#endif
