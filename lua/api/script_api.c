/* script_api.c - an entry script in this process: calls its hooks, and returns the results.
 *
 *  (1) The data that an interruption reads are valid while `is_open` is set. It is set last and
 *      cleared first, on the script's thread, where the handler runs.
 *  (2) An interruption before the timeout is not a timeout, and the error says so.
 */
#include "api/script_api.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <lua.h>

#include "base/check.h"
#include "base/text.h"
#include "data/archive/entry_load.h"
#include "data/frame/fault_list.h"
#include "data/frame/frame_text.h"
#include "entry/lua_script.h"
#include "entry/table_look.h"
#include "modules.h"
#include "sched/tally.h"
#include "sys/alarm.h"
#include "sys/clock.h"

#define ROWS_SHOWN 5

/* ---- errors ---- */

static int fail(struct tidemill_script *s, struct tm_err *err)
{
  const struct tm_script_error *e = &s->trial.error;
  tm_buf_clear(&s->words);
  tm_trial_words(&s->words, &s->trial);
  s->failed = (struct tidemill_script_error) { .size = sizeof(s->failed),
                                               .text = tm_buf_str(&s->words),
                                               .stack = tm_buf_str(&e->stack),
                                               .where = tm_buf_str(&e->where) };
  return tm_err_set(err, TM_ESCRIPT, "%s", s->failed.text);
}

const struct tidemill_script_error *tidemill_script_error(const struct tidemill_script *s)
{
  return s && s->failed.size > 0 ? &s->failed : NULL;
}

/* ---- interruption ---- */

void tm_script_on_ask(void *data)
{
  struct tidemill_script *s = data;
  if (!s->is_open)
    return;
  if (s->limit_ns == 0 || tm_clock_mono_ns() - s->begun_ns < s->limit_ns)
    s->trial.setup.run_timeout_ns = s->trial.setup.init_timeout_ns = 0; /* keeps (2) */
  s->trial.script.interrupt(s->trial.script.data);
}

void tidemill_script_interrupt(struct tidemill_script *s)
{
  if (s && s->is_claimed)
    tm_tick_ask();
}

static void begin_call(struct tidemill_script *s, int64_t limit_ns)
{
  s->failed = (struct tidemill_script_error) { .size = 0 };
  s->trial.setup.init_timeout_ns = s->info.init_timeout_ns;
  s->trial.setup.run_timeout_ns = s->info.run_timeout_ns;
  s->trial.setup.load_timeout_ns = 0; /* prefetch() counts as part of run() here */
  s->begun_ns = tm_clock_mono_ns();
  s->limit_ns = limit_ns;
}

/* ---- mini-batches ---- */

static void on_warning(void *data, const char *text)
{
  struct tidemill_script *s = data;
  if (tm_repeats_add(&s->repeats, text))
    tm_script_say(s, TIDEMILL_LEVEL_WARNING, "%s", text);
}

static void end_warnings(struct tidemill_script *s)
{
  char *text;
  while ((text = tm_repeats_take(&s->repeats)) != NULL) {
    tm_script_say(s, TIDEMILL_LEVEL_WARNING, "%s", text);
    free(text);
  }
  tm_repeats_release(&s->repeats);
}

/* Reports faults in the rows that were loaded: one line for each kind, in the words of the
 * supervisor. */
static void tell_faults(struct tidemill_script *s, const struct tm_item_loader *loader)
{
  struct tm_buf list = TM_BUF_NONE;
  struct tm_reader r;
  struct tm_fault_entry e;
  tm_table_load_faults(loader->tables, &list);
  tm_reader_init(&r, tm_buf_str(&list), list.len);
  while (tm_fault_list_next(&r, &e))
    tm_script_say(s, TIDEMILL_LEVEL_WARNING, "%.*s", (int)e.words_len, e.words);
  tm_buf_release(&list);
}

static void open_walk(struct tidemill_script *s)
{
  struct tm_splitter_options options = tm_step_splitting(s->step);
  options.spill_dir = s->trial.setup.temp_dir;
  options.on_warning = on_warning;
  options.data = s;
  tm_step_walk_open(&s->walk, s->step, options);
}

/* The next mini-batch of the step, or the only one of the job. */
static int next(struct tidemill_script *s, struct tm_err *err)
{
  int rc;
  if (s->replay && s->read > 0)
    return 0;
  if (!s->replay && !s->walk.splitter)
    open_walk(s);
  if (s->replay)
    rc = tm_replay_call(s->replay, &s->call, &s->trial, err) < 0 ? err->code : 1;
  else
    rc = tm_step_walk_next(&s->walk, &s->call, err);
  if (rc > 0 && s->call.frame) {
    tell_faults(s, s->replay ? &s->trial.loader : &s->walk.loader);
    tm_table_look_add(&s->head, s->call.frame, ROWS_SHOWN, "");
  }
  return rc;
}

