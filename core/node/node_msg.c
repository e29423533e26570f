/* node_msg.c - the messages between supervisor and keeper, as bytes; and the text about the end of
 * a worker.
 *
 * On another machine the bytes come through a pipe that anything may have written to: decoders read
 * everything, then check once for bad bytes, refuse surplus bytes, and check every number that
 * becomes an index or an enum.
 */
#include "node/node_msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/time.h"
#include "build_id.h"
#include "node/msg_strings.h"

const char *tm_hello(void)
{
  return "tidemill " TM_VERSION " protocol 11 build " TM_BUILD_ID;
}

const char *tm_build_id(void)
{
  return TM_BUILD_ID;
}

void tm_node_step_encode(struct tm_buf *out, const struct tm_node_step *s)
{
  tm_require(s->worker_argv_len > 0 && s->run_timeout_ns >= 0 && s->load_timeout_ns >= 0 &&
             s->memory_limit >= 0 && s->init_timeout_ns >= 0 && s->interrupt_grace_ns >= 0 &&
             s->monitor_ns >= -1); /* the keeper refuses others */
  tm_msg_add_str(out, s->node_id);
  tm_msg_add_str(out, s->job_dir);
  tm_msg_add_str(out, s->logs_dir);
  tm_msg_add_str(out, s->cwd);
  tm_msg_add_str(out, s->temp_base);
  tm_msg_add_str(out, s->memory_base);
  tm_msg_add_list(out, s->worker_argv, s->worker_argv_len);
  tm_msg_add_list(out, s->environment, s->environment_len);
  tm_buf_add_u64(out, (uint64_t)s->run_timeout_ns);
  tm_buf_add_u64(out, (uint64_t)s->load_timeout_ns);
  tm_buf_add_u64(out, (uint64_t)s->memory_limit);
  tm_buf_add_u64(out, (uint64_t)s->init_timeout_ns);
  tm_buf_add_u64(out, (uint64_t)s->interrupt_grace_ns);
  tm_buf_add_u64(out, (uint64_t)s->monitor_ns);
  tm_buf_add_u32(out, s->hides_gpus);
  tm_buf_add_u32(out, s->log_level);
  tm_buf_add_u32(out, s->measures_launches);
  tm_buf_add_u64(out, s->incarnation.epoch);
  tm_buf_add_u32(out, s->incarnation.node);
  tm_buf_add_u32(out, s->incarnation.number);
}

int tm_node_step_decode(struct tm_node_step *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  *out = (struct tm_node_step) { 0 };
  out->node_id = tm_msg_read_str(&r);
  out->job_dir = tm_msg_read_str(&r);
  out->logs_dir = tm_msg_read_str(&r);
  out->cwd = tm_msg_read_str(&r);
  out->temp_base = tm_msg_read_str(&r);
  out->memory_base = tm_msg_read_str(&r);
  tm_msg_read_list(&r, &out->worker_argv, &out->worker_argv_len);
  tm_msg_read_list(&r, &out->environment, &out->environment_len);
  out->run_timeout_ns = (int64_t)tm_read_u64(&r);
  out->load_timeout_ns = (int64_t)tm_read_u64(&r);
  out->memory_limit = (int64_t)tm_read_u64(&r);
  out->init_timeout_ns = (int64_t)tm_read_u64(&r);
  out->interrupt_grace_ns = (int64_t)tm_read_u64(&r);
  out->monitor_ns = (int64_t)tm_read_u64(&r);
  uint32_t hides_gpus = tm_read_u32(&r);
  out->hides_gpus = hides_gpus == 1;
  uint32_t log_level = tm_read_u32(&r);
  out->log_level = (enum tm_level)log_level;
  uint32_t measures_launches = tm_read_u32(&r);
  out->measures_launches = measures_launches == 1;
  out->incarnation.epoch = tm_read_u64(&r);
  out->incarnation.node = tm_read_u32(&r);
  out->incarnation.number = tm_read_u32(&r);
  if (!r.bad && r.at == r.end && out->worker_argv_len > 0 && out->run_timeout_ns >= 0 &&
      out->load_timeout_ns >= 0 && out->memory_limit >= 0 && out->init_timeout_ns >= 0 &&
      out->interrupt_grace_ns >= 0 && out->monitor_ns >= -1 && hides_gpus <= 1 &&
      log_level <= TM_ERROR && measures_launches <= 1)
    return 0;
  tm_node_step_release(out);
  return tm_err_set(err, TM_EPROTOCOL, "the settings of a step cannot be read");
}

void tm_node_step_release(struct tm_node_step *s)
{
  free(s->node_id);
  free(s->job_dir);
  free(s->logs_dir);
  free(s->cwd);
  free(s->temp_base);
  free(s->memory_base);
  tm_msg_release_list(s->worker_argv, s->worker_argv_len);
  tm_msg_release_list(s->environment, s->environment_len);
  *s = (struct tm_node_step) { 0 };
}

