/* config_options.c - see config_options.h.
 *
 * A word of the command line is text. params.c takes digits and sizes as text, so all but the variables goes to it as it was
 * typed, under the name of the option, so that its words name what the user wrote.
 */
#include "cli/config_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "plan/params.h"

static const struct tm_field *config_fields(size_t *n)
{
  const struct tm_field *fields = tm_params_fields("ParallelRunConfig", n);
  *n = *n < TM_CONFIG_OPTIONS_MAX ? *n : TM_CONFIG_OPTIONS_MAX;
  return fields;
}

static const char *value_name(const struct tm_field *f)
{
  switch (f->type) {
  case TM_FIELD_INT: return "N";
  case TM_FIELD_SECONDS: return "SECONDS";
  case TM_FIELD_SIZE:
  case TM_FIELD_AMOUNT: return "SIZE";
  case TM_FIELD_NAMES: return "NAME,...";
  case TM_FIELD_CHOICE: return f->accepts;
  case TM_FIELD_PATH: return "PATH";
  case TM_FIELD_FILE_NAME: return "NAME";
  case TM_FIELD_SEPARATOR: return "CHARACTER";
  case TM_FIELD_BOOL: return "true|false";
  case TM_FIELD_VARIABLES: return "NAME=VALUE";
  default: return "TEXT";
  }
}

/* "run_max_try" as "run-max-try", kept until release. */
static char *dashed(struct tm_config_options *c, const char *name)
{
  char *text = tm_xstrdup(name);
  for (char *at = text; (at = strchr(at, '_'));)
    *at = '-';
  *TM_ARRAY_ADD(&c->texts) = text;
  return text;
}

static const char *help_of(struct tm_config_options *c, const struct tm_field *f)
{
  char *text =
      f->otherwise ? tm_xprintf("%s; else %s", f->help, f->otherwise) : tm_xstrdup(f->help);
  *TM_ARRAY_ADD(&c->texts) = text;
  return text;
}

static bool is_own(const struct tm_config_options *c, const char *name)
{
  for (size_t i = 0; i < c->own_len; i++)
    if (strcmp(c->all.at[i].name, name) == 0)
      return true;
  return false;
}

static void add_option(struct tm_config_options *c, const struct tm_field *f, const char *name,
                       size_t place, const char *help)
{
  if (strcmp(f->name, "entry_script") == 0 || is_own(c, name))
    return;
  *TM_ARRAY_ADD(&c->all) = (struct tm_option) {
    .name = name, .kind = TM_OPTION_LIST, .place = place, .value = value_name(f), .help = help
  };
}

void tm_config_options_init(struct tm_config_options *c, const struct tm_option *own,
                            size_t own_len, size_t place)
{
  static const struct {
    const char *letter, *name, *help;
  } letters[] = {
    { "N", "mini_batch_size", "--mini-batch-size" },
    { "j", "process_count_per_node", "--process-count-per-node" },
  };
  size_t n;
  const struct tm_field *fields = config_fields(&n);
  *c = (struct tm_config_options) { .own_len = own_len };
  for (size_t i = 0; i < own_len; i++)
    *TM_ARRAY_ADD(&c->all) = own[i];
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < TM_COUNT_OF(letters); k++)
      if (strcmp(fields[i].name, letters[k].name) == 0)
        add_option(c, &fields[i], letters[k].letter, place + i * sizeof(struct tm_words),
                   letters[k].help);
  for (size_t i = 0; i < n; i++)
    add_option(c, &fields[i], dashed(c, fields[i].name), place + i * sizeof(struct tm_words),
               help_of(c, &fields[i]));
}

void tm_config_options_release(struct tm_config_options *c)
{
  for (size_t i = 0; i < c->texts.len; i++)
    free(c->texts.at[i]);
  TM_ARRAY_RELEASE(&c->texts);
  TM_ARRAY_RELEASE(&c->all);
}

void tm_config_options_add_help(struct tm_buf *out, const struct tm_config_options *c)
{
  tm_options_add_help(out, c->all.at, c->own_len);
  tm_buf_add_str(out, "\nParameters, as of ParallelRunConfig:\n");
  tm_options_add_help(out, c->all.at + c->own_len, c->all.len - c->own_len);
}

