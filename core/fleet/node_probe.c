/* node_probe.c - see node_probe.h. */
#include "fleet/node_probe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"

/* bytes, for messages */
#define WORDS_MAX   ((size_t)255) /* of a name or a reason */
#define PROBLEM_MAX ((size_t)2000)

static void make_one_line(char **text, size_t max)
{
  struct tm_buf line = TM_BUF_NONE;

  tm_text_one_line(&line, *text, strlen(*text), max);
  free(*text);
  *text = tm_xstrdup(tm_buf_str(&line));
  tm_buf_release(&line);
}

bool tm_node_admission_report(struct tm_node_admission *a, const char *p, size_t n)
{
  if (a->phase != TM_NODE_REPORT_AWAITED || /* keeps (1) */
      tm_node_report_decode(&a->report, p, n, NULL) < 0)
    return false;
  make_one_line(&a->report.host, WORDS_MAX); /* keeps (2) */
  make_one_line(&a->report.cpus_why, WORDS_MAX);
  make_one_line(&a->report.slurm_job, WORDS_MAX);
  a->phase = TM_NODE_REPORTED;
  return true;
}

bool tm_node_admission_answer(struct tm_node_admission *a, struct tm_node_probed *out,
                              const char *p, size_t n)
{
  if (a->phase != TM_NODE_ASKED || /* keeps (1) */
      tm_node_probed_decode(out, p, n, NULL) < 0)
    return false;
  make_one_line(&out->problem, PROBLEM_MAX);
  a->phase = TM_NODE_ANSWERED;
  return true;
}

void tm_node_admission_source(struct tm_node_admission *a)
{
  tm_require(a->phase == TM_NODE_ANSWERED && !a->is_sending); /* keeps (1) */
  a->is_sending = true;
}

char *tm_node_admission_taken(struct tm_node_admission *a, const char *p, size_t n)
{
  struct tm_buf line = TM_BUF_NONE;

  if (!a->is_sending) /* keeps (1) */
    return NULL;
  a->is_sending = false;
  tm_text_one_line(&line, n > 0 ? p : "", n, PROBLEM_MAX);
  return tm_buf_take(&line);
}

void tm_node_admission_release(struct tm_node_admission *a)
{
  tm_node_report_release(&a->report);
  *a = (struct tm_node_admission) { .phase = TM_NODE_REPORT_AWAITED };
}

enum tm_node_view tm_node_probe_compare(const struct tm_node_probed *there,
                                        const struct tm_node_file *asked,
                                        const struct tm_node_file *answered)
{
  if (asked->size < 0 || answered->size < 0 || asked->size != there->asked.size ||
      answered->size != there->answered.size)
    return TM_NODE_SEES_OTHER;
  return asked->time_ns == there->asked.time_ns && answered->time_ns == there->answered.time_ns
             ? TM_NODE_SEES_SAME
             : TM_NODE_SEES_TIMES;
}

int64_t tm_node_report_workers(const struct tm_node_report *r)
{
  tm_require(r->cpus >= 1);
  return r->gpus > 0 ? 1 : r->cpus;
}

void tm_node_report_describe(struct tm_buf *out, const struct tm_node_report *r)
{
  tm_buf_printf(out, "pid %" PRIu32 ", %" PRIu32 " %s", r->pid, r->cpus,
                tm_text_counted(r->cpus, "CPU", "CPUs"));
  if (r->cpus_why[0])
    tm_buf_printf(out, " (%s)", r->cpus_why);
  if (r->gpus > 0)
    tm_buf_printf(out, ", %" PRIu32 " %s", r->gpus, tm_text_counted(r->gpus, "GPU", "GPUs"));
  else
    tm_buf_add_str(out, ", no GPU");
  if (r->memory > 0)
    tm_buf_printf(out, ", %.1f GB of memory", (double)r->memory / 1e9);
  if (r->slurm_job[0])
    tm_buf_printf(out, ", Slurm job %s", r->slurm_job);
}
