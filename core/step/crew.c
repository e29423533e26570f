/* crew.c - the workers of a step: see supervisor_own.h, and pool.h for their life cycle.
 *
 * crew asks the keeper for a worker (STARTING) and sends it the setup on its socket (LOADING). The
 * worker is gone when the keeper says so. crew first reads the last answers from its socket; other
 * mini-batches go back to the queue, and those that had begun, by its page, count as a try.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/path.h"
#include "base/time.h"
#include "commit/part_read.h"
#include "data/item.h"
#include "record/part.h"
#include "record/temp_dirs.h"
#include "snapshot/snapshot.h"
#include "step/handed.h"
#include "step/isolate.h"
#include "step/worker_setup.h"
#include "sys/clock.h"

#define MINI_BATCH_HEAD  16u /* bytes before the items */
#define LOST_ANSWERS_MAX 3   /* of a mini-batch, that are not counted */
#define LOST_NODES_MAX   5   /* in a row, without a result between */

static struct tm_worker *find(struct tm_supervisor *s, uint32_t id)
{
  for (size_t i = 0; i < s->workers.len; i++)
    if (s->workers.at[i]->id == id)
      return s->workers.at[i];
  return NULL;
}

void tm_crew_event(struct tm_worker *w, enum tm_worker_event event)
{
  bool is_early = w->state < TM_WORKER_READY;
  w->state = tm_pool_step(&w->s->pool, w->state, event);
  if (event == TM_WORKER_ON_READY || (event == TM_WORKER_ON_ENDED && is_early))
    tm_init_rules_note(&w->s->init_rules, event == TM_WORKER_ON_READY);
}

/* Starting. */

static void start_worker(struct tm_supervisor *s, int64_t slot)
{
  struct tm_worker *w = TM_NEW(struct tm_worker);

  w->s = s;
  w->slot = slot;
  w->started_ns = s->patience.awake.now_ns;
  w->number = s->next_number++;
  snprintf(w->name, sizeof(w->name), "process%03" PRId64, w->number);
  tm_hand_init(&w->hand);
  w->id = tm_node_start_worker(s->node, s->node_step, w->name);
  *TM_ARRAY_ADD(&s->workers) = w;
  tm_crew_event(w, TM_WORKER_ON_START);
}

static char *in_logs(const struct tm_supervisor *s, const char *folder, const char *name,
                     const char *suffix)
{
  return tm_xprintf("%s/user/%s/%s/%s%s", s->logs_dir, folder, tm_node_id(s->node), name, suffix);
}

static char *profile_file(const struct tm_worker *w)
{
  const struct tm_supervisor *s = w->s;

  return s->o.step->config.is_profiled
             ? tm_xprintf("%s/sys/node/%s/%s.profile", s->logs_dir, tm_node_id(s->node), w->name)
             : tm_xstrdup("");
}

static void send_setup(struct tm_worker *w)
{
  struct tm_supervisor *s = w->s;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_temp_dirs dirs = tm_temp_dirs_of(s->o.temp, s->view.name, w->name);
  struct tm_setup setup;

  tm_setup_of_step(&setup, s->o.step);
  setup.worker_name = w->name;
  setup.node_id = (char *)tm_node_id(s->node);
  setup.script = (char *)s->o.script;
  setup.script_dir = (char *)s->o.script_dir;
  setup.arguments = s->bound.arguments;
  setup.arguments_len = s->bound.arguments_len;
  setup.schema_file = s->schema_file;
  setup.index_dir = s->index_dir;
  setup.output_dir = s->output_dir;
  setup.log_dir = in_logs(s, "entry_script_log", "", "");
  setup.temp_dir = dirs.temp;
  setup.memory_dir = dirs.memory;
  setup.logger_file = in_logs(s, "entry_script_log", w->name, ".log.txt");
  setup.error_file = in_logs(s, "error", w->name, ".txt");
  setup.spill_dir = s->spill_dir;
  setup.staging_dir = s->staging_dir;
  setup.profile_file = profile_file(w);
  setup.verify_items = s->o.is_resumed && !s->o.accept_changes;
  setup.is_interruptible = setup.is_interruptible || s->arms_workers;
  tm_setup_encode(&text, &setup);
  struct tm_msg f = {
    .type = TM_MSG_SETUP, .fd = -1, .payload = text.data, .length = (uint32_t)text.len
  };
  tm_channel_send(&w->channel, &f);
  tm_buf_release(&text);
  free(setup.log_dir);
  free(setup.logger_file);
  free(setup.error_file);
  free(setup.profile_file);
  tm_setup_release_step(&setup);
  tm_temp_dirs_release(&dirs);
}

