/* lister.h - the thread that cuts the inputs of a step into mini-batches and writes them to the manifest.
 *
 * It runs beside the loop, which it wakes when entries have become readable and when it has ended. Everything is called on
 * the loop's thread, but for what the thread does by itself.
 *
 * It is the one thread of the supervisor that reads what users own, and a file system may keep it waiting forever: no signal
 * ends a system call on a hung network file system. So nobody waits for it without a limit. A thread that does not end in time
 * is left behind: it owns all that it reads, may not touch the manifest any more, and frees everything when its call returns.
 * The end of the process ends it, too.
 */
#ifndef TM_RUN_LISTER_H
#define TM_RUN_LISTER_H

#include "data/cut.h"
#include "run/manifest.h"
#include "sys/loop.h"

struct tm_lister;

struct tm_lister_options {
  struct tm_loop *loop;
  struct tm_manifest *manifest;
  struct tm_cut_options
      cut; /* copied with all that it leads to, but `fs`; `stop` and the warnings are the lister's */
  const char
      *inputs_file; /* which files there are is recorded there (input_record.h); or NULL; copied */
  bool by_content;  /* and what is in them */
  void (*on_progress)(void *data); /* entries can be read, warnings can be taken, or it has ended */
  void *data;
};

/* NULL and words when no thread can be had. */
struct tm_lister *tm_lister_start(const struct tm_lister_options *options, struct tm_err *err);
/* Nothing waits for work: what it adds next is made readable at once (else in larger pieces). */
void tm_lister_set_hungry(struct tm_lister *l, bool is_hungry);
/* 0: still at work; 1: the list is complete; negative: why it is not. */
int tm_lister_state(struct tm_lister *l, struct tm_err *err);
/* The next warning, to free(), or NULL. */
char *tm_lister_take_warning(struct tm_lister *l);
/* Tells the thread to end, also where it waits for input (a FIFO), waits for that, frees. False: it is in a call that has not
 * returned for three seconds, and is left behind. NULL: a no-op, true. */
bool tm_lister_stop(struct tm_lister *l);

#endif
