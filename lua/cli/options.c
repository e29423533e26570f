/* options.c - see options.h.
 *
 * It never guesses values: it refuses an option that needs one if another option, or nothing,
 * follows. A word that begins with one dash must be "-", which is left over, or a short option: a
 * typing error must not become a file name.
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define HELP_COLUMN 24 /* where the help of an option begins */
#define OPTIONS_MAX 96 /* of a table; a longer one needs another way to find the nearest name */
#define LISTED_MAX  12 /* options that a message lists */
#define PART_MIN    3  /* the shortest part of a name that tells which option was meant */

/* Treats '-' and '_' as equal; `n`: bytes of `given`. */
static bool is_name(const char *name, const char *given, size_t n)
{
  if (strlen(name) != n)
    return false;
  for (size_t i = 0; i < n; i++) {
    char a = name[i] == '_' ? '-' : name[i], b = given[i] == '_' ? '-' : given[i];
    if (a != b)
      return false;
  }
  return true;
}

const char *tm_option_dashes(const struct tm_option *o)
{
  return o->name[1] ? "--" : "-";
}

/* "--mini-batch-size", "-N" */
static void add_name(struct tm_buf *out, const struct tm_option *o)
{
  tm_buf_add_str(out, tm_option_dashes(o));
  for (const char *c = o->name; *c; c++)
    tm_buf_add_char(out, *c == '_' ? '-' : *c);
}

/* Options that users of ParallelRunStep, GNU parallel and Snakemake try, and what to write instead.
 * A line holds for the commands that have `option`. */
static const struct {
  const char *names; /* separated by '|', with '_' */
  const char *option;
  const char *words;
} habits[] = {
  { "pipeline_parameters|parameters|set", "param", "write --param NAME=VALUE" },
  { "regenerate_outputs|force_rerun|force|forceall", "no_reuse", "write --no-reuse" },
  { "experiment_name|experiment|workspace_name|resource_group|subscription_id", "job_dir",
    "leave it out: a job is in the workspace of its pipeline file" },
  { "entry_script|inputs|input|input_data", "mini_batch_size",
    "write tidemill map ENTRY.lua INPUT..." },
  { "labels|softmax|width|height|resize|crop|preset|layout|mean|std", "model",
    "with --model write it after '--': tidemill map --model FILE INPUT... -- --labels FILE" },
  { "arg_file|files_from|a", "mini_batch_size", "write tidemill map ENTRY.lua - <FILE" },
  { "file|pipeline", "param", "write the path alone: tidemill run PIPELINE.lua" },
  { "jobs|max_procs|cores|workers|P", "j", "write -j N" },
  { "max_args|max_replace_args|batch_size|n", "N", "write -N N" },
  { "null|print0|zero", "0", "write -0" },
  { "delimiter|d", "0", "leave it out: a path ends with its line, or with -0 at a NUL byte" },
  { "colsep|C", "separator", "write --rows --separator CHARACTER" },
  { "pipe|pipepart|block", "mini_batch_size",
    "leave it out: run() opens the files itself; for rows of tables, write --rows -N 10MB" },
  { "replace|I|i|X|xargs", "mini_batch_size",
    "leave it out: run(mini_batch) gets the paths, and words after '--' go to the script" },
  { "no_run_if_empty|r|quote|q|group|ungroup|u|line_buffer|linebuffer|lb|tag", "mini_batch_size",
    "leave it out: no shell reads the paths, and rows of workers never mix" },
  { "retries", "run_max_try", "write --run-max-try N" },
  { "restart_times|max_retries", "run_max_try", "write --run-max-try N, which is one more" },
  { "timeout", "run_invocation_timeout", "write --run-invocation-timeout SECONDS" },
  { "halt", "allowed_failed_count",
    "write --allowed-failed-count N, of mini-batches, or --error-threshold N, of items" },
  { "eta|bar", "progress", "leave it out: on a terminal there is a bar; see --progress" },
  { "results|files|outputasfiles", "mini_batch_size",
    "leave it out: the job's folder has output and logs; rows also go to --output FILE" },
  { "tmpdir|tempdir", "mini_batch_size", "write TMPDIR=DIR tidemill map ..." },
  { "load|memfree|memsuspend|noswap", "worker_memory_limit",
    "write -j N, or --worker-memory-limit SIZE for each worker" },
  { "workdir|wd", "mini_batch_size", "leave it out: workers run in the current directory" },
  { "verbose|v|t", "mini_batch_size",
    "leave it out: tidemill logs latest shows what has happened" },
  { "quiet|silent", "progress", "write --progress none" },
  { "env|record_env", "environment_variables", "write --environment-variables NAME=VALUE" },
  { "sshlogin|S|sshloginfile|slf|transferfile|return|basefile", "mini_batch_size",
    "leave it out: a job runs on this machine" },
  { "nice", "mini_batch_size", "write nice -n N tidemill map ..." },
  { "interactive|p", "mini_batch_size", "write tidemill try ENTRY.lua INPUT..." },
  { "csv", "separator", "write --rows" },
  { "keep_order|keeporder|k", "mini_batch_size",
    "the order of rows is not fixed: put a key into each row, and sort" },
  { "resume_failed|retry_failed|rerun_incomplete", "resume", "write --resume" },
};

