/* parameter_options.c - see parameter_options.h.
 *
 * Values on the command line are text. The table of parameters checks them when the definition is
 * built; an error names the option as the user wrote it.
 */
#include "cli/parameter_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct constructor {
  const char *name;
  const char *label; /* the heading for parameters that not all constructors of the group have */
};

static const struct group {
  const char *heading;
  struct constructor constructors[2];
  size_t len;
} groups[TM_PARAMETER_GROUPS] = {
  [TM_PARAMETERS_FILES] = { "Inputs, as in Dataset.File.from_files:",
                            { { "Dataset.File.from_files", "" } },
                            1 },
  [TM_PARAMETERS_TABLES] = { "Tables (map and try: with --rows), as in\n"
                             "Dataset.Tabular.from_delimited_files and from_json_lines_files:",
                             { { "Dataset.Tabular.from_delimited_files", "CSV: " },
                               { "Dataset.Tabular.from_json_lines_files", "JSON lines: " } },
                             2 },
  [TM_PARAMETERS_ARCHIVES] = { "Archives (with --entries), as in Dataset.File.from_archives:",
                               { { "Dataset.File.from_archives", "" } },
                               1 },
  [TM_PARAMETERS_CONFIG] = { "Parameters, as in ParallelRunConfig:",
                             { { "ParallelRunConfig", "" } },
                             1 },
};

/* ---- parameters of a group ---- */

/* Options do without the text of the accepted values: making it is most of the work. */
static const struct tidemill_parameter unknown = { .size = offsetof(struct tidemill_parameter,
                                                                    accepted) };

static bool has_parameter(const char *constructor, const char *name)
{
  struct tidemill_parameter p = unknown;
  for (size_t i = 0; tidemill_parameter(constructor, i, &p); i++)
    if (strcmp(p.name, name) == 0)
      return true;
  return false;
}

static bool is_before(const struct group *g, size_t constructor, const char *name)
{
  for (size_t i = 0; i < constructor; i++)
    if (has_parameter(g->constructors[i].name, name))
      return true;
  return false;
}

/* Finds the parameter and its constructor. */
static bool find_parameter(enum tm_parameter_group group, size_t i, struct tidemill_parameter *out,
                           size_t *constructor)
{
  const struct group *g = &groups[group];
  size_t n = 0;
  *out = unknown;
  *constructor = 0;
  if (tidemill_parameter(g->constructors[0].name, i, out)) /* nothing is before the first */
    return true;
  for (size_t c = 0; c < g->len && i < TM_PARAMETERS_MAX; c++) {
    *out = unknown;
    for (size_t k = 0; tidemill_parameter(g->constructors[c].name, k, out); k++)
      if (!is_before(g, c, out->name) && n++ == i) {
        *constructor = c;
        return true;
      }
  }
  return false;
}

bool tm_parameter_of_group(enum tm_parameter_group group, size_t i, struct tidemill_parameter *out)
{
  size_t constructor;
  return find_parameter(group, i, out, &constructor);
}

/* ---- options ---- */

static const char *value_name(const struct tidemill_parameter *p)
{
  switch (p->type) {
  case TIDEMILL_PARAMETER_INTEGER: return "N";
  case TIDEMILL_PARAMETER_SECONDS: return "SECONDS";
  case TIDEMILL_PARAMETER_PERCENT: return "PERCENT";
  case TIDEMILL_PARAMETER_SIZE:
  case TIDEMILL_PARAMETER_AMOUNT: return "SIZE";
  case TIDEMILL_PARAMETER_NAMES: return "NAME,...";
  case TIDEMILL_PARAMETER_TYPES: return "NAME=TYPE,...";
  case TIDEMILL_PARAMETER_CHOICE: return p->choices;
  case TIDEMILL_PARAMETER_PATH: return "PATH";
  case TIDEMILL_PARAMETER_FILE_NAME: return "NAME";
  case TIDEMILL_PARAMETER_CHARACTER: return "CHARACTER";
  case TIDEMILL_PARAMETER_BOOL: return "true|false";
  case TIDEMILL_PARAMETER_VARIABLES: return "NAME=VALUE";
  default: return "TEXT";
  }
}

