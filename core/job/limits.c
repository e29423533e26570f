/* limits.c - see limits.h. Without this check the job would fail later, with an error that names a
 * different cause. */
#include "job/limits.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "sys/process.h"

#define FDS_OF_JOB    24 /* the loop, the node, locks, files that are open for a moment */
#define FDS_OF_STEP   16
#define FDS_OF_WORKER 3
/* bytes: the history of the workspace, the journal, logs */
#define FILE_LEAST ((int64_t)256 << 10)

/* Each worker has a socket and a log here, and a socket, a page and files in the keeper. */
static int check_descriptors(const struct tm_pipeline *p, int64_t max_workers, struct tm_err *err)
{
  int64_t workers = 0, needed, allowed = tm_process_fd_limit();

  for (size_t i = 0; i < p->steps_len; i++)
    workers += p->steps[i]->config.process_count_per_node;
  workers = workers < max_workers ? workers : max_workers;
  needed = FDS_OF_JOB + FDS_OF_STEP * (int64_t)p->steps_len + FDS_OF_WORKER * workers;
  if (needed <= allowed)
    return 0;
  return tm_err_set(err, -EMFILE,
                    "this process may open %" PRId64 " files (ulimit -n), and %" PRId64
                    " %s need about %" PRId64 ": raise the limit, or lower process_count_per_node",
                    allowed, workers, tm_text_counted(workers, "worker", "workers"), needed);
}

static int check_file_size(struct tm_err *err)
{
  int64_t allowed = tm_process_file_limit();

  if (allowed >= FILE_LEAST)
    return 0;
  return tm_err_set(err, -EFBIG,
                    "a file may have %" PRId64 " bytes at most here (ulimit -f), and files of a "
                    "job need %" PRId64 " at least: raise the limit",
                    allowed, FILE_LEAST);
}

int tm_limits_check(const struct tm_pipeline *p, int64_t max_workers, struct tm_err *err)
{
  int rc = check_descriptors(p, max_workers, err);

  return rc < 0 ? rc : check_file_size(err);
}
