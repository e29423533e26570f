/* report_fixture.h - a job that never ran: views and events for the listeners, a fresh folder, and
 * a clock that the test sets. The fixture records what the writer receives.
 */
#ifndef TM_TESTS_REPORT_FIXTURE_H
#define TM_TESTS_REPORT_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "record/events.h"
#include "report/report.h"

#define FIXTURE_WALL (INT64_C(1769903998) * TM_S + 123456000) /* 2026-01-31 23:59:58.123456 */

struct report_fixture {
  char dir[64];
  char *logs;
  struct tm_step_view step;
  const struct tm_step_view *steps[2];
  struct tm_job_view job;
  struct tm_attempt attempt; /* a valid one, for the test to change */
  struct tm_events events;
  int64_t now_ns;  /* monotonic */
  int64_t wall_ns; /* FIXTURE_WALL initially */
  struct tm_buf shown;
  bool is_busy; /* of the writer */
  int columns;
};

static inline void fixture_write(void *data, const char *p, size_t n)
{
  tm_buf_add(&((struct report_fixture *)data)->shown, p, n);
}

static inline bool fixture_is_ready(void *data)
{
  return !((struct report_fixture *)data)->is_busy;
}

static inline int fixture_width(void *data)
{
  return ((struct report_fixture *)data)->columns;
}

static inline struct tm_writer fixture_writer(struct report_fixture *f)
{
  return (struct tm_writer) { fixture_write, fixture_is_ready, fixture_width, f };
}

static inline int fixture_open(void **state)
{
  struct report_fixture *f = TM_NEW(struct report_fixture);
  strcpy(f->dir, "/tmp/tidemill-report-XXXXXX");
  assert_non_null(mkdtemp(f->dir));
  f->logs = tm_path_join(f->dir, "logs");
  char *folder = tm_path_join(f->logs, "sys/node");
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), folder, 0700, NULL), 0);
  free(folder);
  f->columns = 100;
  f->now_ns = 1000 * TM_S;
  f->wall_ns = FIXTURE_WALL;
  f->step = (struct tm_step_view) { .name = "score",
                                    .dir = f->dir,
                                    .logs_dir = f->logs,
                                    .output_dir = "/out",
                                    .output_file = "/out/rows.txt",
                                    .script_name = "score.lua",
                                    .workers = 2,
                                    .logging_level = TM_INFO,
                                    .cause = "" };
  f->steps[0] = &f->step;
  f->job = (struct tm_job_view) { .name = "digits",
                                  .dir = f->dir,
                                  .pipeline_file = "/p.lua",
                                  .begin_wall_ns = FIXTURE_WALL,
                                  .begin_mono_ns = f->now_ns,
                                  .steps_len = 1,
                                  .steps = f->steps,
                                  .cause = "" };
  f->attempt = (struct tm_attempt) { .index = 7,
                                     .try = 1,
                                     .picked = 1,
                                     .status = TM_RUN_DONE,
                                     .is_final = true,
                                     .items = 5,
                                     .succeeded = 5,
                                     .begin_wall_ns = FIXTURE_WALL,
                                     .total_ns = 1234567890,
                                     .run_ns = 1200000000,
                                     .cpu_ns = 999999,
                                     .message = "",
                                     .stack = "",
                                     .script_where = "",
                                     .dataset = "images",
                                     .first_item = "/data/a.pgm",
                                     .first_item_len = 11,
                                     .manifest_at = 4096 };
  *state = f;
  return 0;
}

static inline int fixture_close(void **state)
{
  struct report_fixture *f = *state;
  assert_int_equal(tm_tree_remove(f->dir, NULL), 0);
  tm_buf_release(&f->shown);
  free(f->logs);
  free(f);
  return 0;
}

static inline struct tm_event fixture_event(const struct report_fixture *f, enum tm_event_kind kind)
{
  bool is_job = kind == TM_EVENT_JOB_STARTED || kind == TM_EVENT_JOB_ENDED || kind == TM_EVENT_TICK;
  return (struct tm_event) { .kind = kind,
                             .wall_ns = f->wall_ns,
                             .mono_ns = f->now_ns,
                             .job = &f->job,
                             .step = is_job ? NULL : &f->step,
                             .worker = "process003",
                             .node_id = "0",
                             .node_address = "host7",
                             .pid = 4711,
                             .level = TM_INFO,
                             .text = "",
                             .message = "",
                             .stack = "",
                             .script_where = "",
                             .attempt = &f->attempt };
}

/* Text of a file in the fixture's folder, for the caller to free; NULL if there is no such file. */
static inline char *fixture_read(const struct report_fixture *f, const char *name)
{
  char *path = tm_path_join(f->dir, name);
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_fs_read_file(tm_fs_real(), path, 1 << 24, &text, NULL);
  free(path);
  if (rc < 0) {
    tm_buf_release(&text);
    return NULL;
  }
  tm_buf_add(&text, "", 0);
  return text.data ? tm_buf_take(&text) : tm_xstrdup("");
}

static inline void assert_has(const char *text, const char *part)
{
  if (!text || !strstr(text, part))
    fail_msg("'%s' is not in:\n%s", part, text ? text : "(nothing)");
}

static inline void assert_has_not(const char *text, const char *part)
{
  if (text && strstr(text, part))
    fail_msg("'%s' is in:\n%s", part, text);
}

static inline int count_of(const char *text, const char *part)
{
  int n = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
    n++;
  return n;
}

/* Makes file calls fail: every write after the first `writes`, and mkdir when there is no room for
 * a folder. */
struct full_disk {
  struct tm_fs fs;
  int writes;
};

static inline int64_t full_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  struct full_disk *d = self;
  return d->writes-- > 0 ? tm_fs_real()->pwrite(NULL, fd, p, n, at) : -ENOSPC;
}

static inline void full_disk_init(struct full_disk *d, int writes)
{
  d->fs = *tm_fs_real();
  d->fs.self = d;
  d->fs.pwrite = full_pwrite;
  d->writes = writes;
}

#endif
