/* readme.c - see readme.h.
 *
 * For users who open the folder without having read anything else. It also names the files of
 * others (the keeper, the workers, the library for scripts), and must change with them.
 */
#include "report/readme.h"

#include <stdlib.h>

#include "base/path.h"
#include "report/log_file.h"

static const char text[] =
    "The log folder of a step. A job that is resumed appends to what is here. Times are UTC.\n"
    "A file is here once there is something to say; not every step has all of them.\n"
    "\n"
    "Where to start\n"
    "  job_result.txt                    status, counts, and where the cause of a failure is\n"
    "  job_progress_overview.txt         how it goes: a line every ten seconds, and the result\n"
    "  user/error.txt                    the script's errors: distinct messages, how often, where\n"
    "                                    first\n"
    "\n"
    "What was run\n"
    "  70_driver_log.txt                 what started, with which settings, and where each came "
    "from\n"
    "  job_progress_overview.<time>.txt  the same as above, a file for each day\n"
    "\n"
    "What the script did\n"
    "  user/error/<node>/<process>.txt   its errors in full, with stack traces\n"
    "  user/stdout/<node>/<process>.stdout.txt, user/stderr/<node>/<process>.stderr.txt\n"
    "                                    what it printed\n"
    "  user/entry_script_log/<node>/<process>.log.txt\n"
    "                                    what it said through EntryScript's logger\n"
    "\n"
    "What the system did\n"
    "  sys/master_role.txt               the supervisor's view: mini-batches, workers, result\n"
    "  sys/error/                        errors of the system itself\n"
    "  sys/node/<node>/_main.txt         what happened to the workers of a node\n"
    "  sys/node/<node>/<process>.txt     what a worker did: a line for each try of a mini-batch, "
    "and\n"
    "                                    for one that takes longer than a second when it has "
    "begun\n"
    "  sys/running.json                  while the job runs: what has taken longer than a second "
    "so\n"
    "                                    far; tidemill status shows it\n"
    "  sys/node/<node>/<process>.stdout.txt, <process>.stderr.txt\n"
    "                                    links to what it printed\n"
    "  sys/node/<node>/<process>.profile with --profiling_module: where its time went, a line for\n"
    "                                    each stack and how many samples of 10 ms of CPU time\n"
    "                                    found it there; what flame graphs are made of\n"
    "  sys/job_report/processed_mini-batches.csv\n"
    "                                    a row for each try\n"
    "  sys/job_report/process_summary.csv, node_summary.csv\n"
    "                                    the same, added up by worker and by node\n"
    "  perf/<node>/                      resources every --resource_monitor_interval seconds "
    "(600):\n"
    "                                    node_resource_usage.csv, node_disk_usage.csv,\n"
    "                                    processes_resource_usage.csv; os/: all processes, as ps "
    "-ef\n"
    "\n"
    "<node> is the number of a machine, 0 the first; <process> a worker: process000, process001, "
    "...\n"
    "Items that failed are listed beside this folder, in failed_items.jsonl.\n"
    "What messages and statuses mean, and what to do: tidemill help troubleshooting\n";

int tm_readme_write(const struct tm_fs *fs, const char *logs_dir, struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, "readme.txt");
  struct tm_buf b = TM_BUF_NONE;
  int rc;
  tm_buf_add_str(&b, text);
  rc = tm_log_replace(fs, path, &b, err);
  tm_buf_release(&b);
  free(path);
  return rc;
}
