/* one_step.c - see one_step.h.
 *
 *   words -> options | ENTRY INPUT... | ARGS -> the tree that a pipeline file would have made -> pipeline (checked)
 *
 * So a job of `map` is a job as any other: same checks, same record, resumed the same way.
 */
#include "cli/one_step.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "cli/execute.h"
#include "plan/datasets.h"
#include "plan/params.h"
#include "plan/pipeline.h"

#define NAME_LONGEST  32 /* of a step (plan/params.h) */
#define NAME_SHORTEST 3

char *tm_one_step_name(const char *script)
{
  struct tm_buf name = TM_BUF_NONE;
  char *stem = tm_path_stem(script), *text;
  for (const char *at = stem; *at && name.len < NAME_LONGEST; at++) {
    char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    bool is_letter = c >= 'a' && c <= 'z', is_digit = c >= '0' && c <= '9';
    if (is_letter || (is_digit && name.len > 0))
      tm_buf_add_char(&name, c);
    else if (name.len > 0 && name.data[name.len - 1] != '-')
      tm_buf_add_char(&name, '-');
  }
  while (name.len > 0 && name.data[name.len - 1] == '-')
    name.len--;
  if (name.len < NAME_SHORTEST)
    text = tm_xprintf("map%s%.*s", name.len > 0 ? "-" : "", (int)name.len, tm_buf_str(&name));
  else
    text = tm_xstrndup(name.data, name.len);
  tm_buf_release(&name);
  free(stem);
  return text;
}

/* Behind the first `--` everything is the script's. Returns how many words are ours. */
static int split(struct tm_one_step *s, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--") == 0) {
      s->arguments = argv + i + 1;
      s->arguments_len = (size_t)(argc - i - 1);
      return i;
    }
  return argc;
}

static int check_words(struct tm_one_step *s, const struct tm_one_step_options *given,
                       struct tm_err *err)
{
  if (s->words.len == 0)
    return tm_err_set(err, TM_EUSAGE, "an entry script is missing");
  if (s->words.len == 1)
    return tm_err_set(err, TM_EUSAGE,
                      "an input is missing; accepted: files, folders, patterns, or '-': paths from "
                      "standard input");
  for (size_t i = 1; i < s->words.len; i++) {
    s->has_stdin = s->has_stdin || strcmp(s->words.at[i], "-") == 0;
    if (!*s->words.at[i])
      return tm_err_set(err, TM_EUSAGE, "input %zu is empty; accepted: a file, a folder, a pattern",
                        i);
  }
  if (s->has_stdin && s->words.len > 2)
    return tm_err_set(err, TM_EUSAGE,
                      "'-' stands alone: paths come from standard input or are arguments");
  if (given->has_rows && s->has_stdin)
    return tm_err_set(err, TM_EUSAGE,
                      "'--rows' goes with files, folders and patterns: '-' is a list of files");
  if (given->entries && (s->has_stdin || given->has_rows))
    return tm_err_set(err, TM_EUSAGE,
                      "'--entries' goes with archives as inputs: files, folders and patterns");
  if (given->is_null_separated && !s->has_stdin)
    return tm_err_set(err, TM_EUSAGE,
                      "'-0' goes with '-': NUL between the paths of standard input");
  return 0;
}

static int check_entry(const struct tm_one_step *s, const char *entry, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int rc = fs->stat(fs->self, entry, true, &st);
  if (rc < 0)
    return tm_err_set(err, TM_EUSAGE, "cannot read the entry script '%s': %s", s->words.at[0],
                      tm_code_text(rc));
  if (!S_ISREG(st.mode))
    return tm_err_set(err, TM_EUSAGE, "'%s' is no file; accepted: an entry script in Lua",
                      s->words.at[0]);
  return 0;
}

/* The tree. */

static struct tm_json *tagged(const char *tag)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  v->tag = tm_xstrdup(tag);
  return v;
}