static void on_channel_end(struct tm_channel *c, int code)
{
  /* Only the keeper knows when and how the worker ended; a grandchild may hold the socket open. But
   * a worker without a socket cannot answer, and one that sent rubbish is not believed. */
  struct tm_worker *w = c->data;

  if (code < 0 && !w->is_rubbish)
    tm_answer_on_rubbish(w);
  w->mute_ns = tm_clock_mono_ns();
}

static void on_channel_closed(struct tm_channel *c)
{
  struct tm_worker *w = c->data;
  struct tm_supervisor *s = w->s;

  tm_hand_release(&w->hand);
  free(w);
  tm_supervisor_closed_one(s);
}

static void on_started(void *data, uint32_t id, int64_t pid, int fd)
{
  struct tm_supervisor *s = data;
  struct tm_worker *w = find(s, id);
  struct tm_event e = { .kind = TM_EVENT_WORKER_STARTED };
  struct tm_err err = TM_ERR_NONE;

  if (!tm_check(w)) {
    tm_fs_close(tm_fs_real(), fd);
    return;
  }
  if (tm_channel_open(&w->channel, s->o.loop, fd, tm_answer_on_frame, on_channel_end, w, &err) <
      0) {
    tm_supervisor_say(s, TM_ERROR, "%s: %s", w->name, err.text);
    tm_node_kill(s->node, id);
    return;
  }
  w->channel.on_closed = on_channel_closed;
  s->open++;
  w->pid = pid;
  tm_crew_event(w, TM_WORKER_ON_STARTED);
  tm_supervisor_emit(s, &e, w);
  if (w->state == TM_WORKER_STOPPING)
    tm_node_kill(s->node, id);
  else
    send_setup(w);
}

/* Handing out. */

static void remember(struct tm_held *held, const struct tm_manifest_entry *entry)
{
  struct tm_reader r;
  struct tm_item item;

  held->dataset = entry->dataset;
  held->items = entry->items > 0 ? entry->items : held->entry.rows;
  held->is_uncounted = false;
  held->manifest_at = entry->at;
  tm_reader_init(&r, entry->bytes, entry->len);
  if (tm_item_next(&r, &item))
    tm_buf_add(&held->first_item, item.path, item.path_len);
}

static int hand_out(struct tm_worker *w, const struct tm_assignment *e, int64_t now,
                    struct tm_err *err)
{
  struct tm_supervisor *s = w->s;
  struct tm_manifest_entry entry;
  struct tm_held *held;
  struct tm_msg f = { .type = TM_MSG_MINI_BATCH,
                      .index = e->index,
                      .try = e->try,
                      .part = e->part,
                      .worker = w->id,
                      .fd = -1 };
  int rc = tm_part_read(s->manifest, e->index, e->part, &entry, err);

  if (rc < 0)
    return rc;
  if (entry.len > TM_MSG_MAX - MINI_BATCH_HEAD)
    return tm_err_set(err, TM_ELIMIT,
                      "mini-batch %" PRIu64 ": its list of items is %zu bytes long, more than the "
                      "%u that can be handed to a worker; make mini_batch_size smaller, or choose "
                      "partition_keys with more values",
                      e->index, entry.len, TM_MSG_MAX - MINI_BATCH_HEAD);
  held = tm_hand_add(&w->hand);
  held->entry = *e;
  held->handed_ns = now;
  remember(held, &entry);
  tm_buf_clear(&s->scratch);
  tm_mini_batch_head_encode(tm_buf_extend(&s->scratch, MINI_BATCH_HEAD),
                            &(struct tm_mini_batch_head) {
                                .seq = held->seq, .dataset = entry.dataset, .items = held->items });
  tm_buf_add(&s->scratch, entry.bytes, entry.len);
  f.payload = s->scratch.data;
  f.length = (uint32_t)s->scratch.len;
  tm_channel_send(&w->channel, &f);
  s->running++;
  tm_handed_tell(w, held);
  return 0;
}

/* A mini-batch whose answer was lost before is handed out alone: its worker has nothing to do next
 * and answers at once, so that the answer cannot be lost with the worker's next mini-batch. */
static bool has_lone(struct tm_worker *w)
{
  const struct tm_held *last = w->hand.len > 0 ? tm_hand_find(&w->hand, w->hand.next - 1) : NULL;

  return last && last->entry.lost_answers > 0;
}

