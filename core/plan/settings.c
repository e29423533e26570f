/* settings.c - a ParallelRunConfig: from the settings of the definition, with parameters resolved,
 * to a struct tm_config.
 *
 * Two steps. tm_settings_make() gives each parameter of the table its normalized value and its
 * origin: "default", "file", "option", "parameter", or "argument" (arguments.c). job.json stores
 * the result. tm_config_fill() makes the struct from it, with absolute and checked paths.
 */
#include "plan/settings.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "plan/aliases.h"
#include "plan/splitting.h"
#include "plan/environment.h"
#include "plan/node_settings.h"
#include "plan/names.h"
#include "params/params.h"
#include "sys/fs.h"
#include "sys/machine/gpus.h"
#include "sys/process.h"

extern const char tm_text_model_script[]; /* stdlib/tidemill/model_script.lua: CMakeLists.txt */

void tm_settings_add(struct tm_json *settings, const char *name, struct tm_json *value,
                     const char *origin)
{
  struct tm_json *setting = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(setting, "value", value);
  tm_json_set(setting, "origin", tm_json_new_string(origin));
  tm_json_set(settings, name, setting);
}

/* `alias`: the other name under which it was given, or NULL. 1: it counts as not given. */
static int add_given(struct tm_json *settings, const struct tm_field *f,
                     const struct tm_alias *alias, const struct tm_json *given,
                     const struct tm_values *params, const char *origin, struct tm_err *err)
{
  bool is_parameter = given->tag && strcmp(given->tag, "PipelineParameter") == 0;
  const struct tm_json *raw = is_parameter ? tm_values_find(params, given) : given;
  struct tm_json *ours = alias ? tm_alias_value(alias, raw) : NULL;
  if (alias && !ours)
    return 1;
  struct tm_json *value = tm_params_value(f, ours ? ours : raw, err);
  tm_json_free(ours);
  if (!value && is_parameter)
    return tm_err_wrap(err, "parameter '%s'", tm_json_str(given, "name", ""));
  if (!value)
    return err ? err->code : TM_EUSAGE;
  tm_settings_add(settings, f->name, value, is_parameter ? "parameter" : origin);
  if (is_parameter)
    tm_json_set(tm_json_get(settings, f->name), "parameter",
                tm_json_new_string(tm_json_str(given, "name", "")));
  return 0;
}

int64_t tm_settings_processes_default(void)
{
  return tm_gpus_are_here() ? 1 : tm_process_cores();
}

/* Each node that a command starts decides for itself. Such a value reads as 0. */
static struct tm_json *default_processes(const struct tm_json *config,
                                         const struct tm_values *params)
{
  const char *target = tm_json_str(config, "compute_target", "local");

  return strcmp(target, "local") == 0 ? tm_json_new_int(params->processes_default)
                                      : tm_json_new_string("node");
}

static void add_default(struct tm_json *settings, const struct tm_field *f,
                        const struct tm_json *config, const struct tm_step *step,
                        const struct tm_values *params)
{
  struct tm_json *otherwise = NULL;
  if (f->type == TM_FIELD_AMOUNT)
    otherwise = tm_splitting_default(config, step);
  else if (strcmp(f->name, "process_count_per_node") == 0)
    otherwise = default_processes(config, params);
  else
    otherwise = tm_params_default(f);
  if (otherwise)
    tm_settings_add(settings, f->name, otherwise, "default");
}

struct tm_json *tm_settings_make(const struct tm_json *config, const struct tm_step *step,
                                 const struct tm_values *params, const char *origin,
                                 struct tm_err *err)
{
  struct tm_json *settings = tm_json_new(TM_JSON_OBJECT);
  size_t n;
  const struct tm_field *fields = tm_params_fields("ParallelRunConfig", &n);
  for (size_t i = 0; i < n; i++) {
    const struct tm_json *given = tm_json_get(config, fields[i].name);
    const struct tm_alias *alias = given ? NULL : tm_alias_find(config, fields[i].name, &given);
    int rc = given ? add_given(settings, &fields[i], alias, given, params, origin, err) : 1;
    if (rc > 0)
      add_default(settings, &fields[i], config, step, params);
    if (rc < 0) {
      tm_params_locate("ParallelRunConfig", config, err);
      tm_json_free(settings);
      return NULL;
    }
  }
  fields = tm_params_fields("arguments", &n);
  for (size_t i = 0; i < n; i++)
    add_default(settings, &fields[i], config, step, params);
  return settings;
}

