/* one_step.c - see one_step.h. A job of `map` is an ordinary job: same checks, same record, resumed
 * in the same way. */
#include "cli/one_step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/launch.h"

#define NAME_LONGEST  32 /* of a step (params/params.h) */
#define NAME_SHORTEST 3
#define A_COMMAND                                                                                  \
  "; it is a file in Lua, not a command: its run(mini_batch) may run programs by "                 \
  "require(\"tidemill.process\").run { \"wc\", path }"

const char *const tm_output_formats[] = { "text", "csv", "tsv", NULL };
const char *const tm_input_formats[] = { "csv", "tsv", "jsonl", NULL };

bool tm_one_step_asks_for_model_help(int argc, char **argv)
{
  bool has_model = false, is_behind = false;
  for (int i = 1; i < argc; i++) {
    bool is_help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    if (has_model && is_behind && is_help)
      return true;
    has_model = has_model || (!is_behind && strncmp(argv[i], "--model", 7) == 0 &&
                              (argv[i][7] == '\0' || argv[i][7] == '='));
    is_behind = is_behind || strcmp(argv[i], "--") == 0;
  }
  return false;
}

int tm_one_step_model_help(const struct tm_cli *cli)
{
  char *words[] = { (char *)"lua", (char *)"-e",
                    (char *)"io.write(require('tidemill.model_options').parser():format_help())",
                    NULL };
  return tm_command_lua.run(cli, 3, words);
}

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

/* ---- command line ---- */

/* Everything after the first `--` belongs to the script. Returns how many words are ours. */
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

/* Words of GNU parallel. None is a path here, unless a file has that name. */
static int check_habit(const char *word, struct tm_err *err)
{
  bool is_separator = strncmp(word, ":::", 3) == 0 && strspn(word, ":+") == strlen(word);
  bool is_braces = strcmp(word, "{}") == 0;
  if ((!is_separator && !is_braces) || access(word, F_OK) == 0)
    return 0;
  if (is_braces)
    return tm_err_set(err, TM_EUSAGE, "leave out '{}': run(mini_batch) gets the paths");
  return tm_err_set(err, TM_EUSAGE, "leave out '%s': the inputs are all words after the script%s",
                    word, word[3] == ':' ? ", and '-' is a list of them on standard input" : "");
}

/* A pipe is most often a list of paths: <(find ...). */
static int check_pipe(const char *word, struct tm_err *err)
{
  struct stat st;
  if (stat(word, &st) < 0 || !S_ISFIFO(st.st_mode))
    return 0;
  return tm_err_set(
      err, TM_EUSAGE,
      "'%s' is a pipe, and an input is a file; if it is a list of paths, '-' reads it "
      "from standard input: tidemill map ENTRY.lua - <PIPE",
      word);
}

/* The inputs among the words. */
static char *const *inputs_of(const struct tm_one_step *s, size_t *n)
{
  size_t first = s->model ? 0 : 1;
  *n = s->words.len > first ? s->words.len - first : 0;
  return (char *const *)s->words.at + first;
}

static int check_missing(const struct tm_one_step *s, size_t inputs, struct tm_err *err)
{
  if (s->words.len == 0 && !s->model)
    return tm_err_set(err, TM_EUSAGE, "an entry script is missing%s",
                      s->arguments ? "; '--' comes after all inputs"
                                   : ", or a model: --model FILE");
  if (inputs == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "an input is missing; accepted: files, folders, patterns, or '-': paths from "
                      "standard input");
  if (s->model && tm_path_has_ending(s->words.at[0], ".lua"))
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is an entry script, and '--model' takes its place; accepted: one of "
                      "them",
                      s->words.at[0]);
  return 0;
}

static int check_inputs(struct tm_one_step *s, struct tm_err *err)
{
  size_t n;
  char *const *inputs = inputs_of(s, &n);
  if (check_missing(s, n, err) < 0)
    return err->code;
  for (size_t i = 0; i < n; i++) {
    if (check_habit(inputs[i], err) < 0 || check_pipe(inputs[i], err) < 0)
      return err->code;
    s->has_stdin = s->has_stdin || strcmp(inputs[i], "-") == 0;
    if (!*inputs[i])
      return tm_err_set(err, TM_EUSAGE, "input %zu is empty; accepted: a file, a folder, a pattern",
                        i + 1);
  }
  if (s->has_stdin && n > 1)
    return tm_err_set(err, TM_EUSAGE,
                      "'-' stands alone: paths come from standard input or are arguments");
  return 0;
}

/* Refuses an option for another kind of inputs. */
static int check_group(const struct tm_one_step_options *given, enum tm_parameter_group group,
                       bool is_right, const char *goes_with, struct tm_err *err)
{
  char *name = is_right ? NULL : tm_parameter_words_first(&given->parameters, group);
  int rc = name ? tm_err_set(err, TM_EUSAGE, "'--%s' goes with %s", name, goes_with) : 0;
  free(name);
  return rc;
}

