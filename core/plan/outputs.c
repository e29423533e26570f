/* outputs.c - see outputs.h. */
#include "plan/outputs.h"

#include <string.h>

#include "data/files/partition.h"
#include "plan/destination.h"
#include "params/params.h"
#include "plan/params_check.h"
#include "store/registry.h"

#define OUTPUT "OutputFileDatasetConfig"

static bool is_tagged(const struct tm_json *v, const char *tag)
{
  return v && v->tag && strcmp(v->tag, tag) == 0;
}

static const char *where_of(const struct tm_json *v)
{
  return v->where ? v->where : "of this pipeline";
}

static const char *name_of(const struct tm_json *v)
{
  return tm_json_str(v, "name", "");
}

/* Collecting. */

/* A single object counts as a list of one. NULL: there is no such output. */
static const struct tm_json *output_at(const struct tm_json *step, size_t i)
{
  const struct tm_json *output = tm_json_get(step, "output");
  if (is_tagged(output, OUTPUT))
    return i == 0 ? output : NULL;
  return output && output->type == TM_JSON_ARRAY && i < output->list.len ? output->list.at[i]
                                                                         : NULL;
}

static int check_names(const struct tm_json *step, size_t at, struct tm_err *err)
{
  for (size_t i = 0; i < at; i++)
    if (strcmp(name_of(output_at(step, i)), name_of(output_at(step, at))) == 0) {
      tm_err_set(err, TM_EUSAGE,
                 "two outputs are named '%s', at %s and %s; accepted: a name for each",
                 name_of(output_at(step, at)), where_of(output_at(step, i)),
                 where_of(output_at(step, at)));
      return tm_params_locate("ParallelRunStep", step, err);
    }
  return 0;
}

/* Whether they are the same, or one is within the other. */
static bool is_same_place(const char *a, const char *b)
{
  size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
  const char *longer = n < m ? b : a;
  return strncmp(a, b, least) == 0 && (longer[least] == 0 || longer[least] == '/');
}

static int check_place(const struct tm_outputs *o, const struct tm_output_known *k,
                       struct tm_err *err)
{
  for (size_t i = 0; k->destination && i < o->known.len; i++) {
    const struct tm_output_known *other = &o->known.at[i];
    if (!other->destination || !is_same_place(other->destination, k->destination))
      continue;
    tm_err_set(err, TM_EUSAGE,
               "'destination' is '%s', where step '%s' writes its output '%s' ('%s', at %s); "
               "accepted: a folder for each output, and none within another",
               k->destination, name_of(other->step), name_of(other->config), other->destination,
               where_of(other->config));
    return tm_params_locate(OUTPUT, k->config, err);
  }
  return 0;
}

static const char *mode_of(const struct tm_json *config)
{
  return tm_json_str(config, "mode", "mount");
}

static int check_destination(const struct tm_output_known *k, struct tm_err *err)
{
  bool is_archive = strcmp(mode_of(k->config), "archive") == 0;
  if (!is_archive && tm_json_get(k->config, "archive_format"))
    tm_err_set(err, TM_EUSAGE,
               "'%s' has an 'archive_format', and is not packed; as_archive(format) says both",
               name_of(k->config));
  else if (k->destination || strcmp(mode_of(k->config), "mount") == 0)
    return 0;
  else if (is_archive)
    tm_err_set(err, TM_EUSAGE,
               "'%s' is packed into an archive, and has no 'destination'; accepted: the file that "
               "it is to appear as; without as_archive() it is a folder in the job's directory",
               name_of(k->config));
  else
    tm_err_set(err, TM_EUSAGE,
               "'%s' is uploaded, and has no 'destination'; accepted: the folder that it is to "
               "appear as; without as_upload() it is in the job's directory",
               name_of(k->config));
  return tm_params_locate(OUTPUT, k->config, err);
}

static int check_writer(struct tm_outputs *o, const struct tm_json *config,
                        const struct tm_json *step, struct tm_err *err)
{
  bool is_new;
  uint64_t *place;
  if (config->id == 0)
    return 0;
  place = tm_map_add(&o->by_id, &config->id, sizeof(config->id), &is_new);
  if (is_new) {
    *place = o->known.len;
    return 0;
  }
  const struct tm_json *first = o->known.at[*place].step;
  if (first == step)
    tm_err_set(err, TM_EUSAGE, "output '%s' (%s) is in 'output' twice; accepted: each once",
               name_of(config), where_of(config));
  else
    tm_err_set(err, TM_EUSAGE,
               "output '%s' (%s) is written by step '%s' (%s), too; accepted: outputs of its own "
               "for each step",
               name_of(config), where_of(config), name_of(first), where_of(first));
  return tm_params_locate("ParallelRunStep", step, err);
}

