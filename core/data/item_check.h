/* item_check.h - whether the file of an item is as it was when it was listed. Compares size and
 * time, and does not read the file.
 */
#ifndef TM_DATA_ITEM_CHECK_H
#define TM_DATA_ITEM_CHECK_H

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

/* 0: the file has not changed, or the listing did not look at it. TM_ECHANGED: "input 'x' changed
 * since it was listed: size 3 -> 4". A system error: the file does not exist, or cannot be looked
 * at. `sizes_alone`: compares only the size, because the machine that listed the file sees other
 * times. */
int tm_item_check(const struct tm_fs *fs, const struct tm_item *item, bool sizes_alone,
                  struct tm_err *err);

#endif
