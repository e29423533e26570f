/* config_options.c - see config_options.h.
 *
 * A word of the command line is text, and goes to tidemill_pipeline_set() as it was typed, whose words name what the user wrote.
 */
#include "cli/config_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The parameter of that number; false: there is none. */
static bool parameter(size_t i, struct tidemill_parameter *out)
{
  *out = (struct tidemill_parameter)TIDEMILL_PARAMETER_INIT;
  return i < TM_CONFIG_OPTIONS_MAX && tidemill_parameter("ParallelRunConfig", i, out);
}

static const char *value_name(const struct tidemill_parameter *f)
{
  switch (f->type) {
  case TIDEMILL_PARAMETER_INTEGER: return "N";
  case TIDEMILL_PARAMETER_SECONDS: return "SECONDS";
  case TIDEMILL_PARAMETER_SIZE:
  case TIDEMILL_PARAMETER_AMOUNT: return "SIZE";
  case TIDEMILL_PARAMETER_NAMES: return "NAME,...";
  case TIDEMILL_PARAMETER_CHOICE: return f->choices;
  case TIDEMILL_PARAMETER_PATH: return "PATH";
  case TIDEMILL_PARAMETER_FILE_NAME: return "NAME";
  case TIDEMILL_PARAMETER_CHARACTER: return "CHARACTER";
  case TIDEMILL_PARAMETER_BOOL: return "true|false";
  case TIDEMILL_PARAMETER_VARIABLES: return "NAME=VALUE";
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

static const char *help_of(struct tm_config_options *c, const struct tidemill_parameter *f)
{
  char *text =
      f->default_value ? tm_xprintf("%s; else %s", f->help, f->default_value) : tm_xstrdup(f->help);
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

static void add_option(struct tm_config_options *c, const struct tidemill_parameter *f,
                       const char *name, size_t place, const char *help)
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
  struct tidemill_parameter f;
  *c = (struct tm_config_options) { .own_len = own_len };
  for (size_t i = 0; i < own_len; i++)
    *TM_ARRAY_ADD(&c->all) = own[i];
  for (size_t i = 0; parameter(i, &f); i++)
    for (size_t k = 0; k < TM_COUNT_OF(letters); k++)
      if (strcmp(f.name, letters[k].name) == 0)
        add_option(c, &f, letters[k].letter, place + i * sizeof(struct tm_words), letters[k].help);
  for (size_t i = 0; parameter(i, &f); i++)
    add_option(c, &f, dashed(c, f.name), place + i * sizeof(struct tm_words), help_of(c, &f));
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

static int set_one(const struct tidemill_parameter *f, const struct tm_words *words,
                   struct tidemill_pipeline *p, struct tm_err *err)
{
  struct tm_buf names = TM_BUF_NONE;
  int rc = 0;
  if (f->type == TIDEMILL_PARAMETER_NAMES) {
    for (size_t i = 0; i < words->len; i++)
      tm_buf_printf(&names, "%s%s", i ? "," : "", words->at[i]);
    rc = tidemill_pipeline_set(p, f->name, tm_buf_str(&names), err);
    tm_buf_release(&names);
    return rc;
  }
  /* Of variables each is one more, of the others the last one counts. */
  for (size_t i = f->type == TIDEMILL_PARAMETER_VARIABLES ? 0 : words->len - 1;
       i < words->len && rc == 0; i++)
    rc = tidemill_pipeline_set(p, f->name, words->at[i], err);
  return rc;
}

int tm_config_words_set(const struct tm_config_words *given, struct tidemill_pipeline *p,
                        struct tm_err *err)
{
  struct tidemill_parameter f;
  int rc = 0;
  for (size_t i = 0; rc == 0 && parameter(i, &f); i++)
    if (given->at[i].len > 0)
      rc = set_one(&f, &given->at[i], p, err);
  return rc;
}

const char *tm_config_words_last(const struct tm_config_words *given, const char *name)
{
  struct tidemill_parameter f;
  for (size_t i = 0; parameter(i, &f); i++)
    if (strcmp(f.name, name) == 0 && given->at[i].len > 0)
      return given->at[i].at[given->at[i].len - 1];
  return NULL;
}

void tm_config_words_release(struct tm_config_words *given)
{
  for (size_t i = 0; i < TM_CONFIG_OPTIONS_MAX; i++)
    TM_ARRAY_RELEASE(&given->at[i]);
}
