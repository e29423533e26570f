/* agent.c - our code inside a worker process.
 *
 *   SETUP -> load -> LOADED -> init() -> READY
 *         -> { MINI_BATCH -> begin, check, run(), answer, done } ... -> STOP -> shutdown() -> BYE
 *                                         `-- prefetch() before it: prefetch.c
 *
 *  (1) A mini-batch is run only after its assignment moved queued -> begun on the page: a
 *      mini-batch that was taken back is not run.
 *  (2) Its assignment moves to done when the answer is in the outbox, not before.
 *  (3) The outbox is written before each run(), unless that happened less than WRITE_EVERY_NS ago,
 *      and always before the agent waits. So little is lost with a worker, and short mini-batches
 *      share their writes.
 *  (4) The page says what is being done, and since when, before it is done. It costs no system
 *      call.
 *  (5) A process that the script has forked never returns from a hook: it would answer in the
 *      worker's place, on the same socket and page.
 *
 * Per mini-batch the agent reads the clock three times and the process's CPU time once; the
 * rest only uses memory. Failures: failure.c. Large results: spill.c. Interrupted calls:
 * interruption.c.
 */
#include "agent/agent.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent_own.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "data/item_check.h"
#include "sys/alarm.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/process.h"
#include "sys/shared_memory.h"

#define WRITE_EVERY_NS (200 * 1000)
#define ROWS_KEPT      (4u << 20) /* bytes; a buffer that grew beyond this is freed */
#define WALL_EVERY_NS  TM_S       /* how often the offset of the two clocks is measured */

/* Called after each hook. Keeps (5). It runs no exit handlers: the buffers belong to its parent. */
void tm_agent_end_forked(const struct tm_agent *a)
{
  static const char words[] = "tidemill: a process that the script forked has come back from its "
                              "hook; it is ended, and the worker continues\n";
  if (tm_self_is(&a->self))
    return;
  tm_fd_append(STDERR_FILENO, words, sizeof(words) - 1);
  _exit(0);
}

static int64_t cpu_now_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * TM_S + t.tv_nsec;
}

/* The wall clock at a monotonic moment, usually without reading the clock. */
static int64_t wall_of(struct tm_agent *a, int64_t now_ns)
{
  if (a->wall_read_ns == 0 || now_ns - a->wall_read_ns >= WALL_EVERY_NS) {
    a->wall_read_ns = now_ns;
    a->wall_offset_ns = tm_clock_wall_ns() - now_ns;
  }
  return now_ns + a->wall_offset_ns;
}

int tm_agent_flush(struct tm_agent *a, int64_t now_ns, struct tm_err *err)
{
  a->written_ns = now_ns;
  return a->link.out.len > 0 ? tm_link_flush(&a->link, err) : 0;
}

static void send_plain(struct tm_agent *a, enum tm_agent_msg type)
{
  struct tm_msg f = { .type = type, .fd = -1 };
  tm_link_send(&a->link, &f);
}

/* `init_ns` 0: the script has no init(). */
static void send_ready(struct tm_agent *a, int64_t init_ns)
{
  char bytes[16];
  struct tm_msg f = { .type = TM_MSG_READY, .payload = bytes, .length = sizeof(bytes), .fd = -1 };
  tm_put_u64(bytes, (uint64_t)init_ns);
  tm_put_u64(bytes + 8, tm_trial_has_prefetch(&a->trial) ? TM_READY_PREFETCH : 0);
  tm_link_send(&a->link, &f);
}

/* ---- one mini-batch ---- */

/* Compares size and time with those of the listing; the items' bytes are valid. */
static int check_items(const struct tm_agent *a, const struct tm_run_call *call, struct tm_err *err)
{
  struct tm_reader r;
  struct tm_item item;
  int rc = 0;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  while (rc == 0 && tm_item_next(&r, &item))
    rc = tm_item_check(tm_fs_real(), &item, a->trial.setup.sizes_alone, err);
  if (rc == TM_ECHANGED && !item.is_entry)
    tm_err_append(err, "; resume with --accept-changes to use it as it is now");
  return rc;
}