static const struct tm_json *setting(const struct tm_json *settings, const char *name)
{
  return tm_json_get(tm_json_get(settings, name), "value");
}

static int64_t int_setting(const struct tm_json *settings, const char *name)
{
  return tm_json_int(tm_json_get(settings, name), "value", 0);
}

static const char *text_setting(const struct tm_json *settings, const char *name)
{
  return tm_json_str(tm_json_get(settings, name), "value", NULL);
}

/* A record may hold any number; in int64_t there is room for 9e9 s. */
static int64_t ns_setting(const struct tm_json *settings, const char *name)
{
  double s = tm_json_num(tm_json_get(settings, name), "value", 0);
  return s > 0 && s < 9e9 ? (int64_t)(s * (double)TM_S + 0.5) : 0;
}

static bool is_word(const struct tm_json *settings, const char *name, const char *word)
{
  const char *text = text_setting(settings, name);
  return text && strcmp(text, word) == 0;
}

static void read_words(struct tm_config *c, const struct tm_json *settings)
{
  c->returns = is_word(settings, "returns", "auto")  ? TM_RETURNS_AUTO
               : is_word(settings, "returns", "any") ? TM_RETURNS_ANY
                                                     : TM_RETURNS_ROWS;
  c->interruptible = is_word(settings, "interruptible", "auto")   ? TM_INTERRUPTIBLE_AUTO
                     : is_word(settings, "interruptible", "true") ? TM_INTERRUPTIBLE
                                                                  : TM_NOT_INTERRUPTIBLE;
  c->logging_level = is_word(settings, "logging_level", "DEBUG")     ? TM_DEBUG
                     : is_word(settings, "logging_level", "WARNING") ? TM_WARNING
                                                                     : TM_INFO;
  c->monitor_interval_ns = is_word(settings, "resource_monitor_interval", "auto")
                               ? -1
                               : ns_setting(settings, "resource_monitor_interval");
  c->launches_nodes = c->uses_slurm || is_word(settings, "compute_target", "exec");
  c->output_action =
      is_word(settings, "output_action", "summary_only") ? TM_SUMMARY_ONLY : TM_APPEND_ROW;
}

static char **environment_of(const struct tm_json *variables)
{
  if (variables->list.len == 0)
    return NULL;
  char **out = tm_xcalloc(variables->list.len + 1, sizeof(*out));
  for (size_t i = 0; i < variables->list.len; i++)
    out[i] = tm_xprintf("%s=%s", variables->keys[i], variables->list.at[i]->string.at);
  return out;
}

static bool has_kind(const char *path, uint32_t kind)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  return fs->stat(fs->self, path, true, &st) == 0 && (st.mode & S_IFMT) == kind;
}

static bool is_within(const char *dir, const char *path)
{
  size_t n = strlen(dir);
  return strcmp(dir, "/") == 0 || (strncmp(dir, path, n) == 0 && path[n] == '/');
}

/* The script and its folder, absolute. They must exist, unless the job keeps its copy. */
static int fill_paths(struct tm_config *c, const struct tm_json *settings, const char *base_dir,
                      bool keeps_script, struct tm_err *err)
{
  const char *source = text_setting(settings, "source_directory"),
             *entry = text_setting(settings, "entry_script"), *foreign = tm_names_of_file(entry);
  c->source_directory = source ? tm_path_absolute(base_dir, source) : NULL;
  const char *dir = source ? c->source_directory : base_dir;
  c->entry_script = tm_path_absolute(dir, entry);
  if (foreign)
    return tm_err_set(err, TM_EUSAGE, "'entry_script' is \"%s\"; %s", entry, foreign);
  if (source && !keeps_script && !has_kind(c->source_directory, S_IFDIR))
    return tm_err_set(err, TM_EUSAGE, "'source_directory' is \"%s\"; there is no folder '%s'",
                      source, c->source_directory);
  if (source && !is_within(c->source_directory, c->entry_script))
    return tm_err_set(
        err, TM_EUSAGE,
        "'entry_script' is \"%s\", which is outside of source_directory '%s'; accepted: a "
        "file within it",
        entry, c->source_directory);
  if (!keeps_script && !has_kind(c->entry_script, S_IFREG))
    return tm_err_set(err, TM_EUSAGE, "'entry_script' is \"%s\"; there is no file '%s'", entry,
                      c->entry_script);
  return 0;
}