void tm_ended_encode(struct tm_buf *out, const struct tm_ended *e)
{
  tm_buf_add_u32(out, (uint32_t)e->cause);
  tm_buf_add_u32(out, e->pid);
  tm_buf_add_u32(out, (uint32_t)e->exit_status);
  tm_buf_add_u32(out, (uint32_t)e->signal);
  tm_buf_add_u64(out, (uint64_t)e->lived_ns);
  tm_buf_add_u64(out, (uint64_t)e->max_rss_kb);
  tm_buf_add_u32(out, (uint32_t)e->memory);
  tm_buf_add_u32(out, e->was_frozen);
  tm_buf_add_u64(out, (uint64_t)e->own_kb);
  tm_buf_add_u64(out, (uint64_t)e->mapped_kb);
  tm_buf_add_u64(out, (uint64_t)e->memory_limit_kb);
  tm_msg_add_str(out, e->last_line);
  tm_buf_add_u32(out, (uint32_t)e->view.phase);
  tm_buf_add_u64(out, (uint64_t)e->view.since_ns);
  tm_buf_add_u64(out, (uint64_t)e->view.begun_wall_ns);
  tm_buf_add_u64(out, e->view.seq);
  tm_buf_add_u64(out, e->view.index);
  tm_buf_add_u32(out, e->view.try);
  tm_buf_add_u32(out, e->view.item);
  tm_buf_add_u32(out, e->view.rows);
  tm_buf_add_u64(out, (uint64_t)e->phase_ns);
  tm_buf_add_u64(out, e->states.last);
  tm_buf_add(out, e->states.bits, sizeof e->states.bits);
  tm_buf_add_u32(out, e->states.has_begun);
}

int tm_ended_decode(struct tm_ended *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  uint32_t cause = tm_read_u32(&r);
  out->cause = (enum tm_end_cause)cause;
  out->pid = tm_read_u32(&r);
  out->exit_status = (int32_t)tm_read_u32(&r);
  out->signal = (int32_t)tm_read_u32(&r);
  out->lived_ns = (int64_t)tm_read_u64(&r);
  out->max_rss_kb = (int64_t)tm_read_u64(&r);
  uint32_t memory = tm_read_u32(&r);
  out->memory = (enum tm_memory_kill)memory;
  out->was_frozen = tm_read_u32(&r) != 0;
  out->own_kb = (int64_t)tm_read_u64(&r);
  out->mapped_kb = (int64_t)tm_read_u64(&r);
  out->memory_limit_kb = (int64_t)tm_read_u64(&r);
  char *last_line = tm_msg_read_str(&r);
  snprintf(out->last_line, sizeof out->last_line, "%s", last_line ? last_line : "");
  free(last_line);
  uint32_t phase = tm_read_u32(&r);
  out->view.phase = (enum tm_phase)phase;
  out->view.since_ns = (int64_t)tm_read_u64(&r);
  out->view.begun_wall_ns = (int64_t)tm_read_u64(&r);
  out->view.seq = tm_read_u64(&r);
  out->view.index = tm_read_u64(&r);
  out->view.try = tm_read_u32(&r);
  out->view.item = tm_read_u32(&r);
  out->view.rows = tm_read_u32(&r);
  out->phase_ns = (int64_t)tm_read_u64(&r);
  out->states.last = tm_read_u64(&r);
  const char *bits = tm_read_raw(&r, sizeof out->states.bits);
  if (bits)
    memcpy(out->states.bits, bits, sizeof out->states.bits);
  out->states.has_begun = tm_read_u32(&r) != 0;
  if (!r.bad && r.at == r.end && cause <= TM_END_KILLED && phase <= TM_PHASE_LAST &&
      memory <= TM_KILL_LOGGED)
    return 0;
  return tm_err_set(err, TM_EPROTOCOL, "the report of a worker's end cannot be read");
}

void tm_worker_doing_encode(struct tm_buf *out, const struct tm_worker_doing *d)
{
  tm_buf_add_u32(out, d->worker);
  tm_buf_add_u32(out, d->phase);
  tm_buf_add_u64(out, (uint64_t)d->phase_ns);
  tm_buf_add_u64(out, (uint64_t)d->begun_wall_ns);
  tm_buf_add_u64(out, d->seq);
  tm_buf_add_u32(out, d->is_stopped);
  tm_buf_add_u32(out, d->is_waiting);
}

