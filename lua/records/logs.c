/* logs.c - see logs.h; tidemill_workspace_logs(). Reads the files of each step as one
 * (report/log_set.h), and merges the steps by the times of their lines.
 */
#include "records/logs.h"

#include <string.h>

#include "api/own.h"
#include "base/check.h"
#include "base/text.h"
#include "record/job_record.h"
#include "record/owner.h"

#define NAMES_SHOWN 20

/* The step with the earliest next line; at equal times, the step of the last line. NULL: there
 * is none. */
static const struct tm_logs_step *next_step(const struct tm_logs *l,
                                            const struct tm_logs_step *last)
{
  const struct tm_logs_step *first = NULL;
  int64_t wall_ns, first_ns = INT64_MAX;
  for (size_t i = 0; i < l->steps.len; i++) {
    const struct tm_logs_step *step = &l->steps.at[i];
    if (tm_log_set_peek(step->set, &wall_ns) &&
        (!first || wall_ns < first_ns || (wall_ns == first_ns && step == last))) {
      first = step;
      first_ns = wall_ns;
    }
  }
  return first;
}

int tm_logs_tell(struct tm_logs *l)
{
  const struct tm_logs_step *step = NULL;
  struct tm_log_piece piece;
  int rc = 0;
  while (rc == 0 && (step = next_step(l, step)) && tm_log_set_next(step->set, &piece))
    rc = l->on_line(&(struct tidemill_log_line) { .size = sizeof(struct tidemill_log_line),
                                                  .step = step->name,
                                                  .source = piece.source ? piece.source : "",
                                                  .text = piece.text,
                                                  .text_bytes = piece.len,
                                                  .steps_len = l->steps.len },
                    l->data);
  return rc == 0 ? l->on_line(NULL, l->data) : rc;
}

/* ---- the choice ---- */

static int refuse_name(const char *what, const char *given, const char *const *names, size_t n,
                       struct tm_err *err)
{
  struct tm_buf all = TM_BUF_NONE;
  const char *nearest = tm_text_nearest(given, names, n);
  for (size_t i = 0; i < n && i < NAMES_SHOWN; i++)
    tm_buf_printf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
  if (nearest && n > NAMES_SHOWN)
    tm_err_set(err, TM_EUSAGE, "there is no %s '%s'; did you mean '%s'?", what, given, nearest);
  else
    tm_err_set(err, TM_EUSAGE, "there is no %s '%s'; known: %s%s", what, given,
               n > 0 ? tm_buf_str(&all) : "none", n > NAMES_SHOWN ? ", ..." : "");
  tm_buf_release(&all);
  return TM_EUSAGE;
}

static int find_steps(struct tm_logs *l, const struct tm_json *record, const char *wanted,
                      struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(record, "steps");
  struct TM_ARRAY(const char *) names = { 0 };
  int rc = 0;
  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++) {
    const char *name = tm_json_str(steps->list.at[i], "name", "");
    *TM_ARRAY_ADD(&names) = name;
    if (!wanted || strcmp(name, wanted) == 0)
      *TM_ARRAY_ADD(&l->steps) =
          (struct tm_logs_step) { .name = tm_xstrdup(name),
                                  .logs_dir = tm_xprintf("%s/%s/logs", l->dir, name) };
  }
  if (names.len == 0)
    rc = tm_err_set(err, TM_EDAMAGE, "'%s/job.json' is damaged: it has no list of steps", l->dir);
  else if (l->steps.len == 0)
    rc = refuse_name("step", wanted, names.at, names.len, err);
  TM_ARRAY_RELEASE(&names);
  return rc;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names, and leaves each once: steps have workers of the same names. Returns their
 * number. */
static size_t sort_names(const char **names, size_t n)
{
  size_t len = 0;
  if (n > 0)
    qsort(names, n, sizeof(*names), by_name);
  for (size_t i = 0; i < n; i++)
    if (len == 0 || strcmp(names[len - 1], names[i]) != 0)
      names[len++] = names[i];
  return len;
}

