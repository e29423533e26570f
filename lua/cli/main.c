/* main.c - the program's entry. Everything else is in a library, so that a second program can be linked from the same
 * objects over another table of file calls.
 */
#include "cli/cli.h"
#include "sys/fs.h"

int main(int argc, char **argv)
{
  return tm_cli_main(argc, argv, tm_fs_real());
}
