/* tidemill_faults.c - the program, with file calls and locks that fail as TM_FAULTS says. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "faults_fs.h"

static struct faults_fs files; /* for flock(), which is not in the table of files */

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
  int code = faults_fs_lock(&files, fd);
  if (code == 0)
    return __real_flock(fd, operation);
  errno = -code;
  return -1;
}

int main(int argc, char **argv)
{
  if (faults_fs_init(&files, getenv("TM_FAULTS")) < 0) {
    fprintf(stderr, "tidemill-faults: TM_FAULTS is not a plan (see faults_fs.h)\n");
    return 2;
  }
  return tm_cli_main(argc, argv, &files.fs);
}