/* The script of a step with a model: model_script.h. */
static int fill_script(struct tm_config *c, const struct tm_json *settings,
                       const struct tm_step *step, const char *base_dir, struct tm_err *err)
{
  const char *given = text_setting(settings, "model");
  if (!given)
    return fill_paths(c, settings, base_dir, step->keeps_script, err);
  c->model = tm_path_absolute(base_dir, given);
  c->entry_script = tm_xprintf("script/%s/%s.lua", step->name, tm_path_base(c->model));
  c->script_text = tm_text_model_script;
  return 0;
}

static char **module_paths_of(const struct tm_json *environment, const char *base_dir)
{
  const struct tm_json *paths = tm_json_get(environment, "module_paths");
  size_t n = paths ? paths->list.len : 0;
  char **out = n > 0 ? tm_xcalloc(n + 1, sizeof(*out)) : NULL;
  for (size_t i = 0; i < n; i++)
    out[i] = tm_path_absolute(base_dir, paths->list.at[i]->string.at);
  return out;
}

static int fill_environment(struct tm_config *c, const struct tm_json *settings,
                            const char *base_dir, struct tm_err *err)
{
  const struct tm_json *environment = setting(settings, "environment");
  struct tm_json *all =
      tm_environment_variables(environment, setting(settings, "environment_variables"));
  int rc = tm_environment_add_paths(all, environment, base_dir, err);
  c->environment = environment_of(all);
  c->module_paths = module_paths_of(environment, base_dir);
  tm_json_free(all);
  return rc;
}

static int read_hosts(const char *base_dir, const char *name, struct tm_buf *out,
                      struct tm_err *err)
{
  char *path = tm_path_absolute(base_dir, name);
  struct tm_err why = TM_ERR_NONE;
  int rc = tm_fs_read_file(tm_fs_real(), path, TM_NODE_HOSTS_MAX, out, &why);
  free(path);
  return rc < 0 ? tm_err_set(err, TM_EUSAGE,
                             "'node_hosts' is \"%s\", a file with one name per line, which cannot "
                             "be read: %s; write the names into it, or in Lua a list: { \"%s\" }",
                             name, why.text, name)
                : 0;
}

static int fill_nodes(struct tm_config *c, const struct tm_json *settings, const char *base_dir,
                      struct tm_err *err)
{
  struct tm_node_settings s = { .node_count = c->node_count,
                                .is_exec = c->launches_nodes && !c->uses_slurm,
                                .has_processes = c->process_count_per_node > 0,
                                .command = setting(settings, "node_command"),
                                .hosts = setting(settings, "node_hosts"),
                                .is_slurm = c->uses_slurm,
                                .slurm_options = setting(settings, "slurm_options"),
                                .wants_slurm_jobs = c->wants_slurm_jobs };
  struct tm_buf file = TM_BUF_NONE;
  int rc = 0;
  if (s.hosts && s.hosts->type == TM_JSON_STRING)
    rc = read_hosts(base_dir, s.hosts->string.at, &file, err);
  s.hosts_text = tm_buf_str(&file);
  if (rc == 0)
    rc = tm_node_settings_check(&s, c, err);
  tm_buf_release(&file);
  return rc;
}

static void read_alike(struct tm_config *c, const struct tm_json *settings)
{
#define INT(field, name)        c->field = int_setting(settings, name);
#define NS(field, name)         c->field = ns_setting(settings, name);
#define BOOL(field, name)       c->field = tm_json_bool(tm_json_get(settings, name), "value", false);
#define WORD(field, name, word) c->field = is_word(settings, name, word);
  TM_CONFIG_MAP(INT, NS, BOOL, WORD)
#undef INT
#undef NS
#undef BOOL
#undef WORD
}

