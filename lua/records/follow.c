/* follow.c - see logs.h: shows lines of a job's logs as they are written.
 *
 *   a file grows or appears             -> tell its set; pass on new lines at the end of the turn
 *   a file in the job's folder changes  -> check whether a process still runs the job; if not, pass
 *                                          on the remaining lines and end
 *
 *  (1) Folders are watched before they are read, and the job is checked after that, so nothing in
 *      between is missed.
 *  (2) A job ends by releasing its lock, however it ends. If that cannot be seen (another machine,
 *      a lock that a forked child closes later), the job and its files are checked every LOOK_NS.
 */
#include "records/logs.h"

#include <string.h>

#include "api/own.h"
#include "base/check.h"
#include "base/time.h"
#include "record/owner.h"
#include "sys/loop.h"
#include "sys/notify.h"

#define LOOK_NS (2 * TM_S)

struct follow {
  struct tm_logs *l;
  struct tm_loop loop;
  struct tm_notify notify;
  struct tm_timer timer;
  struct tm_late late;
  struct tm_err *err;
  int rc;
  bool has_ended;
};

static void on_folder(void *data, const char *path)
{
  struct follow *f = data;
  struct tm_err err = TM_ERR_NONE;
  if (tm_notify_add(&f->notify, path, &err) < 0 && f->rc == 0) {
    *f->err = err;
    f->rc = err.code;
  }
}

static void look_at_all(struct follow *f)
{
  on_folder(f, f->l->dir);
  for (size_t i = 0; i < f->l->steps.len; i++) {
    char *dir = tm_xprintf("%s/%s", f->l->dir, f->l->steps.at[i].name);
    on_folder(f, dir); /* logs/ will appear here */
    free(dir);
    tm_log_set_look(f->l->steps.at[i].set);
  }
}

static void end(struct follow *f)
{
  if (f->has_ended)
    return;
  f->has_ended = true;
  tm_late_remove(&f->late);
  tm_timer_close(&f->timer);
  tm_notify_close(&f->notify);
  tm_loop_stop(&f->loop);
}

static void tell(struct follow *f)
{
  tm_require(!f->has_ended);
  int rc = tm_logs_tell(f->l);
  if (f->rc == 0)
    f->rc = rc;
  if (f->rc != 0)
    end(f);
}

/* At the end of a turn, so that lines of the same turn appear in the order of time. */
static void on_late(struct tm_late *late)
{
  struct follow *f = late->data;
  tm_require(!f->has_ended); /* end() takes it out of the turn */
  if (tm_owner_is_running(f->l->dir, NULL, NULL)) {
    tell(f);
    return;
  }
  look_at_all(f); /* with the lines that it wrote before it released its lock */
  for (size_t i = 0; i < f->l->steps.len; i++)
    tm_log_set_finish(f->l->steps.at[i].set);
  tell(f);
  end(f);
}

static void on_change(void *data, const char *path)
{
  struct follow *f = data;
  tm_require(!f->has_ended); /* end() has closed what watches */
  if (!path)
    look_at_all(f);
  for (size_t i = 0; path && i < f->l->steps.len; i++)
    tm_log_set_touch(f->l->steps.at[i].set, path);
  /* in the folder of the job or of a step */
  if (path && !strstr(path + strlen(f->l->dir), "/logs/"))
    look_at_all(f);
  tm_late_add(&f->loop, &f->late);
}

static void on_time(struct tm_timer *t) /* (2) */
{
  struct follow *f = t->data;
  tm_require(!f->has_ended);
  look_at_all(f);
  tm_late_add(&f->loop, &f->late);
}

int tm_logs_follow(struct tm_logs *l, struct tm_err *err)
{
  struct follow f = { .l = l, .err = err, .late = { .on_late = on_late } };
  f.late.data = &f;
  int rc = tm_loop_init(&f.loop, err);
  if (rc < 0)
    return rc;
  rc = tm_notify_open(&f.notify, &f.loop, on_change, &f, err);
  if (rc >= 0) {
    for (size_t i = 0; i < l->steps.len; i++)
      l->steps.at[i].set = tm_log_set_new(l->steps.at[i].logs_dir, &l->choice, on_folder, &f);
    tm_timer_open(&f.timer, &f.loop, on_time, &f);
    tm_timer_start(&f.timer, 0, LOOK_NS); /* keeps (1) */
    tm_loop_run(&f.loop);
    tm_require(f.has_ended);
  }
  tm_loop_release(&f.loop);
  return rc < 0 ? rc : f.rc;
}