void tm_crew_hand_out(struct tm_supervisor *s, struct tm_worker *w)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_assignment e;
  int64_t now;

  if (w->is_leaving && w->state == TM_WORKER_READY && w->hand.len == 0 && !w->is_deaf && s->node)
    tm_crew_stop_worker(w);
  if (w->state != TM_WORKER_READY || w->is_deaf || w->is_leaving || s->is_ending ||
      !tm_queue_has_waiting(&s->queue))
    return;
  now = tm_clock_mono_ns();
  while (!has_lone(w) && tm_hand_has_room(&w->hand, now) &&
         tm_queue_take(&s->queue, w->id, s->pool.ready > 1, &e)) {
    if (hand_out(w, &e, now, &err) < 0) {
      tm_queue_put_back(&s->queue, &e);
      tm_supervisor_fail(s, &err);
      return;
    }
  }
}

int64_t tm_crew_open(const struct tm_supervisor *s)
{
  const struct tm_counts *c = &s->tally.counts;

  return c->created - c->succeeded - c->failed + tm_isolate_open(s);
}

bool tm_crew_wants_worker(const struct tm_supervisor *s)
{
  return s->node && tm_pool_wants_worker(&s->pool, tm_crew_open(s)) &&
         (!s->o.may_start || s->o.may_start(s->o.data, s));
}

static void start_workers(struct tm_supervisor *s)
{
  int64_t slot;

  while (tm_crew_wants_worker(s) && (slot = tm_slots_take(&s->slots, tm_clock_mono_ns())) >= 0)
    start_worker(s, slot);
}

void tm_crew_fill(struct tm_supervisor *s)
{
  if (tm_queue_due(&s->queue) != INT64_MAX)
    tm_queue_set_now(&s->queue, tm_clock_mono_ns());
  for (size_t i = 0; i < s->workers.len; i++)
    tm_crew_hand_out(s, s->workers.at[i]);
  start_workers(s);
  if (s->lister)
    tm_lister_set_hungry(s->lister, !tm_queue_has_waiting(&s->queue));
  tm_steal_arm(s);
  tm_vigil_arm(s);
}

static void put_back(struct tm_worker *w, struct tm_held *held)
{
  struct tm_assignment e = held->entry;

  tm_hand_remove(&w->hand, held->seq);
  w->s->running--;
  tm_queue_put_back(&w->s->queue, &e);
}

static void on_taken(void *data, uint32_t id, const uint64_t *seqs, size_t n)
{
  struct tm_supervisor *s = data;
  struct tm_worker *w = find(s, id);
  if (!w)
    return;
  w->is_asked = false;
  for (size_t i = 0; i < n; i++) {
    struct tm_held *held = tm_hand_find(&w->hand, seqs[i]);
    if (held) /* else the user's code has written to the page: it is answered already */
      put_back(w, held);
  }
  if (s->is_ending && w->hand.len == 0 && w->state == TM_WORKER_READY)
    tm_crew_stop_worker(w);
  else if (s->is_ending)
    tm_steal_ask_back(w, INT64_MAX); /* what was handed out after it was last asked */
  tm_crew_fill(s);
}

/* Stopping. */

void tm_crew_stop_worker(struct tm_worker *w)
{
  struct tm_msg f = { .type = TM_MSG_STOP, .worker = w->id, .fd = -1 };

  tm_crew_event(w, TM_WORKER_ON_STOP);
  tm_channel_send(&w->channel, &f);
  /* else it is being lost with its node, and has sent its last result before */
  if (w->s->node)
    tm_node_stopping(w->s->node, w->id);
}

void tm_crew_kill_worker(struct tm_worker *w)
{
  tm_crew_event(w, TM_WORKER_ON_STOP);
  if (w->s->node)
    tm_node_kill(w->s->node, w->id);
}

/* Stops idle workers, and takes back what waits behind a running mini-batch, which may end. A
 * worker that is not ready has nothing to lose. */
void tm_crew_stop_all(struct tm_supervisor *s, bool kill)
{
  for (size_t i = 0; i < s->workers.len; i++) {
    struct tm_worker *w = s->workers.at[i];
    if (kill || w->state < TM_WORKER_READY) {
      if (w->state != TM_WORKER_STOPPING || kill)
        tm_crew_kill_worker(w);
    } else if (w->state == TM_WORKER_READY && w->hand.len == 0) {
      tm_crew_stop_worker(w);
    } else {
      tm_steal_ask_back(w, INT64_MAX);
    }
  }
}

