/* job_slurm_queue.c - asks Slurm about nodes: what they wait for, how long they may run, and why
 * they have ended. See job_own.h; slurm/slurm_question.h says when.
 *
 *  (1) The work of a lost node goes back without waiting for the answer. The report of its end and
 *      its replacement wait for the reason, for a limited time. The reasons why nodes wait are
 *      reported to the user.
 *  (2) We end no Slurm job before the reason of its end is known. So a cancellation that Slurm
 *      reports is not our own: job_launched.c keeps that.
 *  (3) squeue is a command of the keeper. If it fails or takes too long, nothing is known.
 *  (4) After a restart, the controller may have forgotten Slurm jobs of the last seconds, and their
 *      sruns wait for ever. So a waiting node that is missing in UNLISTED_MAX answers in a row is
 *      forgotten, provided that squeue has listed one of our nodes before.
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
#include "slurm/slurm_command.h"
#include "slurm/slurm_environment.h"
#include "slurm/slurm_text.h"
#include "job/job_own.h"
#include "sys/clock.h"
#include "sys/messages/msg_bytes.h"

#define NAMES_MAX    200
#define UNLISTED_MAX 2

/* It may be in the queue: nothing has come from it yet. */
static bool waits(const struct tm_launched_node *n)
{
  return n->slurm_name && !n->is_step && !n->reported_host && !n->why && !n->is_leaving &&
         !n->is_over;
}

static bool is_of_slurm(const struct tm_launched_node *n)
{
  return n->slurm_name && !n->is_step && !n->why && !n->is_leaving && !n->is_over;
}

static bool is_queued(const struct tm_launched_node *n)
{
  return waits(n) && n->is_queued;
}

static size_t count(const struct tm_job *job, bool (*is_one)(const struct tm_launched_node *n))
{
  const struct tm_job_launches *l = job->launches;
  size_t found = 0;

  for (size_t i = 0; i < l->nodes.len; i++)
    found += is_one(l->nodes.at[i]);
  return found;
}

static struct tm_launched_node *find(const struct tm_job *job, const char *name)
{
  const struct tm_job_launches *l = job->launches;

  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i]->slurm_name && strcmp(l->nodes.at[i]->slurm_name, name) == 0)
      return l->nodes.at[i];
  return NULL;
}

/* ---- the answer ---- */

/* "4 of 5 nodes, 1 waiting: Resources", once as long as it stays so. */
static void report(struct tm_job *job, const char *reason)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  size_t all = count(job, is_of_slurm), waiting = count(job, is_queued);
  struct tm_buf text = TM_BUF_NONE;

  if (waiting == 0)
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

static void take_end(struct tm_launched_node *n, const struct tm_slurm_job *j)
{
  n->slurm_end = j->end;
  memcpy(n->slurm_state, j->state_name, sizeof n->slurm_state);
}

/* What Slurm says of one node. */
static void take_job(struct tm_launched_node *n, const struct tm_slurm_job *j)
{
  bool is_of_end = n->question.is_of_end;

  n->job->launches->slurm.has_listed = true;
  n->is_asked_about = false;
  n->unlisted = 0;
  if (j->state == TM_SLURM_WAITS) {
    n->is_known_to_wait = true;
    tm_job_node_news_waits(n, j->reason[0] ? j->reason : j->state_name);
  } else {
    n->is_queued = false;
    tm_time_left_set(&n->time_left, j->left_s, n->job->launches->slurm.asking.asked_ns);
  }
  if (tm_slurm_question_answered(&n->question, j, tm_clock_mono_ns()) && is_of_end)
    take_end(n, j);
}

/* Keeps (4). */
static void count_unlisted(struct tm_job *job)
{
  struct tm_job_launches *l = job->launches;

  for (size_t i = 0; i < l->nodes.len; i++) {
    struct tm_launched_node *n = l->nodes.at[i];
    n->unlisted += !l->slurm.has_failed && n->is_asked_about && waits(n) &&
                   (n->is_queued || n->is_known_to_wait);
    n->is_asked_about = false;
  }
}

/* Keeps (3): those of which Slurm says nothing have their answer, too. */
static void take_answer(struct tm_job *job, const struct tm_buf *text)
{
  struct tm_job_launches *l = job->launches;
  char reason[TM_SLURM_TEXT_MAX] = "";
  struct tm_launched_node *n;
  struct tm_slurm_job j;
  size_t at = 0;

  while (tm_slurm_text_next_job(tm_buf_str(text), text->len, &at, &j)) {
    if (!(n = find(job, j.name)))
      continue;
    take_job(n, &j);
    if (is_queued(n) && !reason[0])
      memcpy(reason, j.reason, sizeof j.reason);
  }
  for (size_t i = 0; i < l->nodes.len; i++)
    (void)tm_slurm_question_answered(&l->nodes.at[i]->question, NULL, tm_clock_mono_ns());
  count_unlisted(job);
  report(job, reason);
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
  s->has_fd = false;
  tm_slurm_asking_ended(&s->asking);
}

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  struct tm_job *job = data;

  job->launches->slurm.fd = fd;
  job->launches->slurm.has_fd = true;
}