/* Counts rows that cannot be loaded, and tells the keeper through the page. */
static void count_rows(struct tm_agent *a, struct tm_run_call *call)
{
  struct tm_err ignored = TM_ERR_NONE;
  int64_t rows = tm_table_count(a->trial.loader.tables, call->dataset_number, call->bytes,
                                call->bytes_len, &ignored);
  if (rows <= 0)
    return;
  call->items = rows < TM_ITEMS_UNKNOWN ? (uint32_t)rows : TM_ITEMS_UNKNOWN - 1;
  tm_page_set_rows(a->page, call->items);
}

/* Loads the rows of a table. Their number matters even if they cannot be loaded, because that many
 * items fail. A worker that dies cannot report it, so a later try counts the rows before it loads
 * them. */
static int load_rows(struct tm_agent *a, struct tm_run_call *call, struct tm_err *err)
{
  struct tm_item_loader *loader = &a->trial.loader;
  tm_items_open_tables(loader, &a->trial.setup);
  if (call->try > 1 && call->items == 0)
    count_rows(a, call);
  int rc = tm_items_load_rows(loader, call, err);
  if (rc < 0 && call->items == 0)
    count_rows(a, call);
  if (rc < 0)
    return rc;
  if (call->part == 0)
    tm_page_set_rows(a->page, call->items);
  tm_table_load_faults(loader->tables, &call->extras->faults);
  return 0;
}

/* Everything before run(): reads rows, extracts entries, checks whether files have changed. */
static int load(struct tm_agent *a, const struct tm_msg *in, struct tm_run_call *call,
                const struct tm_result_head *head, bool has_rows, bool has_entries,
                int64_t *begin_ns)
{
  struct tm_err err = TM_ERR_NONE;
  int rc = 0;
  if (!has_rows && !has_entries && !a->trial.setup.verify_items)
    return 0;
  tm_page_set(a->page, TM_PHASE_LOAD, *begin_ns, head->seq, in->index, in->try);
  if (!has_rows && a->trial.setup.verify_items)
    rc = check_items(a, call, &err);
  if (rc == 0 && has_rows)
    rc = load_rows(a, call, &err);
  else if (rc == 0 && has_entries)
    rc = tm_items_load_entries(&a->trial.loader, &a->trial.setup, call, &err);
  if (rc < 0) {
    tm_buf_add_str(&a->trial.error.message, err.text);
    tm_trial_name_entries(&a->trial);
  }
  *begin_ns = tm_clock_mono_ns();
  return rc;
}

/* Answers with the rows, or with the file they were spilled to. Negative: the try fails, with
 * a->trial.error. */
static int add_result(struct tm_agent *a, const struct tm_msg *in, struct tm_result_head *head)
{
  struct tm_msg out = { .type = TM_MSG_RESULT,
                        .index = in->index,
                        .worker = in->worker,
                        .try = in->try,
                        .part = in->part,
                        .fd = -1 };
  if ((int64_t)a->trial.rows.len > a->trial.setup.max_result_size) {
    a->trial.error.status = TM_RUN_WRONG_RETURN;
    tm_buf_printf(&a->trial.error.message,
                  "run() returned %zu bytes of rows, more than max_result_size (%" PRId64
                  "): return less for each item, or raise max_result_size",
                  a->trial.rows.len, a->trial.setup.max_result_size);
    return TM_ELIMIT;
  }
  tm_buf_clear(&a->payload);
  tm_buf_extend(&a->payload, TM_RESULT_HEAD); /* filled below, when the time is known */
  if (a->trial.extras.marks.len > 0 || a->trial.extras.files.len > 0 ||
      a->trial.extras.columns.len > 0 || a->trial.extras.faults.len > 0) {
    head->flags |= TM_RESULT_EXTRAS;
    tm_extras_encode(&a->payload, &a->trial.extras);
  }
  head->is_spilled = a->trial.rows.len > TM_SPILL_ABOVE;
  if (!head->is_spilled)
    tm_buf_add(&a->payload, a->trial.rows.data, a->trial.rows.len);
  else if (tm_spill_write(a, head->seq) < 0)
    return TM_ELIMIT;
  head->total_ns = tm_clock_mono_ns() - a->begin_ns;
  tm_result_head_encode(a->payload.data, head);
  out.payload = a->payload.data;
  out.length = (uint32_t)a->payload.len;
  tm_link_send(&a->link, &out);
  return 0;
}

