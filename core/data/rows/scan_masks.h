/* scan_masks.h - what 64 bytes are: one bit for each. */
#ifndef TM_DATA_ROWS_SCAN_MASKS_H
#define TM_DATA_ROWS_SCAN_MASKS_H

#include <stdint.h>

struct tm_masks {
  uint64_t quote, separator, line; /* '"', the separator, LF */
  uint64_t high;                   /* bytes above 127; maybe only that there are some */
};

#endif
