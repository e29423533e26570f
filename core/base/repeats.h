/* repeats.h - messages that differ only in the file that they name: "the archive 'a.zip' cannot be
 * listed". The first of each kind is shown in full; the others are counted, and one message names
 * the first of them.
 *
 * Two messages are of one kind if they are equal without the first name in single quotes and
 * without digits.
 *
 * Caller: zero the struct; add each message; at the end take the texts; release.
 */
#ifndef TM_BASE_REPEATS_H
#define TM_BASE_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define TM_REPEATS_NAMED 3 /* names in the text about the others of a kind */

struct tm_repeat {
  char *key, *first; /* the name in the first message */
  char *names[TM_REPEATS_NAMED];
  int64_t more; /* messages after the first */
};

struct tm_repeats {
  struct TM_ARRAY(struct tm_repeat) kinds;
  size_t taken;
};

/* Whether the message is the first of its kind, or names nothing. Above a number of kinds it always
 * is. */
bool tm_repeats_add(struct tm_repeats *r, const char *message);
/* The text about the others of the next kind that has some, to free(): "19 more warnings like the
 * one about 'in/a.zip': 'in/b.zip', 'in/c.zip', 'in/d.zip' and 16 others". NULL: there are no
 * more. */
char *tm_repeats_take(struct tm_repeats *r);
void tm_repeats_release(struct tm_repeats *r);

#endif