/* "run_max_try" as "run-max-try". The caller frees it. */
static char *dashed(const char *name)
{
  char *text = tm_xstrdup(name);
  for (char *at = text; (at = strchr(at, '_'));)
    *at = '-';
  return text;
}

static char *keep(struct tm_parameter_options *o, char *text)
{
  *TM_ARRAY_ADD(&o->texts) = text;
  return text;
}

static const char *help_of(struct tm_parameter_options *o, enum tm_parameter_group group,
                           size_t constructor, const struct tidemill_parameter *p)
{
  const struct group *g = &groups[group];
  bool have_all = true;
  for (size_t i = 0; i < g->len; i++)
    have_all = have_all && has_parameter(g->constructors[i].name, p->name);
  struct tm_buf help = TM_BUF_NONE;
  tm_buf_add_str(&help, have_all ? "" : g->constructors[constructor].label);
  tm_parameter_words_add_message(&help, p->help, strlen(p->help));
  if (p->default_value)
    tm_buf_printf(&help, " (default: %s)", p->default_value);
  return keep(o, tm_buf_take(&help));
}

static bool is_known(const struct tm_parameter_options *o, const char *name)
{
  for (size_t i = 0; i < o->all.len; i++)
    if (strcmp(o->all.at[i].name, name) == 0)
      return true;
  return false;
}

static void add_option(struct tm_parameter_options *o, const struct tidemill_parameter *p,
                       const char *name, size_t place, const char *help)
{
  if (strcmp(p->name, "entry_script") == 0 || is_known(o, name))
    return;
  *TM_ARRAY_ADD(&o->all) = (struct tm_option) {
    .name = name, .kind = TM_OPTION_LIST, .place = place, .value = value_name(p), .help = help
  };
}

static const struct {
  const char *letter, *name, *help;
} letters[] = {
  { "N", "mini_batch_size", "short for --mini-batch-size" },
  { "j", "process_count_per_node", "short for --process-count-per-node" },
};

const char *tm_parameter_of_letter(char letter)
{
  for (size_t k = 0; k < TM_COUNT_OF(letters); k++)
    if (letters[k].letter[0] == letter)
      return letters[k].name;
  return NULL;
}

/* Adds short options before the long options that they stand for. */
static void add_letters(struct tm_parameter_options *o, enum tm_parameter_group group, size_t place)
{
  struct tidemill_parameter p;
  for (size_t i = 0; tm_parameter_of_group(group, i, &p); i++)
    for (size_t k = 0; k < TM_COUNT_OF(letters); k++)
      if (strcmp(p.name, letters[k].name) == 0)
        add_option(o, &p, letters[k].letter, place + i * sizeof(struct tm_words), letters[k].help);
}

static void add_group(struct tm_parameter_options *o, enum tm_parameter_group group, size_t place)
{
  struct tidemill_parameter p;
  size_t constructor;
  add_letters(o, group, place);
  for (size_t i = 0; find_parameter(group, i, &p, &constructor); i++)
    add_option(o, &p, keep(o, dashed(p.name)), place + i * sizeof(struct tm_words),
               help_of(o, group, constructor, &p));
}

void tm_parameter_options_init(struct tm_parameter_options *o, const struct tm_option *own,
                               size_t own_len, unsigned taken, size_t place)
{
  *o = (struct tm_parameter_options) { .own_len = own_len };
  for (size_t i = 0; i < own_len; i++)
    *TM_ARRAY_ADD(&o->all) = own[i];
  for (int group = 0; group < TM_PARAMETER_GROUPS; group++) {
    if (taken & TM_TAKES(group))
      add_group(o, (enum tm_parameter_group)group,
                place + (size_t)group * TM_PARAMETERS_MAX * sizeof(struct tm_words));
    o->ends[group] = o->all.len;
  }
}

void tm_parameter_options_release(struct tm_parameter_options *o)
{
  TM_ARRAY_RELEASE_EACH(&o->texts);
  TM_ARRAY_RELEASE(&o->all);
}

