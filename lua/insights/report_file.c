/* report_file.c - the page of a job as a file.
 *
 *  (1) A file that is not a report is refused before anything is read.
 *  (2) A file of the job itself is never replaced, but for its report.
 *  (3) The name has the old report or the whole new one.
 */
#include "insights/insight.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "api/own.h"
#include "records/replace.h"
#include "base/path.h"
#include "page/page.h"
#include "sys/clock.h"
#include "sys/whole_file.h"

#define FORMAT "a report of tidemill"

/* Keeps (1). */
int tidemill_report_check(const char *path, bool overwrite, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  if (tm_need(err, "tidemill_report_check()", "path", path, NULL) < 0)
    return TM_EUSAGE;
  if (fs->stat(fs->self, path, true, &st) == 0 && !S_ISREG(st.mode) && !S_ISDIR(st.mode))
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is not a regular file; name another one, or write to standard output: "
                      "-o -",
                      path);
  return tm_replace_check(path, TM_PAGE_BEGIN, FORMAT, overwrite, err);
}

/* The part of `path` below the job's directory; NULL: it is not in there, or does not exist. */
static const char *inside(const char *dir, const char *path, char *place)
{
  char real_dir[PATH_MAX];
  if (!dir || !realpath(dir, real_dir) || !realpath(path, place))
    return NULL;
  size_t n = strlen(real_dir);
  return strncmp(place, real_dir, n) == 0 && place[n] == '/' ? place + n + 1 : NULL;
}

/* Keeps (2). */
static int check_not_of_job(const struct tidemill_insight *in, const char *path, struct tm_err *err)
{
  char place[PATH_MAX];
  if (!inside(in->job.dir, path, place) ||
      tm_replace_check(path, TM_PAGE_BEGIN, FORMAT, false, NULL) == 0)
    return 0;
  return tm_err_set(err, TM_EUSAGE, "'%s' is a file of the job itself; name another file", path);
}

/* Whether a file there is in the job's directory itself, so that its links may be relative. */
static bool is_in_job(const struct tidemill_insight *in, const char *path)
{
  char folder[PATH_MAX], real_dir[PATH_MAX];
  char *dir = tm_path_dir(path);
  bool is_same = in->job.dir && realpath(*dir ? dir : ".", folder) &&
                 realpath(in->job.dir, real_dir) && strcmp(folder, real_dir) == 0;
  free(dir);
  return is_same;
}

/* Keeps (3). */
static int write_file(const char *path, bool is_default, const struct tm_buf *page,
                      struct tm_err *err)
{
  struct tm_file_writing w;
  int rc = is_default ? tm_file_begin_mode(&w, path, 0600, err) : tm_file_begin(&w, path, err);
  if (rc == 0)
    rc = tm_file_put(&w, page->data, page->len, err);
  rc = tm_file_end(&w, rc, false, err);
  if (rc < 0 && is_default)
    tm_err_append(err, "; write the report elsewhere: -o FILE");
  return rc;
}

static int write_page(struct tidemill_insight *in, const struct tidemill_report_options *o,
                      struct tm_err *err)
{
  struct tidemill_html_options page = TIDEMILL_HTML_OPTIONS_INIT;
  struct tm_buf text = TM_BUF_NONE;
  char *path = o->path ? tm_xstrdup(o->path) : tm_path_join(in->job.dir, "report.html");
  int rc = 0;
  page.step = o->step;
  page.is_elsewhere = o->on_text || !is_in_job(in, path);
  if (!o->on_text && in->job.is_removed && !o->path)
    rc = tm_err_set(err, TM_EUSAGE,
                    "the directory of job '%s' is gone; write the report elsewhere: -o FILE",
                    in->job.name);
  if (rc == 0 && !o->on_text)
    rc = o->path ? check_not_of_job(in, path, err) : tidemill_report_check(path, o->overwrite, err);
  if (rc == 0)
    rc = tm_insight_add_page(in, &text, &page, err);
  if (rc == 0 && o->on_text)
    rc = o->on_text(text.data, text.len, o->data);
  else if (rc == 0)
    rc = write_file(path, !o->path, &text, err);
  if (rc == 0 && !o->on_text && o->on_written)
    o->on_written(path, o->data);
  tm_buf_release(&text);
  free(path);
  return rc;
}

int tidemill_report_write(struct tidemill_workspace *ws, const char *job,
                          const struct tidemill_report_options *options, struct tm_err *err)
{
  static const char call[] = "tidemill_report_write()";
  struct tidemill_report_options o = TIDEMILL_REPORT_OPTIONS_INIT;
  struct tidemill_insight *in = NULL;
  err = TM_ERR_OWN(err);
  int rc = tm_need(err, call, "job", job, NULL);
  if (rc == 0)
    rc = tm_take_options(&o, sizeof(o), options, call, "the options",
                         "TIDEMILL_REPORT_OPTIONS_INIT", err);
  if (rc == 0 && o.path && o.on_text)
    rc = tm_err_set(err, TM_EUSAGE, "%s: give either `path` or `on_text`", call);
  if (rc == 0 && o.path)
    rc = tidemill_report_check(o.path, o.overwrite, err);
  if (rc == 0)
    rc = tidemill_insight_open(&in, ws, job, NULL, err);
  if (rc == 0)
    rc = write_page(in, &o, err);
  tidemill_insight_close(in);
  return rc;
}
