/* own_files.h - the portal's own two files in the workspace, both 0600.
 *
 * `portal.json` is there while a portal runs, which holds a lock on it: {"url": ..., "pid": ...}.
 * `portal_address.json` stays: the prefix and the port, so that links survive a restart.
 */
#ifndef TM_PORTAL_OWN_FILES_H
#define TM_PORTAL_OWN_FILES_H

#include "base/buf.h"
#include "base/err.h"

#define TM_PORTAL_PREFIX_LEN 16

struct tm_portal_address {
  char prefix[TM_PORTAL_PREFIX_LEN + 1];
  int port; /* 0: not known */
};

/* Pure. Text that is not one of ours gives false. */
bool tm_portal_address_read(struct tm_portal_address *out, const char *text);
void tm_portal_address_write(struct tm_buf *out, const struct tm_portal_address *a);

struct tm_own_files {
  int folder, lock; /* -1: closed */
};

/* Takes the lock. TM_EINUSE: a portal runs; `url` gets its URL. Close it in every case. */
int tm_own_files_open(struct tm_own_files *f, const char *workspace, struct tm_buf *url,
                      struct tm_err *err);
/* The address of the portal before; or a new prefix. */
int tm_own_files_address(struct tm_own_files *f, struct tm_portal_address *a, struct tm_err *err);
/* Writes both files. */
int tm_own_files_write(struct tm_own_files *f, const struct tm_portal_address *a, const char *url,
                       struct tm_err *err);
/* Removes portal.json. */
void tm_own_files_close(struct tm_own_files *f);

#endif
