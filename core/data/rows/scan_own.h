/* scan_own.h - what the kernels of scan.h share. */
#ifndef TM_DATA_ROWS_SCAN_OWN_H
#define TM_DATA_ROWS_SCAN_OWN_H

#include "data/rows/scan.h"

struct tm_scan_kernel {
  const char *name;
  size_t (*rows)(struct tm_scan *s, const char *p, size_t n, uint64_t until);
  size_t (*lines)(struct tm_scan *s, const char *p, size_t n,
                  uint64_t until); /* every LF ends a row */
  void (*fields)(struct tm_scan *s, const char *p, size_t n, struct tm_marks *out);
};

/* NULL where the program was built for a machine without. */
const struct tm_scan_kernel *tm_scan_kernel_sse2(void);
const struct tm_scan_kernel *tm_scan_kernel_avx2(
    void); /* the caller has asked whether the machine can */

/* Byte by byte: what the others give irregular blocks and ends to. */
size_t tm_scan_bytes_rows(struct tm_scan *s, const char *p, size_t n, uint64_t until);
size_t tm_scan_bytes_lines(struct tm_scan *s, const char *p, size_t n, uint64_t until);
/* Adds to `out`; p[0] is at place `from`. */
void tm_scan_bytes_fields(struct tm_scan *s, const char *p, size_t n, uint32_t from,
                          struct tm_marks *out);

#endif
