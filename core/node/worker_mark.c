/* worker_mark.c - see worker_mark.h. */
#include "node/worker_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "node/worker_page.h"
#include "sys/process.h"

#define MARK_MAX 512 /* bytes of a path in a marker */

char *tm_job_mark(const char *job_dir)
{
  struct tm_buf out = TM_BUF_NONE;
  for (const char *p = job_dir; *p && out.len < MARK_MAX; p++)
    if (*p == ',' || *p == ':' || *p == '%')
      tm_buf_printf(&out, "%%%02x", (unsigned char)*p);
    else
      tm_buf_add_char(&out, *p);
  if (out.len >= MARK_MAX)
    tm_buf_printf(&out, "%%%016" PRIx64, tm_hash64(job_dir, strlen(job_dir)));
  tm_buf_add_char(&out, ':');
  return tm_buf_take(&out);
}

char *tm_incarnation_mark(const char *job_dir, const struct tm_incarnation *i)
{
  char *job = tm_job_mark(job_dir);
  char *mark =
      tm_xprintf("%s%016" PRIx64 ".%" PRIu32 ".%" PRIu32 ":", job, i->epoch, i->node, i->number);
  free(job);
  return mark;
}

bool tm_incarnation_is_over(const char *rest, const struct tm_incarnation *present)
{
  char session[40], node[40];
  int session_len = snprintf(session, sizeof session, "%016" PRIx64 ".", present->epoch);
  int node_len = snprintf(node, sizeof node, "%s%" PRIu32 ".", session, present->node);
  if (strncmp(rest, session, (size_t)session_len) != 0)
    return true;
  return strncmp(rest, node, (size_t)node_len) == 0 &&
         strtoul(rest + node_len, NULL, 10) < present->number;
}

static bool is_over(const void *data, const char *rest)
{
  return tm_incarnation_is_over(rest, data);
}

size_t tm_job_kill_over(const char *job_dir, const struct tm_incarnation *present)
{
  char *mark = tm_job_mark(job_dir);
  struct tm_process_mark m = {
    .name = TM_ENV_WORKER, .begin = mark, .is_meant = is_over, .data = present
  };
  size_t killed = tm_process_kill_marked(&m, TM_MARKED_END_NS);
  free(mark);
  return killed;
}

static size_t kill_all(char *mark)
{
  struct tm_process_mark m = { .name = TM_ENV_WORKER, .begin = mark };
  size_t killed = tm_process_kill_marked(&m, TM_MARKED_END_NS);
  free(mark);
  return killed;
}

size_t tm_incarnation_kill(const char *job_dir, const struct tm_incarnation *i)
{
  return kill_all(tm_incarnation_mark(job_dir, i));
}

size_t tm_job_kill_all(const char *job_dir)
{
  return kill_all(tm_job_mark(job_dir));
}
