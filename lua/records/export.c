/* export.c - writes jobs in formats of other programs (core/export).
 *
 *  (1) A file that is not ours is refused before anything is read.
 */
#include "records/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "records/export_trace.h"
#include "api/own.h"
#include "records/replace.h"
#include "base/path.h"
#include "base/text.h"
#include "data/rows/open.h"
#include "data/stream/gzip_writer.h"
#include "export/joblog.h"
#include "export/trace.h"
#include "sys/whole_file.h"

struct export
{
  struct tidemill_record *r;
  struct tidemill_export_options o;
  const struct format *format;
  struct tm_file_writing file;
  struct tm_gzip_writer *packer; /* of a file that is compressed; or NULL */
  struct tm_err *err;            /* of the sink */
};

struct format {
  const char *name;  /* "a joblog" */
  const char *begin; /* what each of its files begins with */
  int (*write)(struct export *x, const struct tm_text_sink *sink, struct tm_err *err);
};

static void note(const struct export *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void note(const struct export *x, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  if (!x->o.on_note)
    return;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  x->o.on_note(tm_buf_str(&text), x->o.data);
  tm_buf_release(&text);
}

/* What of a table is not written. */
static void note_faults(const struct export *x, const struct tidemill_record_step *step,
                        const char *file, const struct tm_table_faults *faults)
{
  bool grows = step->state == TIDEMILL_STATE_RUNNING;
  struct tm_buf text = TM_BUF_NONE;
  tm_table_faults_text(&text, faults, grows);
  if (tm_table_faults_any(faults, grows))
    note(x, "step '%s': logs/%s %s; its other rows are written", step->name, file,
         tm_buf_str(&text));
  tm_buf_release(&text);
}

/* ---- joblog ---- */

/* A job that runs writes its tables a little later than its journals. */
static void note_missing(const struct export *x, const struct tidemill_record_step *step,
                         int64_t rows)
{
  int64_t missing = step->counts->succeeded + step->counts->failed - rows;
  if (*step->reused_from)
    note(x, "step '%s' was reused from job '%s': its rows are there", step->name,
         step->reused_from);
  else if (missing > 0 && x->r->info.state != TIDEMILL_STATE_RUNNING)
    note(x, "step '%s': %" PRId64 " of its %" PRId64 " mini-batches that have ended %s not in %s",
         step->name, missing, missing + rows, tm_text_counted(missing, "is", "are"),
         "logs/sys/job_report/processed_mini-batches.csv");
}

static int write_step(struct export *x, size_t i, const struct tm_text_sink *sink,
                      struct tm_err *err)
{
  const struct tm_record_step *step = &x->r->steps.at[i];
  struct tm_joblog_command command =
      tm_joblog_command(x->r->info.dir, x->r->steps.len > 1 ? step->step.name : NULL);
  struct tm_joblog_written written;
  int rc = tm_joblog_write(step->logs_dir, &command, sink, &written, err);
  if (rc == 0) {
    note_faults(x, &step->step, "sys/job_report/processed_mini-batches.csv", &written.tries);
    note_faults(x, &step->step, "sys/job_report/workers.csv", &written.lives);
    note_missing(x, &step->step, written.rows);
  }
  tm_joblog_command_release(&command);
  return rc;
}

static int write_joblog(struct export *x, const struct tm_text_sink *sink, struct tm_err *err)
{
  int rc = sink->write(sink->data, TM_JOBLOG_HEADER, strlen(TM_JOBLOG_HEADER));
  for (size_t i = 0; rc == 0 && i < x->r->steps.len; i++)
    if (!x->o.step || strcmp(x->o.step, x->r->steps.at[i].step.name) == 0)
      rc = write_step(x, i, sink, err);
  return rc;
}

/* ---- trace ---- */

static void on_fault(void *data, const struct tidemill_record_step *step, const char *file,
                     const struct tm_table_faults *faults)
{
  note_faults(data, step, file, faults);
}

static int write_trace(struct export *x, const struct tm_text_sink *sink, struct tm_err *err)
{
  struct tm_trace_faults faults = { .on_fault = on_fault, .data = x };
  return tm_record_write_trace(x->r, x->o.step, sink, &faults, err);
}

static const struct format formats[] = {
  [TIDEMILL_FORMAT_JOBLOG] = { "a joblog", TM_JOBLOG_HEADER, write_joblog },
  [TIDEMILL_FORMAT_TRACE] = { "a trace", TM_TRACE_MARK, write_trace },
};

/* ---- where the text goes ---- */

static int to_host(void *data, const char *text, size_t len)
{
  const struct export *x = data;
  return x->o.on_text(text, len, x->o.data);
}

static int to_file(void *data, const char *text, size_t len)
{
  struct export *x = data;
  return tm_file_put(&x->file, text, len, x->err);
}

static int to_packer(void *data, const char *text, size_t len)
{
  const struct export *x = data;
  return tm_gzip_writer_add(x->packer, text, len);
}

static int check_step(const struct export *x, struct tm_err *err)
{
  for (size_t i = 0; x->o.step && i < x->r->steps.len; i++)
    if (strcmp(x->o.step, x->r->steps.at[i].step.name) == 0)
      return 0;
  return x->o.step ? tm_record_refuse_step(x->r, x->o.step, err) : 0;
}

/* What was read of a job that is gone is not all of it. */
static int check_there(const struct export *x, struct tm_err *err)
{
  return tm_fs_exists(tm_fs_real(), x->r->info.dir)
             ? 0
             : tm_err_set(err, -ENOENT, "job '%s' was removed while it was read", x->r->info.dir);
}

static int write_packed(struct export *x, struct tm_err *err)
{
  x->packer = tm_gzip_writer_new(to_file, x);
  int rc = x->format->write(x, &(struct tm_text_sink) { .write = to_packer, .data = x }, err);
  if (rc == 0)
    rc = tm_gzip_writer_end(x->packer);
  tm_gzip_writer_free(x->packer);
  return rc;
}

static bool is_packed(const char *path)
{
  size_t n = strlen(path);
  return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

static int write_file(struct export *x, struct tm_err *err)
{
  int rc = tm_file_begin(&x->file, x->o.path, err);
  if (rc == 0 && is_packed(x->o.path))
    rc = write_packed(x, err);
  else if (rc == 0)
    rc = x->format->write(x, &(struct tm_text_sink) { .write = to_file, .data = x }, err);
  if (rc == 0)
    rc = check_there(x, err);
  return tm_file_end(&x->file, rc, false, err);
}

int tidemill_record_export(struct tidemill_record *r, enum tidemill_format format,
                           const struct tidemill_export_options *options, struct tm_err *err)
{
  static const char call[] = "tidemill_record_export()";
  err = TM_ERR_OWN(err);
  struct export x = { .r = r, .o = TIDEMILL_EXPORT_OPTIONS_INIT, .err = err };
  int rc = tm_need(err, call, "r", r, "options", options, NULL);
  if (rc == 0)
    rc = tm_take_options(&x.o, sizeof(x.o), options, call, "the options",
                         "TIDEMILL_EXPORT_OPTIONS_INIT", err);
  if (rc < 0)
    return rc;
  if ((unsigned)format >= TM_COUNT_OF(formats))
    return tm_err_set(err, TM_EUSAGE, "%s: there is no format %d", call, (int)format);
  if (!x.o.path == !x.o.on_text)
    return tm_err_set(err, TM_EUSAGE, "%s: give either `path` or `on_text`", call);
  x.format = &formats[format];
  if ((rc = check_step(&x, err)) < 0 ||
      (x.o.path &&
       (rc = tm_replace_check(x.o.path, x.format->begin, x.format->name, x.o.overwrite, err)) < 0))
    return rc;
  if (x.o.path)
    return write_file(&x, err);
  rc = x.format->write(&x, &(struct tm_text_sink) { .write = to_host, .data = &x }, err);
  return rc == 0 ? check_there(&x, err) : rc;
}
