/* job_slurm_queue.c - tells the user what nodes of Slurm wait for: see job_own.h.
 *
 *  (1) One squeue asks about all of them: 5 s after one was asked for, then each 30 s, and only
 *      while one waits. Its failure changes nothing.
 *  (2) squeue is a command of the keeper. One that takes 20 s is ended.
 *
 * Its output is read when it has ended: the lines of NAMES_MAX Slurm jobs fit into its socket.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command_template.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "fleet/slurm_command.h"
#include "fleet/slurm_environment.h"
#include "fleet/slurm_text.h"
#include "job/job_own.h"
#include "sys/clock.h"
#include "sys/messages/msg_bytes.h"

#define NAMES_MAX 200
#define FIRST_NS  (5 * TM_S)
#define NEXT_NS   (30 * TM_S)
#define LIMIT_NS  (20 * TM_S)

static bool waits(const struct tm_launched_node *n)
{
  return n->slurm_name && !n->is_step && !n->was_ready && !n->why && !n->is_leaving && !n->is_over;
}

static size_t count(const struct tm_job *job, bool (*is_one)(const struct tm_launched_node *n))
{
  const struct tm_job_launches *l = job->launches;
  size_t found = 0;

  for (size_t i = 0; i < l->nodes.len; i++)
    found += is_one(l->nodes.at[i]);
  return found;
}

static bool is_of_slurm(const struct tm_launched_node *n)
{
  return n->slurm_name && !n->is_step && !n->why && !n->is_leaving && !n->is_over;
}

/* ---- the answer ---- */

/* The reason of the first that waits, and how many wait. */
static size_t read_answer(const struct tm_buf *text, char reason[TM_SLURM_TEXT_MAX])
{
  struct tm_slurm_job j;
  size_t at = 0, found = 0;

  while (tm_slurm_text_next_job(tm_buf_str(text), text->len, &at, &j))
    if (j.state == TM_SLURM_WAITS && found++ == 0)
      memcpy(reason, j.reason, sizeof j.reason);
  return found;
}

/* "4 of 5 nodes, 1 waiting: Resources", once as long as it stays so. */
static void report(struct tm_job *job, const struct tm_buf *answer)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  size_t all = count(job, is_of_slurm), waiting = count(job, waits);
  char reason[TM_SLURM_TEXT_MAX];
  struct tm_buf text = TM_BUF_NONE;

  if (read_answer(answer, reason) == 0 || waiting == 0)
    return;
  tm_buf_printf(&text, "%zu of %zu nodes, %zu waiting: %s", all - waiting, all, waiting,
                reason[0] ? reason : "Slurm gives no reason");
  if (!s->reported || strcmp(s->reported, tm_buf_str(&text)) != 0) {
    tm_job_emit(job, TM_EVENT_MESSAGE, TM_INFO, tm_buf_str(&text));
    free(s->reported);
    s->reported = tm_xstrdup(tm_buf_str(&text));
  }
  tm_buf_release(&text);
}

static void read_all(int fd, struct tm_buf *out)
{
  char bytes[4096];
  ssize_t n;

  while ((n = tm_wire_read(fd, true, bytes, sizeof bytes, false, NULL)) > 0)
    tm_buf_add(out, bytes, (size_t)n);
}

/* ---- the question ---- */

static void close_question(struct tm_job_slurm *s)
{
  if (s->has_fd)
    tm_fs_close(tm_fs_real(), s->fd);
  s->is_asking = s->has_fd = false;
}

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  struct tm_job *job = data;

  job->launches->slurm.fd = fd;
  job->launches->slurm.has_fd = true;
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  struct tm_job *job = data;

  close_question(&job->launches->slurm);
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct tm_job *job = data;
  struct tm_buf answer = TM_BUF_NONE;

  read_all(job->launches->slurm.fd, &answer);
  close_question(&job->launches->slurm);
  if (tm_job_life_may(&job->life, TM_JOB_MAY_RUN))
    report(job, &answer);
  tm_buf_release(&answer);
}

static void ask(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;
  struct tm_launch_user hears = { job, on_launched, on_launch_failed, on_launch_ended };
  const char *names[NAMES_MAX];
  size_t n = 0;
  char *file = tm_xprintf("%s/nodes/squeue.txt", job->dir.path), **argv, **without;

  for (size_t i = 0; i < l->nodes.len && n < NAMES_MAX; i++)
    if (waits(l->nodes.at[i]))
      names[n++] = l->nodes.at[i]->slurm_name;
  argv = tm_slurm_command_queue_of_names(names, n);
  without = tm_slurm_environment_removed(environ);
  l->slurm.is_asking = true;
  l->slurm.asked_ns = tm_clock_mono_ns();
  l->slurm.question = tm_job_launching_run(
      job, &(struct tm_launch) { .argv = argv, .stderr_path = file, .cwd = "", .without = without },
      &hears);
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
}

void tm_job_slurm_queue_go(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);
  int64_t now_ns = tm_clock_mono_ns();

  if (s->is_asking && local && now_ns - s->asked_ns >= LIMIT_NS)
    tm_node_end_launch(local, s->question); /* keeps (2) */
  if (count(job, waits) == 0) {
    s->ask_ns = 0;
    return;
  }
  if (s->ask_ns == 0)
    s->ask_ns = now_ns + FIRST_NS;
  if (s->is_asking || !local || now_ns < s->ask_ns)
    return;
  s->ask_ns = now_ns + NEXT_NS;
  ask(job);
}

void tm_job_slurm_queue_lost(struct tm_job_slurm *s)
{
  close_question(s);
}
