/* definition_facts.c - settings, parameters and inputs, from job.json: the same file of the last
 * Completed job (before_facts.c) says what differs. */
#include "insights/insight.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "params/params.h"

#define VALUE_MAX 4096 /* bytes of a value that is shown */

static char *text_of(const struct tm_json *v)
{
  char *text, *cut;
  if (!v)
    return NULL;
  text = v->type == TM_JSON_STRING ? tm_xstrdup(v->string.at) : tm_json_text(v);
  if (strlen(text) <= VALUE_MAX)
    return text;
  cut = tm_xprintf("%.*s...", VALUE_MAX, text);
  free(text);
  return cut;
}

/* Of environment variables, the names: job.json has no values, but somebody else's file might. */
static char *value_of(const char *name, const struct tm_json *v)
{
  const struct tm_json *value = tm_json_get(v, "value");
  if (strcmp(name, "environment_variables") != 0)
    return text_of(value);
  const struct tm_json *names = tm_json_get(value, "names");
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < tm_json_items(names); i++)
    if (names->list.at[i]->type == TM_JSON_STRING)
      tm_buf_printf(&text, "%s%s", i > 0 ? ", " : "", names->list.at[i]->string.at);
  return tm_buf_take(&text);
}

static const struct tm_json *object(const struct tm_json *v)
{
  return v && v->type == TM_JSON_OBJECT ? v : NULL;
}

static const struct tm_json *step_named(const struct tm_json *definition, const char *name)
{
  const struct tm_json *steps = tm_json_get(definition, "steps");
  for (size_t i = 0; i < tm_json_items(steps); i++)
    if (strcmp(tm_json_str(steps->list.at[i], "name", ""), name) == 0)
      return steps->list.at[i];
  return NULL;
}

/* ---- settings ---- */

/* The earlier value, if it differs. */
static const char *before(struct tidemill_insight *in, const struct tm_json *settings,
                          const char *name, const char *value)
{
  const struct tm_json *old = tm_json_get(settings, name);
  char *text = old ? value_of(name, old) : NULL;
  if (text && strcmp(text, tm_text_or_empty(value)) != 0)
    return tm_insight_own(in, text);
  free(text);
  return NULL;
}

/* "file", or "parameter workers" */
static const char *origin_of(struct tidemill_insight *in, const struct tm_json *setting)
{
  const char *origin = tm_json_str(setting, "origin", "");
  const char *parameter = tm_json_str(setting, "parameter", "");
  return *parameter ? tm_insight_own(in, tm_xprintf("%s %s", origin, parameter))
                    : tm_insight_keep(in, origin);
}

static void add_settings(struct tidemill_insight *in, struct tm_fact_step *s,
                         const struct tm_json *definition)
{
  const struct tm_json *settings = object(tm_json_get(definition, "settings")), *old;
  old = tm_json_get(tm_json_get(step_named(in->before, s->name), "definition"), "settings");
  for (size_t i = 0; settings && i < settings->list.len; i++) {
    const char *name = settings->keys[i];
    const struct tm_json *v = settings->list.at[i];
    const char *value = tm_insight_own(in, value_of(name, v));
    const char *origin = tm_json_str(v, "origin", "");
    const struct tm_field *field = tm_params_find("ParallelRunConfig", name);
    *TM_ARRAY_ADD(&s->settings) = (struct tm_fact_setting) {
      .name = tm_insight_keep(in, name),
      .value = value,
      .origin = origin_of(in, v),
      .is_default = strcmp(origin, "default") == 0,
      .is_bytes = field && field->type == TM_FIELD_SIZE,
      .before = before(in, old, name, value),
    };
  }
}

static const struct tm_json *setting(const struct tm_json *definition, const char *name)
{
  return tm_json_get(tm_json_get(definition, "settings"), name);
}

static void read_figures(struct tidemill_insight *in, struct tm_fact_step *s,
                         const struct tm_json *step, const struct tm_json *definition)
{
  int64_t nodes = tm_json_int(setting(definition, "node_count"), "value", 1);
  int64_t processes = tm_json_int(setting(definition, "process_count_per_node"), "value", 0);
  s->error_threshold = tm_json_int(setting(definition, "error_threshold"), "value", -1);
  s->mini_batch_size = tm_json_int(setting(definition, "mini_batch_size"), "value", 0);
  s->run_invocation_timeout_s =
      tm_json_num(setting(definition, "run_invocation_timeout"), "value", 0);
  s->worker_memory_limit = tm_json_int(setting(definition, "worker_memory_limit"), "value", 0);
  s->workers_wanted = processes > 0 && nodes > 0 && nodes < INT32_MAX && processes < INT32_MAX
                          ? nodes * processes
                          : 0;
  s->script = tm_insight_keep(in, tm_json_str(setting(definition, "entry_script"), "value",
                                              tm_json_str(step, "script", "")));
  s->script_hash = tm_insight_keep(in, tm_json_str(definition, "snapshot_hash", ""));
  const char *old =
      tm_json_str(tm_json_get(step_named(in->before, s->name), "definition"), "snapshot_hash", "");
  if (strcmp(old, tm_text_or_empty(s->script_hash)) != 0)
    s->script_hash_before = tm_insight_keep(in, old);
}

