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
#define KEPT     "kept:"

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

char *tm_launch_mark(const char *job_dir, const struct tm_incarnation *i, bool is_kept,
                     uint32_t launch)
{
  char *keeper = tm_incarnation_mark(job_dir, i);
  char *mark = tm_xprintf("%s%s%" PRIu32, keeper, is_kept ? KEPT : "launch:", launch);

  free(keeper);
  return mark;
}

/* Whether a marker is that of a launch which outlives its keeper. `rest`: what follows the mark of
 * the incarnation in it. */
static bool is_kept(const char *rest)
{
  return strncmp(rest, KEPT, sizeof KEPT - 1) == 0;
}

/* Keeps (3). */
static bool is_over(const void *data, const char *rest)
{
  const struct tm_incarnation *present = data;
  const char *worker = strchr(rest, ':');
  bool is_of_session = strtoull(rest, NULL, 16) == present->epoch;

  return tm_incarnation_is_over(rest, present) && !(is_of_session && worker && is_kept(worker + 1));
}

/* Keeps (3). */
static bool is_not_kept(const void *data, const char *rest)
{
  return !is_kept(rest);
}

static bool is_kept_of_any(const void *data, const char *rest)
{
  const char *worker = strchr(rest, ':');

  return worker && is_kept(worker + 1);
}

static bool is_same(const void *data, const char *rest)
{
  return *rest == '\0' || *rest == ',';
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

static size_t kill_all(char *mark, bool (*is_meant)(const void *data, const char *rest))
{
  struct tm_process_mark m = { .name = TM_ENV_WORKER, .begin = mark, .is_meant = is_meant };
  size_t killed = tm_process_kill_marked(&m, TM_MARKED_END_NS);
  free(mark);
  return killed;
}

size_t tm_incarnation_kill(const char *job_dir, const struct tm_incarnation *i)
{
  return kill_all(tm_incarnation_mark(job_dir, i), is_not_kept);
}

size_t tm_launch_kill(const char *job_dir, const struct tm_incarnation *i, uint32_t launch)
{
  return kill_all(tm_launch_mark(job_dir, i, true, launch), is_same);
}

size_t tm_session_kill_kept(const char *job_dir, uint64_t epoch, uint32_t node)
{
  char *job = tm_job_mark(job_dir);
  char *mark = tm_xprintf("%s%016" PRIx64 ".%" PRIu32 ".", job, epoch, node);

  free(job);
  return kill_all(mark, is_kept_of_any);
}

size_t tm_job_kill_all(const char *job_dir)
{
  return kill_all(tm_job_mark(job_dir), NULL);
}
