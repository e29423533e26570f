/* table_faults.h - what of a table in a file cannot be read, and where that is. The reader of the
 * table fills it in; all other rows are read. */
#ifndef TM_BASE_TABLE_FAULTS_H
#define TM_BASE_TABLE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct tm_table_faults {
  int64_t rows;     /* with another number of fields than the first line, or too long: skipped */
  int64_t first_at; /* the byte at which the first of them begins */
  int64_t cut_at;   /* the byte at which a row begins that has no end; 0: none */
  int code;         /* the table cannot be read, or not to its end: the system error; 0 */
};

/* Whether there is a fault. `grows`: the job runs, and writes the last row now. */
bool tm_table_faults_any(const struct tm_table_faults *f, bool grows);
/* The byte of the first one; -1: there is none, or its place is not known. */
int64_t tm_table_faults_at(const struct tm_table_faults *f, bool grows);
/* "has 3 rows that cannot be read, the first at byte 1024, and ends within the row at byte 2048".
 * Adds nothing if there is no fault. */
void tm_table_faults_text(struct tm_buf *out, const struct tm_table_faults *f, bool grows);

#endif
