/* portal_assets.h - the files of our source tree that pages load. */
#ifndef TM_PORTAL_PORTAL_ASSETS_H
#define TM_PORTAL_PORTAL_ASSETS_H

#include <stddef.h>

#include "portal/answer.h"

struct tm_asset {
  const char *name; /* in the root: "/portal.css" */
  enum tm_answer_kind kind;
  const char *text;
  const size_t *len;
};

extern const struct tm_asset tm_assets[]; /* ends with a name that is NULL */

#endif