static void answer(struct tm_agent *a, const struct tm_msg *in, const struct tm_run_call *call,
                   struct tm_result_head *head, int code)
{
  if (a->trial.rows.len > 0 && !a->trial.setup.append_row)
    tm_buf_clear(&a->trial.rows);
  if (code == 0 && a->trial.extras.files.len > 0 && *a->trial.setup.staging_dir)
    code = tm_extras_settle(a, head->seq);
  if (code == 0 && add_result(a, in, head) < 0)
    code = TM_ESCRIPT;
  if (code < 0) {
    head->is_spilled = 0;
    head->flags = tm_table_loader_has_bad_state(a->trial.loader.tables) ? TM_FAILURE_BAD_STATE : 0;
    tm_extras_drop_files(a, head->seq);
    head->total_ns = tm_clock_mono_ns() - a->begin_ns;
    tm_buf_clear(&a->row);
    tm_items_add_row(&a->row, &a->trial.loader, call);
    tm_failure_send(a, TM_MSG_FAILED, in, head);
  }
  if (a->trial.rows.cap > ROWS_KEPT)
    tm_buf_release(&a->trial.rows);
  if (a->payload.cap > ROWS_KEPT)
    tm_buf_release(&a->payload);
}

/* Calls prefetch(), also for `next` unless that is NULL, and returns when run() begins. */
static int prefetch(struct tm_agent *a, const struct tm_msg *in, struct tm_run_call *call,
                    const struct tm_msg *next, int64_t *begin_ns)
{
  if (!tm_trial_has_prefetch(&a->trial))
    return 0;
  int code = tm_agent_prefetch(a, in, call);
  if (code >= 0 && next)
    tm_agent_prefetch_next(a, in, call, next);
  *begin_ns = tm_clock_mono_ns();
  return code;
}

/* Checks the items, and calls run(). Fills the head. */
static int run_items(struct tm_agent *a, const struct tm_msg *in, struct tm_run_call *call,
                     const struct tm_msg *next, struct tm_result_head *head)
{
  int64_t begin_ns = a->begin_ns;
  uint32_t items = call->items;
  bool has_rows, has_entries;
  a->trial.error.status = TM_LOAD_EXCEPTION;
  if (!tm_items_check(call, &has_rows, &has_entries)) {
    tm_buf_add_str(&a->trial.error.message,
                   "the items of the mini-batch cannot be read; the manifest may be damaged");
    return TM_EDAMAGE;
  }
  int rc = load(a, in, call, head, has_rows, has_entries, &begin_ns);
  if (rc < 0) {
    head->items = has_rows && call->items > 0 ? call->items : TM_ITEMS_UNKNOWN;
    return rc;
  }
  head->items = has_rows ? call->items : items;
  if (tm_items_are_none(call))
    return 0;
  rc = prefetch(a, in, call, next, &begin_ns);
  if (rc < 0)
    return rc;
  tm_page_set(a->page, TM_PHASE_RUN, begin_ns, head->seq, in->index, in->try); /* keeps (4) */
  tm_agent_begin_call(a, head->seq);
  int code = tm_trial_run(&a->trial, call);
  a->call = 0;
  tm_agent_end_forked(a);
  int64_t end_ns = tm_clock_mono_ns();
  tm_page_set(a->page, TM_PHASE_RETURN, end_ns, head->seq, in->index, in->try);
  head->run_ns = end_ns - begin_ns;
  head->returned = a->trial.returned;
  return code;
}

bool tm_agent_read_call(const struct tm_agent *a, const struct tm_msg *in, struct tm_run_call *out)
{
  const struct tm_setup *setup = &a->trial.setup;
  struct tm_reader r;
  struct tm_mini_batch_head h;
  tm_reader_init(&r, in->payload, in->length);
  if (!tm_mini_batch_head_read(&r, &h))
    return false;
  *out =
      (struct tm_run_call) { .index = in->index,
                             .seq = h.seq,
                             .try = in->try,
                             .part = in->part,
                             .items = h.items,
                             .dataset_number = h.dataset,
                             .first_row = -1,
                             .bytes = r.at,
                             .bytes_len = (size_t)(r.end - r.at),
                             .dataset = h.dataset < setup->datasets_len ? setup->datasets[h.dataset]
                                                                        : "" };
  return true;
}