/* Ends. */

static void remove_worker(struct tm_worker *w)
{
  struct tm_supervisor *s = w->s;
  size_t at = 0;

  while (s->workers.at[at] != w)
    at++;
  s->workers.at[at] = s->workers.at[--s->workers.len];
  if (w->channel.is_open) {
    tm_channel_close(&w->channel);
    return;
  }
  tm_hand_release(&w->hand);
  free(w);
}

static enum tm_status status_of(const struct tm_ended *ended)
{
  if (ended->cause != TM_END_TIMEOUT)
    return TM_PROCESS_DIED;
  switch (ended->view.phase) {
  case TM_PHASE_LOAD:
  case TM_PHASE_RETURN: return TM_LOAD_TIMEOUT;
  case TM_PHASE_START:
  case TM_PHASE_INIT: return TM_INIT_TIMEOUT;
  default: return TM_RUN_TIMEOUT;
  }
}

/* An answer lost with its worker is not a try, unless the mini-batch keeps ending its workers. */
static bool counts_as_try(struct tm_held *held, enum tm_entry_state state)
{
  if (state == TM_ENTRY_DONE)
    return ++held->entry.lost_answers > LOST_ANSWERS_MAX;
  return state == TM_ENTRY_BEGUN;
}

/* The begun entry is a failed try, unless we killed the worker; the rest goes back, uncounted. */
static void settle_hand(struct tm_worker *w, const struct tm_ended *ended, const char *words)
{
  bool is_ours = w->state == TM_WORKER_STOPPING && ended->cause != TM_END_TIMEOUT;

  for (uint64_t seq = w->hand.first; seq < w->hand.next; seq++) {
    struct tm_held *held = tm_hand_find(&w->hand, seq);
    if (!held)
      continue;
    if (!is_ours && counts_as_try(held, tm_page_word_state(ended->words, seq)))
      tm_answer_lost_try(w, held, status_of(ended), words, ended);
    else
      put_back(w, held);
  }
}

/* It ended before it was ready, and did not report why. `ended` NULL: it did not even start. */
static void note_init_failure(struct tm_worker *w, const struct tm_ended *ended, const char *words)
{
  struct tm_supervisor *s = w->s;
  struct tm_attempt a = {
    .status = TM_INIT_EXCEPTION, .message = words, .stack = "", .script_where = ""
  };

  if (w->state == TM_WORKER_STOPPING || w->state == TM_WORKER_READY || w->has_failed_init)
    return;
  if (ended) {
    a.status = status_of(ended);
    a.total_ns = ended->lived_ns;
    a.begin_wall_ns = tm_clock_wall_ns() - ended->lived_ns;
  }
  if (s->code == 0)
    tm_err_set(&s->cause, TM_ESCRIPT, "%s %s", w->name, words);
  tm_crew_emit_init_failure(w, &a, 0);
}

static void end_worker(struct tm_worker *w, const struct tm_ended *ended, const char *words,
                       enum tm_level level)
{
  struct tm_supervisor *s = w->s;
  struct tm_event e = { .kind = TM_EVENT_WORKER_ENDED, .level = level, .text = words };

  note_init_failure(w, ended, words);
  tm_slots_give_back(&s->slots, w->slot, w->has_worked || w->state == TM_WORKER_STOPPING,
                     tm_clock_mono_ns(), s->o.epoch + (uint64_t)w->number);
  tm_crew_event(w, TM_WORKER_ON_ENDED);
  tm_supervisor_emit(s, &e, w);
  remove_worker(w);
}

/* A worker that was ready and ended unasked: whether it had done any work. */
static void note_end(struct tm_worker *w, const struct tm_ended *ended, const char *words)
{
  struct tm_supervisor *s = w->s;

  if (w->state != TM_WORKER_READY)
    return;
  tm_pool_note_end(&s->pool, tm_page_has_begun(ended->words));
  if (s->pool.idle_ends > 0 && s->code == 0)
    tm_err_set(&s->cause, TM_ESCRIPT, "%s %s", w->name, words);
}

static void note_freed(const struct tm_supervisor *s)
{
  if (s->o.on_freed)
    s->o.on_freed(s->o.data);
}

