/* definition.c - see definition.h. */
#include "record/definition.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "record/job_record.h"
#include "snapshot/resume.h"

static void note(const struct tm_definition *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void note(const struct tm_definition *d, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;

  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  d->on_note(d->data, tm_buf_take(&text));
}

/* If the workspace has no room for the packed copy, the job still runs, from its own copy. */
static void keep_packed(const struct tm_definition *d, size_t i)
{
  struct tm_err why = TM_ERR_NONE;

  if (d->store && tm_snapshot_keep(d->fs, &d->snapshots[i], d->store, &why) < 0)
    note(d, "step '%s': its script is not kept in the workspace: %s", d->pipeline->steps[i]->name,
         why.text);
}

/* An earlier step with the same source, whose copy exists by now; or NULL. */
static const struct tm_snapshot *find_same(const struct tm_definition *d, size_t i)
{
  for (size_t k = 0; k < i; k++)
    if (tm_snapshot_is_same(&d->pipeline->steps[k]->config, &d->pipeline->steps[i]->config))
      return &d->snapshots[k];
  return NULL;
}

static int take_snapshot(const struct tm_definition *d, size_t i, struct tm_err *err)
{
  const struct tm_step *step = d->pipeline->steps[i];
  char *dir = tm_path_join(d->dir->script_dir, step->name);
  int rc = tm_snapshot_take(d->fs, &step->config, d->dir->path, dir, &d->snapshots[i], err);

  if (rc == 0)
    keep_packed(d, i);
  if (rc == 0 && d->snapshots[i].changed)
    note(d,
         "step '%s': '%s' was written again and again while its script was copied: the copy may "
         "hold "
         "a part of what was written",
         step->name, d->snapshots[i].changed);
  free(dir);
  return rc;
}

/* Steps with the same source share one copy. */
static int take_or_share(const struct tm_definition *d, size_t i, struct tm_err *err)
{
  const struct tm_step *step = d->pipeline->steps[i];
  const struct tm_snapshot *same = find_same(d, i);
  char *dir;
  int rc;

  if (!same)
    return take_snapshot(d, i, err);
  dir = tm_path_join(d->dir->script_dir, step->name);
  rc = tm_snapshot_share(d->fs, &step->config, same, dir, &d->snapshots[i], err);
  free(dir);
  return rc;
}

int tm_definition_take(const struct tm_definition *d, struct tm_err *err)
{
  tm_require(d->snapshots && d->dir->lock >= 0);
  int rc = 0;

  for (size_t i = 0; i < d->pipeline->steps_len && rc == 0; i++)
    rc = take_or_share(d, i, err);
  return rc;
}

/* The message about what an accepted change does not affect. */
static const char *limits_of(const struct tm_change *change)
{
  bool is_input = strncmp(change->key, "inputs", strlen("inputs")) == 0; /* "inputs[1].paths" */
  bool is_listed = is_input || strcmp(change->key, "mini_batch_size") == 0;

  return is_listed
             ? "; where the list of mini-batches was complete it stays as it was, and nothing "
               "else is read"
             : "";
}

static int judge_changes(const struct tm_definition *d, const struct tm_step *step,
                         const struct tm_changes *changes, struct tm_err *err)
{
  int rc = d->accept_changes ? 0 : tm_resume_verdict(changes, step->name, err);

  for (size_t i = 0; i < changes->len && rc == 0; i++) {
    const struct tm_change *c = &changes->at[i];
    if (c->what)
      note(d, "step '%s': the script has changed since the job began: %s", step->name, c->what);
    else
      note(d, "step '%s': %s has changed since the job began: %s -> %s%s", step->name, c->key,
           c->before, c->now, limits_of(c));
  }
  return rc;
}

/* Names the files of a changed script that differ, if the old copy can still be read. */
static void name_files(const struct tm_definition *d, const struct tm_step *step, const char *dir,
                       struct tm_changes *changes)
{
  char *copy = tm_xprintf("%s/script/%s", dir, step->name);

  for (size_t i = 0; i < changes->len; i++) {
    struct tm_buf words = TM_BUF_NONE;
    if (strcmp(changes->at[i].key, "script") == 0 &&
        tm_snapshot_diff(&words, d->fs, &step->config, d->dir->path, copy, NULL) == 0 &&
        words.len > 0)
      changes->at[i].what = tm_buf_take(&words);
    tm_buf_release(&words);
  }
  free(copy);
}

/* `hash`: of the script that the step will use. */
static int compare_step(const struct tm_definition *d, size_t i, const struct tm_json *record,
                        const char *dir, char hash[17], struct tm_err *err)
{
  tm_require(i < d->pipeline->steps_len);
  const struct tm_step *step = d->pipeline->steps[i];
  const struct tm_json *old = tm_job_record_step(record, step->name);
  const char *own = tm_json_str(tm_json_get(old, "definition"), "snapshot_hash", "");
  struct tm_changes changes = { 0 };
  struct tm_json *now;
  int rc;

  if (!old)
    return tm_err_set(err, TM_ECHANGED, "the job in '%s' has no step '%s'", dir, step->name);
  rc = tm_snapshot_hash(d->fs, &step->config, d->dir->path, hash, d->keep_script ? NULL : err);
  if (d->keep_script && (rc < 0 || strcmp(hash, own) != 0)) {
    note(d, "step '%s': the script has changed since the job began; the job uses its own copy",
         step->name);
    snprintf(hash, 17, "%s", own);
  } else if (rc < 0) {
    return rc;
  }
  now = tm_json_copy(step->effective);
  tm_json_set(now, "snapshot_hash", tm_json_new_string(hash));
  tm_resume_compare(tm_json_get(old, "definition"), now, &changes);
  name_files(d, step, dir, &changes);
  rc = judge_changes(d, step, &changes, err);
  tm_changes_release(&changes);
  tm_json_free(now);
  return rc;
}

int tm_definition_compare_step(const struct tm_definition *d, size_t i,
                               const struct tm_json *record, const char *dir, struct tm_err *err)
{
  char hash[17] = "";

  return compare_step(d, i, record, dir, hash, err);
}

int tm_definition_compare(const struct tm_definition *d, const struct tm_json *record,
                          const char *dir, struct tm_err *err)
{
  const struct tm_pipeline *p = d->pipeline;
  const struct tm_json *steps = tm_json_get(record, "steps");
  int rc = 0;

  if (!steps || steps->type != TM_JSON_ARRAY || steps->list.len != p->steps_len)
    return tm_err_set(err, TM_ECHANGED,
                      "the job in '%s' has other steps than the pipeline '%s' has now", dir,
                      p->name);
  for (size_t i = 0; i < p->steps_len && rc == 0; i++)
    rc = compare_step(d, i, record, dir, d->snapshots[i].hash, err);
  return rc;
}

/* Whether the job's copy is intact. Restores a damaged copy from the workspace, if it is there. */
static bool has_own(const struct tm_definition *d, const char *dir, const char *hash)
{
  char copied[17] = "";

  if (tm_snapshot_hash_dir(d->fs, dir, copied, NULL) == 0 && strcmp(copied, hash) == 0)
    return true;
  return d->store && tm_snapshot_restore(d->fs, d->store, hash, dir, NULL) == 0;
}

/* The path of the copy follows from where the job directory is now: the user may have moved or
 * copied it. */
static int keep_snapshot(const struct tm_definition *d, size_t i, const struct tm_json *old,
                         struct tm_err *err)
{
  const struct tm_step *step = d->pipeline->steps[i];
  struct tm_snapshot *s = &d->snapshots[i];
  const char *old_hash = tm_json_str(tm_json_get(old, "definition"), "snapshot_hash", "");
  char *dir;
  int rc = 0;
  tm_require(s->hash[0] && !s->dir); /* tm_definition_compare() has set it */

  if (find_same(d, i))
    return take_or_share(d, i, err);
  dir = tm_path_join(d->dir->script_dir, step->name);
  if (strcmp(s->hash, old_hash) == 0 && has_own(d, dir, s->hash)) {
    s->dir = tm_xstrdup(dir);
    s->script = tm_snapshot_script(&step->config, dir);
  } else if (d->keep_script) {
    rc = tm_err_set(err, TM_EDAMAGE,
                    "the job's copy of its script, '%s', has changed, and the workspace has not "
                    "kept it; without --keep-script the job uses the script as it is now",
                    dir);
  } else {
    rc = take_snapshot(d, i, err);
  }
  free(dir);
  return rc;
}

int tm_definition_keep(const struct tm_definition *d, const struct tm_json *record,
                       struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < d->pipeline->steps_len && rc == 0; i++)
    rc = keep_snapshot(d, i, tm_job_record_step(record, d->pipeline->steps[i]->name), err);
  return rc;
}
