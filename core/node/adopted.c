/* adopted.c - living commands that an earlier keeper of this node has launched (ADOPT in
 * node_msg.h); that keeper was killed. The table in launcher.c treats them like other launches.
 *
 *  (1) We end a process only if its number, the time of its start and its marker are those of the
 *      launch. We hold it by a pidfd before we compare them, and send signals through the pidfd.
 *  (2) It is not our child: the pidfd shows that it has ended, but not how. Its children do not
 *      become ours either; we find them by the marker.
 *  (3) If the command is not there, it has ended: we kill its leftover processes, then report that.
 *  (4) If we cannot hold a command (there is no pidfd, or no descriptor), we kill it and report
 *      that it has ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "node/node_own.h"
#include "sys/clock.h"
#include "sys/fs.h"

static void on_ready(struct tm_poll *p, int events)
{
  struct tm_keeper_adopted *a = p->data;
  struct tm_keeper *k = a->k;

  tm_keeper_launch_ended_unseen(k, a->launch);
  tm_keeper_look(k);
}

static void on_closed(struct tm_poll *p)
{
  free(p->data);
}

/* Keeps (1). */
static bool is_marked(const struct tm_keeper_launch *l)
{
  char found[TM_MARKER_MAX];

  return tm_process_env(l->pid, TM_ENV_WORKER, found, sizeof found) &&
         strcmp(found, l->marker) == 0;
}

/* Keeps (1) and (4). */
static bool hold(struct tm_keeper_launch *l, uint64_t born)
{
  struct tm_keeper_adopted *a = l->adopted;

  a->held = l->pid > 0 ? tm_process_hold(l->pid, born) : -ESRCH;
  if (a->held >= 0 && is_marked(l) &&
      tm_poll_open(&a->poll, &a->k->loop, a->held, on_ready, a, NULL) == 0) {
    a->poll.on_closed = on_closed;
    tm_poll_want(&a->poll, TM_READABLE);
    return true;
  }
  if (a->held >= 0)
    tm_fs_close(tm_fs_real(), a->held);
  a->held = -1;
  return false;
}

void tm_keeper_adopted_leave(struct tm_keeper_launch *l)
{
  struct tm_keeper_adopted *a = l->adopted;

  (void)tm_launch_kill(a->job_dir, &a->origin, a->number); /* keeps (2) */
  l->adopted = NULL;
  if (a->held < 0) {
    free(a);
    return;
  }
  tm_poll_close(&a->poll);
  tm_fs_close(tm_fs_real(), a->held);
}

static struct tm_keeper_launch *make(struct tm_keeper *k, uint32_t number,
                                     const struct tm_launched_process *p, char *stderr_path,
                                     int64_t end_ns)
{
  const struct tm_node_step *s = &k->steps.at[0]->s;
  struct tm_keeper_launch *l = TM_NEW(struct tm_keeper_launch);

  l->adopted = TM_NEW(struct tm_keeper_adopted);
  *l->adopted = (struct tm_keeper_adopted) {
    .k = k, .launch = l, .job_dir = s->job_dir, .origin = s->incarnation, .number = p->launch
  };
  l->adopted->origin.number = p->keeper;
  l->number = number;
  l->pid = (pid_t)p->pid;
  l->marker = tm_keeper_launch_marker(s->job_dir, &l->adopted->origin, true, p->launch);
  l->stderr_path = stderr_path;
  l->started_ns = p->started_ns;
  l->end_ns = end_ns;
  l->end_due_ns = INT64_MAX;
  return l;
}

static void adopt(struct tm_keeper *k, uint32_t number, const struct tm_launched_process *p,
                  char *stderr_path, int64_t end_ns)
{
  struct tm_keeper_launch *l = make(k, number, p, stderr_path, end_ns);

  *TM_ARRAY_ADD(&k->launches) = l;
  if (hold(l, p->born)) {
    tm_keeper_send(k, TM_MSG_ADOPTED, number, NULL, 0);
    tm_keeper_monitor_launches(k);
    return;
  }
  tm_keeper_launch_ended_unseen(k, l); /* keeps (3) */
  tm_keeper_look(k);
}

bool tm_keeper_on_adopt(struct tm_keeper *k, const struct tm_msg *f)
{
  struct tm_launched_process p;
  struct tm_err err = TM_ERR_NONE;
  char *stderr_path = NULL;
  int64_t end_ns;

  if (k->steps.len == 0)
    tm_err_set(&err, TM_EPROTOCOL, "an adoption was requested before the first step");
  else if (tm_keeper_launch_find(k, f->worker))
    tm_err_set(&err, TM_EPROTOCOL, "launch %u was requested twice", f->worker);
  else
    tm_launched_process_decode(&p, &stderr_path, &end_ns, f->payload, f->length, &err);
  if (err.code < 0) {
    tm_keeper_note(k, err.text);
    return false;
  }
  adopt(k, f->worker, &p, stderr_path, end_ns);
  return true;
}
