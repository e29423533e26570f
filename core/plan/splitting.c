/* splitting.c - see splitting.h. */
#include "plan/splitting.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/files/partition.h"

static const struct tm_json *value_of(const struct tm_json *settings, const char *name)
{
  return tm_json_get(tm_json_get(settings, name), "value");
}

static bool is_of_tables(const struct tm_step *s)
{
  return s->inputs_len > 0 && tm_dataset_is_table(s->inputs[0]);
}

struct tm_json *tm_splitting_default(const struct tm_json *config, const struct tm_step *s)
{
  if (tm_json_get(config, "partition_keys"))
    return NULL;
  return is_of_tables(s) ? tm_json_new_string("1MB") : tm_json_new_int(10);
}

/* Parses what tm_params_value() has accepted: "10MB" or "500rows". */
static void fill_table_size(struct tm_config *c, const char *text)
{
  char *digits = tm_xstrndup(text, strspn(text, "0123456789"));
  c->counts_rows = !tm_text_size(text, &c->mini_batch_size);
  if (c->counts_rows)
    tm_text_int(digits, &c->mini_batch_size);
  free(digits);
}

static int fill_size(struct tm_config *c, const struct tm_json *size, const struct tm_step *s,
                     struct tm_err *err)
{
  if (is_of_tables(s) && size->type == TM_JSON_STRING) {
    fill_table_size(c, size->string.at);
    return 0;
  }
  if (size->type != TM_JSON_INT)
    return tm_err_set(
        err, TM_EUSAGE,
        "'mini_batch_size' is \"%s\"; of files it is a number: how many are handed to "
        "one run()",
        size->string.at);
  c->mini_batch_size = size->integer;
  return 0;
}

int tm_splitting_fill(struct tm_config *c, const struct tm_json *settings, const struct tm_step *s,
                      struct tm_err *err)
{
  const struct tm_json *size = value_of(settings, "mini_batch_size"),
                       *keys = value_of(settings, "partition_keys");
  if (!keys)
    return fill_size(c, size, s, err);
  if (size)
    return tm_err_set(err, TM_EUSAGE,
                      "'mini_batch_size' and 'partition_keys' exclude each other: each distinct "
                      "combination of values is one mini-batch, whatever its size");
  if (tm_json_bool(tm_json_get(settings, "isolate_failures"), "value", false))
    return tm_err_set(err, TM_EUSAGE,
                      "'isolate_failures' and 'partition_keys' exclude each other: a part of a "
                      "mini-batch would not have all items with its values");
  c->partition_keys = tm_xcalloc(keys->list.len, sizeof(char *));
  for (size_t i = 0; i < keys->list.len; i++)
    c->partition_keys[c->partition_keys_len++] = tm_xstrdup(keys->list.at[i]->string.at);
  return 0;
}

static int refuse_key(const char *key, const char *input, const struct tm_partition *p,
                      struct tm_err *err)
{
  const char *names[TM_PARTITION_KEYS_MAX];
  struct tm_buf all = TM_BUF_NONE;
  for (size_t i = 0; i < tm_partition_len(p); i++) {
    names[i] = tm_partition_key(p, i);
    tm_buf_printf(&all, "%s'%s'", i ? ", " : "", names[i]);
  }
  const char *nearest = tm_text_nearest(key, names, tm_partition_len(p));
  tm_err_set(
      err, TM_EUSAGE,
      "'partition_keys' names '%s', which is not a key in the partition_format of %s; it has "
      "%s%s%s%s",
      key, input, tm_buf_str(&all), nearest ? "; did you mean '" : "", nearest ? nearest : "",
      nearest ? "'?" : "");
  tm_buf_release(&all);
  return TM_EUSAGE;
}

static bool has_key(const struct tm_partition *p, const char *key)
{
  for (size_t i = 0; i < tm_partition_len(p); i++)
    if (strcmp(tm_partition_key(p, i), key) == 0)
      return true;
  return false;
}

static int check_input(const struct tm_config *c, const struct tm_dataset *d, const char *input,
                       struct tm_err *err)
{
  int rc = 0;
  if (tm_dataset_is_table(d))
    return 0; /* may also name columns of its files, which only their reader knows */
  if (!d->partition_format)
    return tm_err_set(err, TM_EUSAGE,
                      "'partition_keys' names '%s', and %s has no partition_format that takes it "
                      "out of the paths: give its constructor one, as { partition_format = "
                      "\"{%s}/*\" }",
                      c->partition_keys[0], input, c->partition_keys[0]);
  struct tm_partition *p = tm_partition_new(d->partition_format, err);
  for (size_t i = 0; p && i < c->partition_keys_len && rc == 0; i++)
    if (!has_key(p, c->partition_keys[i]))
      rc = refuse_key(c->partition_keys[i], input, p, err);
  tm_partition_free(p);
  return p ? rc : TM_EUSAGE;
}

/* A key_column has no size in bytes, only numbers of keys. */
static int check_keys(const struct tm_step *s, struct tm_err *err)
{
  bool is_by_rows = s->config.counts_rows || s->config.partition_keys_len > 0;
  for (size_t i = 0; i < s->inputs_len; i++)
    if (tm_json_get(s->inputs[i]->options, "key_column") && !is_by_rows)
      return tm_err_set(err, TM_EUSAGE,
                        "'mini_batch_size' is a size, and input %zu%s%s%s is cut by its "
                        "'key_column'; accepted: so many keys, as \"500rows\"",
                        i + 1, s->inputs[i]->where ? " (" : "",
                        s->inputs[i]->where ? s->inputs[i]->where : "",
                        s->inputs[i]->where ? ")" : "");
  return 0;
}

int tm_splitting_check(const struct tm_step *s, struct tm_err *err)
{
  int rc = check_keys(s, err);
  for (size_t i = 0; i < s->inputs_len && rc == 0 && s->config.partition_keys_len > 0; i++) {
    const char *name = s->inputs[i]->name, *where = s->inputs[i]->where;
    char *input =
        tm_xprintf("input %zu%s%s%s%s%s%s", i + 1, name ? " '" : "", name ? name : "",
                   name ? "'" : "", where ? " (" : "", where ? where : "", where ? ")" : "");
    rc = check_input(&s->config, s->inputs[i], input, err);
    free(input);
  }
  return rc;
}
