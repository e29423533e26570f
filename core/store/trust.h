/* trust.h - whether a workspace or a job may be used that nobody named by its path.
 *
 * A workspace is searched upwards, and 'latest' is searched in a workspace. Anyone who can write to
 * a folder above the current one, /tmp for example, can put a workspace there. Resuming a job runs
 * the pipeline file and the script that its record names, so a workspace or job is used only if
 * nobody but the caller and root can have written it. A path in TIDEMILL_WORKSPACE or on the
 * command line is consent, and is not checked. Commands that only read (status, logs, jobs, verify)
 * run nothing, and do not check either.
 *
 * Modes are taken from the file system. One without owners reports those of its mount options.
 */
#ifndef TM_STORE_TRUST_H
#define TM_STORE_TRUST_H

#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

#define TM_WORKSPACE_VARIABLE "TIDEMILL_WORKSPACE"

/* What the caller does with the result of a search. */
enum tm_use {
  TM_TO_READ, /* nothing is run, written or removed: any owner is accepted */
  TM_TO_USE,
};

struct tm_caller {
  uint32_t uid;     /* effective */
  int64_t sudo_uid; /* the user who called sudo, or -1 */
};

enum tm_trust {
  TM_TRUSTED,
  TM_TRUST_OTHER_OWNER,  /* not the caller, root, or the caller of sudo */
  TM_TRUST_OTHERS_WRITE, /* the group or everybody */
};

/* Pure. `mode`: as st_mode; for a symbolic link only the owner counts. */
enum tm_trust tm_trust_judge(const struct tm_caller *caller, uint32_t owner, uint32_t mode);
/* This process, with SUDO_UID if it runs as root. */
struct tm_caller tm_caller_get(void);

/* 0, or TM_EUSAGE with a message that names what was found, why it is refused, and how to use it
 * anyway. A missing file is trusted. */
int tm_trust_workspace(const struct tm_fs *fs, const char *workspace, struct tm_err *err);
int tm_trust_job(const struct tm_fs *fs, const char *job_dir, struct tm_err *err);

#endif
