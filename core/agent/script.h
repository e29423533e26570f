/* script.h - an entry script, as the agent sees it. The seam between the worker process and the
 * language: lua/entry/lua_script.c implements it, and tests implement it in C.
 */
#ifndef TM_AGENT_SCRIPT_H
#define TM_AGENT_SCRIPT_H

#include <stdint.h>

#include "agent/agent_msg.h"
#include "data/archive/entry.h"
#include "data/frame/frame.h"
#include "data/item.h"

struct tm_run_call {
  uint64_t index, seq; /* of the mini-batch; its number at this worker */
  bool is_prefetched;  /* prefetch() has returned for it, with the same `seq` */
  uint32_t try;
  uint64_t part;
  const char *dataset; /* name of the input, or "" */
  uint32_t dataset_number;
  uint32_t items;
  const struct tm_data_frame *frame; /* the rows of a table, valid until run() returns; else NULL */
  const struct tm_item *range;       /* their range, if they are from one file; else NULL */
  int64_t first_row;                 /* number of the first in its file, from 0; -1: unknown */
  const char *bytes;                 /* the items, data/item.h; validated */
  size_t bytes_len;
  /* the items as listed, before entries became files; NULL: the same as `bytes` */
  const char *listed;
  size_t listed_len;
  /* the items' numbers in the mini-batch, from 1, if some are left out; NULL: none are */
  const uint32_t *numbers;
  /* for reading items that are entries of archives; NULL: items are files */
  struct tm_entries *entries;
  struct tm_extras *extras; /* empty before; filled besides the rows. NULL: not wanted */
};

/* Why a hook failed; the agent owns the buffers and clears them before each call. */
struct tm_script_error {
  /* RUN_EXCEPTION, RUN_WRONG_RETURN, RUN_TIMEOUT, LOAD_TIMEOUT (in prefetch()), INIT_EXCEPTION,
   * INIT_TIMEOUT */
  enum tm_status status;
  struct tm_buf message, stack, where;
};

/* A call is init(), prefetch() or run(). */
struct tm_script {
  void *data;
  /* Loads the file. 0, or negative with `error`. *has_no_run (false before): it was loaded but
   * defines no function run, which is a failure too. `setup` lives as long as the script. */
  int (*load)(void *data, const struct tm_setup *setup, bool *has_no_run,
              struct tm_script_error *error);
  /* Calls init(). 1: the script has none; negative with `error`. */
  int (*init)(void *data, struct tm_script_error *error);
  /* Once loaded: whether the script has prefetch(). NULL: this language has no such hook. */
  const bool *has_prefetch;
  /* Calls prefetch(), before the run() of this mini-batch or of the one before it. What it has
   * returned and started is kept for the run() with the same `seq`, which must follow before
   * another one, unless drop() is called. `call` is used during this call only. */
  int (*prefetch)(void *data, const struct tm_run_call *call, struct tm_script_error *error);
  /* Ends what prefetch() has started for `seq`, which is not run; otherwise a no-op. */
  void (*drop)(void *data, uint64_t seq);
  /* One try. Appends rows (each ends in a line break) to `rows`, with append_row; `returned` counts
   * elements. */
  int (*run)(void *data, const struct tm_run_call *call, struct tm_buf *rows, uint32_t *returned,
             struct tm_script_error *error);
  /* From here on, calls can be interrupted; may be called again. NULL: this language cannot do
   * that. */
  void (*arm)(void *data);
  /* Called within a signal handler, on the script's thread, at any moment. A call that is executing
   * the script's language fails as soon as possible, with RUN_TIMEOUT or INIT_TIMEOUT and its
   * current stack; otherwise nothing happens. */
  void (*interrupt)(void *data);
  /* Its place for the address of a flag, which becomes 1 when the script makes a call in C that
   * interrupt() can stop. From then on, this call can be interrupted without arm(). NULL: there are
   * no such calls. */
  _Atomic uint64_t **shown;
  /* Its place for the address of a flag, which is 1 while a call of the script waits for another
   * worker; only shown to users. NULL: its calls do not wait. */
  _Atomic uint64_t **waits;
  /* After an interrupted run(). 1: the script has no such hook; negative with `error`. */
  int (*recover)(void *data, const char *reason, struct tm_script_error *error);
  /* Why this process must run no further mini-batch; empty: it may. NULL: always. */
  const struct tm_buf *retires;
  /* A failure is only logged. */
  int (*shutdown)(void *data, struct tm_script_error *error);
};

#endif
