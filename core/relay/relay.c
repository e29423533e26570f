/* relay.c - see relay.h: the life of the process.
 *
 *  (1) No process is left behind. However the relay ends, the keeper's control channel closes, and
 *      the keeper ends everything beneath it. If the relay ends the keeper, it waits for that, and
 *      then ends and removes what a killed keeper left. The stream is closed last: its end tells
 *      the supervisor that nothing is left. Before, the supervisor gets what is on its way, within
 *      FINISH_NS.
 *  (2) A keeper that was stopped is continued before it has to end something.
 *  (3) File systems may hang: nothing here waits for one without a limit.
 */
#include "relay/relay.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "node/keeper_start.h"
#include "node/node_msg.h"
#include "node/node_report.h"
#include "relay/exchange.h"
#include "relay/keeper_folders.h"
#include "relay/machine.h"
#include "relay/probe.h"
#include "relay/source_copy.h"
#include "sys/fs.h"
#include "sys/loop.h"
#include "sys/process.h"

#define FIRST_TIMEOUT_NS  (15 * TM_S) /* the default of node_timeout */
#define FINISH_NS         (2 * TM_S)
#define PROBE_PATIENCE_NS (10 * TM_S)
#define PROBE_LIMIT_NS    (30 * TM_S)
#define REMOVE_NS         (5 * TM_S)

struct relay {
  struct tm_loop loop;
  struct tm_exchange *exchange;
  struct tm_signal signals[4], on_pipe;
  const char *program;
  pid_t keeper; /* 0: none was started */
  struct tm_node_report machine;
  struct tm_probe *probe; /* NULL: the supervisor has not asked */
  char *job_dir;          /* NULL: the keeper has had no step */
  struct tm_incarnation incarnation;
  struct tm_keeper_folders folders;
  struct TM_ARRAY(struct tm_source_copy *) sources; /* the last one may not be over */
  bool is_ending, drains;
  int status;
};

static void say(const char *text)
{
  struct tm_buf line = TM_BUF_NONE;

  tm_buf_printf(&line, "tidemill node: %s\n", text);
  tm_fd_append(STDERR_FILENO, line.data, line.len);
  tm_buf_release(&line);
}