/* Those whose absence means something else than 0. */
static void read_optional(struct tm_config *c, const struct tm_json *settings)
{
  bool has_count = setting(settings, "allowed_failed_count");
  c->allowed_failed_count = has_count ? int_setting(settings, "allowed_failed_count") : -1;
  c->allowed_failed_percent =
      tm_json_num(tm_json_get(settings, "allowed_failed_percent"), "value", -1);
  c->retry_delay_ns = setting(settings, "retry_delay") ? ns_setting(settings, "retry_delay") : -1;
  c->is_profiled = setting(settings, "profiling_module") != NULL;
}

/* How data frames are written: according to append_row_separator and append_row_header, or
 * append_row_dataframe_header among the arguments; else by the name of the file. */
static void read_form(struct tm_config *c, const struct tm_json *settings)
{
  const char *name = text_setting(settings, "append_row_file_name");
  bool is_csv = name && tm_path_has_ending(name, ".csv");
  bool is_tsv = name && tm_path_has_ending(name, ".tsv");
  const char *separator = text_setting(settings, "append_row_separator");
  const struct tm_json *header = tm_json_get(settings, "append_row_dataframe_header");
  if (!header)
    header = tm_json_get(settings, "append_row_header");
  c->append_row_separator = is_csv ? ',' : is_tsv ? '\t' : ' ';
  if (separator)
    c->append_row_separator = separator[0] == '\\' && separator[1] == 't' ? '\t' : separator[0];
  c->append_row_header = tm_json_bool(header, "value", is_csv || is_tsv);
}

void tm_config_read(struct tm_config *c, const struct tm_json *settings)
{
  read_alike(c, settings);
  read_optional(c, settings);
  read_words(c, settings);
  read_form(c, settings);
  c->append_row_file_name = tm_xstrdup(text_setting(settings, "append_row_file_name"));
  c->description = tm_xstrdup(text_setting(settings, "description"));
  c->resume_from = tm_xstrdup(text_setting(settings, "resume_from"));
}

int tm_config_fill(struct tm_config *c, const struct tm_json *settings, const struct tm_step *step,
                   const char *base_dir, struct tm_err *err)
{
  tm_config_read(c, settings);
  int rc = tm_splitting_fill(c, settings, step, err);
  if (rc == 0)
    rc = fill_environment(c, settings, base_dir, err);
  if (rc == 0)
    rc = fill_nodes(c, settings, base_dir, err);
  return rc < 0 ? rc : fill_script(c, settings, step, base_dir, err);
}

/* Names in their order, and one hash over names and values. */
static struct tm_json *hide_values(const struct tm_json *variables)
{
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *names = tm_json_set(out, "names", tm_json_new(TM_JSON_ARRAY));
  struct tm_buf sorted = TM_BUF_NONE;
  struct tm_json_style style = { .sorted = true };
  for (size_t i = 0; i < variables->list.len; i++)
    tm_json_add(names, tm_json_new_string(variables->keys[i]));
  tm_json_write(&sorted, variables, style);
  char hex[17];
  snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)tm_hash64(sorted.data, sorted.len));
  tm_json_set(out, "hash", tm_json_new_string(hex));
  tm_buf_release(&sorted);
  return out;
}

void tm_settings_publish(struct tm_json *settings, const struct tm_config *c)
{
  struct tm_json *variables = tm_json_get(settings, "environment_variables");
  struct tm_json *environment = tm_json_get(tm_json_get(settings, "environment"), "value");
  if (variables)
    tm_json_set(variables, "value", hide_values(tm_json_get(variables, "value")));
  if (environment)
    tm_json_set(environment, "variables", hide_values(tm_json_get(environment, "variables")));
  if (c->model) {
    tm_json_set(tm_json_get(settings, "model"), "value", tm_json_new_string(c->model));
    tm_settings_add(settings, "entry_script", tm_json_new_string(c->entry_script), "model");
  } else {
    tm_json_set(tm_json_get(settings, "entry_script"), "value",
                tm_json_new_string(c->entry_script));
  }
  if (c->source_directory)
    tm_json_set(tm_json_get(settings, "source_directory"), "value",
                tm_json_new_string(c->source_directory));
}
