/* keeper_start.c - see keeper_start.h. */
#include "node/keeper_start.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "node/keeper.h"
#include "node/node_msg.h"
#include "sys/messages/channel.h"
#include "sys/fs.h"
#include "sys/process.h"

#define KEEPER_END_NS   (5 * TM_S)
#define LAUNCHES_END_NS (TM_LAUNCH_END_NS + TM_AT_END_NS + KEEPER_END_NS)

static pid_t start(const char *program, bool has_stderr, int control, struct tm_err *err)
{
  char *argv[] = { (char *)program, (char *)"keeper", NULL };
  int fds[] = { -1, -1, has_stderr ? STDERR_FILENO : -1, [TM_KEEPER_CONTROL_FD] = control };
  struct tm_spawn spawn = {
    .program = program, .argv = argv, .fds = fds, .fds_len = TM_COUNT_OF(fds)
  };

  return tm_process_start(&spawn, err);
}

pid_t tm_keeper_launch(const char *program, bool has_stderr, int *control, struct tm_err *err)
{
  int pair[2];
  int rc = tm_channel_pair(pair, err);
  pid_t pid;

  *control = -1;
  if (rc < 0)
    return rc;
  pid = start(program, has_stderr, pair[1], err);
  tm_fs_close(tm_fs_real(), pair[1]);
  if (pid < 0)
    tm_fs_close(tm_fs_real(), pair[0]);
  else
    *control = pair[0];
  return pid;
}

size_t tm_keeper_await(pid_t pid, bool has_launches, const char *job_dir,
                       const struct tm_incarnation *incarnation)
{
  struct tm_process_end end;

  tm_process_wait(pid, has_launches ? LAUNCHES_END_NS : KEEPER_END_NS, &end);
  if ((end.signal == 0 && end.exit_status == 0) || !job_dir)
    return 0;
  return tm_incarnation_kill(job_dir, incarnation);
}
