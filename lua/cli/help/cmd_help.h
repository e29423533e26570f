/* cmd_help.h - the help of the program: usage, commands, parameters. It comes from the tables of
 * commands, options and parameters (tidemill_parameter()).
 */
#ifndef TM_CLI_HELP_CMD_HELP_H
#define TM_CLI_HELP_CMD_HELP_H

#include "cli/cli.h"

struct tm_manual_look;

void tm_help_add_overview(struct tm_buf *out, const struct tm_cli *cli);
void tm_help_add_command(struct tm_buf *out, const struct tm_command *c);
/* Adds the help on a command, a page of the manual, a parameter, or "parameters". False:
 * there is no such topic. */
bool tm_help_find(struct tm_buf *out, const struct tm_cli *cli, const char *topic,
                  const struct tm_manual_look *look);
/* Reports an unknown command, with the nearest known one; returns the exit status. */
int tm_help_refuse(const struct tm_cli *cli, const char *name);

/* One line for each exit status of a run: "0 Completed". NULL at its end. */
const char *tm_help_exit_status_at(size_t i);

/* A variable of the environment that the program reads. */
struct tm_help_variable {
  const char *name, *help;
};
const struct tm_help_variable *tm_help_variable_at(size_t i); /* NULL at its end */

/* tidemill.1, as roff (cmd_man.c). */
void tm_man_write(struct tm_buf *out, const struct tm_cli *cli);
/* The completion of a shell, "bash" or "zsh" (cmd_completion.c). */
void tm_completion_write(struct tm_buf *out, const struct tm_cli *cli, const char *shell);

#endif
