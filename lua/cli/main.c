/* main.c - the program's entry. Everything else is in a library, so that tests can link a second
 * program from the same objects with another table of file calls.
 */
#include "cli/commands.h"
#include "sys/fs.h"

int main(int argc, char **argv)
{
  return tm_cli_main(argc, argv, tm_fs_real());
}