/* Its failure is reported once in a row. `why` NULL: it has not failed. */
static void end_question(struct tm_job *job, const char *why, const struct tm_buf *answer)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  char *text = why ? tm_xprintf("cannot ask Slurm about the nodes: %s", why) : NULL;

  close_question(s);
  if (tm_job_life_may(&job->life, TM_JOB_MAY_RUN)) {
    if (text && !s->has_failed)
      tm_job_emit(job, TM_EVENT_MESSAGE, TM_INFO, text);
    s->has_failed = text != NULL;
    take_answer(job, answer);
    tm_job_launched_use_known(job);
    tm_job_launched_settle_known(job);
    tm_job_launches_go(job);
  } else {
    tm_job_launches_end(job);
  }
  free(text);
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  struct tm_buf nothing = TM_BUF_NONE;

  end_question(data, text, &nothing);
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct tm_job *job = data;
  struct tm_buf answer = TM_BUF_NONE;
  const char *why = NULL;

  if (job->launches->slurm.is_late)
    why = "squeue has taken more than 20 s";
  else if (ended->signal != 0 || ended->exit_status != 0)
    why = ended->last_line[0] ? ended->last_line : "squeue has failed";
  read_all(job->launches->slurm.fd, &answer);
  end_question(job, why, &answer);
  tm_buf_release(&answer);
}

static bool is_due(const struct tm_launched_node *n, int64_t now_ns)
{
  return n->question.state == TM_SLURM_QUESTION_DUE && n->question.due_ns <= now_ns;
}

/* The names of those that are asked about; at most NAMES_MAX. */
static size_t collect(struct tm_job *job, bool all, const char **names)
{
  struct tm_job_launches *l = job->launches;
  int64_t now_ns = tm_clock_mono_ns();
  size_t len = 0;

  for (size_t i = 0; i < l->nodes.len && len < NAMES_MAX; i++) {
    struct tm_launched_node *n = l->nodes.at[i];
    if (is_due(n, now_ns))
      tm_slurm_question_asked(&n->question);
    else if (!all || !waits(n))
      continue;
    n->is_asked_about = true;
    names[len++] = n->slurm_name;
  }
  return len;
}

static void ask(struct tm_job *job, bool all)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  struct tm_launch_user hears = { job, on_launched, on_launch_failed, on_launch_ended, NULL };
  const char *names[NAMES_MAX];
  size_t n = collect(job, all, names);
  char *file = tm_xprintf("%s/nodes/squeue.txt", job->dir.path);
  char **argv = tm_slurm_command_queue_of_names(names, n, (uint32_t)getuid());
  char **without = tm_slurm_environment_removed(environ);

  s->is_late = false;
  s->question = tm_job_launching_run(
      job, &(struct tm_launch) { .argv = argv, .stderr_path = file, .cwd = "", .without = without },
      &hears);
  tm_command_words_free(argv);
  tm_command_words_free(without);
  free(file);
}

static int64_t first_due(const struct tm_job *job)
{
  const struct tm_job_launches *l = job->launches;
  int64_t due_ns = INT64_MAX;

  for (size_t i = 0; i < l->nodes.len; i++)
    if (l->nodes.at[i]->question.state == TM_SLURM_QUESTION_DUE &&
        l->nodes.at[i]->question.due_ns < due_ns)
      due_ns = l->nodes.at[i]->question.due_ns;
  return due_ns;
}

void tm_job_slurm_queue_go(struct tm_job *job)
{
  struct tm_job_slurm *s = &job->launches->slurm;
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);
  bool some_wait = count(job, waits) > 0;
  enum tm_slurm_ask what;

  if (!some_wait) {
    free(s->reported);
    s->reported = NULL;
  }
  if (!local)
    return;
  what = tm_slurm_asking_next(&s->asking, some_wait, first_due(job), tm_clock_mono_ns());
  if (what == TM_SLURM_ASK_END) {
    s->is_late = true;
    tm_node_kill_launch(local, s->question);
  } else if (what != TM_SLURM_ASK_NOTHING) {
    ask(job, what == TM_SLURM_ASK_ALL);
  }
}

/* Otherwise the keeper would take the question for a process that a killed job has left. */
void tm_job_slurm_queue_close(struct tm_job *job)
{
  struct tm_node *local = tm_fleet_node(&job->fleet, TM_LOCAL_NODE);

  if (local && job->launches->slurm.asking.is_asking)
    tm_node_kill_launch(local, job->launches->slurm.question);
}

bool tm_job_slurm_queue_is_done(const struct tm_job *job)
{
  return !job->launches->slurm.asking.is_asking;
}

/* ---- nodes ---- */

static bool may_run(const struct tm_job *job)
{
  return tm_job_life_may(&job->life, TM_JOB_MAY_RUN);
}

void tm_job_slurm_queue_started(struct tm_launched_node *n)
{
  if (!n->slurm_name || n->is_step)
    return;
  tm_slurm_question_start(&n->question, tm_clock_mono_ns());
  tm_job_slurm_queue_go(n->job); /* the node waits for the answer */
}

/* Not for nodes that we have ended. Slurm knows no reason for the end of a step. */
bool tm_job_slurm_queue_ended(struct tm_launched_node *n)
{
  if (!n->slurm_name || n->is_step || !may_run(n->job) || n->is_late || n->is_refused ||
      n->is_orphan || n->is_ended_by_us || (n->is_leaving && !n->drains))
    return false;
  tm_slurm_question_end(&n->question, n->is_over, tm_clock_mono_ns());
  tm_job_slurm_queue_go(n->job);
  return true;
}

bool tm_job_slurm_queue_has_forgotten(const struct tm_launched_node *n)
{
  return n->unlisted >= UNLISTED_MAX && n->job->launches->slurm.has_listed;
}

bool tm_job_slurm_queue_is_settled(const struct tm_launched_node *n)
{
  return n->is_orphan || tm_slurm_question_is_settled(&n->question, tm_clock_mono_ns());
}

void tm_job_slurm_queue_lost(struct tm_job_slurm *s)
{
  close_question(s);
}
