/* scan_masks.h - a classification of 64 bytes: one bit for each. */
#ifndef TM_DATA_ROWS_SCAN_MASKS_H
#define TM_DATA_ROWS_SCAN_MASKS_H

#include <stdint.h>

struct tm_masks {
  uint64_t quote, separator, line; /* '"', the separator, LF */
  uint64_t high;                   /* bytes above 127; or only a hint that there are some */
};

#endif
