/* metric_families.h - the OpenMetrics texts of several jobs as one: the samples of a family are
 * together, with its TYPE and HELP once. Pure. */
#ifndef TM_PORTAL_METRIC_FAMILIES_H
#define TM_PORTAL_METRIC_FAMILIES_H

#include "base/buf.h"
#include "base/mem.h"

struct tm_metric_family {
  char *name;
  struct tm_buf head, samples; /* the lines that begin with '#'; the others */
};

struct tm_families {
  struct TM_ARRAY(struct tm_metric_family) families; /* in the order in which they came */
};

/* Adds a whole text, as tidemill_record_metrics() returns it. */
void tm_families_add(struct tm_families *m, const char *text);
/* Adds the whole to `out`, with the end mark, and releases it. */
void tm_families_take(struct tm_families *m, struct tm_buf *out);

#endif