int tm_one_step_check_tables(const char *const *paths, size_t n, struct tm_err *err)
{
  const char *first = n > 0 ? tm_path_table_format(paths[0]) : NULL;
  for (size_t i = 1; first && i < n; i++) {
    const char *format = tm_path_table_format(paths[i]);
    if (format && strcmp(format, first) != 0)
      return tm_err_set(err, TM_EUSAGE,
                        "'%s' is a %s file, and '%s' a %s file; run the command for each format, "
                        "or name the format of all files: --input-format %s",
                        paths[0], first, paths[i], format, first);
  }
  return 0;
}

static int check_options(const struct tm_one_step *s, const struct tm_one_step_options *given,
                         struct tm_err *err)
{
  if (given->has_rows && s->has_stdin)
    return tm_err_set(err, TM_EUSAGE,
                      "'--rows' goes with files, folders and patterns: '-' is a list of files");
  if (given->entries && given->has_rows)
    return tm_err_set(err, TM_EUSAGE,
                      "'--rows' and '--entries' exclude each other: the inputs are tables or "
                      "archives");
  if (given->entries && s->has_stdin)
    return tm_err_set(err, TM_EUSAGE,
                      "'--entries' goes with archives as inputs: files, folders and patterns");
  if (given->is_null_separated && !s->has_stdin)
    return tm_err_set(err, TM_EUSAGE,
                      "'-0' goes with '-': NUL between the paths of standard input");
  if (given->input_format && !given->has_rows)
    return tm_err_set(err, TM_EUSAGE,
                      "'--input-format' goes with --rows: it says how tables are "
                      "read");
  size_t n;
  char *const *inputs = inputs_of(s, &n);
  if (given->has_rows && !given->input_format &&
      tm_one_step_check_tables((const char *const *)inputs, n, err) < 0)
    return err->code;
  if (check_group(given, TM_PARAMETERS_TABLES, given->has_rows,
                  "--rows: it says how tables are read", err) < 0 ||
      check_group(given, TM_PARAMETERS_ARCHIVES, given->entries,
                  "--entries: it says how archives are read", err) < 0)
    return err->code;
  if (s->has_stdin &&
      tm_parameter_words_last(&given->parameters, TM_PARAMETERS_FILES, "on_unreadable"))
    return tm_err_set(err, TM_EUSAGE,
                      "'--on-unreadable' goes with files, folders and patterns: the paths of "
                      "standard input are not looked at");
  int64_t limit;
  if (given->limit && (!tm_text_int(given->limit, &limit) || limit < 1))
    return tm_err_set(err, TM_EUSAGE, "'--limit' is \"%s\"; accepted: an integer from 1 on",
                      given->limit);
  return 0;
}

static int check_entry(const struct tm_one_step *s, struct tm_err *err)
{
  struct stat st;
  const char *script = s->model ? NULL : s->words.at[0];
  if (!script)
    return 0;
  if (stat(script, &st) < 0)
    return tm_err_set(err, TM_EUSAGE, "cannot read the entry script '%s': %s%s", script,
                      tm_code_text(-errno), tm_path_has_ending(script, ".lua") ? "" : A_COMMAND);
  if (!S_ISREG(st.st_mode))
    return tm_err_set(err, TM_EUSAGE, "'%s' is not a file; accepted: an entry script in Lua",
                      s->words.at[0]);
  return 0;
}

int tm_one_step_read(struct tm_one_step *s, const struct tm_parameter_options *options, int argc,
                     char **argv, void *out, const struct tm_one_step_options *given,
                     struct tm_err *err)
{
  int rc = tm_options_read(options->all.at, options->all.len, split(s, argc, argv), argv, out,
                           &s->words, err);
  s->model = tm_parameter_words_last(&given->parameters, TM_PARAMETERS_CONFIG, "model");
  if (rc < 0 || (rc = check_inputs(s, err)) < 0 || (rc = check_options(s, given, err)) < 0)
    return rc;
  char *cwd = tm_launch_path(".", err); /* the current directory must exist */
  free(cwd);
  return cwd ? check_entry(s, err) : err->code;
}

/* ---- pipeline ---- */

static int set_parameter(void *data, const char *name, const char *value, struct tm_err *err)
{
  return tidemill_pipeline_step_set(data, name, value, err);
}

static int set_input(void *data, const char *name, const char *value, struct tm_err *err)
{
  return tidemill_pipeline_input_set(data, name, value, err);
}

/* Sets how data frames are written: by --output-format, or else by the ending of --output, which
 * the file in the job then has too. Parameters given by their own names are set later, and so
 * override this. */