/* ---- inputs ---- */

/* "/data/in/a-*, /data/in/b-*" */
static char *where_of(const struct tm_json *input)
{
  const struct tm_json *paths = tm_json_get(input, "paths");
  const char *base = tm_json_str(input, "base_dir", "");
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < tm_json_items(paths) && text.len < VALUE_MAX; i++) {
    if (paths->list.at[i]->type != TM_JSON_STRING)
      continue;
    const char *path = paths->list.at[i]->string.at;
    char *place = *base == '/' ? tm_path_absolute(base, path) : tm_xstrdup(path);
    tm_buf_printf(&text, "%s%.*s", i > 0 ? ", " : "", VALUE_MAX, place);
    free(place);
  }
  return tm_buf_take(&text);
}

static void add_input(struct tidemill_insight *in, struct tm_fact_step *s,
                      const struct tm_json *input)
{
  int64_t version = tm_json_int(input, "version", 0);
  const char *step = tm_json_str(input, "step", "");
  *TM_ARRAY_ADD(&s->inputs) = (struct tm_fact_input) {
    .name = tm_insight_keep(in, tm_json_str(input, "name", tm_json_str(input, "registered", ""))),
    .kind = tm_insight_keep(in, tm_json_str(input, "kind", "files")),
    .where = tm_insight_own(in, where_of(input)),
    .version = version > 0 ? tm_insight_own(in, tm_xprintf("%lld", (long long)version)) : NULL,
    .files = -1,
    .bytes = -1,
  };
  for (size_t i = 0; *step && i < in->job.steps.len; i++)
    if (strcmp(in->job.steps.at[i].name, step) == 0)
      *TM_ARRAY_ADD(&s->after) = i;
}

static void add_step(struct tidemill_insight *in, struct tm_fact_step *s,
                     const struct tm_json *step)
{
  const struct tm_json *definition = tm_json_get(step, "definition");
  const struct tm_json *inputs = tm_json_get(definition, "inputs");
  read_figures(in, s, step, definition);
  add_settings(in, s, definition);
  for (size_t i = 0; i < tm_json_items(inputs); i++)
    add_input(in, s, inputs->list.at[i]);
}

/* ---- parameters ---- */

static const struct tm_json *parameters_of(const struct tm_json *definition, size_t step)
{
  const struct tm_json *steps = tm_json_get(definition, "steps");
  return object(tm_json_get(tm_json_get(steps->list.at[step], "definition"), "parameters"));
}

/* The value of a parameter: that of a step, or what was given. */
static const struct tm_json *parameter_of(const struct tm_json *definition, const char *name)
{
  for (size_t i = 0; i < tm_json_items(tm_json_get(definition, "steps")); i++) {
    const struct tm_json *v = tm_json_get(parameters_of(definition, i), name);
    if (v)
      return tm_json_get(v, "value");
  }
  return tm_json_get(tm_json_get(definition, "params"), name);
}

static bool has_parameter(const struct tidemill_insight *in, const char *name)
{
  bool found = false;
  for (size_t i = 0; i < in->job.parameters.len && !found; i++)
    found = strcmp(in->job.parameters.at[i].name, name) == 0;
  return found;
}

static void add_parameter(struct tidemill_insight *in, const char *name,
                          const struct tm_json *value, const char *origin)
{
  if (!*name || has_parameter(in, name))
    return;
  char *text = text_of(value), *was = text_of(parameter_of(in->before, name));
  bool is_other = was && strcmp(was, tm_text_or_empty(text)) != 0;
  *TM_ARRAY_ADD(&in->job.parameters) = (struct tm_fact_setting) {
    .name = tm_insight_keep(in, name),
    .value = tm_insight_own(in, text),
    .origin = tm_insight_keep(in, origin),
    .is_default = strcmp(origin, "default") == 0,
    .before = is_other ? tm_insight_keep(in, was) : NULL,
  };
  free(was);
}

/* Those that steps use, and those that were given for nothing. */
static void add_parameters(struct tidemill_insight *in, const struct tm_json *definition)
{
  const struct tm_json *params = object(tm_json_get(definition, "params"));
  for (size_t i = 0; i < tm_json_items(tm_json_get(definition, "steps")); i++) {
    const struct tm_json *used = parameters_of(definition, i);
    for (size_t k = 0; used && k < used->list.len; k++)
      add_parameter(in, used->keys[k], tm_json_get(used->list.at[k], "value"),
                    tm_json_str(used->list.at[k], "origin", ""));
  }
  for (size_t i = 0; params && i < params->list.len; i++)
    add_parameter(in, params->keys[i], params->list.at[i], "given");
}

void tm_insight_read_definition(struct tidemill_insight *in)
{
  struct tm_json *v = tm_json_of(tidemill_record_definition(in->record));
  in->job.version = tm_insight_keep(in, tm_json_str(v, "tidemill", ""));
  add_parameters(in, v);
  for (size_t i = 0; i < in->job.steps.len; i++)
    add_step(in, &in->job.steps.at[i], step_named(v, in->job.steps.at[i].name));
  tm_json_free(v);
}
