/* relay.h - `tidemill node`: the workers of this machine, for a supervisor on another one.
 *
 * The supervisor starts it by srun, ssh or any other command that carries its stdin and stdout
 * (sys/messages/node_stream.h). It starts the keeper as a supervisor of this machine would, and
 * passes messages on (exchange.h).
 *
 * SIGTERM and SIGUSR1 announce that the machine will be taken away, as Slurm does before it kills.
 * The relay reports to the supervisor that the node drains. The supervisor takes back assignments
 * that have not begun, lets the others end, and then ends the node. A node without a step ends at
 * once, as on SIGHUP and SIGINT.
 */
#ifndef TM_RELAY_RELAY_H
#define TM_RELAY_RELAY_H

/* Exit statuses, besides 0: the supervisor or a signal ended it. */
#define TM_RELAY_BROKEN       3 /* the stream cannot be read, or the keeper cannot be started */
#define TM_RELAY_KEEPER_ENDED 4
#define TM_RELAY_SILENT       5 /* nothing came from the supervisor for too long: exchange.h */

/* Serves descriptors 0 and 1 until one of both sides ends, and until every process beneath the
 * keeper has ended. Both descriptors become /dev/null; messages go to stderr. `program` runs the
 * keeper as `program keeper`. Returns the exit status of the process. */
int tm_relay_run(const char *program);

#endif
