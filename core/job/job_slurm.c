/* job_slurm.c - nodes that are Slurm jobs, or steps of one (compute_target = "slurm"): see
 * job_own.h. job_slurm_cancel.c ends them.
 *
 * A node is one srun, which the keeper of this machine runs like any other command.
 *
 *  (1) If we are killed, the keeper of this machine cancels all Slurm jobs of this session (AT_END
 *      in node/launcher.c).
 *
 * While its Slurm job waits, srun says so in nodes/<id>.txt; while its machine boots, only squeue
 * does (job_slurm_queue.c). A waiting node cannot become usable, so node_start_timeout does not
 * count that time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/command_template.h"
#include "base/path.h"
#include "base/text.h"
#include "slurm/slurm_command.h"
#include "slurm/slurm_environment.h"
#include "slurm/slurm_text.h"
#include "job/job_own.h"

#define SAID_MAX ((size_t)64 << 10) /* bytes of nodes/<id>.txt that are read */

static char *file_of(const struct tm_job *job, uint32_t id, const char *ending)
{
  return tm_xprintf("%s/nodes/%" PRIu32 "%s", job->dir.path, id, ending);
}

/* ---- the launch ---- */

static void tell(struct tm_job *job, uint32_t id, char *const *argv)
{
  struct tm_buf text = TM_BUF_NONE;

  tm_buf_printf(&text, "node %" PRIu32 " is started with:", id);
  for (size_t i = 0; argv[i]; i++) {
    tm_buf_add_char(&text, ' ');
    tm_text_shell(&text, argv[i]);
  }
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_DEBUG, tm_buf_str(&text));
  tm_buf_release(&text);
}

char **tm_job_slurm_command(struct tm_launched_node *n, const struct tm_config *c)
{
  struct tm_job *job = n->job;
  const struct tm_launch_group *g = tm_job_launched_group(n);
  char *exclude = tm_exclusions_text(&g->exclude.hosts, c->slurm_exclude), **argv;

  tm_require(!n->slurm_name);
  n->slurm_name = tm_slurm_command_name(tm_path_base(job->dir.path), job->dir.epoch, n->id);
  n->is_step = g->allocation.job != NULL;
  argv = tm_allocation_node_command(&g->allocation, n->host, c, n->slurm_name, exclude,
                                    job->o.program);
  free(exclude);
  tell(job, n->id, argv);
  return argv;
}

/* The last that srun has said of it; OTHER: nothing, as when it did not have to wait. */
static enum tm_slurm_line last_of(const struct tm_launched_node *n)
{
  char *file = file_of(n->job, n->id, ".txt");
  struct tm_buf said = TM_BUF_NONE;
  struct tm_slurm_said line;
  enum tm_slurm_line last = TM_SLURM_LINE_OTHER;

  if (tm_fs_read_file(n->job->o.fs, file, SAID_MAX, &said, NULL) == 0)
    for (const char *at = tm_buf_str(&said), *end; *at; at = end + (*end == '\n')) {
      end = at + strcspn(at, "\n");
      tm_slurm_text_line(at, (size_t)(end - at), &line);
      if (line.kind == TM_SLURM_LINE_QUEUED || line.kind == TM_SLURM_LINE_GRANTED)
        last = line.kind;
    }
  tm_buf_release(&said);
  free(file);
  return last;
}

static void report_waiting(struct tm_launched_node *n)
{
  struct tm_buf text = TM_BUF_NONE;

  if (!n->is_known_to_wait && !n->is_wait_told) { /* else squeue has said more */
    tm_launched_node_name(&text, n);
    tm_buf_add_str(&text, " waits in the queue of Slurm");
    tm_job_node_news(n, TM_NODE_WAITS, TM_INFO, tm_buf_str(&text));
  }
  n->is_known_to_wait = true;
  tm_buf_release(&text);
}

bool tm_job_slurm_has_waited(struct tm_launched_node *n)
{
  enum tm_slurm_line said = n->slurm_name ? last_of(n) : TM_SLURM_LINE_OTHER;

  if (said == TM_SLURM_LINE_QUEUED)
    report_waiting(n);
  return tm_launched_node_has_waited(n, said) && !tm_job_slurm_queue_has_forgotten(n);
}

/* ---- the end ---- */

/* Keeps (1). */
void tm_job_slurm_guard(struct tm_job *job, struct tm_node *local)
{
  const struct tm_job_launches *l = job->launches;
  char *name = tm_slurm_command_names(tm_path_base(job->dir.path), job->dir.epoch);
  char *file = tm_xprintf("%s/nodes/scancel.txt", job->dir.path);
  char **without = tm_slurm_environment_removed(environ), **argv;
  bool uses_slurm = false;

  for (size_t i = 0; i < l->groups.len; i++)
    uses_slurm = uses_slurm || l->groups.at[i].config->uses_slurm;
  argv = tm_slurm_command_cancel_all(name, true);
  if (uses_slurm)
    tm_node_at_end(local, &(struct tm_launch) {
                              .argv = argv, .stderr_path = file, .cwd = "", .without = without });
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
  free(name);
}