static struct tm_json *files_of(const struct tm_one_step *s,
                                const struct tm_one_step_options *given)
{
  struct tm_json *v = tagged("FileDataset");
  struct tm_json *paths = tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY));
  tm_json_set(v, "kind",
              tm_json_new_string(s->has_stdin     ? "manifest"
                                 : given->entries ? "archives"
                                                  : "files"));
  if (given->entries) {
    struct tm_json *options = tm_json_set(v, "options", tm_json_new(TM_JSON_OBJECT));
    tm_json_set(options, "entries", tm_json_new_string(given->entries));
  }
  for (size_t i = 1; i < s->words.len; i++)
    tm_json_add(paths, tm_json_new_string(s->words.at[i]));
  if (s->has_stdin)
    tm_json_set(v, "null_separated", tm_json_new_bool(given->is_null_separated));
  return v;
}

static struct tm_json *dataset_of(const struct tm_one_step *s,
                                  const struct tm_one_step_options *given, int64_t limit)
{
  struct tm_json *v = given->has_rows
                          ? tm_plan_table((const char *const *)s->words.at + 1, s->words.len - 1)
                          : files_of(s, given);
  if (given->partition_format)
    tm_json_set(v, "partition_format", tm_json_new_string(given->partition_format));
  if (limit > 0)
    tm_json_set(v, "limit", tm_json_new_int(limit));
  return v;
}

static struct tm_json *tree_of(const struct tm_one_step *s, struct tm_json *config,
                               struct tm_json *dataset)
{
  struct tm_json *pipeline = tagged("Pipeline"), *step = tagged("ParallelRunStep");
  struct tm_json *arguments = tm_json_set(step, "arguments", tm_json_new(TM_JSON_ARRAY));
  tm_json_set(step, "allow_reuse", tm_json_new_bool(false)); /* who types a command wants it run */
  char *name = tm_one_step_name(s->words.at[0]);
  for (size_t i = 0; i < s->arguments_len; i++)
    tm_json_add(arguments, tm_json_new_string(s->arguments[i]));
  tm_json_set(step, "name", tm_json_new_string(name));
  tm_json_set(step, "parallel_run_config", config);
  tm_json_add(tm_json_set(step, "inputs", tm_json_new(TM_JSON_ARRAY)), dataset);
  tm_json_set(pipeline, "name", tm_json_new_string(name));
  tm_json_add(tm_json_set(pipeline, "steps", tm_json_new(TM_JSON_ARRAY)), step);
  free(name);
  return pipeline;
}

static bool ends_in(const char *name, const char *end)
{
  size_t n = strlen(name), m = strlen(end);
  return n > m && strcmp(name + n - m, end) == 0;
}

/* The file in the job is named as the one that was asked for where that says of which kind it is. */
static void name_output(struct tm_json *config, const char *output)
{
  if (output && (ends_in(output, ".csv") || ends_in(output, ".tsv")) &&
      !tm_json_get(config, "append_row_file_name"))
    tm_json_set(config, "append_row_file_name", tm_json_new_string(tm_path_base(output)));
}

static int make_pipeline(struct tm_one_step *s, const struct tm_one_step_options *given,
                         const char *entry, struct tm_err *err)
{
  int64_t limit = 0;
  if (given->limit && (!tm_text_int(given->limit, &limit) || limit < 1))
    return tm_err_set(err, TM_EUSAGE, "'--limit' is \"%s\"; accepted: an integer from 1 on",
                      given->limit);
  struct tm_json *config = tm_config_words_read(&given->config, s->cwd, err);
  if (!config)
    return err->code;
  tm_json_set(config, "entry_script", tm_json_new_string(entry));
  name_output(config, given->output);
  struct tm_json *tree = tree_of(s, config, dataset_of(s, given, limit));
  s->pipeline = tm_pipeline_from_options(tree, s->cwd, err);
  tm_json_free(tree);
  return s->pipeline ? 0 : err->code;
}

/* As a pipeline of the library. */