int tidemill_script_next(struct tidemill_script *s, const struct tidemill_mini_batch **out,
                         struct tm_err *err)
{
  struct tm_err unheard = TM_ERR_NONE;
  err = err ? err : &unheard;
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_script_next()", "s", s, NULL) < 0)
    return TM_EUSAGE;
  s->has_mini_batch = false;
  tm_buf_clear(&s->head);
  int rc = next(s, err);
  end_warnings(s);
  if (rc <= 0)
    return rc < 0 ? rc : TIDEMILL_NEXT_NONE;
  s->read++;
  s->has_mini_batch = true;
  s->given = (struct tidemill_mini_batch) { .size = sizeof(s->given),
                                            .mini_batch = (int64_t)s->call.index,
                                            .items = s->call.items,
                                            .dataset = s->call.dataset,
                                            .head = tm_buf_str(&s->head) };
  if (out)
    *out = &s->given;
  return TIDEMILL_NEXT_MINI_BATCH;
}

/* ---- init() ---- */

void tm_script_unload(struct tidemill_script *s)
{
  s->is_open = 0; /* keeps (1) */
  atomic_signal_fence(memory_order_seq_cst);
  s->is_ready = false;
  tm_lua_script_close(&s->trial.script);
  tm_item_loader_clear(&s->trial.loader);
}

static int take_prints(lua_State *L)
{
  tm_host_take_prints(L, lua_touserdata(L, 1));
  return 0;
}

/* Opens its Lua state as the host wants it. */
static int open_script(struct tidemill_script *s, struct tm_err *err)
{
  tm_require(!s->is_open && !s->trial.script.data); /* tm_script_unload() */
  struct tm_script *script = &s->trial.script;
  int rc = tm_lua_script_open(script, tm_lua_modules(), err);
  if (rc < 0)
    return rc;
  if (!s->is_program && lua_cpcall(tm_lua_script_state(script), take_prints, &s->log) != 0)
    return tm_err_set(err, TM_ELIMIT, "cannot make a Lua state: not enough memory");
  if (s->is_claimed)
    script->arm(script->data);
  atomic_signal_fence(memory_order_seq_cst);
  s->is_open = 1; /* keeps (1) */
  return 0;
}

int tidemill_script_init(struct tidemill_script *s, struct tm_err *err)
{
  struct tm_err unheard = TM_ERR_NONE;
  err = err ? err : &unheard;
  if (tm_need(err, "tidemill_script_init()", "s", s, NULL) < 0)
    return TM_EUSAGE;
  tm_script_unload(s);
  int rc = open_script(s, err);
  begin_call(s, s->info.init_timeout_ns);
  if (rc >= 0 && (tm_trial_load(&s->trial) < 0 || tm_trial_init(&s->trial) < 0))
    rc = fail(s, err);
  s->limit_ns = 0;
  s->is_ready = rc >= 0;
  return rc < 0 ? rc : 0;
}

/* ---- run() ---- */

/* Adds ", 'in/a.txt'," for the item `number` of a mini-batch. */
static void add_name(struct tm_buf *out, const struct tm_run_call *call, uint32_t number)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, call->listed ? call->listed : call->bytes,
                 call->listed ? call->listed_len : call->bytes_len);
  for (uint32_t at = 1; tm_item_next(&r, &item); at++)
    if (at == number) {
      tm_buf_add_str(out, ", '");
      tm_text_one_line(out, item.path, item.path_len, 0);
      tm_buf_add_str(out, "',");
      return;
    }
}

/* Reports failed items from byte `from` of the marks, and returns how many there are. `call`: where
 * their names are; NULL: the reasons have them. */
static uint32_t say_marks(struct tidemill_script *s, size_t from, const struct tm_run_call *call)
{
  const struct tm_buf *marks = &s->trial.extras.marks;
  struct tm_reader r;
  struct tm_mark mark;
  struct tm_buf text = TM_BUF_NONE;
  uint32_t n = 0;
  tm_reader_init(&r, tm_buf_str(marks) + from, marks->len - from);
  for (; tm_mark_next(&r, &mark); n++) {
    tm_buf_clear(&text);
    tm_buf_printf(&text, "item %" PRIu32, mark.number);
    if (call && !call->frame)
      add_name(&text, call, mark.number);
    tm_buf_printf(&text, " fails: %.*s", (int)mark.len, mark.words);
    if (call)
      tm_script_say(s, TIDEMILL_LEVEL_WARNING, "%s", tm_buf_str(&text));
    else
      on_warning(s, tm_buf_str(&text));
  }
  end_warnings(s);
  tm_buf_release(&text);
  return n;
}

