/* insight.c - opens and refreshes insights: see tidemill/insight.h. */
#include "insights/insight.h"

#include <string.h>

#include "api/own.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/clock.h"

/* ---- reading ---- */

/* Rows may come behind what the record has of them. False: there were none. */
static bool read_steps(struct tidemill_insight *in)
{
  bool has_new = false;
  for (size_t i = 0; i < in->steps.len; i++)
    has_new = tm_insight_read_rows(in, i) || has_new;
  return has_new;
}

static void release_steps(struct tidemill_insight *in)
{
  for (size_t i = 0; i < in->steps.len; i++)
    tm_insight_release_step(&in->steps.at[i]);
  TM_ARRAY_RELEASE(&in->steps);
}

const struct tm_error_groups *tm_insight_groups(const struct tidemill_insight *in, size_t step)
{
  return in->record && step < in->record->errors.len ? &in->record->errors.at[step].groups : NULL;
}

const struct tm_findings *tm_insight_findings(struct tidemill_insight *in)
{
  tm_findings_release(&in->findings);
  in->findings = (struct tm_findings) { .len = 0 };
  for (size_t i = 0; i < in->steps.len; i++)
    if (in->steps.at[i].has_model)
      tm_findings_add(&in->findings,
                      &(struct tm_finding_input) { .job = &in->job,
                                                   .step = i,
                                                   .model = &in->steps.at[i].model,
                                                   .groups = tm_insight_groups(in, i) });
  return &in->findings;
}

static void read_job(struct tidemill_insight *in)
{
  tm_insight_read_facts(in);
  if (in->steps.len != in->job.steps.len) /* the first time; or somebody has replaced the files */
    release_steps(in);
  while (in->steps.len < in->job.steps.len)
    *TM_ARRAY_ADD(&in->steps) = (struct tm_insight_step) { 0 };
  (void)read_steps(in);
}

static bool is_named(const struct tm_history_job *job, const char *name)
{
  return strcmp(job->dir, name) == 0 || strcmp(tm_path_base(job->dir), name) == 0;
}

/* False: the workspace does not remember it. */
static bool open_removed(struct tidemill_insight *in, const char *job)
{
  struct tm_history h = { 0 };
  bool found = false;
  if (!in->workspace || tm_history_list(&h, in->workspace, NULL) < 0)
    h.len = 0;
  for (size_t i = 0; i < h.len && !found; i++) {
    found = is_named(&h.at[i], job) && !tm_fs_exists(tm_fs_real(), h.at[i].dir);
    if (found)
      tm_insight_read_history(in, &h.at[i]);
  }
  tm_history_release(&h);
  return found;
}

static char *workspace_of(struct tidemill_workspace *ws)
{
  struct tidemill_workspace *nearest = ws ? NULL : tm_workspace_nearest(tm_fs_real());
  char *path = tm_xstrdup(tidemill_workspace_path(ws ? ws : nearest));
  tidemill_workspace_close(nearest);
  return path;
}

static int open_job(struct tidemill_insight *in, struct tidemill_workspace *ws, const char *job,
                    struct tm_err *err)
{
  in->workspace = workspace_of(ws);
  int rc = tidemill_record_open(&in->record, ws, job, err);
  if (rc == TM_EUSAGE && open_removed(in, job))
    return 0;
  if (rc >= 0)
    read_job(in);
  return rc < 0 ? rc : 0;
}

int tidemill_insight_open(struct tidemill_insight **out, struct tidemill_workspace *ws,
                          const char *job, const struct tidemill_insight_options *options,
                          struct tm_err *err)
{
  const char *call = "tidemill_insight_open()";
  struct tidemill_insight_options o = TIDEMILL_INSIGHT_OPTIONS_INIT;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, call, "out", out, "job", job, NULL) < 0 ||
      tm_take_options(&o, sizeof(o), options, call, "the options", "TIDEMILL_INSIGHT_OPTIONS_INIT",
                      err) < 0)
    return err->code;
  struct tidemill_insight *in = TM_NEW(struct tidemill_insight);
  in->o = o;
  in->opened_ns = tm_clock_mono_ns();
  int rc = open_job(in, ws, job, err);
  if (rc < 0)
    tidemill_insight_close(in);
  else
    *out = in;
  return rc;
}

/* Keeps what was read, with the reason. 0: it is known. */
static int note_fault(struct tidemill_insight *in, const struct tm_err *fault)
{
  if (in->job.fault && strcmp(in->job.fault, fault->text) == 0)
    return 0;
  in->job.fault = tm_insight_keep(in, fault->text);
  in->job.is_removed = !tm_fs_exists(tm_fs_real(), in->job.dir);
  return 1;
}

int tidemill_insight_refresh(struct tidemill_insight *in, struct tm_err *err)
{
  struct tm_err fault = TM_ERR_NONE;
  if (tm_need(err, "tidemill_insight_refresh()", "in", in, NULL) < 0)
    return TM_EUSAGE;
  if (!in->record)
    return 0;
  int rc = tidemill_record_refresh(in->record, &fault);
  if (rc < 0)
    return note_fault(in, &fault);
  if (rc == 0) {
    in->job.now_ns = tm_insight_now_ns(in);
    in->job.elapsed_ns = tidemill_record_info(in->record)->elapsed_ns;
    return read_steps(in);
  }
  read_job(in);
  return 1;
}

int tidemill_insight_fd(struct tidemill_insight *in, struct tm_err *err)
{
  if (tm_need(err, "tidemill_insight_fd()", "in", in, NULL) < 0)
    return TM_EUSAGE;
  if (!in->record)
    return tm_err_set(err, TM_EUSAGE, "tidemill_insight_fd(): the job was removed");
  return tidemill_record_fd(in->record, err);
}

void tidemill_insight_close(struct tidemill_insight *in)
{
  if (!in)
    return;
  release_steps(in);
  tm_insight_release_facts(in);
  tm_findings_release(&in->findings);
  tidemill_record_close(in->record);
  tm_insight_release_before(in);
  free(in->workspace);
  free(in->json);
  tm_buf_release(&in->html);
  free(in);
}
