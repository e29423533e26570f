/* scan_own.h - what the kernels of scan.h share. */
#ifndef TM_DATA_ROWS_SCAN_OWN_H
#define TM_DATA_ROWS_SCAN_OWN_H

#include "data/rows/scan.h"

struct tm_scan_kernel {
  const char *name;
  size_t (*rows)(struct tm_scan *s, const char *p, size_t n, uint64_t until);
  size_t (*lines)(struct tm_scan *s, const char *p, size_t n,
                  uint64_t until); /* every LF ends a row */
  /* From place `from` of p on, as far as there is room for 64 more marks. Returns the place it came to. */
  size_t (*fields)(struct tm_scan *s, const char *p, size_t n, size_t from, struct tm_marks *out);
};

#define TM_MARKS_FREE 64 /* marks that a block may make */

/* NULL where the program was built for a machine without. */
const struct tm_scan_kernel *tm_scan_kernel_sse2(void);
const struct tm_scan_kernel *tm_scan_kernel_avx2(
    void); /* the caller has asked whether the machine can */

/* Byte by byte: what the others give irregular blocks and ends to. */
size_t tm_scan_bytes_rows(struct tm_scan *s, const char *p, size_t n, uint64_t until);
size_t tm_scan_bytes_lines(struct tm_scan *s, const char *p, size_t n, uint64_t until);
/* At most 64 bytes, p[from .. to). */
void tm_scan_bytes_block(struct tm_scan *s, const char *p, size_t from, size_t to,
                         struct tm_marks *out);

#endif
