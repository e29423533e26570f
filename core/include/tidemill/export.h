/* tidemill/export.h - what a job has done, for other programs. */
#ifndef TIDEMILL_EXPORT_H
#define TIDEMILL_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <tidemill/record.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tidemill_format {
  /* GNU parallel's --joblog: a row for each mini-batch that has ended. The manual page `report`
   * describes the columns. */
  TIDEMILL_FORMAT_JOBLOG,
  /* Trace Event JSON, for Perfetto and chrome://tracing: nodes, worker slots, tries, steps. */
  TIDEMILL_FORMAT_TRACE,
};

struct tidemill_export_options {
  size_t size;
  const char *step; /* only this step; NULL: all, one after the other */
  /* The file, relative to the current directory. It gets its name when it is complete. A file that
   * is not regular, such as a device or a pipe, is written in place. If the name ends in ".gz", the
   * file is compressed. */
  const char *path;
  /* Replaces any file; otherwise only an empty one, or one of the same format. */
  bool overwrite;
  /* With `path` NULL: gets pieces of the text. If it returns a number other than 0, the call ends
   * and returns it. */
  int (*on_text)(const char *text, size_t bytes, void *data);
  /* Gets sentences about what is not in the text. NULL: they are dropped. */
  void (*on_note)(const char *text, void *data);
  void *data;
};
#define TIDEMILL_EXPORT_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_export_options)

/* Writes the job, which may run, in a format. TIDEMILL_EUSAGE: there is no such step, or the file
 * must not be replaced. Otherwise a system error. */
TIDEMILL_API int tidemill_record_export(struct tidemill_record *r, enum tidemill_format format,
                                        const struct tidemill_export_options *options,
                                        struct tidemill_error *err);

/* The job as OpenMetrics text, as `tidemill status --metrics` prints it: the manual page `report`
 * has the names. Each call reads what is new in the tables of tries and workers; refresh the record
 * for new counts. NULL: the job cannot be read. */
TIDEMILL_API const char *tidemill_record_metrics(struct tidemill_record *r);

#ifdef __cplusplus
}
#endif
#endif
