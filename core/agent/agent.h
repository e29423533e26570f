/* agent.h - our code inside a worker process: reads frames, calls the script, answers. */
#ifndef TM_AGENT_AGENT_H
#define TM_AGENT_AGENT_H

#include "agent/script.h"

#define TM_WORKER_CHANNEL_FD 3
#define TM_WORKER_PAGE_FD    4

/* Serves the channel (descriptor 3) with the page (descriptor 4) until STOP or the end of the
 * channel. Returns the exit status of the process: 0 after STOP, else 3 with a message on stderr.
 */
int tm_agent_run(const struct tm_script *script);

#endif