static const char *find_habit(const struct tm_option *options, size_t options_len, const char *name)
{
  char *word = tm_xstrdup(name);
  for (char *c = word; *c; c++)
    *c = *c == '-' ? '_' : *c;
  const char *words = NULL;
  for (size_t i = 0; i < TM_COUNT_OF(habits); i++)
    for (size_t k = 0; k < options_len; k++)
      if (tm_text_has_word(habits[i].names, word, strlen(word)) &&
          is_name(options[k].name, habits[i].option, strlen(habits[i].option)))
        words = habits[i].words;
  free(word);
  return words;
}

/* Whether one name is a part of the other, as in "threshold" and "error-threshold". */
static bool has_part(const char *name, const char *given)
{
  char *plain = tm_xstrdup(given), *long_name = tm_xstrdup(name);
  for (char *c = plain; *c; c++)
    *c = *c == '_' ? '-' : *c;
  for (char *c = long_name; *c; c++)
    *c = *c == '_' ? '-' : *c;
  bool is_part = strlen(plain) >= PART_MIN && strstr(long_name, plain);
  bool has_it = strlen(long_name) >= PART_MIN && strstr(plain, long_name);
  free(plain);
  free(long_name);
  return is_part || has_it;
}

/* Adds the option that is spelled most like `given`, or the first two that have it in their names.
 * Returns how many. */
static size_t add_nearest(struct tm_buf *out, const struct tm_option *options, size_t options_len,
                          const char *given)
{
  const char *names[OPTIONS_MAX] = { NULL };
  size_t len = 0, added = 0;
  for (size_t i = 0; i < options_len && len < OPTIONS_MAX; i++)
    if (options[i].name[1])
      names[len++] = options[i].name;
  const char *nearest = tm_text_nearest(given, names, len);
  for (size_t i = 0; i < options_len && added < 2; i++) {
    const struct tm_option *o = &options[i];
    bool is_letter = !o->name[1] && strcmp(o->name, given) == 0;
    if (nearest ? o->name != nearest : !is_letter && !has_part(o->name, given))
      continue;
    tm_buf_add_str(out, added++ > 0 ? " or '" : "'");
    add_name(out, o);
    tm_buf_add_char(out, '\'');
  }
  return added;
}

/* A long list would hide the answer, so it is left to `tidemill help COMMAND`. */
static void add_accepted(struct tm_buf *out, const struct tm_option *options, size_t options_len,
                         const char *command)
{
  if (options_len > LISTED_MAX) {
    tm_buf_printf(out, "tidemill help %s lists the options", command);
    return;
  }
  for (size_t i = 0; i < options_len; i++) {
    tm_buf_add_str(out, i > 0 ? ", " : "accepted are ");
    add_name(out, &options[i]);
  }
  if (options_len == 0)
    tm_buf_add_str(out, "there are no options here");
}

/* A file whose name begins with a dash must be given with its folder. */
static bool is_file(const char *word)
{
  return access(word, F_OK) == 0;
}

