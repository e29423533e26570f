/* local_connection.c - see local_connection.h.
 *
 * The keeper is started in a session of its own, with the control channel as descriptor 3
 * (node/keeper_start.h). After the channel has ended, for any reason, a thread waits for the
 * keeper: it ends within moments, or is killed.
 *
 *  (1) No process is ever left behind. A keeper that did not end by itself has not ended its
 *      workers. Their processes are found by the mark of this keeper, and killed here: if the job
 *      is ending, no later keeper would do it. Launches that are kept live on, for the next keeper;
 *      if there will be none, the job ends them (tm_fleet_end_kept()).
 *  (2) A descriptor that came with a message is closed, unless it is a worker's socket, of which
 *      the user makes a link, or the user takes it.
 */
#include "fleet/local_connection.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "node/keeper_start.h"
#include "node/node_msg.h"
#include "sys/messages/channel.h"
#include "sys/errand.h"
#include "sys/fs.h"
#include "sys/process.h"

struct keeper_end;

struct local_connection {
  struct tm_node_connection connection;
  struct tm_loop *loop;
  struct tm_channel control;
  struct tm_incarnation incarnation;
  pid_t pid;
  bool has_launches;      /* commands that the keeper ends first */
  bool is_taken;          /* the descriptor of the message that is delivered */
  struct keeper_end *end; /* while a thread waits for the keeper's end */
  int shares;             /* in the memory, from the close on: the channel's, and the end's */
};

/* What the thread works on that waits for the keeper's end. */
struct keeper_end {
  struct tm_errand errand;
  struct local_connection *l; /* not for the thread */
  pid_t pid;
  bool has_launches;
  char *job_dir; /* or NULL: it has had no step */
  struct tm_incarnation incarnation;
  size_t killed; /* processes that the keeper has left */
};

/* Keeps (2). */
static void on_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct local_connection *l = c->data;

  l->is_taken = false;
  l->connection.user.on_msg(l->connection.user.data, f);
  if (!l->is_taken)
    tm_fs_close(tm_fs_real(), f->fd);
}

static void on_end(struct tm_channel *c, int code)
{
  struct local_connection *l = c->data;
  char *text = code < 0
                   ? tm_xprintf("the keeper of the workers cannot be read: %s", tm_code_text(code))
                   : tm_xstrdup("the keeper of the workers has ended");

  l->connection.user.on_end(l->connection.user.data, text, false);
  free(text);
}

static void send_local(struct tm_node_connection *c, const struct tm_msg *f)
{
  struct local_connection *l = (struct local_connection *)c;

  l->has_launches |= f->type == TM_MSG_LAUNCH || f->type == TM_MSG_ADOPT;
  tm_channel_send(&l->control, f);
}

static struct tm_worker_link *make_link(struct tm_node_connection *c, const struct tm_msg *started)
{
  struct local_connection *l = (struct local_connection *)c;

  if (started->fd < 0)
    return NULL;
  l->is_taken = true;
  return tm_worker_link_of_socket(started->fd);
}

static int take_fd(struct tm_node_connection *c, const struct tm_msg *f)
{
  ((struct local_connection *)c)->is_taken = f->fd >= 0;
  return f->fd;
}

/* Workers send over their sockets. */
static bool deliver(struct tm_node_connection *c, const struct tm_msg *f)
{
  return false;
}

static void end_link(struct tm_node_connection *c, uint32_t worker)
{
}

static void wake(struct tm_node_connection *c)
{
  tm_process_kill(((struct local_connection *)c)->pid, SIGCONT);
}

/* ---- the end ---- */

static void drop(struct local_connection *l)
{
  tm_require(l->shares > 0);
  if (--l->shares > 0)
    return;
  l->connection.user.on_closed(l->connection.user.data);
  free(l);
}

static void on_closed(struct tm_channel *c)
{
  drop(c->data);
}

/* Keeps (1). */
static void await_end(void *data)
{
  struct keeper_end *e = data;

  e->killed = tm_keeper_await(e->pid, e->has_launches, e->job_dir, &e->incarnation);
}

static void free_end(void *data)
{
  struct keeper_end *e = data;

  free(e->job_dir);
  free(e);
}

static void over(struct local_connection *l, size_t killed)
{
  const struct tm_node_connection_user *user = &l->connection.user;
  char *text = tm_xprintf("killed %zu %s of a keeper that did not end by itself", killed,
                          tm_text_counted((int64_t)killed, "process", "processes"));

  if (killed > 0)
    user->on_note(user->data, text);
  free(text);
  user->on_gone(user->data);
  drop(l);
}

/* Waits for the thread, which has nothing more to do if it has sent its wake. */
static void on_awaited(void *data)
{
  struct keeper_end *e = data; /* lives until the loop turns */
  struct local_connection *l = e->l;

  tm_require(l->end == e);
  tm_errand_end(&e->errand, TM_ERRAND_JOIN);
  l->end = NULL;
  over(l, e->killed);
}

static void close_local(struct tm_node_connection *c, const char *job_dir)
{
  struct local_connection *l = (struct local_connection *)c;

  tm_require(l->shares == 0); /* once */
  l->shares = 2;
  l->control.on_closed = on_closed;
  /* A stopped keeper could not end its workers. Before it learns of the end: a leak checker or a
   * debugger stops an ending keeper, and would wait for that stop forever. */
  wake(c);
  tm_channel_flush(&l->control);
  tm_channel_close(&l->control);
  l->end = TM_NEW(struct keeper_end);
  *l->end = (struct keeper_end) { .l = l,
                                  .pid = l->pid,
                                  .has_launches = l->has_launches,
                                  .job_dir = tm_xstrdup(job_dir),
                                  .incarnation = l->incarnation };
  l->end->errand = (struct tm_errand) {
    .loop = l->loop, .run = await_end, .on_wake = on_awaited, .free_data = free_end, .data = l->end
  };
  if (tm_errand_start(&l->end->errand, NULL) == 0)
    return;
  l->end = NULL;
  /* no thread: the loop waits */
  over(l, tm_keeper_await(l->pid, l->has_launches, job_dir, &l->incarnation));
}

static void wait_local(struct tm_node_connection *c)
{
  struct local_connection *l = (struct local_connection *)c;

  if (l->end)
    on_awaited(l->end);
}

static const struct tm_node_carrier carrier = { .send = send_local,
                                                .make_link = make_link,
                                                .take_fd = take_fd,
                                                .deliver = deliver,
                                                .end_link = end_link,
                                                .wake = wake,
                                                .close = close_local,
                                                .wait = wait_local };

struct tm_node_connection *tm_local_connection_start(struct tm_loop *loop, const char *program,
                                                     bool has_stderr,
                                                     const struct tm_incarnation *incarnation,
                                                     const struct tm_node_connection_user *user,
                                                     struct tm_err *err)
{
  struct local_connection *l;
  int control;
  pid_t pid = tm_keeper_launch(program, has_stderr, &control, err);

  if (pid < 0) {
    tm_err_wrap(err, "cannot start the keeper of node %" PRIu32, incarnation->node);
    return NULL;
  }
  l = TM_NEW(struct local_connection);
  l->connection = (struct tm_node_connection) { .carrier = &carrier, .user = *user };
  l->loop = loop;
  l->incarnation = *incarnation;
  l->pid = pid;
  if (tm_channel_open(&l->control, loop, control, on_msg, on_end, l, err) < 0) {
    tm_process_wait(pid, 0, NULL);
    free(l);
    return NULL;
  }
  return &l->connection;
}
