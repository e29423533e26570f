/* failed_source.c - see failed_source.h. */
#include "job/failed_source.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "commit/failed_archives.h"
#include "data/files/failed.h"
#include "data/item.h"
#include "job/import.h"
#include "plan/bound.h"
#include "record/job_record.h"
#include "record/owner.h"
#include "store/jobs.h"

/* A job writes its list of failed items when it ends. */
static int check_is_over(struct tm_failed_source *s, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  int64_t pid;

  if (tm_owner_is_running(s->dir, &pid, NULL))
    return tm_err_set(err, TM_EUSAGE,
                      "job '%s' is still running (pid %" PRId64
                      "); what failed in it is known when it has ended",
                      s->dir, pid);
  s->result = tm_job_result_load(s->dir, &why);
  if (s->result)
    return 0;
  if (why.code < 0) {
    *err = why;
    return why.code;
  }
  struct tm_buf dir = TM_BUF_NONE;
  tm_text_shell(&dir, s->dir);
  tm_err_set(err, TM_EUSAGE,
             "job '%s' was interrupted: what failed in it is known when it has ended; "
             "resume it first: tidemill resume %s",
             s->dir, tm_buf_str(&dir));
  tm_buf_release(&dir);
  return TM_EUSAGE;
}

int tm_failed_source_open(struct tm_failed_source *s, const struct tm_fs *fs, const char *given,
                          const char *named, const char *cwd, struct tm_err *err)
{
  memset(s, 0, sizeof(*s));
  s->fs = fs;
  s->dir = tm_jobs_find(fs, given, named, cwd, TM_TO_USE, err);
  if (!s->dir)
    return err->code;
  s->record = tm_job_record_load(s->dir, err);
  return s->record ? check_is_over(s, err) : err->code;
}

void tm_failed_source_release(struct tm_failed_source *s)
{
  free(s->dir);
  tm_json_free(s->record);
  tm_json_free(s->result);
}

/* How many items of a step have failed, by the job's result. */
static int64_t failed_items(const struct tm_failed_source *s, const char *step)
{
  const struct tm_json *found = tm_job_record_step(s->result, step);

  return tm_json_int(tm_json_get(found, "items"), "failed", 0);
}

static int refuse_step(const struct tm_failed_source *s, const char *step, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(s->record, "steps");
  struct tm_buf names = TM_BUF_NONE;

  for (size_t i = 0; i < steps->list.len; i++)
    tm_buf_printf(&names, "%s'%s'", i ? ", " : "", tm_json_str(steps->list.at[i], "name", ""));
  if (step)
    tm_err_set(err, TM_EUSAGE, "job '%s' has no step '%s'; it has %s", s->dir, step,
               tm_buf_str(&names));
  else
    tm_err_set(err, TM_EUSAGE, "job '%s' has several steps; name one of them: step = %s", s->dir,
               tm_buf_str(&names));
  tm_buf_release(&names);
  return TM_EUSAGE;
}

static int check_steps(const struct tm_failed_source *s, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(s->record, "steps");

  if (steps && steps->type == TM_JSON_ARRAY && steps->list.len > 0)
    return 0;
  return tm_err_set(err, TM_EDAMAGE, "the record of job '%s' is damaged: it has no steps", s->dir);
}