static int refuse_unknown(const struct tm_option *options, size_t options_len, char **argv, int at,
                          struct tm_err *err)
{
  const char *word = argv[at], *given = word + 2;
  size_t n = strcspn(given, "=");
  char *name = tm_xstrndup(given, n);
  struct tm_buf words = TM_BUF_NONE;
  const char *habit = find_habit(options, options_len, name);
  if (is_file(word))
    tm_buf_printf(&words, "the file of that name is given as ./%s", word);
  else if (habit)
    tm_buf_add_str(&words, habit);
  else if (add_nearest(&words, options, options_len, name) > 0)
    tm_buf_add_char(&words, '?');
  else
    add_accepted(&words, options, options_len, argv[0]);
  tm_err_set(err, TM_EUSAGE, "unknown option '--%s'; %s%s", name,
             words.data[0] == '\'' ? "did you mean " : "", words.data);
  tm_buf_release(&words);
  free(name);
  return TM_EUSAGE;
}

static int check_value(const struct tm_option *o, const char *value, struct tm_err *err)
{
  struct tm_buf all = TM_BUF_NONE;
  size_t n = 0;
  if (!o->values)
    return 0;
  for (; o->values[n]; n++) {
    if (strcmp(o->values[n], value) == 0) {
      tm_buf_release(&all);
      return 0;
    }
    tm_buf_printf(&all, "%s'%s'", n > 0 ? ", " : "", o->values[n]);
  }
  const char *nearest = tm_text_nearest(value, o->values, n);
  tm_err_set(err, TM_EUSAGE, "'--%s %s' is not accepted; it is one of %s%s%s%s", o->name, value,
             all.data, nearest ? "; did you mean '" : "", nearest ? nearest : "",
             nearest ? "'?" : "");
  tm_buf_release(&all);
  return TM_EUSAGE;
}

static int set_value(const struct tm_option *o, const char *value, void *out, struct tm_err *err)
{
  char *place = (char *)out + o->place;
  int rc = value ? check_value(o, value, err) : 0;
  if (rc < 0)
    return rc;
  switch (o->kind) {
  case TM_OPTION_FLAG: *(bool *)(void *)place = true; break;
  case TM_OPTION_VALUE: *(const char **)(void *)place = value; break;
  case TM_OPTION_MAYBE: *(const char **)(void *)place = value ? value : ""; break;
  case TM_OPTION_LIST: *TM_ARRAY_ADD((struct tm_words *)(void *)place) = value; break;
  }
  return 0;
}

/* `next`: the word that follows, which looks like an option; NULL: none follows. Options with one
 * letter take no '='. */
static int refuse_missing(const struct tm_option *o, const char *name, const char *next,
                          struct tm_err *err)
{
  struct tm_buf word = TM_BUF_NONE;

  tm_err_set(err, TM_EUSAGE, "option '%s' needs a value: %s %s", name, name, o->value);
  if (next && name[1] == '-') {
    tm_text_shell(&word, next);
    tm_err_set(err, TM_EUSAGE, "option '%s' needs a value: %s %s; if its value is '%s': %s=%s",
               name, name, o->value, next, name, word.data);
  }
  tm_buf_release(&word);
  return TM_EUSAGE;
}

/* Reads the value of `o`: the text after its name in the same word; NULL: the next word. */
static int read_value(const struct tm_option *o, const char *value, int argc, char **argv, int *at,
                      void *out, struct tm_err *err)
{
  struct tm_buf name = TM_BUF_NONE;
  int rc = 0;
  add_name(&name, o);
  if (o->kind == TM_OPTION_FLAG && value) {
    rc = tm_err_set(err, TM_EUSAGE, "option '%s' takes no value, '%s' was given", name.data, value);
  } else if ((o->kind == TM_OPTION_VALUE || o->kind == TM_OPTION_LIST) && !value) {
    const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
    if (!next || strncmp(next, "--", 2) == 0)
      rc = refuse_missing(o, name.data, next && next[2] ? next : NULL, err);
    else
      value = argv[++*at];
  }
  /* An empty value is most often an unset variable of the shell; as a directory it would mean the
   * current one. */
  if (rc == 0 && value && o->kind != TM_OPTION_LIST && !*value && strcmp(o->value, "TEXT") != 0)
    rc = tm_err_set(err, TM_EUSAGE, "the value of option '%s' is empty; accepted: %s %s", name.data,
                    name.data, o->value);
  tm_buf_release(&name);
  return rc < 0 ? rc : set_value(o, value, out, err);
}

