/* decimal.h - doubles as people write them, in digits and a point. Pure, and without the locale.
 */
#ifndef TM_BASE_DECIMAL_H
#define TM_BASE_DECIMAL_H

#include <stdbool.h>

#include "base/buf.h"

/* Adds the first of %.15g, %.16g and %.17g that reads back as `v`. False, and nothing is added: `v` would be written with an
 * exponent (it is not between 1e-4 and 1e15, or not finite). */
bool tm_decimal_add(struct tm_buf *out, double v);

#endif
