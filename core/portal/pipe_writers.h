/* pipe_writers.h - ends what still writes to a pipe. */
#ifndef TM_PORTAL_PIPE_WRITERS_H
#define TM_PORTAL_PIPE_WRITERS_H

/* Kills each other process of this user that has the pipe open for writing, whatever group or
 * session it is in: a program that a script has left in the background, too. One that has closed
 * its output is not found. Reads /proc. */
void tm_pipe_writers_kill(int pipe);

#endif