bool tm_worker_doing_read(struct tm_reader *r, struct tm_worker_doing *out)
{
  uint32_t phase;
  out->worker = tm_read_u32(r);
  phase = tm_read_u32(r);
  out->phase = (enum tm_phase)phase;
  out->phase_ns = (int64_t)tm_read_u64(r);
  out->begun_wall_ns = (int64_t)tm_read_u64(r);
  out->seq = tm_read_u64(r);
  out->is_stopped = tm_read_u32(r) != 0;
  out->is_waiting = tm_read_u32(r) != 0;
  return !r->bad && phase <= TM_PHASE_LAST;
}

static size_t count_of(char *const *list)
{
  size_t len = 0;
  while (list && list[len])
    len++;
  return len;
}

void tm_node_launch_encode(struct tm_buf *out, const struct tm_launch *l, int64_t end_ns)
{
  size_t len = count_of(l->argv);
  tm_require(len > 0 && end_ns >= 0);
  tm_msg_add_list(out, l->argv, len);
  tm_msg_add_str(out, l->stderr_path);
  tm_msg_add_str(out, l->cwd);
  tm_msg_add_list(out, l->without, count_of(l->without));
  tm_buf_add_u32(out, l->is_kept);
  tm_buf_add_u64(out, (uint64_t)end_ns);
}

int tm_node_launch_decode(struct tm_launch *out, int64_t *end_ns, const char *p, size_t n,
                          struct tm_err *err)
{
  struct tm_reader r;
  char **argv, **without;
  size_t len, without_len;
  uint32_t is_kept;
  tm_reader_init(&r, p, n);
  tm_msg_read_list(&r, &argv, &len);
  out->argv = argv;
  out->stderr_path = tm_msg_read_str(&r);
  out->cwd = tm_msg_read_str(&r);
  tm_msg_read_list(&r, &without, &without_len);
  out->without = without;
  is_kept = tm_read_u32(&r);
  out->is_kept = is_kept == 1;
  *end_ns = (int64_t)tm_read_u64(&r);
  if (!r.bad && r.at == r.end && len > 0 && is_kept <= 1 && *end_ns >= 0)
    return 0;
  tm_node_launch_release(out);
  return tm_err_set(err, TM_EPROTOCOL, "the request to launch a command cannot be read");
}

void tm_node_launch_release(struct tm_launch *l)
{
  tm_msg_release_list((char **)l->argv, count_of(l->argv));
  tm_msg_release_list((char **)l->without, count_of(l->without));
  free((char *)l->stderr_path);
  free((char *)l->cwd);
  *l = (struct tm_launch) { 0 };
}

void tm_launched_process_encode(struct tm_buf *out, const struct tm_launched_process *p,
                                const char *stderr_path, int64_t end_ns)
{
  tm_buf_add_u32(out, p->pid);
  tm_buf_add_u64(out, p->born);
  tm_buf_add_u32(out, p->keeper);
  tm_buf_add_u32(out, p->launch);
  tm_buf_add_u64(out, (uint64_t)p->started_ns);
  tm_msg_add_str(out, stderr_path);
  tm_buf_add_u64(out, (uint64_t)end_ns);
}

int tm_launched_process_decode(struct tm_launched_process *out, char **stderr_path, int64_t *end_ns,
                               const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  out->pid = tm_read_u32(&r);
  out->born = tm_read_u64(&r);
  out->keeper = tm_read_u32(&r);
  out->launch = tm_read_u32(&r);
  out->started_ns = (int64_t)tm_read_u64(&r);
  *stderr_path = tm_msg_read_str(&r);
  *end_ns = (int64_t)tm_read_u64(&r);
  if (!r.bad && r.at == r.end && out->pid <= INT32_MAX && out->started_ns >= 0 && *end_ns >= 0)
    return 0;
  free(*stderr_path);
  *stderr_path = NULL;
  return tm_err_set(err, TM_EPROTOCOL, "the request to adopt a command cannot be read");
}

void tm_launch_ended_encode(struct tm_buf *out, const struct tm_launch_ended *e)
{
  tm_buf_add_u32(out, e->is_unknown);
  tm_buf_add_u32(out, (uint32_t)e->exit_status);
  tm_buf_add_u32(out, (uint32_t)e->signal);
  tm_buf_add_u64(out, (uint64_t)e->lived_ns);
  tm_msg_add_str(out, e->last_line);
}

int tm_launch_ended_decode(struct tm_launch_ended *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  uint32_t is_unknown = tm_read_u32(&r);
  out->is_unknown = is_unknown == 1;
  out->exit_status = (int32_t)tm_read_u32(&r);
  out->signal = (int32_t)tm_read_u32(&r);
  out->lived_ns = (int64_t)tm_read_u64(&r);
  char *last_line = tm_msg_read_str(&r);
  size_t len = strlen(last_line);
  snprintf(out->last_line, sizeof out->last_line, "%s", last_line);
  free(last_line);
  if (!r.bad && r.at == r.end && is_unknown <= 1 && len <= TM_LAST_LINE_MAX && out->signal >= 0 &&
      out->lived_ns >= 0)
    return 0;
  return tm_err_set(err, TM_EPROTOCOL, "the report of the end of a launch cannot be read");
}

