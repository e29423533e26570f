/* overlap.c - see overlap.h. */
#include "plan/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/archive/entry_name.h"
#include "data/files/glob.h"
#include "plan/graph.h"

/* The file relative to `base`, or NULL: it is not below it. */
static const char *below(const char *base, const char *file)
{
  size_t n = strlen(base);
  if (strcmp(base, "/") == 0)
    return file + 1;
  return strncmp(base, file, n) == 0 && file[n] == '/' ? file + n + 1 : NULL;
}

static bool matches(const char *pattern, const char *name)
{
  struct tm_glob glob;
  bool yes;
  if (strncmp(pattern, name, strcspn(pattern, "*?[{\\")) != 0 || /* most names end here */
      tm_glob_init(&glob, pattern, NULL) < 0)
    return false;
  yes = tm_entry_name_matches(&glob, name);
  tm_glob_release(&glob);
  return yes;
}

/* For a path within the base, only the rest is matched: characters of the base are literal. */
static bool names_file(const char *path, const char *base_dir, const char *file)
{
  const char *name = below(base_dir, file);
  if (path[0] != '/' && path[0] != '.')
    return name && matches(path, name);
  char *absolute = tm_path_absolute(base_dir, path);
  bool yes = strcmp(absolute, base_dir) == 0 ? name != NULL : matches(absolute + 1, file + 1);
  free(absolute);
  return yes;
}

/* A manifest and a database are single files, not patterns. */
static bool names_in(const struct tm_dataset *d, const char *file)
{
  bool is_list = d->kind == TM_DATASET_MANIFEST || d->kind == TM_DATASET_FAILED ||
                 d->kind == TM_DATASET_SQL || d->step || !d->base_dir;
  for (size_t i = 0; !is_list && i < d->paths_len; i++)
    if (names_file(d->paths[i], d->base_dir, file))
      return true;
  return false;
}

static const struct tm_dataset *find_reader(const struct tm_step *s, const char *file)
{
  for (size_t i = 0; i < s->inputs_len; i++)
    if (names_in(s->inputs[i], file))
      return s->inputs[i];
  for (size_t i = 0; i < s->side_inputs_len; i++)
    if (names_in(s->side_inputs[i], file))
      return s->side_inputs[i];
  return NULL;
}

static int refuse(const struct tm_step *reader, const struct tm_dataset *d,
                  const struct tm_step *writer, const struct tm_step_output *out,
                  struct tm_err *err)
{
  return tm_err_set(err, TM_EUSAGE,
                    "destination '%s' of output '%s' of step '%s' (%s) is where %s%s%s reads its "
                    "input (%s); accepted: a folder that no input names; a step that reads it has "
                    "the output itself in its 'inputs'",
                    out->destination, out->name, writer->name, writer->where,
                    reader == writer ? "the step" : "step '", reader == writer ? "" : reader->name,
                    reader == writer ? "" : "'", d->where ? d->where : reader->where);
}

static int check_output(const struct tm_pipeline *p, const struct tm_step *writer,
                        const struct tm_step_output *out, struct tm_err *err)
{
  char *file = out->archive_format
                   ? tm_xstrdup(out->destination)
                   : tm_path_join(out->destination, writer->config.append_row_file_name);
  int rc = 0;
  for (size_t i = 0; i < p->steps_len && rc == 0; i++) {
    const struct tm_step *reader = p->steps[i];
    const struct tm_dataset *d = tm_step_needs(reader, writer) ? NULL : find_reader(reader, file);
    if (d)
      rc = refuse(reader, d, writer, out, err);
  }
  free(file);
  return rc;
}

/* Places of inputs. */

static int refuse_place(const struct tm_step *step, const struct tm_step_staging *in,
                        const struct tm_step *reader, const struct tm_dataset *d,
                        struct tm_err *err)
{
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' (%s), where an input of step '%s' is to appear, is within an input of "
                    "step '%s' (%s): what is put there would be listed with it; accepted: a path "
                    "that no input names",
                    in->path, in->dataset->where ? in->dataset->where : step->where, step->name,
                    reader->name, d->where ? d->where : reader->where);
}

static int check_place(const struct tm_pipeline *p, const struct tm_step *step,
                       const struct tm_step_staging *in, struct tm_err *err)
{
  char *file = tm_path_join(in->path, "x"); /* any name */
  int rc = 0;
  for (size_t i = 0; i < p->steps_len && rc == 0; i++) {
    const struct tm_dataset *d = find_reader(p->steps[i], file);
    if (d)
      rc = refuse_place(step, in, p->steps[i], d, err);
  }
  free(file);
  return rc;
}

int tm_overlap_check(const struct tm_pipeline *p, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < p->steps_len; i++)
    for (size_t k = 0; k < p->steps[i]->outputs_len && rc == 0; k++)
      if (p->steps[i]->outputs[k].destination)
        rc = check_output(p, p->steps[i], &p->steps[i]->outputs[k], err);
  for (size_t i = 0; i < p->steps_len; i++)
    for (size_t k = 0; k < p->steps[i]->stagings_len && rc == 0; k++)
      if (p->steps[i]->stagings[k].path)
        rc = check_place(p, p->steps[i], &p->steps[i]->stagings[k], err);
  return rc;
}
