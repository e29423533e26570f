/* portal_link.h - where the portal of the workspace shows a job. */
#ifndef TM_CLI_PORTAL_LINK_H
#define TM_CLI_PORTAL_LINK_H

#include <stdbool.h>

struct tm_buf;

/* Adds the URL of the job's page, without the token: it is for a browser that has been let in.
 * `dir`: of the job. False: no portal of its workspace is running, and nothing is added. */
bool tm_portal_link_add(struct tm_buf *out, const char *dir);
/* The same for the portal's `url`, which has the token. Pure. */
bool tm_portal_link_of(struct tm_buf *out, const char *url, const char *job);

#endif