static const char *phase_words(enum tm_phase phase)
{
  switch (phase) {
  case TM_PHASE_START: return "before it had loaded its script";
  case TM_PHASE_INIT: return "in init()";
  case TM_PHASE_IDLE: return "between two mini-batches";
  case TM_PHASE_LOAD: return "while it loaded a mini-batch";
  case TM_PHASE_RUN: return "in run()";
  case TM_PHASE_RETURN: return "while it returned a result";
  case TM_PHASE_SHUTDOWN: return "in shutdown()";
  case TM_PHASE_RECOVER: return "in recover()";
  case TM_PHASE_PREFETCH: return "in prefetch()";
  }
  return "";
}

/* The limit that a call has passed. */
static const char *limit_words(enum tm_phase phase)
{
  switch (phase) {
  case TM_PHASE_INIT: return "init() took longer than init_timeout";
  case TM_PHASE_LOAD: return "loading a mini-batch took longer than task_overhead_timeout";
  case TM_PHASE_RETURN: return "returning a result took longer than task_overhead_timeout";
  case TM_PHASE_RECOVER: return "recover() took longer than 30 s";
  case TM_PHASE_PREFETCH: return "prefetch() took longer than task_overhead_timeout";
  default: return "run() took longer than run_invocation_timeout";
  }
}

static void add_place(struct tm_buf *out, const struct tm_ended *e)
{
  if (e->cause != TM_END_TIMEOUT) /* its cause has named the call */
    tm_buf_printf(out, " %s", phase_words(e->view.phase));
  if (e->view.item > 0)
    tm_buf_printf(out, " at item %u", e->view.item);
  tm_buf_add_str(out, " after ");
  tm_time_duration(out, e->phase_ns);
}

static void add_signal(struct tm_buf *out, const struct tm_ended *e)
{
  const char *name = sigdescr_np(e->signal);
  tm_buf_printf(out, "killed by signal %d (%s)", e->signal, name ? name : "unknown");
  if (e->memory == TM_KILL_LOGGED)
    tm_buf_add_str(out, ", by the kernel because memory had run out,");
  else if (e->memory == TM_KILL_COUNTED)
    tm_buf_add_str(out, ", probably by the kernel because memory had run out (inferred: it counts "
                        "such a kill),");
}

static void add_cause(struct tm_buf *out, const struct tm_ended *e)
{
  switch (e->cause) {
  case TM_END_STOPPED: tm_buf_add_str(out, "stopped"); break;
  case TM_END_EXITED: tm_buf_printf(out, "exited with status %d", e->exit_status); break;
  case TM_END_SIGNAL: add_signal(out, e); break;
  case TM_END_TIMEOUT: tm_buf_printf(out, "killed because %s,", limit_words(e->view.phase)); break;
  case TM_END_SHUTDOWN:
    tm_buf_add_str(out, "killed for not ending in time when told to stop,");
    break;
  case TM_END_MEMORY: tm_buf_add_str(out, "killed for passing worker_memory_limit"); break;
  case TM_END_FROZEN:
    tm_buf_add_str(out, "killed because somebody had stopped it (SIGSTOP) and did not wake it,");
    break;
  case TM_END_KILLED: tm_buf_add_str(out, "killed by the supervisor"); break;
  }
}

static void add_megabytes(struct tm_buf *out, int64_t kb)
{
  tm_buf_printf(out, "%.*f MB", kb < 100 << 10 ? 1 : 0, (double)kb / 1024);
}

static void add_figures(struct tm_buf *out, const struct tm_ended *e)
{
  if (e->cause == TM_END_MEMORY) {
    tm_buf_add_str(out, "; it had ");
    add_megabytes(out, e->own_kb);
    tm_buf_add_str(out, " of its own, which count, and ");
    add_megabytes(out, e->mapped_kb);
    tm_buf_add_str(out, " of mapped files; worker_memory_limit is ");
    add_megabytes(out, e->memory_limit_kb);
  } else if (e->max_rss_kb > 0) {
    tm_buf_add_str(out, "; at most ");
    add_megabytes(out, e->max_rss_kb);
    tm_buf_add_str(out, " resident");
  }
  if (e->was_frozen && e->cause != TM_END_FROZEN)
    tm_buf_add_str(out, "; somebody had stopped it (SIGSTOP)");
  if (*e->last_line)
    tm_buf_printf(out, "; last on stderr: %s", e->last_line);
}

void tm_ended_describe(struct tm_buf *out, const struct tm_ended *e)
{
  add_cause(out, e);
  if (e->cause == TM_END_STOPPED)
    return;
  add_place(out, e);
  if (e->cause != TM_END_KILLED)
    add_figures(out, e);
}
