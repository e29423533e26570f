/* neighbours.h - the programs after us in a pipeline of the shell: `tidemill map ... | grep x |
 * cat`. */
#ifndef TM_CLI_TERMINAL_NEIGHBOURS_H
#define TM_CLI_TERMINAL_NEIGHBOURS_H

#include <stdbool.h>

/* Whether a program of our process group reads our standard output, directly or through others, and
 * writes its own standard output to the terminal `tty`. False: there is no such program, or it has
 * not started yet. */
bool tm_neighbours_write_to(int tty);

#endif