static int refuse_letter(const struct tm_option *options, size_t options_len, const char *word,
                         struct tm_err *err)
{
  char letter[] = { word[1], 0 };
  const char *habit = find_habit(options, options_len, letter);
  struct tm_buf all = TM_BUF_NONE;
  for (size_t i = 0; i < options_len; i++)
    if (!options[i].name[1])
      tm_buf_printf(&all, "%s-%s", all.len > 0 ? ", " : "", options[i].name);
  if (is_file(word))
    tm_err_set(err, TM_EUSAGE, "unknown option '%s'; the file of that name is given as ./%s", word,
               word);
  else if (habit)
    tm_err_set(err, TM_EUSAGE, "unknown option '-%s'; %s", letter, habit);
  else if (all.len > 0)
    tm_err_set(err, TM_EUSAGE, "unknown option '%s'; the options with one dash are: %s", word,
               all.data);
  else
    tm_err_set(err, TM_EUSAGE, "unknown option '%s'; options are written with two dashes", word);
  tm_buf_release(&all);
  return TM_EUSAGE;
}

/* Reads a short option: -N 5, -N5, -0 */
static int read_letter(const struct tm_option *options, size_t options_len, int argc, char **argv,
                       int *at, void *out, struct tm_err *err)
{
  const char *word = argv[*at];
  for (size_t i = 0; i < options_len; i++) {
    const struct tm_option *o = &options[i];
    if (!o->name[1] && o->name[0] == word[1])
      return read_value(o, word[2] ? word + 2 : NULL, argc, argv, at, out, err);
  }
  return refuse_letter(options, options_len, word, err);
}

/* Reads the option at argv[*at], and its value. */
static int read_option(const struct tm_option *options, size_t options_len, int argc, char **argv,
                       int *at, void *out, struct tm_err *err)
{
  const char *given = argv[*at] + 2;
  size_t n = strcspn(given, "=");
  const struct tm_option *o = NULL;
  for (size_t i = 0; i < options_len && !o; i++)
    if (options[i].name[1] && is_name(options[i].name, given, n))
      o = &options[i];
  if (!o)
    return refuse_unknown(options, options_len, argv, *at, err);
  return read_value(o, given[n] == '=' ? given + n + 1 : NULL, argc, argv, at, out, err);
}

int tm_options_read(const struct tm_option *options, size_t options_len, int argc, char **argv,
                    void *out, struct tm_words *rest, struct tm_err *err)
{
  bool has_ended = false;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    int rc = 0;
    if (has_ended || word[0] != '-' || word[1] == '\0')
      *TM_ARRAY_ADD(rest) = word;
    else if (strcmp(word, "--") == 0)
      has_ended = true;
    else if (word[1] == '-')
      rc = read_option(options, options_len, argc, argv, &i, out, err);
    else
      rc = read_letter(options, options_len, argc, argv, &i, out, err);
    if (rc < 0)
      return rc;
  }
  return 0;
}

void tm_options_add_help(struct tm_buf *out, const struct tm_option *options, size_t options_len)
{
  for (size_t i = 0; i < options_len; i++) {
    const struct tm_option *o = &options[i];
    size_t start = out->len;
    tm_buf_add_str(out, "  ");
    add_name(out, o);
    if (o->kind == TM_OPTION_MAYBE)
      tm_buf_printf(out, "[=%s]", o->value);
    else
      tm_buf_printf(out, "%s%s", o->value ? " " : "", o->value ? o->value : "");
    size_t column = out->len - start;
    if (column >= HELP_COLUMN)
      tm_buf_printf(out, "\n%*s", HELP_COLUMN, "");
    else
      tm_buf_printf(out, "%*s", (int)(HELP_COLUMN - column), "");
    tm_text_wrap(out, o->help, HELP_COLUMN, TM_HELP_WIDTH);
  }
}

const char *tm_option_pair(const char *given, struct tm_err *err)
{
  const char *equal = strchr(given, '=');
  if (equal && equal > given)
    return equal + 1;
  tm_err_set(err, TM_EUSAGE, "'--param %s' is not of the form NAME=VALUE", given);
  return NULL;
}
