/* record_refresh.c - what is new in the files of a job, for hosts: inspect/inspection_mark.c says
 * whether anything is, and sys/changes.h when it is worth asking. */
#include "records/disk.h"

#include "api/own.h"
#include "base/check.h"
#include "base/time.h"

#define LOOK_NS (2 * TM_S) /* where changes are not reported: made by another machine */

static void on_folder(void *data, const char *path)
{
  tm_changes_add(data, path);
}

/* Also those that have appeared meanwhile. */
static void watch_all(struct tidemill_record *r)
{
  if (r->changes.fd > 0)
    tm_inspection_folders(&r->inspection, on_folder, &r->changes);
}

static int check(const struct tidemill_record *r, const char *call, struct tm_err *err)
{
  if (tm_need(err, call, "r", r, NULL) < 0)
    return TM_EUSAGE;
  return !r->is_lent ? 0
                     : tm_err_set(err, TM_EUSAGE,
                                  "%s: the call that passed this record closes it; open the job "
                                  "with tidemill_record_open()",
                                  call);
}

int tidemill_record_refresh(struct tidemill_record *r, struct tm_err *err)
{
  uint64_t mark;
  int rc;
  err = TM_ERR_OWN(err);
  if (check(r, "tidemill_record_refresh()", err) < 0)
    return TM_EUSAGE;
  if (r->changes.fd > 0)
    tm_changes_take(&r->changes);
  mark = tm_inspection_mark(&r->inspection); /* before it is read: what comes later is new */
  if (mark == r->mark) {
    tm_record_set_now(r);
    return 0;
  }
  rc = tm_record_renew(r);
  r->mark = rc < 0 ? 0 : mark;
  watch_all(r);
  if (rc < 0)
    *err = r->fault;
  return rc < 0 ? rc : 1;
}

int tidemill_record_fd(struct tidemill_record *r, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (check(r, "tidemill_record_fd()", err) < 0)
    return TM_EUSAGE;
  if (r->changes.fd <= 0 && tm_changes_open(&r->changes, LOOK_NS, err) < 0)
    return err->code;
  watch_all(r);
  return r->changes.fd;
}