/* NAME=VALUE, as often as given. NULL: one is not of this form. */
static struct tm_json *variables_of(const struct tm_words *words, struct tm_err *err)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < words->len; i++) {
    const char *equal = strchr(words->at[i], '=');
    if (!equal || equal == words->at[i]) { /* not shown: a value may be a secret */
      tm_err_set(err, TM_EUSAGE, "'--environment-variables' is not of the form NAME=VALUE");
      tm_json_free(v);
      return NULL;
    }
    char *name = tm_xstrndup(words->at[i], (size_t)(equal - words->at[i]));
    tm_json_set(v, name, tm_json_new_string(equal + 1));
    free(name);
  }
  return v;
}

/* NAME,NAME, as often as given. */
static struct tm_json *names_of(const struct tm_words *words)
{
  struct tm_json *v = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 0; i < words->len; i++)
    for (const char *at = words->at[i];; at++) {
      size_t n = strcspn(at, ",");
      tm_json_add(v, tm_json_new_bytes(at, n));
      at += n;
      if (!*at)
        break;
    }
  return v;
}

static struct tm_json *given_value(const struct tm_field *f, const struct tm_words *words,
                                   const char *cwd, struct tm_err *err)
{
  const char *last = words->at[words->len - 1];
  if (f->type == TM_FIELD_VARIABLES)
    return variables_of(words, err);
  if (f->type == TM_FIELD_NAMES)
    return names_of(words);
  if (f->type != TM_FIELD_PATH || !*last)
    return tm_json_new_string(last);
  char *path = tm_path_absolute(cwd, last);
  struct tm_json *v = tm_json_new_string(path);
  free(path);
  return v;
}

static struct tm_json *read_one(const struct tm_field *f, const struct tm_words *words,
                                const char *cwd, struct tm_err *err)
{
  struct tm_json *given = given_value(f, words, cwd, err), *value;
  struct tm_field option = *f;
  struct tm_buf name = TM_BUF_NONE;
  if (!given)
    return NULL;
  tm_buf_add_str(&name, "--");
  for (const char *c = f->name; *c; c++)
    tm_buf_add_char(&name, *c == '_' ? '-' : *c);
  option.name = name.data;
  value = tm_params_value(&option, given, err);
  tm_buf_release(&name);
  tm_json_free(given);
  return value;
}

struct tm_json *tm_config_words_read(const struct tm_config_words *given, const char *cwd,
                                     struct tm_err *err)
{
  struct tm_json *config = tm_json_new(TM_JSON_OBJECT);
  size_t n;
  const struct tm_field *fields = config_fields(&n);
  for (size_t i = 0; i < n; i++) {
    if (given->at[i].len == 0)
      continue;
    struct tm_json *value = read_one(&fields[i], &given->at[i], cwd, err);
    if (!value) {
      tm_json_free(config);
      return NULL;
    }
    tm_json_set(config, fields[i].name, value);
  }
  config->tag = tm_xstrdup("ParallelRunConfig");
  return config;
}

static int set_one(const struct tm_field *f, const struct tm_words *words,
                   struct tidemill_pipeline *p, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  int rc = 0;
  if (f->type == TM_FIELD_NAMES) {
    for (size_t i = 0; i < words->len; i++)
      tm_buf_printf(&names, "%s%s", i ? "," : "", words->at[i]);
    rc = tidemill_pipeline_set(p, f->name, tm_buf_str(&names), err);
    tm_buf_release(&names);
    return rc;
  }
  /* Of variables each is one more, of the others the last one counts. */
  for (size_t i = f->type == TM_FIELD_VARIABLES ? 0 : words->len - 1; i < words->len && rc == 0;
       i++)
    rc = tidemill_pipeline_set(p, f->name, words->at[i], err);
  return rc;
}

int tm_config_words_set(const struct tm_config_words *given, struct tidemill_pipeline *p,
                        struct tm_err *err)
{
  int rc = 0;
  size_t n;
  const struct tm_field *fields = config_fields(&n);
  for (size_t i = 0; i < n && rc == 0; i++)
    if (given->at[i].len > 0)
      rc = set_one(&fields[i], &given->at[i], p, err);
  return rc;
}

const char *tm_config_words_last(const struct tm_config_words *given, const char *name)
{
  size_t n;
  const struct tm_field *fields = config_fields(&n);
  for (size_t i = 0; i < n; i++)
    if (strcmp(fields[i].name, name) == 0 && given->at[i].len > 0)
      return given->at[i].at[given->at[i].len - 1];
  return NULL;
}

void tm_config_words_release(struct tm_config_words *given)
{
  for (size_t i = 0; i < TM_CONFIG_OPTIONS_MAX; i++)
    TM_ARRAY_RELEASE(&given->at[i]);
}