void tm_parameter_options_add_help(struct tm_buf *out, const struct tm_parameter_options *o)
{
  size_t at = o->own_len;
  tm_options_add_help(out, o->all.at, o->own_len);
  for (int group = 0; group < TM_PARAMETER_GROUPS; group++) {
    if (o->ends[group] > at)
      tm_buf_printf(out, "\n%s\n", groups[group].heading);
    tm_options_add_help(out, o->all.at + at, o->ends[group] - at);
    at = o->ends[group];
  }
}

/* ---- given values ---- */

static bool is_list(const struct tidemill_parameter *p)
{
  return p->type == TIDEMILL_PARAMETER_NAMES || p->type == TIDEMILL_PARAMETER_TYPES;
}

int tm_parameter_words_each(const struct tm_parameter_words *given, enum tm_parameter_group group,
                            int (*set)(void *data, const char *name, const char *value,
                                       struct tm_err *err),
                            void *data, struct tm_err *err)
{
  struct tidemill_parameter p;
  struct tm_buf list = TM_BUF_NONE;
  int rc = 0;
  for (size_t i = 0; rc >= 0 && tm_parameter_of_group(group, i, &p); i++) {
    const struct tm_words *words = &given->at[group][i];
    bool is_each = p.type == TIDEMILL_PARAMETER_VARIABLES;
    tm_buf_clear(&list);
    for (size_t k = 0; is_list(&p) && k < words->len; k++)
      tm_buf_printf(&list, "%s%s", k > 0 ? "," : "", words->at[k]);
    if (is_list(&p) && words->len > 0)
      rc = set(data, p.name, tm_buf_str(&list), err);
    for (size_t k = 0; !is_list(&p) && rc >= 0 && k < words->len; k++)
      if (is_each || k + 1 == words->len)
        rc = set(data, p.name, words->at[k], err);
  }
  tm_buf_release(&list);
  return rc;
}

const char *tm_parameter_words_last(const struct tm_parameter_words *given,
                                    enum tm_parameter_group group, const char *name)
{
  struct tidemill_parameter p;
  for (size_t i = 0; tm_parameter_of_group(group, i, &p); i++)
    if (strcmp(p.name, name) == 0 && given->at[group][i].len > 0)
      return given->at[group][i].at[given->at[group][i].len - 1];
  return NULL;
}

char *tm_parameter_words_first(const struct tm_parameter_words *given,
                               enum tm_parameter_group group)
{
  struct tidemill_parameter p;
  for (size_t i = 0; tm_parameter_of_group(group, i, &p); i++)
    if (given->at[group][i].len > 0)
      return dashed(p.name);
  return NULL;
}

/* ---- messages ---- */