static int set_form(struct tidemill_pipeline_step *step, const struct tm_one_step_options *given,
                    struct tm_err *err)
{
  const char *output = given->output, *format = given->format;
  bool has_form =
      output && (tm_path_has_ending(output, ".csv") || tm_path_has_ending(output, ".tsv"));
  int rc = has_form
               ? tidemill_pipeline_step_set(step, "append_row_file_name", tm_path_base(output), err)
               : 0;
  if (rc < 0 || !format)
    return rc;
  bool is_text = strcmp(format, "text") == 0;
  const char *separator = is_text ? " " : strcmp(format, "tsv") == 0 ? "\\t" : ",";
  rc = tidemill_pipeline_step_set(step, "append_row_separator", separator, err);
  return rc < 0 ? rc
                : tidemill_pipeline_step_set(step, "append_row_header", is_text ? "false" : "true",
                                             err);
}

static int set_input_options(struct tidemill_pipeline_input *input,
                             const struct tm_one_step_options *given, struct tm_err *err)
{
  const char *const own[][2] = {
    { "format", given->input_format }, /* comes first, because the others depend on it */
    { "entries", given->entries },
    { "null_separated", given->is_null_separated ? "true" : NULL },
    { "limit", given->limit },
  };
  int rc = 0;
  for (size_t i = 0; i < TM_COUNT_OF(own) && rc >= 0; i++)
    if (own[i][1])
      rc = tidemill_pipeline_input_set(input, own[i][0], own[i][1], err);
  for (int group = 0; group < TM_PARAMETERS_CONFIG && rc >= 0; group++)
    rc = tm_parameter_words_each(&given->parameters, (enum tm_parameter_group)group, set_input,
                                 input, err);
  return rc;
}

static int add_input(struct tidemill_pipeline_step *step, const struct tm_one_step *s,
                     const struct tm_one_step_options *given, struct tm_err *err)
{
  size_t n;
  char *const *inputs = inputs_of(s, &n);
  tm_require(n > 0); /* tm_one_step_read() refuses less */
  const char *first = inputs[0];
  struct tidemill_pipeline_input *input;
  int rc = given->has_rows  ? tidemill_pipeline_step_add_table(&input, step, first, NULL, err)
           : given->entries ? tidemill_pipeline_step_add_archives(&input, step, first, NULL, err)
           : s->has_stdin   ? tidemill_pipeline_step_add_manifest(&input, step, first, NULL, err)
                            : tidemill_pipeline_step_add_files(&input, step, first, NULL, err);
  for (size_t i = 1; i < n && rc >= 0; i++)
    rc = tidemill_pipeline_input_add_path(input, inputs[i], err);
  return rc < 0 ? rc : set_input_options(input, given, err);
}

static int add_step(struct tidemill_pipeline *p, const struct tm_one_step *s,
                    const struct tm_one_step_options *given, struct tm_err *err)
{
  char *path = tm_launch_path(s->model ? s->model : s->words.at[0], err);
  struct tidemill_pipeline_step *step = NULL;
  int rc = !path ? err->code
           : s->model
               ? tidemill_pipeline_add_model_step(&step, p, tidemill_pipeline_name(p), path, err)
               : tidemill_pipeline_add_step(&step, p, tidemill_pipeline_name(p), path, err);
  free(path);
  if (rc == 0)
    rc = tidemill_pipeline_set_working_dir(p, ".", err);
  if (rc == 0) /* a user who types a command wants it to run */
    rc = tidemill_pipeline_step_set(step, "allow_reuse", "false", err);
  if (rc == 0)
    rc = set_form(step, given, err);
  if (rc == 0)
    rc =
        tm_parameter_words_each(&given->parameters, TM_PARAMETERS_CONFIG, set_parameter, step, err);
  if (rc == 0)
    rc = add_input(step, s, given, err);
  for (size_t i = 0; i < s->arguments_len && rc == 0; i++)
    rc = tidemill_pipeline_step_add_argument(step, s->arguments[i], err);
  return rc;
}

/* Adds the short option to a message for a user who typed it. */
static int name_letter(struct tm_err *err)
{
  static const char *const names[][2] = {
    { "'--mini-batch-size'", "'-N' (--mini-batch-size)" },
    { "'--process-count-per-node'", "'-j' (--process-count-per-node)" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    size_t n = strlen(names[i][0]);
    if (strncmp(err->text, names[i][0], n) != 0)
      continue;
    char *rest = tm_xstrdup(err->text + n);
    tm_err_set(err, err->code, "%s%s", names[i][1], rest);
    free(rest);
  }
  return err->code;
}

int tm_one_step_build(struct tidemill_pipeline **out, const struct tm_one_step *s,
                      const struct tm_one_step_options *given, struct tidemill_runtime *rt,
                      struct tm_err *err)
{
  char *name = tm_one_step_name(s->model ? s->model : s->words.at[0]);
  int rc = tidemill_pipeline_new(out, rt, name, NULL, err);
  free(name);
  if (rc == 0)
    rc = add_step(*out, s, given, err);
  if (rc == 0)
    rc = tidemill_pipeline_check(*out, err);
  if (rc < 0)
    tm_parameter_words_in_error(err);
  return rc < 0 ? name_letter(err) : rc;
}

void tm_one_step_release(struct tm_one_step *s)
{
  TM_ARRAY_RELEASE(&s->words);
}
