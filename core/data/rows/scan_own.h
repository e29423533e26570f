/* scan_own.h - what the kernels of scan.h share. */
#ifndef TM_DATA_ROWS_SCAN_OWN_H
#define TM_DATA_ROWS_SCAN_OWN_H

#include "data/rows/scan.h"

struct tm_scan_kernel {
  const char *name;
  size_t (*rows)(struct tm_scan *s, const char *p, size_t n, uint64_t until);
  /* every LF ends a row */
  size_t (*lines)(struct tm_scan *s, const char *p, size_t n, uint64_t until);
  /* From position `from` of p on, while there is room for 64 more marks. Returns the position
   * reached. */
  size_t (*fields)(struct tm_scan *s, const char *p, size_t n, size_t from, struct tm_marks *out);
};

#define TM_MARKS_FREE 64 /* maximum marks of a block */

/* NULL if the program was built for another machine. */
const struct tm_scan_kernel *tm_scan_kernel_sse2(void);
/* the caller has checked that the machine supports it */
const struct tm_scan_kernel *tm_scan_kernel_avx2(void);

/* Byte by byte: for irregular blocks and ends. */
size_t tm_scan_bytes_rows(struct tm_scan *s, const char *p, size_t n, uint64_t until);
size_t tm_scan_bytes_lines(struct tm_scan *s, const char *p, size_t n, uint64_t until);
/* At most 64 bytes, p[from .. to). */
void tm_scan_bytes_block(struct tm_scan *s, const char *p, size_t from, size_t to,
                         struct tm_marks *out);

#endif
