/* tokenizer_part.h - what the readers of a tokenizer.json share.
 *
 * Each part of that file is an object with a "type". A part that is not known is refused by name.
 * So are a setting that is not known, and one of the wrong type: nothing is read as if it were
 * not there.
 */
#ifndef TM_DATA_TOKENIZER_PART_H
#define TM_DATA_TOKENIZER_PART_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* "normalizer 'X' is not supported; these are: ..." TM_EINPUT. */
int tm_part_refuse_type(const char *what, const struct tm_json *part, const char *known,
                        struct tm_err *err);
/* "normalizer 'X': <words>" TM_EINPUT. */
int tm_part_refuse(const char *what, const struct tm_json *part, const char *words,
                   struct tm_err *err);
/* The type of a part; "" if it has none. */
const char *tm_part_type(const struct tm_json *part);

/* What a setting may be. */
enum {
  TM_PART_FLAG = 1,
  TM_PART_INTEGER = 2,
  TM_PART_NUMBER = 4,
  TM_PART_TEXT = 8,
  TM_PART_LIST = 16,
  TM_PART_OBJECT = 32,
  TM_PART_NULL = 64,
  TM_PART_ABSENT = 128
};

struct tm_part_setting {
  const char *key;
  unsigned is;
};

/* Whether the part is an object that has these settings, and no others but "type". `what` is all
 * that a message names of a part without a type. TM_EINPUT. */
int tm_part_check(const char *what, const struct tm_json *part,
                  const struct tm_part_setting *settings, size_t n, struct tm_err *err);
/* Whether the value is true. */
bool tm_part_is_on(const struct tm_json *part, const char *key);
/* Whether the value is absent, null or "". */
bool tm_part_is_blank(const struct tm_json *part, const char *key);
/* Whether the flag, which may be NULL, is set: the call that reads a text is to end, and what it
 * has made is dropped. */
static inline bool tm_part_is_stopped(const atomic_bool *stop)
{
  return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* The parts of `part`: those in its list `key` if it is a "Sequence", else itself. Steps through
 * them, also through sequences within: calls `take` for each. A null part is skipped. */
int tm_part_each(const char *what, const struct tm_json *part, const char *key,
                 int (*take)(void *context, const struct tm_json *part, struct tm_err *err),
                 void *context, struct tm_err *err);

#endif
