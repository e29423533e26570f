/* lister.h - the thread that cuts the inputs of a step into mini-batches and writes them to the manifest.
 *
 * It runs beside the loop, which it wakes when entries have become readable and when it has ended. Everything is called on
 * the loop's thread, but for what the thread does by itself.
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
      cut; /* what it leads to must live until stop; `stop` and the warnings are the lister's */
  const char *inputs_file; /* which files there are is recorded there (input_record.h); or NULL */
  bool by_content;         /* and what is in them */
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
/* Has the thread end, also where it waits for input (a FIFO), waits for that, frees. */
void tm_lister_stop(struct tm_lister *l); /* NULL is a no-op */

#endif
