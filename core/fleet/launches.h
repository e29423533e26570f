/* launches.h - commands that the keeper of this machine runs for the supervisor: each carries the
 * stream of a node (ssh, srun, or `tidemill node` itself) on its stdin and stdout.
 *
 * Only the node of this machine launches, after a step was added to it: the job of the step marks
 * the processes of the launch, so that a later keeper finds what a killed one has left.
 *
 * A launch that is kept outlives its keeper, and its stream continues, because the user owns it.
 * The user has the next keeper adopt the launch. That keeper ends it, and reports its end.
 *
 *   n = tm_node_launch(local, l, user);  p = *tm_node_launched(local, n)   again in on_launched
 *   the keeper is lost, and another one is started
 *   n = tm_node_adopt(local, &p, l->stderr_path, user)  ->  on_adopted, or on_launch_ended
 */
#ifndef TM_FLEET_LAUNCHES_H
#define TM_FLEET_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "node/node_msg.h" /* struct tm_launch, struct tm_launch_ended */

struct tm_node;
struct tm_node_connection;

struct tm_launch_user {
  void *data;
  /* It runs. fd: our end of the socket pair that is its stdin and stdout; the user owns it. */
  void (*on_launched)(void *data, uint32_t launch, int64_t pid, int fd);
  /* It could not be started: the last call. `text`: one line, says why. */
  void (*on_launch_failed)(void *data, uint32_t launch, const char *text);
  /* It has ended, and so has everything it started on this machine: the last call. */
  void (*on_launch_ended)(void *data, uint32_t launch, const struct tm_launch_ended *ended);
  /* This keeper watches it now. NULL if the launch is never adopted. */
  void (*on_adopted)(void *data, uint32_t launch);
};

/* Asks the keeper to run it. Returns its number, for the calls below and in the callbacks, which
 * come in later turns of the loop. If the keeper is lost, no callback comes (on_lost of the node).
 */
uint32_t tm_node_launch(struct tm_node *n, const struct tm_launch *l,
                        const struct tm_launch_user *user);
/* What the next keeper needs to know of it. */
const struct tm_launched_process *tm_node_launched(const struct tm_node *n, uint32_t launch);
/* Has the keeper adopt it, as a launch with a number of its own. If its command is not there any
 * more, or its pid is not known, what is left of it is killed, and on_launch_ended comes. */
uint32_t tm_node_adopt(struct tm_node *n, const struct tm_launched_process *p,
                       const char *stderr_path, const struct tm_launch_user *user);
/* Ends it: SIGTERM to the command; after TM_LAUNCH_END_NS (5 s), unless it is_never_late, SIGKILL
 * to it and what it started. on_launch_ended follows. Again, or after its end: a no-op. */
void tm_node_end_launch(struct tm_node *n, uint32_t launch);
/* The same at once by SIGKILL. */
void tm_node_kill_launch(struct tm_node *n, uint32_t launch);
/* A command that the keeper runs once if it ends while one of its launches lives, because we have
 * died: it ends what they have started on other machines. It has TM_AT_END_NS (20 s). */
void tm_node_at_end(struct tm_node *n, const struct tm_launch *l);

/* ---- for node.c, which has the functions above ---- */

enum tm_launch_phase {
  TM_LAUNCH_ASKED,
  TM_LAUNCH_NAMED, /* ADOPT was sent */
  TM_LAUNCH_LIVES,
  TM_LAUNCH_GONE
};

struct tm_known_launch {
  struct tm_launch_user user;
  struct tm_launched_process process;
  enum tm_launch_phase phase;
  bool is_ending; /* END_LAUNCH was sent */
};

/* The launches of a node, by number. Zeroed is empty. */
struct tm_launches {
  struct TM_ARRAY(struct tm_known_launch) list;
};
/* `keeper`: the number of its incarnation. */
uint32_t tm_launches_add(struct tm_launches *all, struct tm_node_connection *c, uint32_t keeper,
                         const struct tm_launch *l, const struct tm_launch_user *user);
uint32_t tm_launches_adopt(struct tm_launches *all, struct tm_node_connection *c,
                           const struct tm_launched_process *p, const char *stderr_path,
                           const struct tm_launch_user *user);
void tm_launches_end(struct tm_launches *all, struct tm_node_connection *c, uint32_t launch);
void tm_launches_kill(struct tm_launches *all, struct tm_node_connection *c, uint32_t launch);
void tm_launches_at_end(struct tm_node_connection *c, const struct tm_launch *l);
/* Within on_msg of LAUNCHED, LAUNCH_FAILED, LAUNCH_ENDED or ADOPTED: tells the user. False: the
 * message is impossible in this state, and the user has not heard of it. */
bool tm_launches_deliver(struct tm_launches *all, struct tm_node_connection *c,
                         const struct tm_msg *f);
void tm_launches_release(struct tm_launches *all);

#endif
