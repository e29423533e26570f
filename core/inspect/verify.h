/* verify.h - checks whether the files of a job are what its journals say, to the last byte. Reads
 * all of them, writes nothing.
 *
 * It checks for each step: every record of the journal (checksum, order, what sync records state),
 * every entry of the manifest (checksum, chain, number, the end record), the bytes of the output,
 * failures log and files log that each record hashes, that the files of context:output_file()
 * exist, the lengths of the files, and that the result has the same counts.
 *
 * Behind the last sync record of an interrupted job the files may be torn. That is not a fault, and
 * the next session cuts it; the records there that count are still checked. In a job that has a
 * result, a power cut may have left zeros in the place of the last sync record, on which no
 * committed row depends.
 *
 * For a Completed step the destinations of its uploads are compared as well: verify_upload.h.
 */
#ifndef TM_INSPECT_VERIFY_H
#define TM_INSPECT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct tm_step_verify {
  const char *name;   /* the caller's, during the call */
  const char *output; /* the file that was checked; NULL: summary_only, or nothing had begun */
  int64_t records;    /* good records of the journal */
  int64_t committed, failed;           /* mini-batches whose bytes were hashed */
  int64_t entries;                     /* of the manifest */
  int64_t output_bytes, failure_bytes; /* hashed */
  /* after the last sync record of an interrupted job: journal, output */
  int64_t torn_records, torn_bytes;
  /* A line for each destination: what was compared, or which job has replaced it; "": none. */
  const char *uploads;
  const char *copy; /* the same, one line, for the file of `map --output`; "": none */
  int64_t faults;
  int64_t copy_faults; /* of that file alone: the step's own files may be good */
};

struct tm_verify_options {
  const char *dir;       /* of the job, absolute */
  const char *workspace; /* absolute, or NULL: its other jobs may have replaced an upload */
  bool has_copies;       /* compares the file of `map --output`, too, which a user may change */
  bool has_tables;       /* reads the columns and the grouped rows of tables, too */
  /* A fault: the file (absolute), the place of its first bad byte, and what is wrong there. -1: of
   * the file as a whole. */
  void (*on_fault)(void *data, const char *path, int64_t at, const char *what);
  void (*on_step)(void *data, const struct tm_step_verify *step); /* when it has been checked */
  void *data;
};

/* The number of faults; or a negative code with a message. TM_EINUSE: the job runs, or has been
 * resumed meanwhile. Other errors: no job, another version, or a file that cannot be read. */
int64_t tm_verify_job(const struct tm_verify_options *o, struct tm_err *err);
/* The same for a job whose lock the caller holds: it does not check who runs the job. */
int64_t tm_verify_own_job(const struct tm_verify_options *o, struct tm_err *err);

#endif