static void on_ended(void *data, uint32_t id, const struct tm_ended *ended)
{
  struct tm_supervisor *s = data;
  struct tm_worker *w = find(s, id);
  struct tm_buf words = TM_BUF_NONE;

  if (!tm_check(w))
    return;
  w->is_deaf = true;
  if (w->channel.is_open)
    tm_channel_drain(&w->channel);
  tm_ended_describe(&words, ended);
  note_end(w, ended, tm_buf_str(&words));
  settle_hand(w, ended, tm_buf_str(&words));
  end_worker(w, ended, tm_buf_str(&words), w->state == TM_WORKER_STOPPING ? TM_INFO : TM_WARNING);
  tm_buf_release(&words);
  tm_crew_fill(s);
  tm_supervisor_judge(s);
  tm_supervisor_check_end(s);
  note_freed(s);
}

static void on_start_failed(void *data, uint32_t id, const char *text)
{
  struct tm_supervisor *s = data;
  struct tm_worker *w = find(s, id);

  if (!tm_check(w))
    return;
  end_worker(w, NULL, text, w->state == TM_WORKER_STOPPING ? TM_INFO : TM_ERROR);
  tm_crew_fill(s);
  tm_supervisor_judge(s);
  tm_supervisor_check_end(s);
  note_freed(s);
}

/* Nodes. */

void tm_crew_add_node(struct tm_supervisor *s, struct tm_node *node)
{
  char *argv[] = { (char *)s->o.program, (char *)"worker", NULL };
  struct tm_temp_dirs dirs = tm_temp_dirs_of(s->o.temp, s->view.name, NULL);
  char **environment = tm_snapshot_environment(&s->o.step->config, s->o.script_dir);
  size_t environment_len = 0;
  struct tm_node_user user = { .data = s,
                               .on_started = on_started,
                               .on_start_failed = on_start_failed,
                               .on_taken = on_taken,
                               .on_ended = on_ended,
                               .on_doing = tm_doing_on_told };
  struct tm_node_step step = { .node_id = (char *)tm_node_id(node),
                               .job_dir = (char *)s->o.job->dir,
                               .logs_dir = s->logs_dir,
                               .cwd = s->o.step->working_dir ? s->o.step->working_dir
                                                             : (char *)s->o.script_dir,
                               .temp_base = dirs.temp,
                               .memory_base = dirs.memory,
                               .worker_argv = argv,
                               .worker_argv_len = 2,
                               .environment = environment,
                               .run_timeout_ns = s->o.step->config.run_invocation_timeout_ns,
                               .load_timeout_ns = s->o.step->config.load_timeout_ns,
                               .memory_limit = s->o.step->config.worker_memory_limit,
                               .init_timeout_ns = s->o.step->config.init_timeout_ns,
                               .monitor_ns = s->o.step->config.monitor_interval_ns,
                               .hides_gpus = s->o.step->config.hides_gpus,
                               .log_level = s->o.step->config.logging_level };

  if (s->o.step->config.interruptible != TM_NOT_INTERRUPTIBLE)
    step.interrupt_grace_ns = s->o.step->config.interrupt_grace_ns;
  while (environment[environment_len])
    environment_len++;
  step.environment_len = environment_len;
  s->node = node;
  s->node_step = tm_node_add_step(node, &step, &user);
  tm_snapshot_free_environment(environment);
  tm_temp_dirs_release(&dirs);
}

void tm_crew_drop_all(struct tm_supervisor *s)
{
  while (s->workers.len > 0)
    remove_worker(s->workers.at[0]);
}

/* The keeper is gone, and the workers' pages with it: all that they held goes back, uncounted. */
void tm_crew_lose_all(struct tm_supervisor *s)
{
  while (s->workers.len > 0) {
    struct tm_worker *w = s->workers.at[0];
    w->is_deaf = true;
    if (w->channel.is_open)
      tm_channel_drain(&w->channel);
    for (uint64_t seq = w->hand.first; seq < w->hand.next; seq++) {
      struct tm_held *held = tm_hand_find(&w->hand, seq);
      if (held)
        put_back(w, held);
    }
    tm_crew_event(w, TM_WORKER_ON_STOP); /* not its own failure */
    end_worker(w, NULL, "lost with its node", TM_WARNING);
  }
  if (++s->lost_nodes >= LOST_NODES_MAX && !s->is_ending) {
    struct tm_err err = TM_ERR_NONE;
    tm_err_set(&err, TM_ENODE, "the node was lost %d times in a row without one result between",
               s->lost_nodes);
    tm_supervisor_fail(s, &err);
  }
}