/* A parameter as it was typed, in the words of tidemill_pipeline_set(). */
static int set_one(struct tidemill_pipeline *p, const struct tm_field *f,
                   const struct tm_words *words, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  int rc = 0;
  if (f->type == TM_FIELD_VARIABLES) {
    for (size_t i = 0; i < words->len && rc >= 0; i++)
      rc = tidemill_pipeline_set(p, f->name, words->at[i], err);
    return rc;
  }
  for (size_t i = f->type == TM_FIELD_NAMES ? 0 : words->len - 1; i < words->len; i++)
    tm_buf_printf(&names, "%s%s", names.len > 0 ? "," : "", words->at[i]);
  rc = tidemill_pipeline_set(p, f->name, tm_buf_str(&names), err);
  tm_buf_release(&names);
  return rc;
}

static int set_config(struct tidemill_pipeline *p, const struct tm_one_step_options *given,
                      struct tm_err *err)
{
  size_t n;
  const struct tm_field *fields = tm_params_fields("ParallelRunConfig", &n);
  int rc = tidemill_pipeline_set(p, "allow_reuse", "false", err);
  for (size_t i = 0; i < n && rc >= 0; i++)
    if (given->config.at[i].len > 0)
      rc = set_one(p, &fields[i], &given->config.at[i], err);
  return rc;
}

static int add_input(struct tidemill_pipeline *p, const struct tm_one_step *s,
                     const struct tm_one_step_options *given, struct tm_err *err)
{
  const char *first = s->words.at[1];
  int rc = given->has_rows  ? tidemill_pipeline_add_table(p, first, NULL, err)
           : given->entries ? tidemill_pipeline_add_archives(p, first, NULL, err)
           : s->has_stdin   ? tidemill_pipeline_add_manifest(p, first, NULL, err)
                            : tidemill_pipeline_add_files(p, first, NULL, err);
  const char *const options[][2] = {
    { "entries", given->entries },
    { "partition_format", given->partition_format },
    { "null_separated", given->is_null_separated ? "true" : NULL },
    { "limit", given->limit },
  };
  for (size_t i = 2; i < s->words.len && rc >= 0; i++)
    rc = tidemill_pipeline_add_path(p, s->words.at[i], err);
  for (size_t i = 0; i < TM_COUNT_OF(options) && rc >= 0; i++)
    if (options[i][1])
      rc = tidemill_pipeline_set_input(p, options[i][0], options[i][1], err);
  return rc;
}

int tm_one_step_build(struct tidemill_pipeline **out, const struct tm_one_step *s,
                      const struct tm_one_step_options *given, struct tidemill_runtime *rt,
                      struct tm_err *err)
{
  char *name = tm_one_step_name(s->words.at[0]);
  char *entry = tm_path_absolute(s->cwd, s->words.at[0]);
  int rc = tidemill_pipeline_new(out, rt, name, s->cwd, err);
  if (rc >= 0 && (rc = tidemill_pipeline_add_step(*out, name, entry, err)) >= 0 &&
      (rc = set_config(*out, given, err)) >= 0)
    rc = add_input(*out, s, given, err);
  for (size_t i = 0; i < s->arguments_len && rc >= 0; i++)
    rc = tidemill_pipeline_add_argument(*out, s->arguments[i], err);
  free(name);
  free(entry);
  return rc;
}

int tm_one_step_read(struct tm_one_step *s, const struct tm_config_options *options, int argc,
                     char **argv, void *out, const struct tm_one_step_options *given,
                     struct tm_err *err)
{
  char cwd[PATH_MAX];
  int rc = tm_options_read(options->all.at, options->all.len, split(s, argc, argv), argv, out,
                           &s->words, err);
  if (rc < 0 || (rc = check_words(s, given, err)) < 0)
    return rc;
  if (!getcwd(cwd, sizeof(cwd)))
    return tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
  s->cwd = tm_xstrdup(cwd);
  char *entry = tm_path_absolute(cwd, s->words.at[0]);
  if ((rc = check_entry(s, entry, err)) >= 0 && (rc = make_pipeline(s, given, entry, err)) >= 0)
    rc = tm_draft_check_scripts(s->pipeline, err);
  free(entry);
  return rc;
}

void tm_one_step_release(struct tm_one_step *s)
{
  TM_ARRAY_RELEASE(&s->words);
  tm_pipeline_free(s->pipeline);
  free(s->cwd);
}
