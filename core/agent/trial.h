/* trial.h - calls an entry script: the one way for the worker, `try`, `replay`, the prompt and
 * hosts.
 *
 *   struct tm_trial t = { .script = script, .setup = setup };
 *   tm_trial_load(&t); tm_trial_init(&t);       until one fails
 *   tm_trial_clear(&t);                         for each mini-batch:
 *   tm_items_load_rows() or _entries()          with t.loader and t.extras, if it needs that
 *   tm_trial_run(&t, &call);
 *   tm_trial_shutdown(&t);
 *   tm_trial_release(&t);                       closes neither the script nor the setup
 *
 * Each hook returns 0, or negative with t.error, which tm_trial_words() puts in a sentence. The
 * caller limits the time of a call, and decides what a failure means.
 */
#ifndef TM_AGENT_TRIAL_H
#define TM_AGENT_TRIAL_H

#include "agent/item_loader.h"
#include "agent/script.h"

struct tm_trial {
  struct tm_script script;
  struct tm_setup setup; /* lives as long as the script */
  struct tm_item_loader loader;
  /* Of the last mini-batch: its rows, how many elements run() returned, what else it reported. */
  struct tm_buf rows;
  uint32_t returned;
  struct tm_extras extras;
  /* Of the last hook. */
  const char *hook; /* "init()"; for messages */
  struct tm_script_error error;
  bool has_no_run; /* the script was loaded but defines no run() */
};

int tm_trial_load(struct tm_trial *t);
int tm_trial_init(struct tm_trial *t); /* 1: the script has no init() */
/* Forgets the results of the last mini-batch. */
void tm_trial_clear(struct tm_trial *t);
bool tm_trial_has_prefetch(const struct tm_trial *t); /* once it is loaded */
/* Early, before the run() of another mini-batch; then the call for tm_trial_run() says so. */
int tm_trial_prefetch(struct tm_trial *t, const struct tm_run_call *call);
/* Calls prefetch() first, if the script has it and call->is_prefetched does not say that this has
 * been done. Adds to t->rows, t->extras, and sets t->returned. Errors and marks name entries of
 * archives as the listing does, not by the paths of their files here. */
int tm_trial_run(struct tm_trial *t, const struct tm_run_call *call);
int tm_trial_recover(struct tm_trial *t, const char *reason); /* 1: there is no such hook */
int tm_trial_shutdown(struct tm_trial *t);

/* The same naming, for an error of the loader in t->error. */
void tm_trial_name_entries(struct tm_trial *t);
void tm_script_error_clear(struct tm_script_error *e);
void tm_script_error_release(struct tm_script_error *e);
/* "init() failed at score.lua:12: ..." */
void tm_trial_words(struct tm_buf *out, const struct tm_trial *t);
void tm_trial_release(struct tm_trial *t);

#endif
