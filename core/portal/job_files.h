/* job_files.h - opens what is beneath a job's directory, and nothing else.
 *
 * No part of a path may lead out of the directory, whatever links a job has made (openat2,
 * RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS); links within it work. FIFOs, devices and sockets are
 * never opened for reading.
 */
#ifndef TM_PORTAL_JOB_FILES_H
#define TM_PORTAL_JOB_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

#define TM_JOB_FILES_MAX 5000 /* entries of a folder that are listed */

struct tm_job_file {
  int fd; /* to close() */
  bool is_folder;
  int64_t bytes, changed_ns;
};

/* `path`: relative, "" for the directory itself. -ENOENT: nothing is there, or something that is
 * not shown; the message says which. */
int tm_job_file_open(struct tm_job_file *out, const char *dir, const char *path,
                     struct tm_err *err);

struct tm_job_entry {
  char *name;
  bool is_folder, is_shown; /* not shown: a link that leads out, a FIFO, a socket */
  int64_t bytes;
};
struct tm_job_entries {
  struct TM_ARRAY(struct tm_job_entry) at;
  bool is_cut; /* there are more than TM_JOB_FILES_MAX */
};

/* The entries of the folder `path`: `readme.txt` first, then folders, then files, each by name.
 * Release it in every case. */
int tm_job_entries_read(struct tm_job_entries *e, const char *dir, const char *path,
                        struct tm_err *err);
void tm_job_entries_release(struct tm_job_entries *e);

/* Whether a browser may show it as text: these bytes are the begin of a file. */
bool tm_job_file_is_text(const char *bytes, size_t n);

#endif