static void report(struct relay *r)
{
  struct tm_buf bytes = TM_BUF_NONE;
  const char *bad_tmpdir;

  tm_machine_describe(&r->machine, &bad_tmpdir); /* keeps (3) */
  if (bad_tmpdir) {
    char *text = tm_xprintf("TMPDIR is '%s', which is not a folder here: temporary files go to %s",
                            bad_tmpdir, r->machine.temp_dir);
    say(text);
    free(text);
  }
  tm_node_report_encode(&bytes, &r->machine);
  tm_exchange_send(r->exchange, TM_MSG_REPORT, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

static int on_open(void *data, struct tm_err *err)
{
  struct relay *r = data;
  int control;
  report(r);
  pid_t pid = tm_keeper_launch(r->program, true, &control, err);

  if (pid < 0)
    return tm_err_wrap(err, "cannot start the keeper");
  r->keeper = pid;
  return control;
}

/* The first step says what the processes beneath this keeper are marked with. */
static void on_step(struct relay *r, const struct tm_msg *f)
{
  struct tm_node_step step;

  if (tm_node_step_decode(&step, f->payload, f->length, NULL) < 0)
    return;
  if (!r->job_dir) {
    r->job_dir = tm_xstrdup(step.job_dir);
    r->incarnation = step.incarnation;
  }
  tm_keeper_folders_add(&r->folders, &step);
  tm_node_step_release(&step);
}

static void on_control(void *data, const struct tm_msg *f)
{
  struct relay *r = data;

  if (f->type == TM_MSG_STEP)
    on_step(r, f);
  else if (f->type == TM_MSG_KILL)
    tm_process_kill(r->keeper, SIGCONT); /* keeps (2) */
}

static void on_probe_note(void *data, const char *text)
{
  tm_exchange_note(((struct relay *)data)->exchange, text);
}

static void on_answer(void *data, const struct tm_node_probed *answer)
{
  struct relay *r = data;
  struct tm_buf bytes = TM_BUF_NONE;

  tm_node_probed_encode(&bytes, answer);
  tm_exchange_send(r->exchange, TM_MSG_PROBED, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

static int on_probe(struct relay *r, const struct tm_msg *f, struct tm_err *err)
{
  struct tm_probe_options o = { .loop = &r->loop,
                                .fs = tm_fs_real(),
                                .patience_ns = PROBE_PATIENCE_NS,
                                .limit_ns = PROBE_LIMIT_NS,
                                .temp_dir = r->machine.temp_dir,
                                .memory_dir = r->machine.memory_dir,
                                .on_note = on_probe_note,
                                .on_answer = on_answer,
                                .data = r };
  struct tm_node_probe probe;

  if (r->probe)
    return tm_err_set(err, TM_EPROTOCOL, "the supervisor has probed the node twice");
  if (tm_node_probe_decode(&probe, f->payload, f->length, err) < 0)
    return err->code;
  r->probe = tm_probe_start(&o, &probe);
  return 0;
}

static struct tm_source_copy *last_source(const struct relay *r)
{
  return r->sources.len > 0 ? r->sources.at[r->sources.len - 1] : NULL;
}

static void on_source_used(void *data, size_t bytes)
{
  tm_exchange_consumed(((struct relay *)data)->exchange, bytes);
}

static void on_source_taken(void *data, const char *problem)
{
  struct relay *r = data;
  struct tm_buf bytes = TM_BUF_NONE;

  tm_buf_add_str(&bytes, problem);
  tm_exchange_send(r->exchange, TM_MSG_SOURCE_TAKEN, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

/* The folder is removed at the end, like those of the keeper. */
static int on_source(struct relay *r, const struct tm_msg *f, struct tm_err *err)
{
  struct tm_source_copy_options o = { .loop = &r->loop,
                                      .fs = tm_fs_real(),
                                      .on_used = on_source_used,
                                      .on_taken = on_source_taken,
                                      .data = r };
  struct tm_node_source s;
  struct tm_source_copy *source;

  if (last_source(r) && !tm_source_copy_is_over(last_source(r)))
    return tm_err_set(err, TM_EPROTOCOL, "the supervisor sent two scripts at once");
  if (tm_node_source_decode(&s, f->payload, f->length, err) < 0)
    return err->code;
  if (!tm_keeper_folders_add_below(&r->folders, s.job_dir, s.dir))
    tm_err_set(err, TM_EPROTOCOL, "a script cannot be put into '%s'", s.dir);
  else if ((source = tm_source_copy_begin(&o, &s, err)))
    *TM_ARRAY_ADD(&r->sources) = source;
  tm_node_source_release(&s);
  return err->code;
}

static int on_source_data(struct relay *r, const struct tm_msg *f, struct tm_err *err)
{
  struct tm_source_copy *source = last_source(r);

  if (f->worker != TM_SOURCE_WORKER || !source)
    return tm_err_set(err, TM_EPROTOCOL, "the supervisor sent bytes that belong to no script");
  tm_exchange_consumed(r->exchange, TM_MSG_HEADER);
  if (!tm_source_copy_add(source, f->payload, f->length))
    return tm_err_set(err, TM_EPROTOCOL, "the supervisor sent more of a script than it may");
  return 0;
}

static int on_own(void *data, const struct tm_msg *f, struct tm_err *err)
{
  switch (f->type) {
  case TM_MSG_PROBE: return on_probe(data, f, err);
  case TM_MSG_SOURCE: return on_source(data, f, err);
  default: return on_source_data(data, f, err);
  }
}

static void on_end(void *data, enum tm_exchange_end end, int code, const char *text)
{
  struct relay *r = data;

  if (end == TM_EXCHANGE_KEEPER_ENDED)
    r->status = r->keeper ? TM_RELAY_KEEPER_ENDED : TM_RELAY_BROKEN;
  else if (end == TM_EXCHANGE_STREAM_SILENT)
    r->status = TM_RELAY_SILENT;
  else if (code < 0)
    r->status = TM_RELAY_BROKEN;
  if (r->status != 0)
    say(text);
  tm_loop_stop(&r->loop);
}

static void note_signal(struct relay *r, const char *what, int number)
{
  char *text = tm_xprintf("the relay %s signal %d (%s)", what, number, strsignal(number));

  tm_exchange_note(r->exchange, text);
  free(text);
}

static void on_end_signal(struct tm_signal *s, int number)
{
  struct relay *r = s->data;

  if (r->is_ending) /* already */
    return;
  r->is_ending = true;
  note_signal(r, "was ended by", number);
  tm_loop_stop(&r->loop);
}

/* Slurm repeats it before it kills: until then, results may still be sent. */
static void on_drain_signal(struct tm_signal *s, int number)
{
  struct relay *r = s->data;

  if (!r->job_dir) { /* there is nothing to drain */
    on_end_signal(s, number);
    return;
  }
  if (r->drains || r->is_ending)
    return;
  r->drains = true;
  note_signal(r, "drains because of", number);
  tm_exchange_send(r->exchange, TM_MSG_DRAINS, NULL, 0);
}

static void on_broken_pipe(struct tm_signal *s, int number)
{
  /* the write fails, which is enough */
}

static int open_all(struct relay *r, struct tm_err *err)
{
  static const struct {
    int number;
    void (*on_signal)(struct tm_signal *s, int number);
  } signals[] = { { SIGTERM, on_drain_signal },
                  { SIGUSR1, on_drain_signal },
                  { SIGHUP, on_end_signal },
                  { SIGINT, on_end_signal } };
  struct tm_exchange_options o = { .loop = &r->loop,
                                   .hello = tm_hello(),
                                   .timeout_ns = FIRST_TIMEOUT_NS,
                                   .on_open = on_open,
                                   .on_control = on_control,
                                   .on_own = on_own,
                                   .on_end = on_end,
                                   .data = r };

  for (size_t i = 0; i < TM_COUNT_OF(signals); i++)
    if (tm_signal_open(&r->signals[i], &r->loop, signals[i].number, signals[i].on_signal, r, err) <
        0)
      return err->code;
  if (tm_signal_open(&r->on_pipe, &r->loop, SIGPIPE, on_broken_pipe, r, err) < 0 ||
      tm_process_take_streams(&o.in, &o.out, err) < 0)
    return err->code;
  r->exchange = tm_exchange_open(&o, err);
  if (!r->exchange)
    tm_err_append(err, "; standard input and output must be pipes or sockets that lead to the job");
  return r->exchange ? 0 : err->code;
}

/* A keeper that has ended by itself has removed those of its workers. */
static void remove_folders(struct relay *r)
{
  struct tm_err err = TM_ERR_NONE;

  for (size_t i = 0; i < r->sources.len; i++)
    tm_source_copy_end(r->sources.at[i], REMOVE_NS); /* keeps (3) */
  TM_ARRAY_RELEASE(&r->sources);
  if (tm_keeper_folders_remove(&r->folders, REMOVE_NS, &err) < 0)
    tm_exchange_note(r->exchange, err.text);
}

/* Keeps (1). */
static void end_keeper(struct relay *r)
{
  size_t killed;
  char *text;

  if (!r->keeper)
    return;
  tm_process_kill(r->keeper, SIGCONT); /* keeps (2) */
  tm_exchange_end_keeper(r->exchange);
  killed = tm_keeper_await(r->keeper, false, r->job_dir, &r->incarnation);
  remove_folders(r);
  if (killed == 0)
    return;
  text = tm_xprintf("killed %zu %s of a keeper that did not end by itself", killed,
                    tm_text_counted((int64_t)killed, "process", "processes"));
  tm_exchange_note(r->exchange, text);
  free(text);
}

static void on_finished(void *data)
{
  tm_loop_stop(&((struct relay *)data)->loop);
}

static void finish(struct relay *r)
{
  r->is_ending = true;
  tm_exchange_finish(r->exchange, FINISH_NS, on_finished);
  tm_loop_run(&r->loop);
}

static void close_all(struct relay *r)
{
  for (size_t i = 0; i < TM_COUNT_OF(r->signals); i++)
    tm_signal_close(&r->signals[i]);
  tm_probe_end(r->probe); /* keeps (3) */
  tm_exchange_close(r->exchange);
  tm_signal_close(&r->on_pipe);
  tm_loop_release(&r->loop);
  tm_node_report_release(&r->machine);
  tm_keeper_folders_release(&r->folders);
  free(r->job_dir);
}

int tm_relay_run(const char *program)
{
  struct relay r = { .program = program };
  struct tm_err err = TM_ERR_NONE;

  if (tm_loop_init(&r.loop, &err) < 0) {
    say(err.text);
    return TM_RELAY_BROKEN;
  }
  if (open_all(&r, &err) < 0) {
    say(err.text);
    r.status = TM_RELAY_BROKEN;
  } else {
    tm_loop_run(&r.loop);
    end_keeper(&r);
    finish(&r);
  }
  close_all(&r);
  return r.status;
}