/* Loads entries of archives, as a worker does before run(). `lost`: how many are unreadable. */
static int load_entries(struct tidemill_script *s, struct tm_run_call *call, uint32_t *lost,
                        struct tm_err *err)
{
  struct tm_trial *t = &s->trial;
  if (!tm_entry_load_is_for(call->bytes, call->bytes_len))
    return 0;
  if (tm_items_load_entries(&t->loader, &t->setup, call, err) < 0)
    return tm_err_wrap(err, "the mini-batch cannot be loaded");
  *lost = say_marks(s, 0, NULL); /* they are left out */
  return 0;
}

/* `marked`: how many items run() has marked as failed. */
static void give_rows(struct tidemill_script *s, const struct tm_run_call *call, uint32_t marked)
{
  tm_require(marked <= call->items);
  const struct tm_config *config = &s->step->config;
  const struct tm_buf *columns = &s->trial.extras.columns, *rows = &s->trial.rows;
  uint32_t elements = s->trial.returned;
  bool any_number = tm_config_returns_any(config, call->frame != NULL);
  int64_t succeeded = any_number ? (int64_t)call->items - marked
                                 : tm_tally_succeeded(call->items, marked, elements);
  tm_buf_clear(&s->text);
  if (columns->len > 0 && config->append_row_header)
    tm_frame_add_header(&s->text, columns->data, columns->len, (char)s->trial.setup.separator);
  tm_buf_add(&s->text, tm_buf_str(rows), rows->len);
  s->returned = (struct tidemill_returned) { .size = sizeof(s->returned),
                                             .items = call->items,
                                             .elements = elements,
                                             .rows = tm_buf_str(&s->text),
                                             .rows_bytes = s->text.len,
                                             .any_number = any_number,
                                             .items_failed = call->items - succeeded };
}

static int run(struct tidemill_script *s, struct tm_err *err)
{
  struct tm_trial *t = &s->trial;
  struct tm_run_call call = s->call;
  uint32_t lost = 0, marked = 0;
  call.extras = &t->extras;
  tm_trial_clear(t);
  int rc = load_entries(s, &call, &lost, err);
  if (rc < 0)
    return rc;
  if (!tm_items_are_none(&call)) {
    size_t said = t->extras.marks.len;
    begin_call(s, s->info.run_timeout_ns);
    rc = tm_trial_run(t, &call);
    s->limit_ns = 0;
    if (rc < 0)
      return fail(s, err);
    marked = say_marks(s, said, &call);
  }
  give_rows(s, &call, marked);
  s->returned.items_failed += lost;
  return 0;
}

static int need_init(const struct tidemill_script *s, const char *call, struct tm_err *err)
{
  return s->is_ready ? 0
                     : tm_err_set(err, TM_EUSAGE,
                                  "%s: its init() has not been called, or has failed; "
                                  "tidemill_script_init() comes first",
                                  call);
}

int tidemill_script_run(struct tidemill_script *s, const struct tidemill_returned **out,
                        struct tm_err *err)
{
  static const char call[] = "tidemill_script_run()";
  struct tm_err unheard = TM_ERR_NONE;
  err = err ? err : &unheard;
  if (out)
    *out = NULL;
  if (tm_need(err, call, "s", s, NULL) < 0 || need_init(s, call, err) < 0)
    return TM_EUSAGE;
  if (!s->has_mini_batch)
    return tm_err_set(err, TM_EUSAGE,
                      "%s: there is no mini-batch; tidemill_script_next() comes first", call);
  int rc = run(s, err);
  if (rc >= 0 && out)
    *out = &s->returned;
  return rc < 0 ? rc : 0;
}

int tidemill_script_shutdown(struct tidemill_script *s, struct tm_err *err)
{
  static const char call[] = "tidemill_script_shutdown()";
  struct tm_err unheard = TM_ERR_NONE;
  err = err ? err : &unheard;
  if (tm_need(err, call, "s", s, NULL) < 0 || need_init(s, call, err) < 0)
    return TM_EUSAGE;
  begin_call(s, 0);
  s->is_ready = false;
  return tm_trial_shutdown(&s->trial) < 0 ? fail(s, err) : 0;
}
