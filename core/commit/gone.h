/* gone.h - the message about a file of a step that somebody has removed or emptied. */
#ifndef TM_COMMIT_GONE_H
#define TM_COMMIT_GONE_H

#include "base/err.h"

/* TM_EDAMAGE: says what the file was for. `path`: of a file in <step>/state, or of the rows. */
int tm_gone_report(const char *path, struct tm_err *err);

#endif
