/* reuse_key.h - whether a step would do the same as an earlier one, according to its definition;
 * job/reuse.h compares its inputs.
 *
 * What counts: the step's name, its script (the hash of the snapshot), every setting that affects
 * results, arguments, inputs and outputs as defined, whether inputs are compared by their contents,
 * and the version of the program up to the number that may change results. If items have failed,
 * settings that affect failures count too.
 */
#ifndef TM_SNAPSHOT_REUSE_KEY_H
#define TM_SNAPSHOT_REUSE_KEY_H

#include <stdbool.h>

#include "base/json.h"

#define TM_REUSE_KEY_LEN 32

/* The definition to compare and to store: `effective` of a step (pipeline.h) with the hash of its
 * snapshot. To be freed. */
struct tm_json *tm_reuse_definition(const struct tm_json *effective, const char *snapshot_hash);
/* 32 hexadecimal digits, and a NUL. Equal for equal definitions, if nothing has failed. */
void tm_reuse_key(const struct tm_json *definition, char out[TM_REUSE_KEY_LEN + 1]);
/* Adds the relevant differences: "mini_batch_size 10 -> 5, arguments [..] -> [..]". False: none.
 * `script`: how its files differ, if the hash of the snapshot does; NULL: unknown. */
bool tm_reuse_compare(struct tm_buf *out, const struct tm_json *then, const struct tm_json *now,
                      const char *script, bool has_failures);
/* Whether the script is the same. */
bool tm_reuse_has_script(const struct tm_json *then, const struct tm_json *now);

#endif
