/* cmd_script.h - Lua on the command line without a command. */
#ifndef TM_CLI_CMD_SCRIPT_H
#define TM_CLI_CMD_SCRIPT_H

#include <stdbool.h>

#include "cli/cli.h"

/* Whether the first word of the command line means `lua` with all words: a name that ends in .lua,
 * "-e", "-", ... */
bool tm_script_is_meant(const char *word);

#endif