static int run_mini_batch(struct tm_agent *a, struct tm_msg *in, struct tm_err *err)
{
  struct tm_run_call call;
  struct tm_msg next;
  /* before anything points into the message */
  bool has_next = tm_trial_has_prefetch(&a->trial) && tm_link_peek(&a->link, in, &next);
  if (!tm_agent_read_call(a, in, &call))
    return tm_err_set(err, TM_EPROTOCOL, "a mini-batch cannot be read");
  call.extras = &a->trial.extras;
  int64_t begin_ns = a->begin_ns = tm_clock_mono_ns();
  /* keeps (3) */
  if (begin_ns - a->written_ns >= WRITE_EVERY_NS && tm_agent_flush(a, begin_ns, err) < 0)
    return err->code;
  if (!tm_page_begin(a->page, call.seq)) { /* keeps (1) */
    tm_agent_drop_prefetched(a, call.seq);
    return 0;
  }
  struct tm_result_head head = { .seq = call.seq,
                                 .begin_wall_ns = wall_of(a, begin_ns),
                                 .items = TM_ITEMS_UNKNOWN };
  tm_page_set_begun(a->page, head.begin_wall_ns);
  tm_trial_clear(&a->trial);
  int code = run_items(a, in, &call, has_next ? &next : NULL, &head);
  tm_agent_drop_prefetched(a, call.seq);
  int64_t cpu_ns = cpu_now_ns();
  head.cpu_ns = cpu_ns - a->cpu_ns;
  a->cpu_ns = cpu_ns;
  answer(a, in, &call, &head, code);
  tm_item_loader_clear(&a->trial.loader);
  tm_page_done(a->page, call.seq); /* keeps (2) */
  tm_agent_settle_call(a, in, call.seq, code);
  return 0;
}

/* ---- the life of a worker ---- */

static int read_setup(struct tm_agent *a, struct tm_err *err)
{
  struct tm_msg f;
  int rc = tm_link_read(&a->link, &f, true, NULL, err);
  if (rc == 0)
    return tm_err_set(err, TM_EPROTOCOL, "the channel ended before the settings came");
  if (rc < 0)
    return rc;
  if (f.type != TM_MSG_SETUP)
    return tm_err_set(err, TM_EPROTOCOL, "a frame of type %u came before the settings", f.type);
  rc = tm_setup_decode(&a->trial.setup, f.payload, f.length, err);
  if (rc == 0 && a->trial.setup.ignores_warnings) {
    tm_process_outlive(SIGTERM);
    tm_process_outlive(SIGUSR1);
  }
  return rc;
}

/* Loads the script and calls init(). Reports a failure to the supervisor and, by `err`, on
 * stderr. */
static int start(struct tm_agent *a, struct tm_err *err)
{
  struct tm_msg nothing = { .fd = -1 };
  struct tm_result_head head = { 0 };
  int64_t begin_ns = tm_clock_mono_ns(), init_begin_ns = begin_ns;
  head.begin_wall_ns = wall_of(a, begin_ns);
  tm_agent_listen(a);
  if (a->trial.setup.is_interruptible)
    tm_agent_arm(a);
  tm_page_set(a->page, TM_PHASE_INIT, begin_ns, 0, 0, 0);
  tm_agent_begin_call(a, TM_PAGE_INIT);
  int code = tm_trial_load(&a->trial);
  tm_agent_end_forked(a);
  bool has_no_run = a->trial.has_no_run;
  bool is_loaded = code == 0 && !has_no_run;
  if (is_loaded) {
    send_plain(a, TM_MSG_LOADED);
    if (tm_agent_flush(a, begin_ns, err) < 0)
      return err->code;
    init_begin_ns = tm_clock_mono_ns();
    code = tm_trial_init(&a->trial);
    tm_agent_end_forked(a);
  }
  tm_agent_end_init(a);
  int64_t end_ns = tm_clock_mono_ns();
  a->cpu_ns = cpu_now_ns();
  if (is_loaded && code >= 0) {
    send_ready(a, code > 0 ? 0 : end_ns - init_begin_ns);
    return tm_agent_flush(a, end_ns, err);
  }
  head.total_ns = end_ns - begin_ns;
  head.cpu_ns = a->cpu_ns;
  head.flags = (is_loaded ? 0 : TM_FAILURE_LOADING) | (has_no_run ? TM_FAILURE_NO_RUN : 0);
  tm_failure_send(a, TM_MSG_INIT_FAILED, &nothing, &head);
  if (tm_agent_flush(a, end_ns, err) < 0)
    return err->code;
  return tm_err_set(err, TM_ESCRIPT, "%s", tm_buf_str(&a->trial.error.message));
}