/* A name is a folder of the job: a forged record must not lead out of the job. */
static bool is_step_name(const char *name)
{
  return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

char *tm_failed_source_list(const struct tm_failed_source *s, const char *step, struct tm_err *err)
{
  if (check_steps(s, err) < 0)
    return NULL;
  const struct tm_json *steps = tm_json_get(s->record, "steps");
  if (!step && steps->list.len == 1)
    step = tm_json_str(steps->list.at[0], "name", "");
  if (!step || !tm_job_record_step(s->record, step) || !is_step_name(step)) {
    refuse_step(s, step, err);
    return NULL;
  }
  char *path = tm_xprintf("%s/%s/failed_items.jsonl", s->dir, step);
  if (failed_items(s, step) == 0 || tm_fs_exists(s->fs, path))
    return path;
  tm_err_set(err, TM_EDAMAGE,
             "%" PRId64
             " items of step '%s' have failed, but their list '%s' does not exist any more",
             failed_items(s, step), step, path);
  free(path);
  return NULL;
}

static bool is_file(const struct tm_fs *fs, const char *path)
{
  struct tm_stat st;

  return fs->stat(fs->self, path, true, &st) == 0 && (st.mode & S_IFMT) == S_IFREG;
}

char *tm_failed_source_find(const struct tm_fs *fs, const char *given, const char *step,
                            const char *named, const char *cwd, struct tm_err *err)
{
  char *path = tm_path_absolute(cwd, given);
  struct tm_failed_source s;

  if (is_file(fs, path) && !step)
    return path;
  if (is_file(fs, path)) {
    tm_err_set(err, TM_EUSAGE, "'step' goes with a job; '%s' is the list of one step already",
               path);
    free(path);
    return NULL;
  }
  free(path);
  path = tm_failed_source_open(&s, fs, given, named, cwd, err) == 0
             ? tm_failed_source_list(&s, step, err)
             : NULL;
  tm_failed_source_release(&s);
  return path;
}

/* A pipeline over the failed items. */

struct count {
  int64_t items;
  /* compressed files of a table that could not be read */
  struct TM_ARRAY(char *) files;
  struct tm_failed_archives archives; /* items that can be found by their names */
};

/* The new inputs of a step. */
struct inputs {
  struct TM_ARRAY(struct tm_dataset *) list;
};

struct counts {
  struct TM_ARRAY(struct count) of_input;
  int64_t unnamed;
};

static void release_counts(struct counts *c)
{
  for (size_t i = 0; i < c->of_input.len; i++) {
    for (size_t k = 0; k < c->of_input.at[i].files.len; k++)
      free(c->of_input.at[i].files.at[k]);
    TM_ARRAY_RELEASE(&c->of_input.at[i].files);
    tm_failed_archives_release(&c->of_input.at[i].archives);
  }
  TM_ARRAY_RELEASE(&c->of_input);
}

/* Whether the item can be found by its name. Entries may be failed items of a second job, too. */
static bool has_name(const struct tm_item *item, const struct tm_json *definition)
{
  const char *kind = tm_json_str(definition, "kind", "");

  return item->is_entry && (strcmp(kind, "archives") == 0 ||
                            (strcmp(kind, "failed") == 0 && !tm_item_is_archive(item)));
}

static void count_item(struct count *c, const struct tm_fs *fs, const struct tm_item *item,
                       const struct tm_json *definition)
{
  c->items++;
  if (has_name(item, definition))
    tm_failed_archives_add(&c->archives, fs, item);
  else if (tm_item_is_archive(item))
    *TM_ARRAY_ADD(&c->files) = tm_xstrndup(item->path, tm_item_file_len(item));
}

/* Reads the whole list: how many items of each input it names. */
static int count_list(const struct tm_failed_source *s, const char *path,
                      const struct tm_json *originals, struct counts *out, struct tm_err *err)
{
  size_t inputs = tm_json_items(originals);
  struct tm_item item;
  bool is_missing;
  struct tm_err why = TM_ERR_NONE;
  struct tm_failed *list = tm_failed_open(s->fs, path, TM_FAILED_ANY, &is_missing, &why);
  int rc = 0;

  if (!list && !is_missing) {
    *err = why;
    return why.code;
  }
  for (size_t i = 0; i < inputs; i++)
    *TM_ARRAY_ADD(&out->of_input) = (struct count) { .items = 0 };
  while (list && (rc = tm_failed_next(list, &item, err)) > 0) {
    int64_t input = tm_failed_input(list);
    if (input >= (int64_t)inputs) {
      rc = tm_err_set(err, TM_EDAMAGE, "'%s' is damaged: it names input %" PRId64 " of %zu", path,
                      input, inputs);
      break;
    }
    count_item(&out->of_input.at[input], s->fs, &item, originals->list.at[input]);
  }
  out->unnamed = list ? tm_failed_unnamed(list) : 0;
  tm_failed_close(list);
  return rc;
}

static struct tm_dataset *failed_input(const char *path, size_t number,
                                       const struct tm_json *original, struct tm_err *err)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *paths = tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY));
  const char *name = tm_json_str(original, "name", NULL);

  tm_json_add(paths, tm_json_new_string(path));
  tm_json_set(v, "kind", tm_json_new_string("failed"));
  tm_json_set(v, "input", tm_json_new_int((int64_t)number));
  tm_json_set(v, "base_dir", tm_json_new_string("/"));
  tm_json_set_text(v, "name", name);
  struct tm_dataset *d = tm_dataset_from_json(v, err);
  tm_json_free(v);
  return d;
}

/* A file of a table fails as a whole if it cannot be decompressed. The new job reads such files as
 * the table was read, with their present bytes. NULL without a message: the input is not a table,
 * or another step writes it. */
static struct tm_dataset *failed_table(const struct count *failed, const struct tm_json *original,
                                       struct tm_err *err)
{
  if (tm_json_get(original, "step"))
    return NULL;
  struct tm_json *v = tm_json_copy(original), *paths = tm_json_new(TM_JSON_ARRAY);

  for (size_t i = 0; i < failed->files.len; i++)
    tm_json_add(paths, tm_json_new_string(failed->files.at[i]));
  tm_json_set(v, "paths", paths);
  struct tm_dataset *d = tm_dataset_from_json(v, err);
  tm_json_free(v);
  if (!d || tm_dataset_is_table(d))
    return d;
  tm_dataset_free(d);
  return NULL;
}

/* One dataset of archives becomes several: each lists one selection of entries. */
static int add_archives(struct inputs *inputs, struct count *failed, const struct tm_json *original,
                        struct tm_err *err)
{
  struct tm_json *all = tm_failed_archives_definitions(&failed->archives, original);
  struct tm_dataset *d = NULL;

  for (size_t i = 0; i < all->list.len; i++)
    if ((d = tm_dataset_from_json(all->list.at[i], err)) == NULL)
      break;
    else
      *TM_ARRAY_ADD(&inputs->list) = d;
  tm_json_free(all);
  return err->code < 0 ? err->code : 0;
}

