/* results.h - results of steps, so that a later job can reuse them (snapshot/reuse_key.h defines
 * when).
 *
 * A row describes a Completed step: its definition, its inputs, and its outputs. The files belong
 * to the job; a row whose job is gone is useless, and is removed when it is found. Failed and
 * Canceled steps have no row.
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
  /* Of the inputs, of other files that it read, and of its output folders; without lists. */
  struct tm_identity inputs, side, output;
};
struct tm_result_rows TM_ARRAY(struct tm_result_row);

/* The rows with this key, the newest first, at most 20. Release it in every case. */
int tm_results_find(struct tm_result_rows *out, struct tm_db *db, const char *key,
                    struct tm_err *err);
/* The newest row of a step, whatever its key: 1, or 0 if there is none. Release `out` in every
 * case. */
int tm_results_newest(struct tm_result_row *out, struct tm_db *db, const char *pipeline,
                      const char *step, struct tm_err *err);
/* Adds the row with a new id; a step of a job has one row. `workspace`: an existing absolute
 * folder. */
int tm_results_add(const char *workspace, const struct tm_result_row *row, struct tm_err *err);
int tm_results_remove(const char *workspace, int64_t id, struct tm_err *err);

void tm_result_row_release(struct tm_result_row *row); /* zeroed: a no-op */
void tm_result_rows_release(struct tm_result_rows *rows);

#endif
