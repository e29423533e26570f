/* trial.c - see trial.h. */
#include "agent/trial.h"

#include "base/check.h"
#include "base/err.h"

void tm_script_error_clear(struct tm_script_error *e)
{
  tm_buf_clear(&e->message);
  tm_buf_clear(&e->stack);
  tm_buf_clear(&e->where);
}

void tm_script_error_release(struct tm_script_error *e)
{
  tm_buf_release(&e->message);
  tm_buf_release(&e->stack);
  tm_buf_release(&e->where);
}

static void begin(struct tm_trial *t, const char *hook, enum tm_status status)
{
  t->hook = hook;
  tm_script_error_clear(&t->error);
  t->error.status = status;
}

int tm_trial_load(struct tm_trial *t)
{
  tm_require(t->script.load);
  begin(t, "loading the script", TM_INIT_EXCEPTION);
  t->has_no_run = false;
  return t->script.load(t->script.data, &t->setup, &t->has_no_run, &t->error);
}

int tm_trial_init(struct tm_trial *t)
{
  tm_require(t->script.init);
  begin(t, "init()", TM_INIT_EXCEPTION);
  return t->script.init(t->script.data, &t->error);
}

int tm_trial_recover(struct tm_trial *t, const char *reason)
{
  tm_require(t->script.recover);
  begin(t, "recover()", TM_RUN_EXCEPTION);
  return t->script.recover(t->script.data, reason, &t->error);
}

int tm_trial_shutdown(struct tm_trial *t)
{
  tm_require(t->script.shutdown);
  begin(t, "shutdown()", TM_RUN_EXCEPTION);
  return t->script.shutdown(t->script.data, &t->error);
}

void tm_trial_clear(struct tm_trial *t)
{
  tm_buf_clear(&t->rows);
  t->returned = 0;
  tm_extras_clear(&t->extras);
  tm_script_error_clear(&t->error);
}

void tm_trial_name_entries(struct tm_trial *t)
{
  if (!t->loader.entries)
    return;
  tm_entry_loader_name(t->loader.entries, &t->error.message);
  tm_entry_loader_name(t->loader.entries, &t->error.stack);
  tm_extras_name_entries(&t->extras, t->loader.entries);
}

/* If files were removed under the script, its result cannot be trusted. */
static int say_lost(struct tm_trial *t, int code)
{
  tm_buf_add_str(&t->error.message, code < 0 ? "\n" : "");
  tm_buf_add_str(&t->error.message,
                 "the files of the mini-batch, on memory, were removed meanwhile by somebody else; "
                 "with TIDEMILL_MEMORY_DIR set and empty they are on the disk");
  return code < 0 ? code : TM_ECHANGED;
}

bool tm_trial_has_prefetch(const struct tm_trial *t)
{
  return t->script.has_prefetch && *t->script.has_prefetch;
}

int tm_trial_prefetch(struct tm_trial *t, const struct tm_run_call *call)
{
  tm_require(tm_trial_has_prefetch(t) && !call->is_prefetched);
  begin(t, "prefetch()", TM_RUN_EXCEPTION);
  int code = t->script.prefetch(t->script.data, call, &t->error);
  if (code < 0)
    tm_trial_name_entries(t);
  return code;
}

int tm_trial_run(struct tm_trial *t, const struct tm_run_call *call)
{
  tm_require(t->script.run);
  if (tm_trial_has_prefetch(t) && !call->is_prefetched) {
    int early = tm_trial_prefetch(t, call);
    if (early < 0)
      return early;
  }
  begin(t, "run()", TM_RUN_EXCEPTION);
  int code = t->script.run(t->script.data, call, &t->rows, &t->returned, &t->error);
  if (t->loader.entries && tm_entry_loader_has_lost(t->loader.entries))
    code = say_lost(t, code);
  tm_trial_name_entries(t);
  return code;
}

void tm_trial_words(struct tm_buf *out, const struct tm_trial *t)
{
  tm_require(t->hook);
  const struct tm_script_error *e = &t->error;
  tm_buf_printf(out, "%s failed%s%s: %s", t->hook, e->where.len > 0 ? " at " : "",
                tm_buf_str(&e->where), tm_buf_str(&e->message));
}

void tm_trial_release(struct tm_trial *t)
{
  tm_item_loader_release(&t->loader);
  tm_buf_release(&t->rows);
  tm_extras_release(&t->extras);
  tm_script_error_release(&t->error);
}
