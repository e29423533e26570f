/* script.h - an entry script, as the agent sees it. The seam between the worker process and the language: lua/script.c
 * is one, tests have one in C.
 */
#ifndef TM_AGENT_SCRIPT_H
#define TM_AGENT_SCRIPT_H

#include <stdint.h>

#include "agent/message.h"
#include "data/files/entry.h"
#include "data/frame.h"
#include "data/item.h"

struct tm_run_call {
  uint64_t index, seq; /* of the mini-batch; of its place in this worker's hands */
  uint32_t try;
  uint64_t part;
  const char *dataset; /* name of the input, or "" */
  uint32_t dataset_number;
  uint32_t items;
  const struct tm_data_frame
      *frame; /* the rows, of a table; its memory lasts until run() has returned. Else NULL */
  const struct tm_item *range; /* where they are, when they are of one file; else NULL */
  int64_t first_row;           /* number of the first in its file, from 0; -1: not known */
  const char *bytes;           /* the items, data/item.h; checked already */
  size_t bytes_len;
  const uint32_t *
      numbers; /* in the mini-batch, from 1, of the items: some are left out; NULL: they are all there */
  struct tm_entries
      *entries; /* what reads items that are entries of archives; NULL: they are files */
  struct tm_extras *extras; /* empty before; filled beside the rows. NULL: nobody asks */
};

/* Why a hook failed; buffers are the agent's, and cleared before each call. */
struct tm_script_error {
  enum tm_status
      status; /* RUN_EXCEPTION, RUN_WRONG_RETURN, RUN_TIMEOUT, INIT_EXCEPTION, INIT_TIMEOUT */
  struct tm_buf message, stack, where;
};

/* A call is init() or run(). */
struct tm_script {
  void *data;
  /* Loads the file. 0, or negative with `error`. *has_no_run (false before): it was loaded and defines no function run,
   * which is a failure too. `setup` lives as long as the script. */
  int (*load)(void *data, const struct tm_setup *setup, bool *has_no_run,
              struct tm_script_error *error);
  /* Calls init(), where there is one. */
  int (*init)(void *data, struct tm_script_error *error);
  /* One try. Rows (each ends in a line break) are appended to `rows`, with append_row; `returned` counts elements. */
  int (*run)(void *data, const struct tm_run_call *call, struct tm_buf *rows, uint32_t *returned,
             struct tm_script_error *error);
  /* Calls can be interrupted from here on; may come again. NULL: this language cannot do that. */
  void (*arm)(void *data);
  /* Within a signal handler, on the script's thread, at any moment: where a call is in the script's language, it fails as soon
   * as can be, with RUN_TIMEOUT or INIT_TIMEOUT and the stack of where it was; else nothing happens. */
  void (*interrupt)(void *data);
  /* After a run() that was interrupted. 1: the script does not say how (no hook); negative with `error`. */
  int (*recover)(void *data, const char *reason, struct tm_script_error *error);
  /* May fail; that is logged and fails nothing. */
  int (*shutdown)(void *data, struct tm_script_error *error);
};

#endif
