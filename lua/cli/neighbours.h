/* neighbours.h - the programs behind us in a pipeline of the shell: `tidemill map ... | grep x |
 * cat`. */
#ifndef TM_CLI_NEIGHBOURS_H
#define TM_CLI_NEIGHBOURS_H

#include <stdbool.h>

/* Whether a program of our process group that reads our standard output, directly or through
 * others, has its own standard output on the terminal `tty`. False: there is none, or it has not
 * been started yet. */
bool tm_neighbours_write_to(int tty);

#endif
