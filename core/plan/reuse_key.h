/* reuse_key.h - whether a step would do what an earlier one did, as far as its definition says; its inputs are the business of
 * run/reuse.h.
 *
 * What counts: the step's name, its script (the hash of the snapshot), every setting but those that only say how it is run,
 * arguments, inputs and outputs as they are defined, whether inputs are compared by their contents, and the version of the program
 * up to the number that may change results. Where items have failed, what decides over failures counts too.
 */
#ifndef TM_PLAN_REUSE_KEY_H
#define TM_PLAN_REUSE_KEY_H

#include <stdbool.h>

#include "base/json.h"

#define TM_REUSE_KEY_LEN 32

/* The definition that is compared, and kept: `effective` of a step (pipeline.h) with the hash of its snapshot. To be freed. */
struct tm_json *tm_reuse_definition(const struct tm_json *effective, const char *snapshot_hash);
/* 32 hexadecimal digits, and a NUL. Equal where all is equal that counts without failures. */
void tm_reuse_key(const struct tm_json *definition, char out[TM_REUSE_KEY_LEN + 1]);
/* Adds what counts and is not the same: "mini_batch_size 10 -> 5, arguments [..] -> [..]". False: nothing. */
bool tm_reuse_compare(struct tm_buf *out, const struct tm_json *then, const struct tm_json *now,
                      bool has_failures);

#endif
