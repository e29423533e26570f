/* copying.h - many rows, which are copied in pieces, one in each turn of the loop: those of a large
 * result to the output, those of a part to its held rows, and those of a mini-batch that was run in
 * parts, which are joined first. Meanwhile the step hears nothing of its workers: their links are
 * held, and what keepers say of them waits here. So results are committed in the order in which
 * they came.
 *
 *  (1) No result, failure or end of a worker is handled between the begin of a copy and the commit
 *      of its mini-batch. The message that announced it is kept, and handled again when the copy is
 *      complete; nothing of it has taken effect before. So is the end of a search for bad items.
 *      Announced results (announced.h) wait, too.
 *  (2) The step goes on otherwise: it hands out, flushes, syncs, and can be canceled. If it fails,
 *      or is closed, the copy is worth nothing: it lies behind the end of the output.
 */
#ifndef TM_STEP_COPYING_H
#define TM_STEP_COPYING_H

#include "step/isolate.h"
#include "step/supervisor_own.h"

/* True: the rows of the result that `f` announces are being copied, and `f` comes again. `held`:
 * what the worker was handed. */
bool tm_copying_begin(struct tm_worker *w, const struct tm_msg *f, struct tm_in_flight *held,
                      const struct tm_good_try *g);

#endif
