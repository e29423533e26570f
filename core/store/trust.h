/* trust.h - whether a workspace or a job may be used that nobody named by its path.
 *
 * A workspace is looked for upwards, and 'latest' is looked for in a workspace. Whoever can write to a folder above the current
 * one, /tmp for example, can put a workspace there. Resuming a job runs the pipeline file and the script that its record names,
 * so a workspace or job is used only when nobody but the caller and root can have written it. The path in
 * TIDEMILL_WORKSPACE and a path on the command line are consent: they are not judged. Reading (status, logs, jobs,
 * verify) runs nothing, and is not judged either.
 *
 * A mode is judged as the file system reports it. One without owners reports those of its mount options.
 */
#ifndef TM_STORE_TRUST_H
#define TM_STORE_TRUST_H

#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

/* What the caller of a search is going to do with what it finds. */
enum tm_use {
  TM_TO_READ, /* nothing is run, written or removed: anybody's is found */
  TM_TO_USE,
};

struct tm_caller {
  uint32_t uid;     /* effective */
  int64_t sudo_uid; /* who called sudo, or -1 */
};

enum tm_trust {
  TM_TRUSTED,
  TM_TRUST_OTHER_OWNER,  /* neither the caller, nor root, nor the caller of sudo */
  TM_TRUST_OTHERS_WRITE, /* the group or everybody */
};

/* Decides alone. `mode`: as st_mode; of a symbolic link only the owner counts. */
enum tm_trust tm_trust_judge(const struct tm_caller *caller, uint32_t owner, uint32_t mode);
/* This process, with SUDO_UID where root runs it. */
struct tm_caller tm_caller_get(void);

/* 0, or TM_EUSAGE with words that name what was found, why it is refused, and how to use it all the same. What is missing is
 * trusted. */
int tm_trust_workspace(const struct tm_fs *fs, const char *workspace, struct tm_err *err);
int tm_trust_job(const struct tm_fs *fs, const char *job_dir, struct tm_err *err);

#endif
