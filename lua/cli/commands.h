/* commands.h - the program: the table of its commands, and the choice of one. */
#ifndef TM_CLI_COMMANDS_H
#define TM_CLI_COMMANDS_H

struct tm_fs;

/* The whole of main(). */
int tm_cli_main(int argc, char **argv, const struct tm_fs *fs);

#endif
