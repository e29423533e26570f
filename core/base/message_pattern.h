/* message_pattern.h - what the errors of one kind have in common: a message without the parts that
 * differ from one item to the next. Pure.
 *
 *   '/data/0017.pgm': 3 bytes too few, process002       the message, of the item /data/0017.pgm
 *   <item>: <n> bytes too few, process<n>               its pattern
 *
 *  - The path of the item, or the end of it that begins after a separator, becomes <item>, with the
 *    quotes around it. It must not be a part of a longer name, nor a mere number.
 *  - Other text in quotes, "..." or '...', becomes '...'. An apostrophe does not count.
 *  - A number becomes <n>, also within a name: digits, with a fraction, or after 0x.
 */
#ifndef TM_BASE_MESSAGE_PATTERN_H
#define TM_BASE_MESSAGE_PATTERN_H

#include <stddef.h>

#include "base/buf.h"

#define TM_MESSAGE_PATTERN_MAX 1000 /* bytes of the message that are read */

/* `item`: not NUL-ended, and may hold any bytes; item_len 0: none. */
void tm_message_pattern(struct tm_buf *out, const char *message, const char *item, size_t item_len);

#endif