static bool is_of_name(char c)
{
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a message that says `name = value` means a parameter of a configuration. A script's own
 * message may say `environment = test`: a plain word needs one of the parameter's choices. */
static bool is_setting(const char *name, const char *value)
{
  struct tidemill_parameter p;
  for (size_t i = 0; tm_parameter_of_group(TM_PARAMETERS_CONFIG, i, &p); i++)
    if (strcmp(p.name, name) == 0)
      return strchr(name, '_') ||
             (value && p.choices && tm_text_has_word(p.choices, value, strlen(value)));
  return false;
}

/* `value` NULL: the message has none. */
static bool is_parameter(const char *name, const char *value)
{
  for (int group = 0; group < TM_PARAMETERS_CONFIG; group++)
    for (size_t i = 0; i < groups[group].len; i++)
      if (has_parameter(groups[group].constructors[i].name, name))
        return true;
  return is_setting(name, value);
}

/* The option for a parameter, "--returns", to free(); NULL: there is none. */
static char *option_of(const char *name, const char *value)
{
  char *words = is_parameter(name, value) ? dashed(name) : NULL;
  char *option = words ? tm_xprintf("--%s", words) : NULL;
  free(words);
  return option;
}

/* A parameter whose option has no value, "-0". */
static bool is_flag(const char *name)
{
  return strcmp(name, "null_separated") == 0;
}

/* Adds the option of a setting that a message names without a value. Only a name with an underscore
 * is one: `header` and `returns` are words, too. Returns the bytes read; 0: nothing is added. */
static size_t add_name(struct tm_buf *out, const char *at, size_t len, const char *end)
{
  bool is_call = at + len < end && memchr(".(=", at[len], 3);
  char *name = tm_xstrndup(at, len);
  bool is_one = !is_call && strchr(name, '_');
  char *option = is_one && is_flag(name) ? tm_xstrdup("-0") : is_one ? option_of(name, NULL) : NULL;
  bool is_it = option != NULL;
  tm_buf_add_str(out, is_it ? option : "");
  free(option);
  free(name);
  return is_it ? len : 0;
}

/* Adds the option for `name = value` at `at`, or for a name alone. Returns the bytes that it stands
 * for; 0: there is no such setting, and nothing is added. */
static size_t add_setting(struct tm_buf *out, const char *at, const char *end)
{
  size_t len = 0, begin, value_len = 0;
  while (at + len < end && is_of_name(at[len]))
    len++;
  begin = len + strlen(" = ");
  if (len == 0 || end - at < (ptrdiff_t)begin || strncmp(at + len, " = ", begin - len) != 0)
    return len == 0 ? 0 : add_name(out, at, len, end);
  bool has_quotes = at + begin < end && (at[begin] == '"' || at[begin] == '\'');
  char quote = has_quotes ? at[begin] : 0;
  begin += has_quotes;
  while (at + begin + value_len < end &&
         (has_quotes ? at[begin + value_len] != quote : is_of_name(at[begin + value_len])))
    value_len++;
  char *name = tm_xstrndup(at, len), *value = tm_xstrndup(at + begin, value_len);
  bool is_whole = has_quotes ? at + begin + value_len < end : value_len > 0;
  char *option = is_whole && is_flag(name) ? tm_xstrdup("-0")
                 : is_whole                ? option_of(name, value)
                                           : NULL;
  bool is_it = option != NULL;
  tm_buf_add_str(out, is_it ? option : "");
  if (is_it && !is_flag(name)) {
    tm_buf_add_char(out, ' ');
    tm_text_shell(out, value);
  }
  free(option);
  free(name);
  free(value);
  return is_it ? begin + value_len + has_quotes : 0;
}

/* The length of a command with its arguments at `at`, up to the end of the line; 0: there is none.
 * A word in it may be spelled like a parameter, and the line must stay as it can be typed. */
static size_t command_len(const char *at, const char *end)
{
  static const char program[] = "tidemill ";
  size_t n = strlen(program);
  bool is_it =
      (size_t)(end - at) > n && strncmp(at, program, n) == 0 && at[n] >= 'a' && at[n] <= 'z';
  const char *line_end = is_it ? memchr(at, '\n', (size_t)(end - at)) : NULL;
  return !is_it ? 0 : (size_t)((line_end ? line_end : end) - at);
}

static void add_message(struct tm_buf *out, const char *text, size_t len, const char *before)
{
  static const char set[] = "set ";
  const char *end = text + len;
  for (const char *at = text; at < end;) {
    bool is_start = at == text || strchr(before, at[-1]);
    bool has_set =
        is_start && (size_t)(end - at) > strlen(set) && strncmp(at, set, strlen(set)) == 0;
    size_t from = out->len, command = is_start ? command_len(at, end) : 0, n;
    tm_buf_add(out, at, command);
    at += command;
    if (command > 0)
      continue;
    if (has_set)
      tm_buf_add_str(out, "use ");
    n = is_start ? add_setting(out, at + (has_set ? strlen(set) : 0), end) : 0;
    if (n == 0) {
      out->len = from;
      tm_buf_add_char(out, *at++);
    } else {
      at += n + (has_set ? strlen(set) : 0);
    }
  }
}

void tm_parameter_words_add_message(struct tm_buf *out, const char *text, size_t len)
{
  add_message(out, text, len, " \n");
}

/* A name in quotes is a parameter, too. In other messages it may be a variable of the script. */
int tm_parameter_words_in_error(struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  add_message(&text, err->text, strlen(err->text), " \n'");
  tm_err_set(err, err->code, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  return err->code;
}

void tm_parameter_words_release(struct tm_parameter_words *given)
{
  for (size_t group = 0; group < TM_PARAMETER_GROUPS; group++)
    for (size_t i = 0; i < TM_PARAMETERS_MAX; i++)
      TM_ARRAY_RELEASE(&given->at[group][i]);
}
