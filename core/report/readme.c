/* readme.c - see readme.h.
 *
 * For users who open the folder without reading anything else first. The text also names files that
 * the keeper, the workers and the library for scripts write, and must change with them.
 */
#include "report/readme.h"

#include <stdlib.h>

#include "base/path.h"
#include "report/log_file.h"

static const char text[] =
    "The log folder of a step. A resumed job appends to these files. Times are UTC.\n"
    "A file appears with its first entry; not every step has all of them.\n"
    "\n"
    "Where to start\n"
    "  job_result.txt                    status, counts, and the file with the cause of a failure\n"
    "  job_progress_overview.txt         progress: a line every ten seconds, and the result\n"
    "  user/error.txt                    the script's errors: each distinct message, its\n"
    "                                    count, and its first place\n"
    "\n"
    "What was run\n"
    "  70_driver_log.txt                 the start of the step, its settings, and their sources\n"
    "  job_progress_overview.<time>.txt  the same as above, one file per day\n"
    "\n"
    "What the script did\n"
    "  user/error/<node>/<process>.txt   its errors in full, with stack traces\n"
    "  user/stdout/<node>/<process>.stdout.txt, user/stderr/<node>/<process>.stderr.txt\n"
    "                                    what it printed\n"
    "  user/entry_script_log/<node>/<process>.log.txt\n"
    "                                    what it logged through EntryScript's logger\n"
    "\n"
    "What the system did\n"
    "  sys/master_role.txt               the supervisor's log: mini-batches, workers, result\n"
    "  sys/error/                        errors of the system itself\n"
    "  sys/node/<node>/_main.txt         what happened to the workers of a node\n"
    "  sys/node/<node>/launcher.txt      what the command that started the node wrote to its\n"
    "                                    standard error; the same as nodes/<node>.txt of the job\n"
    "  sys/node/<node>/<process>.txt     what a worker did: a line at the end of each try of a\n"
    "                                    mini-batch; a try longer than a second also has one for\n"
    "                                    its begin\n"
    "  sys/running.json                  while the job runs: the tries that have taken longer\n"
    "                                    than a second so far, and how many nodes there are;\n"
    "                                    'tidemill status' shows them\n"
    "  sys/node/<node>/<process>.stdout.txt, <process>.stderr.txt\n"
    "                                    links to what it printed\n"
    "  sys/node/<node>/<process>.profile with --profiling_module: where its CPU time went. A line\n"
    "                                    per stack, with its number of samples, one each 10 ms;\n"
    "                                    flame graph tools read this format\n"
    "  sys/job_report/processed_mini-batches.csv\n"
    "                                    one row per try\n"
    "  sys/job_report/workers.csv        when each worker was started, was ready, and ended, and\n"
    "                                    how\n"
    "  sys/job_report/process_summary.csv, node_summary.csv\n"
    "                                    the totals of each worker and of each node; for a node\n"
    "                                    also when it had workers, and how busy they were\n"
    "  perf/<node>/                      resources of the machine and of the job's processes, as\n"
    "                                    often as --resource_monitor_interval says:\n"
    "                                    node_resource_usage.csv, node_disk_usage.csv,\n"
    "                                    processes_resource_usage.csv; os/: all processes, like\n"
    "                                    ps -ef\n"
    "  perf/supervisor/                  the same for the supervisor's machine, if commands start\n"
    "                                    the nodes\n"
    "\n"
    "<node> is the number of a machine, from 0; <process> is a worker: process000 and so on\n"
    "Failed items are listed beside this folder, in failed_items.jsonl.\n"
    "For the meaning of messages and statuses, and advice: tidemill help troubleshooting\n";

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
