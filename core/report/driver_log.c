/* driver_log.c - see driver_log.h.
 *
 * The settings are those of job.json, which is for programs. Here they are for readers of logs: the
 * settings of each session stay, while job.json has only the last.
 */
#include "report/driver_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/path.h"

static void add(struct tm_driver_log *d, int64_t wall_ns, enum tm_level level, struct tm_buf *text)
{
  tm_log_add_line(&d->file.text, wall_ns, level, d->pid, "supervisor", tm_buf_str(text));
  tm_buf_clear(text);
}

static void add_json(struct tm_buf *text, const struct tm_json *v)
{
  tm_json_write(text, v, (struct tm_json_style) { 0 });
}

static void add_start(struct tm_driver_log *d, const struct tm_event *e,
                      const struct tm_step_view *step)
{
  struct tm_buf text = TM_BUF_NONE;
  char host[256] = "";
  (void)gethostname(host, sizeof(host) - 1);
  tm_buf_printf(&text, "tidemill %s %s: pid %" PRId64 " on %s", TM_VERSION,
                e->job->is_resumed ? "resumes a job" : "starts a job", d->pid, host);
  add(d, e->wall_ns, TM_INFO, &text);
  tm_buf_printf(&text, "pipeline '%s': %s", e->job->name, e->job->pipeline_file);
  add(d, e->wall_ns, TM_INFO, &text);
  tm_buf_printf(&text, "job: %s", e->job->dir);
  add(d, e->wall_ns, TM_INFO, &text);
  tm_buf_printf(&text, "step '%s': script %s, ", step->name, step->script_name);
  tm_step_view_add_workers(&text, step);
  add(d, e->wall_ns, TM_INFO, &text);
  tm_buf_printf(&text, "output: %s", step->output_file ? step->output_file : step->output_dir);
  add(d, e->wall_ns, TM_INFO, &text);
  tm_buf_release(&text);
}

/* `values`: {NAME: {value, origin}}; `word`: their kind. */
static void add_values(struct tm_driver_log *d, const struct tm_event *e, const char *word,
                       const struct tm_json *values)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; values && values->type == TM_JSON_OBJECT && i < values->list.len; i++) {
    const struct tm_json *v = values->list.at[i], *value = tm_json_get(v, "value");
    const char *parameter = tm_json_str(v, "parameter", NULL);
    tm_buf_printf(&text, "%s %s = ", word, values->keys[i]);
    add_json(&text, value ? value : v);
    tm_buf_printf(&text, " (%s%s%s)", tm_json_str(v, "origin", "of unknown origin"),
                  parameter ? " " : "", parameter ? parameter : "");
    add(d, e->wall_ns, TM_INFO, &text);
  }
  tm_buf_release(&text);
}

static void add_list(struct tm_driver_log *d, const struct tm_event *e, const char *word,
                     const struct tm_json *list)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; list && list->type == TM_JSON_ARRAY && i < list->list.len; i++) {
    tm_buf_printf(&text, "%s %zu: ", word, i + 1);
    add_json(&text, list->list.at[i]);
    add(d, e->wall_ns, TM_INFO, &text);
  }
  tm_buf_release(&text);
}

int tm_driver_log_open(struct tm_driver_log *d, const struct tm_fs *fs, const struct tm_event *e,
                       const struct tm_step_view *step, struct tm_err *err)
{
  tm_require(step && step->logs_dir);
  char *path = tm_path_join(step->logs_dir, "70_driver_log.txt");
  int rc;
  *d = (struct tm_driver_log) { .pid = getpid() };
  rc = tm_log_file_open(&d->file, fs, path, err);
  free(path);
  add_start(d, e, step);
  if (step->effective) {
    add_values(d, e, "parameter", tm_json_get(step->effective, "parameters"));
    add_values(d, e, "setting", tm_json_get(step->effective, "settings"));
    add_list(d, e, "input", tm_json_get(step->effective, "inputs"));
    add_list(d, e, "side input", tm_json_get(step->effective, "side_inputs"));
    add_list(d, e, "argument", tm_json_get(step->effective, "arguments"));
  }
  return rc;
}

void tm_driver_log_add(struct tm_driver_log *d, const struct tm_event *e)
{
  tm_require(e->kind != TM_EVENT_STEP_ENDED || e->step);
  struct tm_buf text = TM_BUF_NONE;
  if (e->kind == TM_EVENT_STEP_ENDED) {
    bool is_failed = e->step->verdict == TM_FAILED;
    tm_buf_printf(&text, "step '%s' is %s", e->step->name, tm_verdict_name(e->step->verdict));
    if (*e->step->cause)
      tm_buf_printf(&text, ": %s", e->step->cause);
    add(d, e->wall_ns, is_failed ? TM_ERROR : TM_INFO, &text);
  } else {
    tm_buf_add_str(&text, e->text);
    add(d, e->wall_ns, e->level, &text);
  }
  tm_buf_release(&text);
}

int tm_driver_log_flush(struct tm_driver_log *d, struct tm_err *err)
{
  return tm_log_file_flush(&d->file, err);
}

int tm_driver_log_close(struct tm_driver_log *d, struct tm_err *err)
{
  return tm_log_file_close(&d->file, err);
}