/* Checked here rather than by a reader, because it is written here. */
static int check_partition_format(const struct tm_json *config, struct tm_err *err)
{
  const char *format = tm_json_str(config, "partition_format", NULL);
  struct tm_partition *p = format ? tm_partition_new(format, err) : NULL;
  tm_partition_free(p);
  if (!format || p)
    return 0;
  tm_err_wrap(err, "'partition_format' is \"%s\"", format);
  return tm_params_locate(OUTPUT, config, err);
}

static int collect_one(struct tm_outputs *o, const struct tm_json *step, size_t i,
                       const char *base_dir, struct tm_err *err)
{
  const struct tm_json *config = output_at(step, i);
  const char *destination = tm_json_str(config, "destination", NULL);
  struct tm_output_known k = { .config = config, .step = step };
  int rc;
  if (tm_params_check(OUTPUT, config, err) < 0 || check_partition_format(config, err) < 0)
    return TM_EUSAGE;
  k.folder = i == 0 ? tm_xprintf("%s/output", name_of(step))
                    : tm_xprintf("%s/output.%s", name_of(step), name_of(config));
  if (destination &&
      !(k.destination = tm_destination_new(destination, name_of(config), base_dir, err))) {
    free(k.folder);
    return tm_params_locate(OUTPUT, config, err);
  }
  if ((rc = check_writer(o, config, step, err)) < 0 || (rc = check_names(step, i, err)) < 0 ||
      (rc = check_destination(&k, err)) < 0 || (rc = check_place(o, &k, err)) < 0) {
    free(k.folder);
    free(k.destination);
    return rc;
  }
  *TM_ARRAY_ADD(&o->known) = k;
  return 0;
}

int tm_outputs_init(struct tm_outputs *o, const struct tm_json *steps, const char *base_dir,
                    struct tm_err *err)
{
  memset(o, 0, sizeof(*o));
  for (size_t i = 0; i < steps->list.len; i++) {
    const struct tm_json *step = steps->list.at[i];
    int rc = 0;
    *tm_map_add(&o->by_step, &step, sizeof(step), NULL) = o->known.len;
    for (size_t k = 0; rc == 0 && is_tagged(output_at(step, k), OUTPUT); k++)
      rc = collect_one(o, step, k, base_dir, err);
    if (rc < 0)
      return rc;
  }
  return 0;
}

void tm_outputs_release(struct tm_outputs *o)
{
  for (size_t i = 0; i < o->known.len; i++) {
    free(o->known.at[i].folder);
    free(o->known.at[i].destination);
    tm_dataset_free(o->known.at[i].read_as);
  }
  TM_ARRAY_RELEASE(&o->known);
  tm_map_release(&o->by_id);
  tm_map_release(&o->by_step);
}

/* One step. */

static void record_output(struct tm_json *list, const struct tm_step_output *out)
{
  struct tm_json *v = tm_json_add(list, tm_json_new(TM_JSON_OBJECT));
  tm_json_set(v, "name", tm_json_new_string(out->name));
  tm_json_set(v, "folder", tm_json_new_string(out->folder));
  if (out->destination) {
    tm_json_set(v, "destination", tm_json_new_string(out->destination));
    tm_json_set(v, "mode",
                tm_json_new_string(out->archive_format ? "archive"
                                   : out->is_upload    ? "upload"
                                                       : "mount"));
    tm_json_set_text(v, "archive_format", out->archive_format);
  }
}

/* The outputs of a step are consecutive, from *first on. */
static size_t count_of(const struct tm_outputs *o, const struct tm_json *step, size_t *first)
{
  const uint64_t *place = tm_map_find(&o->by_step, &step, sizeof(step));
  size_t n = 0;
  *first = place ? (size_t)*place : o->known.len;
  while (*first + n < o->known.len && o->known.at[*first + n].step == step)
    n++;
  return n;
}

/* The options for readers, and for the time after the step is Completed: they do not affect what
 * the step does, and so are not in its record. */
static int read_later_use(struct tm_step_output *out, const struct tm_json *config,
                          struct tm_err *err)
{
  const struct tm_json *tags = tm_json_get(config, "tags");
  out->partition_format = tm_xstrdup(tm_json_str(config, "partition_format", NULL));
  out->register_as = tm_xstrdup(tm_json_str(config, "register_as", NULL));
  out->description = tm_xstrdup(tm_json_str(config, "description", NULL));
  if (tags)
    out->tags = tm_params_value(tm_params_find(OUTPUT, "tags"), tags, err);
  if (!out->register_as || tm_registry_check_name(out->register_as, err) == 0)
    return 0;
  return tm_params_locate(OUTPUT, config, err);
}