/* Checks all steps. A running job may start the worker or the node later. */
static int check_name(const struct tm_logs *l, const char *what, const char *wanted,
                      size_t (*names_of)(const struct tm_log_set *s, const char *const **names),
                      struct tm_err *err)
{
  struct TM_ARRAY(const char *) all = { 0 };
  bool is_found = !wanted;
  int rc = 0;
  for (size_t i = 0; i < l->steps.len && wanted; i++) {
    const char *const *names;
    size_t n = names_of(l->steps.at[i].set, &names);
    for (size_t k = 0; k < n; k++) {
      is_found = is_found || strcmp(names[k], wanted) == 0;
      *TM_ARRAY_ADD(&all) = names[k];
    }
  }
  if (!is_found)
    rc = refuse_name(what, wanted, all.at, sort_names(all.at, all.len), err);
  TM_ARRAY_RELEASE(&all);
  return rc;
}

int tm_logs_check_names(const struct tm_logs *l, struct tm_err *err)
{
  if (check_name(l, "worker", l->choice.worker, tm_log_set_workers, err) < 0 ||
      check_name(l, "node", l->choice.node, tm_log_set_nodes, err) < 0)
    return TM_EUSAGE;
  return 0;
}

static int tell_all(struct tm_logs *l, struct tm_err *err)
{
  tm_require(l->steps.len > 0);
  for (size_t i = 0; i < l->steps.len; i++) {
    l->steps.at[i].set = tm_log_set_new(l->steps.at[i].logs_dir, &l->choice, NULL, NULL);
    tm_log_set_finish(l->steps.at[i].set);
  }
  return tm_logs_check_names(l, err) < 0 ? TM_EUSAGE : tm_logs_tell(l);
}

int tm_logs_choose(struct tm_logs *l, const struct tidemill_logs_options *o, struct tm_err *err)
{
  struct tm_json *record = tm_job_record_load(l->dir, err);
  int rc = record ? find_steps(l, record, o->step, err) : err->code;
  tm_json_free(record);
  l->choice = (struct tm_log_choice) {
    .worker = o->worker, .node = o->node, .errors = o->errors, .mini_batch = -1
  };
  return rc;
}

static int tell(struct tm_logs *l, const struct tidemill_logs_options *o, struct tm_err *err)
{
  int rc = tm_logs_choose(l, o, err);
  if (rc < 0)
    return rc;
  return o->follow && tm_owner_is_running(l->dir, NULL, NULL) ? tm_logs_follow(l, err)
                                                              : tell_all(l, err);
}

void tm_logs_release(struct tm_logs *l)
{
  for (size_t i = 0; i < l->steps.len; i++) {
    tm_log_set_free(l->steps.at[i].set);
    free(l->steps.at[i].name);
    free(l->steps.at[i].logs_dir);
  }
  TM_ARRAY_RELEASE(&l->steps);
  free(l->dir);
}

int tidemill_workspace_logs(struct tidemill_workspace *ws, const char *job,
                            const struct tidemill_logs_options *options,
                            int (*on_line)(const struct tidemill_log_line *line, void *data),
                            void *data, struct tm_err *err)
{
  static const char call[] = "tidemill_workspace_logs()";
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  struct tm_logs l = { .on_line = on_line, .data = data };
  int rc;
  err = TM_ERR_OWN(err);
  rc = tm_need(err, call, "job", job, "on_line", on_line ? (const void *)call : NULL, NULL);
  if (rc == 0)
    rc = tm_take_options(&o, sizeof(o), options, call, "the options", "TIDEMILL_LOGS_OPTIONS_INIT",
                         err);
  if (rc < 0)
    return rc;
  if (o.mini_batch < -1 || (o.mini_batch >= 0 && (o.worker || o.node || o.errors || o.follow)))
    return tm_err_set(err, TM_EUSAGE,
                      "%s: `mini_batch` is %lld; accepted: a number from 0 on, with `step` alone, "
                      "or -1 for all",
                      call, (long long)o.mini_batch);
  if (o.mini_batch >= 0)
    return tm_logs_mini_batch(ws, job, o.step, o.mini_batch, on_line, data, err);
  l.dir = tm_workspace_job_dir(ws, job, TM_TO_READ, err);
  rc = l.dir ? tell(&l, &o, err) : err->code;
  tm_logs_release(&l);
  return rc;
}
