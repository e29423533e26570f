/* probe_paths.c - see probe_paths.h. */
#include "job/probe_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "data/files/glob.h"

static bool has(char *const *list, size_t len, const char *path)
{
  for (size_t i = 0; i < len; i++)
    if (strcmp(list[i], path) == 0)
      return true;
  return false;
}

/* Takes over `path`. */
static void add_read(struct tm_probe_paths *p, char *path)
{
  if (p->reads.len < TM_PROBE_PATHS_MAX && path[0] == '/' && !has(p->reads.at, p->reads.len, path))
    *TM_ARRAY_ADD(&p->reads) = path;
  else
    free(path);
}

static void add_write(struct tm_probe_paths *p, const char *path)
{
  if (p->writes.len < TM_PROBE_PATHS_MAX && path[0] == '/' &&
      !has(p->writes.at, p->writes.len, path))
    *TM_ARRAY_ADD(&p->writes) = tm_xstrdup(path);
}

static void add_pattern(struct tm_probe_paths *p, const char *base_dir, const char *pattern)
{
  struct tm_glob glob;
  bool takes_file;
  char *plain;

  if (tm_glob_init(&glob, pattern, NULL) < 0)
    return; /* the lister reports it */
  plain = tm_glob_plain(&glob, &takes_file);
  add_read(p, tm_path_absolute(glob.is_absolute ? "/" : base_dir, plain ? plain : glob.start));
  free(plain);
  tm_glob_release(&glob);
}

static void add_dataset(struct tm_probe_paths *p, const struct tm_dataset *d)
{
  bool is_list = d->kind == TM_DATASET_MANIFEST || d->kind == TM_DATASET_FAILED;

  if (d->step || !d->base_dir || is_list)
    return;
  for (size_t i = 0; i < d->paths_len && p->reads.len < TM_PROBE_PATHS_MAX; i++)
    add_pattern(p, d->base_dir, d->paths[i]);
}

/* The supervisor itself writes the output file of append_row, which is in the first output. */
static void add_outputs(struct tm_probe_paths *p, const struct tm_step *step)
{
  for (size_t i = 0; i < step->outputs_len; i++) {
    const struct tm_step_output *o = &step->outputs[i];
    bool is_ours = i == 0 && step->config.output_action == TM_APPEND_ROW;
    if (o->destination && !o->is_upload && !is_ours)
      add_write(p, o->destination);
  }
}

void tm_probe_paths_add(struct tm_probe_paths *p, const struct tm_step *step,
                        const char *script_dir)
{
  const struct tm_config *c = &step->config;

  if (script_dir && !c->ships_source)
    add_read(p, tm_xstrdup(script_dir));
  if (step->working_dir)
    add_read(p, tm_xstrdup(step->working_dir));
  for (size_t i = 0; c->module_paths && c->module_paths[i] && !c->ships_source; i++)
    add_read(p, tm_xstrdup(c->module_paths[i]));
  for (size_t i = 0; i < step->side_inputs_len; i++)
    add_dataset(p, step->side_inputs[i]);
  for (size_t i = 0; i < step->read_paths_len; i++)
    add_read(p, tm_xstrdup(step->read_paths[i]));
  for (size_t i = 0; i < step->inputs_len; i++) /* last: there may be many */
    add_dataset(p, step->inputs[i]);
  add_outputs(p, step);
}

void tm_probe_paths_release(struct tm_probe_paths *p)
{
  for (size_t i = 0; i < p->reads.len; i++)
    free(p->reads.at[i]);
  for (size_t i = 0; i < p->writes.len; i++)
    free(p->writes.at[i]);
  TM_ARRAY_RELEASE(&p->reads);
  TM_ARRAY_RELEASE(&p->writes);
}
