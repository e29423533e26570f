/* rules.h - the rules behind findings.h, and what they share. Pure.
 *
 * A rule returns false if it does not apply, and then has set nothing. Otherwise it sets `weight`,
 * `head`, `text`, `section`, and, if they are known, `lost_ns` and the span.
 */
#ifndef TM_INSIGHT_RULES_H
#define TM_INSIGHT_RULES_H

#include <stdbool.h>

#include "base/buf.h"
#include "insight/finding.h"

typedef bool tm_rule(const struct tm_finding_input *in, struct tm_finding *out);

/* rules_failures.c */
tm_rule tm_rule_burst;     /* half of the failed tries in a tenth of the time */
tm_rule tm_rule_one_error; /* nine of ten failed tries have one error */
tm_rule tm_rule_retried;   /* items succeeded after a failed try */
/* rules_time.c */
tm_rule tm_rule_tail;  /* fewer than half of the slots busy at the end, for 5 % of the time */
tm_rule tm_rule_cut;   /* tries that hung until the job ended */
tm_rule tm_rule_input; /* new mini-batches came, and workers waited for a tenth of their time */
tm_rule tm_rule_init;  /* init() takes more than a tenth of worker time */
tm_rule tm_rule_small; /* handing mini-batches over takes more than 30 % of worker time */
/* rules_speed.c */
tm_rule tm_rule_slow;           /* a node or a worker takes 1.5 times as long for an item */
tm_rule tm_rule_idle_processor; /* tries use less than 30 % of a processor */
tm_rule tm_rule_slower;         /* 1.25 times as long for an item as in the job before */
/* rules_limits.c */
tm_rule tm_rule_memory;  /* it grows, or is within a tenth of its limit */
tm_rule tm_rule_disk;    /* a disk is 90 % full */
tm_rule tm_rule_timeout; /* p99 of run() is within a fifth of run_invocation_timeout */

/* The step, and whether it runs. */
const struct tm_fact_step *tm_rule_step(const struct tm_finding_input *in);
bool tm_rule_runs(const struct tm_finding_input *in);
/* The time of all workers. */
struct tm_worker_time tm_rule_time(const struct tm_finding_input *in);
/* When the last session began. */
int64_t tm_rule_begin_ns(const struct tm_finding_input *in);
/* The end of the last session, in which fewer than half of the slots were busy, and no mini-batch
 * was begun for the first time. */
struct tm_rule_tail {
  int64_t from_ns, ns;      /* 0: there is none */
  int64_t busy_ns, idle_ns; /* of all slots in it */
};
struct tm_rule_tail tm_rule_find_tail(const struct tm_finding_input *in);

/* "'tidemill replay JOB --step NAME --mini-batch 7'". `option` NULL: none. */
void tm_rule_add_command(struct tm_buf *out, const struct tm_finding_input *in, const char *command,
                         const char *option, const char *value);
/* "4 min 05 s and 4 min 12 s after the start" */
void tm_rule_add_span(struct tm_buf *out, const struct tm_finding_input *in, int64_t from_ns,
                      int64_t to_ns);
void tm_rule_add_bytes(struct tm_buf *out, double bytes); /* "1.5 GB" */
/* 12 for 0.123; at least 1 */
int tm_rule_percent(double share);

#endif