static int stop(struct tm_agent *a, struct tm_err *err)
{
  int64_t now_ns = tm_clock_mono_ns();
  if (tm_agent_flush(a, now_ns, err) < 0) /* before user code that may hang or die */
    return err->code;
  tm_page_set(a->page, TM_PHASE_SHUTDOWN, now_ns, 0, 0, 0);
  tm_agent_drop_ahead(a);
  int code = tm_trial_shutdown(&a->trial);
  tm_agent_end_forked(a);
  if (code < 0)
    tm_failure_send(a, TM_MSG_BYE, &(struct tm_msg) { .fd = -1 },
                    &(struct tm_result_head) { .total_ns = tm_clock_mono_ns() - now_ns });
  else
    send_plain(a, TM_MSG_BYE);
  return tm_agent_flush(a, now_ns, err);
}

/* The next frame; waits only with an empty outbox. Keeps (3). */
static int read_next(struct tm_agent *a, struct tm_msg *f, struct tm_err *err)
{
  bool ended = false;
  int rc = tm_link_read(&a->link, f, false, &ended, err);
  if (rc == 0 && !ended) {
    int64_t now_ns = tm_clock_mono_ns();
    if (tm_agent_flush(a, now_ns, err) < 0)
      return err->code;
    tm_page_set(a->page, TM_PHASE_IDLE, now_ns, 0, 0, 0);
    rc = tm_link_read(&a->link, f, true, NULL, err);
  }
  return rc != 0 ? rc
                 : tm_err_set(err, TM_EPROTOCOL,
                              "the channel ended before the worker was told to stop");
}

static int serve(struct tm_agent *a, struct tm_err *err)
{
  struct tm_msg f;
  int code = read_setup(a, err);
  if (code == 0)
    code = start(a, err);
  while (code == 0) {
    code = read_next(a, &f, err);
    if (code < 0)
      break;
    if (f.type == TM_MSG_STOP)
      return stop(a, err);
    code = 0;
    if (f.type == TM_MSG_ARM)
      tm_agent_arm(a);
    else if (f.type != TM_MSG_MINI_BATCH)
      code = tm_err_set(err, TM_EPROTOCOL, "a frame of type %u came", f.type);
    else if (!a->is_retired)
      code = run_mini_batch(a, &f, err);
  }
  return code;
}

/* Makes the worker end with the keeper, and makes the kernel kill it before the supervisor when
 * memory runs out. */
static void take_precautions(void)
{
  const struct tm_fs *fs = tm_fs_real();
  const char *path = "/proc/self/oom_score_adj", *keeper = getenv(TM_ENV_KEEPER);
  int64_t pid = 0;
  if (keeper && tm_text_int(keeper, &pid))
    tm_process_die_with_parent((pid_t)pid);
  int fd = tm_fs_open(fs, path, O_WRONLY, 0, NULL);
  if (fd >= 0)
    tm_fs_write_at(fs, fd, path, "500", 3, 0, NULL);
  tm_fs_close(fs, fd);
}

int tm_agent_run(const struct tm_script *script)
{
  struct tm_agent a = { .trial.script = *script };
  struct tm_err err = TM_ERR_NONE;
  take_precautions();
  tm_self_init(&a.self);
  tm_link_init(&a.link, TM_WORKER_CHANNEL_FD);
  a.page = tm_shared_memory_map(TM_WORKER_PAGE_FD, sizeof *a.page, &err);
  /* it is mapped; processes that the script starts must not inherit it */
  tm_fs_close(tm_fs_real(), TM_WORKER_PAGE_FD);
  int code = a.page ? serve(&a, &err) : err.code;
  if (code < 0) {
    tm_buf_clear(&a.scratch);
    tm_buf_printf(&a.scratch, "tidemill: %s\n", err.text);
    tm_fd_append(STDERR_FILENO, a.scratch.data, a.scratch.len);
  }
  tm_alarm_release();
  tm_shared_memory_unmap(a.page, sizeof *a.page);
  tm_link_release(&a.link);
  tm_self_release(&a.self);
  tm_setup_release(&a.trial.setup);
  tm_trial_release(&a.trial);
  tm_script_error_release(&a.ahead.error);
  tm_buf_release(&a.payload);
  tm_buf_release(&a.row);
  tm_buf_release(&a.scratch);
  return code < 0 ? 3 : 0;
}
