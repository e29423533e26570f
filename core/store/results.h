/* results.h - what steps of jobs have come to, so that the same work need not be done again (plan/reuse_key.h says what is the same).
 *
 * A row is of a step that was Completed: its definition, what its inputs were, and what is in its outputs. The files are the
 * job's; a row whose job is gone is of no use, and is removed when it is met. Failed and Canceled steps have none.
 */
#ifndef TM_STORE_RESULTS_H
#define TM_STORE_RESULTS_H

#include "base/json.h"
#include "store/db.h"
#include "store/identity.h"

struct tm_result_row {
  int64_t id;
  char *key, *pipeline, *step;
  char *job;                  /* its directory, absolute */
  struct tm_json *definition; /* of the step, with its snapshot */
  struct tm_json *summary;    /* the step's result: counts */
  int64_t completed_ns;       /* since the epoch */
  /* Of inputs, of what else it read, and of its output folders; without lists. */
  struct tm_identity inputs, side, output;
};
struct tm_result_rows TM_ARRAY(struct tm_result_row);

/* Those with this key, the newest first, 20 at most. Release it in every case. */
int tm_results_find(struct tm_result_rows *out, struct tm_db *db, const char *key,
                    struct tm_err *err);
/* The newest of a step, whatever its key: 1, or 0: there is none. Release `out` in every case. */
int tm_results_newest(struct tm_result_row *out, struct tm_db *db, const char *pipeline,
                      const char *step, struct tm_err *err);
/* Adds it, with another id; of one step of a job there is one row. `workspace`: an absolute folder, which is there. */
int tm_results_add(const char *workspace, const struct tm_result_row *row, struct tm_err *err);
int tm_results_remove(const char *workspace, int64_t id, struct tm_err *err);

void tm_result_row_release(struct tm_result_row *row); /* zeroed: a no-op */
void tm_result_rows_release(struct tm_result_rows *rows);

#endif