static int add_input(struct inputs *inputs, const char *path, size_t number, struct count *failed,
                     const struct tm_json *original, struct tm_err *err)
{
  struct tm_dataset *d = NULL;

  if (failed->archives.must_list && (int64_t)failed->archives.entries.len == failed->items)
    return add_archives(inputs, failed, original, err);
  if (failed->files.len > 0)
    d = failed_table(failed, original, err);
  if (!d && err->code >= 0)
    d = failed_input(path, number, original, err);
  if (d)
    *TM_ARRAY_ADD(&inputs->list) = d;
  return err->code < 0 ? err->code : 0;
}

static int set_inputs(struct tm_step *step, const char *path, const struct tm_json *originals,
                      struct counts *counts, struct tm_err *err)
{
  struct inputs inputs = { 0 };
  int rc = 0;

  for (size_t i = 0; i < counts->of_input.len && rc == 0; i++)
    if (counts->of_input.at[i].items > 0)
      rc = add_input(&inputs, path, i, &counts->of_input.at[i], originals->list.at[i], err);
  tm_step_set_inputs(step, inputs.list.at, inputs.list.len);
  return rc;
}

/* 1: the step has failed items, which become its inputs; 0: it has none. */
static int apply_step(const struct tm_failed_source *s, struct tm_step *step, struct tm_err *err)
{
  const struct tm_json *originals =
      tm_json_get(tm_json_get(tm_job_record_step(s->record, step->name), "definition"), "inputs");
  struct counts counts = { .unnamed = 0 };
  int64_t named = 0;
  char *path = tm_failed_source_list(s, step->name, err);
  int rc = path ? count_list(s, path, originals, &counts, err) : err->code;

  for (size_t i = 0; i < counts.of_input.len; i++)
    named += counts.of_input.at[i].items;
  if (rc == 0 && named == 0 && counts.unnamed > 0)
    rc = tm_err_set(err, TM_ENOINPUT,
                    "step '%s': %" PRId64
                    " items have failed, but it is not known which ones: run() returned fewer "
                    "elements than items; mark them with context:fail(), or run all again",
                    step->name, counts.unnamed);
  if (rc == 0 && named > 0) {
    rc = set_inputs(step, path, originals, &counts, err);
    tm_step_note(step, TM_INFO, "the input is what failed in job '%s': %" PRId64 " items", s->dir,
                 named);
    rc = rc < 0 ? rc : 1;
  }
  release_counts(&counts);
  free(path);
  return rc;
}

static int refuse_import(const struct tm_pipeline *p, struct tm_err *err)
{
  for (size_t i = 0; i < p->steps_len; i++)
    if (tm_import_is_asked(p->steps[i]))
      return tm_err_set(err, TM_EUSAGE,
                        "step '%s' has --resume_from, which takes over what another job has "
                        "committed of all inputs, while this job has those alone that failed; take "
                        "--resume_from out of its arguments",
                        p->steps[i]->name);
  return 0;
}

int tm_failed_source_apply(const struct tm_failed_source *s, struct tm_pipeline *p,
                           struct tm_err *err)
{
  size_t known = 0, at = 0;

  if (check_steps(s, err) < 0 || refuse_import(p, err) < 0)
    return err->code;
  while (at < p->steps_len) {
    bool is_known = tm_job_record_step(s->record, p->steps[at]->name) != NULL;
    int rc = is_known ? apply_step(s, p->steps[at], err) : 0;
    if (rc < 0)
      return rc;
    known += is_known;
    if (rc > 0)
      at++;
    else
      tm_pipeline_drop_step(p, at, s->dir);
  }
  if (known == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "job '%s' has no step of this pipeline; steps are found by their names",
                      s->dir);
  p->only_failed = tm_xstrdup(s->dir);
  return p->steps_len == 0;
}

static int give_again(struct tm_step *step, const struct tm_json *recorded, struct tm_err *err)
{
  const struct tm_json *inputs = tm_json_get(tm_json_get(recorded, "definition"), "inputs");
  size_t n = inputs && inputs->type == TM_JSON_ARRAY ? inputs->list.len : 0, len = 0;
  struct tm_dataset **given = tm_xcalloc(n + 1, sizeof(struct tm_dataset *));

  while (len < n && (given[len] = tm_dataset_from_json(inputs->list.at[len], err)))
    len++;
  tm_step_set_inputs(step, given, len);
  return len < n ? err->code : 0;
}

int tm_failed_source_again(const struct tm_json *record, struct tm_pipeline *p, struct tm_err *err)
{
  const char *dir = tm_json_str(record, "only_failed", NULL);
  size_t at = 0;

  if (!dir)
    return 0;
  while (at < p->steps_len) {
    const struct tm_json *recorded = tm_job_record_step(record, p->steps[at]->name);
    if (!recorded)
      tm_pipeline_drop_step(p, at, dir);
    else if (give_again(p->steps[at++], recorded, err) < 0)
      return err->code;
  }
  p->only_failed = tm_xstrdup(dir);
  return 0;
}