int tm_outputs_fill(const struct tm_outputs *o, struct tm_step *s, const struct tm_json *v,
                    struct tm_err *err)
{
  struct tm_json *record = tm_json_new(TM_JSON_ARRAY);
  size_t first, n = count_of(o, v, &first);
  int rc = 0;
  s->outputs = tm_xcalloc(n > 0 ? n : 1, sizeof(*s->outputs));
  for (size_t i = first; i < first + n && rc == 0; i++) {
    const struct tm_output_known *k = &o->known.at[i];
    s->outputs[s->outputs_len++] = (struct tm_step_output) {
      .name = tm_xstrdup(name_of(k->config)),
      .folder = tm_xstrdup(k->folder),
      .destination = tm_xstrdup(k->destination),
      .is_upload = strcmp(mode_of(k->config), "mount") != 0,
      .archive_format = strcmp(mode_of(k->config), "archive") == 0
                            ? tm_xstrdup(tm_json_str(k->config, "archive_format", "zip"))
                            : NULL,
    };
    record_output(record, &s->outputs[s->outputs_len - 1]);
    rc = read_later_use(&s->outputs[s->outputs_len - 1], k->config, err);
  }
  if (n == 0)
    s->outputs[s->outputs_len++] =
        (struct tm_step_output) { .folder = tm_xprintf("%s/output", s->name) };
  tm_json_set(s->effective, "output", tm_json_new_string(s->outputs[0].name));
  tm_json_set(s->effective, "outputs", record);
  return rc;
}

/* Reading. */

static const struct tm_json *config_of(const struct tm_json *v)
{
  if (is_tagged(v, OUTPUT))
    return v;
  const struct tm_json *output = tm_json_get(v, "output");
  return is_tagged(v, "ParallelRunStep") || !is_tagged(output, OUTPUT) ? NULL : output;
}

bool tm_outputs_is_output(const struct tm_json *v)
{
  return config_of(v) != NULL;
}

const struct tm_output_known *tm_outputs_find(const struct tm_outputs *o, const struct tm_json *v,
                                              struct tm_err *err)
{
  const struct tm_json *config = config_of(v);
  const uint64_t *place = tm_map_find(&o->by_id, &config->id, sizeof(config->id));
  if (config->id != 0 && place)
    return &o->known.at[*place];
  tm_err_set(err, TM_EUSAGE,
             "output '%s' (%s) is written by no step of this pipeline; accepted: one that is "
             "in 'output' of a step in 'steps'",
             name_of(config), where_of(config));
  return NULL;
}

struct tm_json *tm_output_as_dataset(const struct tm_json *v, const char *step, const char *folder)
{
  struct tm_json *d = tm_json_new(TM_JSON_OBJECT), *paths = tm_json_new(TM_JSON_ARRAY);
  bool is_output = is_tagged(v, OUTPUT);
  const struct tm_json *format = tm_json_get(config_of(v), "partition_format");
  d->tag = tm_xstrdup(is_output ? "FileDataset" : v->tag);
  d->where = tm_xstrdup(v->where);
  if (is_output)
    tm_json_set(d, "kind", tm_json_new_string("files"));
  for (size_t i = 0; !is_output && i < v->list.len; i++)
    if (strcmp(v->keys[i], "output") != 0)
      tm_json_set(d, v->keys[i], tm_json_copy(v->list.at[i]));
  if (format && !tm_json_get(d, "partition_format"))
    tm_json_set(d, "partition_format", tm_json_copy(format));
  tm_json_add(paths, tm_json_new_string(folder));
  tm_json_set(d, "paths", paths);
  tm_json_set(d, "step", tm_json_new_string(step));
  return d;
}

struct tm_json *tm_outputs_input(const struct tm_outputs *o, const struct tm_json *v,
                                 struct tm_err *err)
{
  const struct tm_output_known *k;
  if (!tm_outputs_is_output(v))
    return tm_json_copy(v);
  k = tm_outputs_find(o, v, err);
  return k ? tm_output_as_dataset(v, name_of(k->step), k->folder) : NULL;
}

/* The record of an output itself; NULL: it is something else, or belongs to another pipeline. */
static struct tm_output_known *known_of(const struct tm_outputs *o, const struct tm_json *v)
{
  const uint64_t *place =
      is_tagged(v, OUTPUT) && v->id != 0 ? tm_map_find(&o->by_id, &v->id, sizeof(v->id)) : NULL;
  return place ? &o->known.at[*place] : NULL;
}

static bool is_same_text(const char *a, const char *b)
{
  return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct tm_dataset *tm_outputs_read_as(const struct tm_outputs *o, const struct tm_json *v)
{
  const struct tm_output_known *k = known_of(o, v);
  const struct tm_dataset *d = k ? k->read_as : NULL;
  return d && is_same_text(d->where, v->where) &&
                 is_same_text(d->partition_format, tm_json_str(v, "partition_format", NULL))
             ? d
             : NULL;
}

void tm_outputs_keep(const struct tm_outputs *o, const struct tm_json *v,
                     const struct tm_dataset *d)
{
  struct tm_output_known *k = known_of(o, v);
  if (k && !k->read_as)
    k->read_as = tm_dataset_copy(d);
}
