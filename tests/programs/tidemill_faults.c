/* tidemill_faults.c - the program, with file calls that fail as TM_FAULTS says. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "faults_fs.h"

int main(int argc, char **argv)
{
  struct faults_fs files;
  if (faults_fs_init(&files, getenv("TM_FAULTS")) < 0) {
    fprintf(stderr, "tidemill-faults: TM_FAULTS is not a plan (see faults_fs.h)\n");
    return 2;
  }
  return tm_cli_main(argc, argv, &files.fs);
}
