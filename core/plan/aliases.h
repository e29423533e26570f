/* aliases.h - names of settings in the successor's configuration, accepted beside ours. Within
 * plan.
 *
 *   max_concurrency_per_instance   process_count_per_node
 *   append_row_to                  append_row_file_name
 *   mini_batch_error_threshold     allowed_failed_count; -1: no limit
 *   retry_settings.max_retries     run_max_try, less one
 *   retry_settings.timeout         run_invocation_timeout
 *   instance_count                 node_count
 *   resources.instance_count       node_count
 *
 * A setting may be given under one of its names only. For each foreign name, a note tells the user
 * ours.
 */
#ifndef TM_PLAN_ALIASES_H
#define TM_PLAN_ALIASES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "plan/pipeline.h"

struct tm_alias {
  const char *key;    /* in the ParallelRunConfig */
  const char *member; /* in the table at `key`, or NULL */
  const char *field;  /* ours */
  int64_t add;        /* added to the given number */
  int64_t none;       /* the number that means "not set"; 0: there is none */
};

bool tm_alias_has(const char *key);
/* Adds our names for the settings under `key`: "'append_row_to' is called 'append_row_file_name'
 * here". False: there are none. */
bool tm_aliases_explain(struct tm_buf *out, const char *key);
/* The aliases in their order; NULL after the last. */
const struct tm_alias *tm_alias_at(size_t i);
/* Adds its name for messages: "retry_settings.timeout". */
void tm_alias_add_name(struct tm_buf *out, const struct tm_alias *a);
/* The value that `config` gives under this alias, or NULL. */
const struct tm_json *tm_alias_given(const struct tm_alias *a, const struct tm_json *config);
/* The alias under which `config` gives `field`, with its value, or NULL. */
const struct tm_alias *tm_alias_find(const struct tm_json *config, const char *field,
                                     const struct tm_json **given);
/* Converts a checked value to ours, to be freed; NULL: not set. */
struct tm_json *tm_alias_value(const struct tm_alias *a, const struct tm_json *given);
/* Adds a note to `s` for each alias in `config`. */
void tm_aliases_note(const struct tm_json *config, struct tm_step *s);

#endif
