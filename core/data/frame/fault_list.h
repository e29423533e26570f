/* fault_list.h - warnings about rows, as bytes: a worker sends them beside its result. Pure.
 *
 * Each warning has a kind, so that the supervisor can report each kind once per step: a warning of
 * one kind must not hide one of another. The kinds are those of rows/fault.h; here they are
 * numbers, since the supervisor reads no rows.
 */
#ifndef TM_DATA_FRAME_FAULT_LIST_H
#define TM_DATA_FRAME_FAULT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TM_FAULT_LIST_KINDS 32 /* kinds are from 1 to 31 */

struct tm_fault_entry {
  int kind;
  int64_t count;     /* rows or values, 0 or more */
  const char *what;  /* what is wrong with them: "rows with fewer fields than columns" */
  const char *words; /* the whole warning */
  size_t what_len, words_len;
};

void tm_fault_list_add(struct tm_buf *list, int kind, int64_t count, const char *what,
                       const struct tm_buf *words);
/* The next warning of a list, whose bytes may be hostile; false at its end, or if it is damaged.
 * The texts may be any bytes of the list. */
bool tm_fault_list_next(struct tm_reader *r, struct tm_fault_entry *out);
/* The texts of all warnings, concatenated. */
void tm_fault_list_words(struct tm_buf *out, const struct tm_buf *list);

#endif
