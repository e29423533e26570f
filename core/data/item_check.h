/* item_check.h - whether the file of an item is what it was when it was listed. It looks at the
 * file, and reads nothing of it.
 */
#ifndef TM_DATA_ITEM_CHECK_H
#define TM_DATA_ITEM_CHECK_H

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

/* "input 'x' changed since it was listed: size 3 -> 4": TM_ECHANGED. One that is gone, or cannot be
 * looked at: a system error. 0 when it is as it was, or was not looked at. */
int tm_item_check(const struct tm_fs *fs, const struct tm_item *item, struct tm_err *err);

#endif
