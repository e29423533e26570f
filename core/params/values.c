/* values.c - one value of a definition: whether it is accepted, and its normalized form.
 *
 * A number may be digits in a string, and a size "10MB", because people write so and options of the
 * command line are strings. "True" is true, as in arguments of the original. tm_params_value()
 * normalizes each.
 */
#include "params/params.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

static bool is_plain_string(const struct tm_json *v)
{
  return v->type == TM_JSON_STRING && strlen(v->string.at) == v->string.len;
}

/* `tags`: one, or several separated by '|'; or NULL. */
static bool is_tagged(const struct tm_json *v, const char *tags)
{
  return v->tag && tm_text_has_word(tags, v->tag, strlen(v->tag));
}

static bool is_within(const struct tm_field *f, double v)
{
  return v >= f->min && (f->max == 0 || v <= f->max);
}

static struct tm_json *integer_value(const struct tm_field *f, const struct tm_json *given)
{
  int64_t v;
  if (given->type == TM_JSON_INT)
    v = given->integer;
  else if (!is_plain_string(given) || !tm_text_int(given->string.at, &v))
    return NULL;
  return is_within(f, (double)v) ? tm_json_new_int(v) : NULL;
}

/* "none" is 0 if the field accepts it, else the maximum. */
static bool read_seconds(const struct tm_field *f, const char *s, double *out)
{
  if (strcmp(s, "none") != 0)
    return tm_text_seconds(s, out);
  *out = f->min == 0 ? 0 : f->max;
  return true;
}

static struct tm_json *number_value(const struct tm_field *f, const struct tm_json *given)
{
  double v;
  if (given->type == TM_JSON_INT)
    v = (double)given->integer;
  else if (given->type == TM_JSON_NUMBER)
    v = given->number;
  else if (!is_plain_string(given) ||
           !(f->type == TM_FIELD_SECONDS ? read_seconds(f, given->string.at, &v)
                                         : tm_text_number(given->string.at, &v)))
    return NULL;
  return is_within(f, v) ? tm_json_new_number(v) : NULL;
}

static struct tm_json *seconds_value(const struct tm_field *f, const struct tm_json *given)
{
  if (f->accepts && is_plain_string(given) && strcmp(given->string.at, f->accepts) == 0)
    return tm_json_copy(given);
  return number_value(f, given);
}

static struct tm_json *size_value(const struct tm_field *f, const struct tm_json *given)
{
  int64_t v;
  if (given->type == TM_JSON_INT)
    v = given->integer;
  else if (!is_plain_string(given) || !tm_text_size(given->string.at, &v))
    return NULL;
  return is_within(f, (double)v) ? tm_json_new_int(v) : NULL;
}

/* "500rows", "500 rows": the number, or 0. */
static int64_t rows_of(const char *s)
{
  size_t n = strspn(s, "0123456789"), blank = s[n] == ' ';
  int64_t v = 0;
  if (n == 0 || strcmp(s + n + blank, "rows") != 0)
    return 0;
  char *digits = tm_xstrndup(s, n);
  bool is_read = tm_text_int(digits, &v);
  free(digits);
  return is_read ? v : 0;
}

static struct tm_json *amount_value(const struct tm_field *f, const struct tm_json *given)
{
  int64_t v;
  struct tm_json *number = integer_value(f, given);
  if (number || !is_plain_string(given))
    return number;
  bool is_size = tm_text_size(given->string.at, &v) && !tm_text_int(given->string.at, &v);
  if (!is_size)
    v = rows_of(given->string.at);
  return is_within(f, (double)v) ? tm_json_copy(given) : NULL;
}

static bool is_file_name(const char *s)
{
  return *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0 && strlen(s) <= 200 &&
         !strpbrk(s, "\n\r\t") && !strstr(s, "${{");
}

static bool is_separator(const char *s)
{
  return strcmp(s, "\\t") == 0 ||
         (s[0] && !s[1] && (unsigned char)s[0] < 128 && !strchr("\"\n\r", s[0]));
}

static bool is_between(char c, char first, char last)
{
  return c >= first && c <= last;
}

/* ^[a-z]([-_a-z0-9]*[_a-z0-9])?$, 1 to 32 */
static bool is_name(const char *s)
{
  size_t n = strlen(s);
  if (n > 32 || !is_between(s[0], 'a', 'z') || s[n - 1] == '-')
    return false;
  for (size_t i = 0; i < n; i++) {
    if (!is_between(s[i], 'a', 'z') && !is_between(s[i], '0', '9') && s[i] != '-' && s[i] != '_')
      return false;
  }
  return true;
}

static bool is_word(const char *s)
{
  size_t n = strlen(s);
  if (n < 1 || n > 255 || s[0] == '-' || s[0] == '.')
    return false;
  for (size_t i = 0; i < n; i++) {
    if (!is_between(s[i], 'a', 'z') && !is_between(s[i], 'A', 'Z') && !is_between(s[i], '0', '9') &&
        !strchr("-_.", s[i]))
      return false;
  }
  return true;
}

static bool is_text_accepted(const struct tm_field *f, const char *s)
{
  switch (f->type) {
  case TM_FIELD_PATH: return *s != 0;
  case TM_FIELD_FILE_NAME: return is_file_name(s);
  case TM_FIELD_SEPARATOR: return is_separator(s);
  case TM_FIELD_NAME: return is_name(s);
  case TM_FIELD_WORD: return is_word(s);
  default: return (double)strlen(s) >= f->min;
  }
}

static struct tm_json *text_value(const struct tm_field *f, const struct tm_json *given)
{
  if (!is_plain_string(given) || !is_text_accepted(f, given->string.at))
    return NULL;
  return tm_json_copy(given);
}

int tm_params_truth(const struct tm_json *given)
{
  static const char *const words[] = { "false", "False", "true", "True" };
  if (given->type == TM_JSON_BOOL)
    return given->boolean;
  for (size_t i = 0; is_plain_string(given) && i < TM_COUNT_OF(words); i++)
    if (strcmp(given->string.at, words[i]) == 0)
      return i >= 2;
  return -1;
}

/* A truth is a word, if the field has it; words of fields with ANY_CASE are in upper case. */
static struct tm_json *choice_value(const struct tm_field *f, const struct tm_json *given)
{
  int truth = tm_text_has_word(f->accepts, "true", 4) ? tm_params_truth(given) : -1;
  char *word = tm_xstrdup(truth >= 0               ? truth ? "true" : "false"
                          : is_plain_string(given) ? given->string.at
                                                   : "");
  for (char *c = word; (f->flags & TM_FIELD_ANY_CASE) && *c; c++)
    *c = is_between(*c, 'a', 'z') ? (char)(*c - 'a' + 'A') : *c;
  bool is_known = tm_text_has_word(f->accepts, word, strlen(word));
  struct tm_json *v = is_known ? tm_json_new_string(word) : NULL;
  free(word);
  return v;
}

static struct tm_json *bool_value(const struct tm_json *given)
{
  int truth = tm_params_truth(given);
  return truth < 0 ? NULL : tm_json_new_bool(truth);
}

static struct tm_json *scalar_value(const struct tm_field *f, const struct tm_json *given)
{
  bool is_good =
      given->type == TM_JSON_INT || (given->type == TM_JSON_NUMBER && isfinite(given->number));
  is_good = is_good || given->type == TM_JSON_BOOL || is_plain_string(given) ||
            is_tagged(given, f->accepts);
  return is_good ? tm_json_copy(given) : NULL;
}

/* The text of a scalar, to be freed; NULL if it is not a scalar. */
static char *scalar_text(const struct tm_json *v)
{
  struct tm_buf out = TM_BUF_NONE;
  switch (v->type) {
  case TM_JSON_INT: tm_buf_add_int(&out, v->integer); break;
  case TM_JSON_NUMBER: tm_json_write_number(&out, v->number); break;
  case TM_JSON_BOOL: tm_buf_add_str(&out, v->boolean ? "true" : "false"); break;
  case TM_JSON_STRING:
    if (is_plain_string(v))
      return tm_xstrdup(v->string.at);
    return NULL;
  default: return NULL;
  }
  return tm_buf_take(&out);
}

/* Names that a shell could set, with values; {} in Lua is an empty list. */
static struct tm_json *variables_value(const struct tm_json *given)
{
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  if (given->tag ||
      (given->type != TM_JSON_OBJECT && !(given->type == TM_JSON_ARRAY && given->list.len == 0)))
    goto fail;
  for (size_t i = 0; given->type == TM_JSON_OBJECT && i < given->list.len; i++) {
    char *text = scalar_text(given->list.at[i]);
    if (!text)
      goto fail;
    tm_json_set(out, given->keys[i], tm_json_new_string(text));
    free(text);
    if (!given->keys[i][0] || strchr(given->keys[i], '='))
      goto fail;
  }
  return out;
fail:
  tm_json_free(out);
  return NULL;
}

/* One path, or a list of them, as a list. */
static struct tm_json *paths_value(const struct tm_json *given)
{
  struct tm_json *out = tm_json_new(TM_JSON_ARRAY);
  bool is_one = is_plain_string(given);
  bool is_good = is_one || (given->type == TM_JSON_ARRAY && !given->tag);
  for (size_t i = 0; is_good && i < (is_one ? 1 : given->list.len); i++) {
    const struct tm_json *path = is_one ? given : given->list.at[i];
    /* ';' and '?' are special characters in Lua's paths */
    is_good = is_plain_string(path) && *path->string.at && !strpbrk(path->string.at, ";?");
    tm_json_add(out, tm_json_copy(path));
  }
  if (is_good)
    return out;
  tm_json_free(out);
  return NULL;
}

/* Both members, whatever was given. A name sets neither. */
static struct tm_json *environment_value(const struct tm_json *given)
{
  struct tm_json nothing = { .type = TM_JSON_ARRAY }, *out = tm_json_new(TM_JSON_OBJECT);
  const struct tm_json *variables = tm_json_get(given, "variables"),
                       *paths = tm_json_get(given, "module_paths"),
                       *name = tm_json_get(given, "name");
  bool is_empty = (given->type == TM_JSON_ARRAY && given->list.len == 0) ||
                  (is_plain_string(given) && *given->string.at);
  bool is_good =
      !given->tag && (is_empty || (given->type == TM_JSON_OBJECT &&
                                   given->list.len == (size_t) !!variables + !!paths + !!name));
  is_good = is_good && (!name || is_plain_string(name));
  struct tm_json *v = is_good ? variables_value(variables ? variables : &nothing) : NULL;
  struct tm_json *p = v ? paths_value(paths ? paths : &nothing) : NULL;
  if (v)
    tm_json_set(out, "variables", v);
  if (p) {
    tm_json_set(out, "module_paths", p);
    return out;
  }
  tm_json_free(out);
  return NULL;
}

static struct tm_json *names_value(const struct tm_json *given);

/* A PipelineParameter cannot have a list as its default, so a string may hold it as JSON. NULL: it
 * does not. */
static struct tm_json *names_in_text(const struct tm_json *given)
{
  bool is_list = is_plain_string(given) && *given->string.at == '[';
  struct tm_json *list = is_list ? tm_json_parse(given->string.at, given->string.len, NULL) : NULL;
  struct tm_json *names = list ? names_value(list) : NULL;
  tm_json_free(list);
  return names;
}

/* A string, or a list of different ones. */
static struct tm_json *names_value(const struct tm_json *given)
{
  struct tm_json *out = tm_json_new(TM_JSON_ARRAY);
  struct tm_map seen = { 0 };
  bool is_one = is_plain_string(given), is_new = true;
  bool is_good = is_one || (given->type == TM_JSON_ARRAY && !given->tag && given->list.len > 0);
  for (size_t i = 0; is_good && i < (is_one ? 1 : given->list.len); i++) {
    const struct tm_json *name = is_one ? given : given->list.at[i];
    is_good = is_plain_string(name) && *name->string.at;
    if (is_good) {
      tm_map_add(&seen, name->string.at, name->string.len, &is_new);
      tm_json_add(out, tm_json_copy(name));
    }
    is_good = is_good && is_new;
  }
  tm_map_release(&seen);
  if (is_good)
    return out;
  tm_json_free(out);
  return NULL;
}

/* A string, or a list of them. */
static struct tm_json *strings_value(const struct tm_json *given)
{
  bool is_one = is_plain_string(given);
  bool is_good = is_one || (given->type == TM_JSON_ARRAY && !given->tag && given->list.len > 0);
  for (size_t i = 0; is_good && i < (is_one ? 1 : given->list.len); i++) {
    const struct tm_json *text = is_one ? given : given->list.at[i];
    is_good = is_plain_string(text) && *text->string.at;
  }
  return is_good ? tm_json_copy(given) : NULL;
}

/* The type of a column by any of its names; NULL: there is no such type. */
static const char *type_named(const struct tm_json *given)
{
  static const char *const names[][3] = { { "long", "int", "integer" },
                                          { "double", "float" },
                                          { "bool", "boolean" },
                                          { "string" },
                                          { "datetime" } };
  for (size_t i = 0; given && is_plain_string(given) && i < TM_COUNT_OF(names); i++)
    for (size_t j = 0; j < TM_COUNT_OF(names[i]) && names[i][j]; j++)
      if (strcmp(given->string.at, names[i][j]) == 0)
        return names[i][0];
  return NULL;
}

/* "long", or { type = "datetime", formats = { "%d.%m.%Y" } }; NULL: neither. */
static struct tm_json *type_value(const struct tm_json *given)
{
  const struct tm_json *formats = tm_json_get(given, "formats");
  bool is_word = given->type == TM_JSON_STRING;
  const char *type = type_named(is_word ? given : tm_json_get(given, "type"));
  bool is_good = type && (is_word || given->list.len == (size_t)1 + (formats != NULL)) &&
                 (!formats || strcmp(type, "datetime") == 0);
  struct tm_json *list = is_good && formats ? names_value(formats) : NULL;
  if (!is_good || (formats && !list))
    return NULL;
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(out, "type", tm_json_new_string(type));
  if (list)
    tm_json_set(out, "formats", list);
  return out;
}

static struct tm_json *types_value(const struct tm_json *given)
{
  struct tm_json *out = tm_json_new(TM_JSON_OBJECT);
  bool is_good = !given->tag && (given->type == TM_JSON_OBJECT ||
                                 (given->type == TM_JSON_ARRAY && given->list.len == 0));
  for (size_t i = 0; is_good && i < given->list.len; i++) {
    struct tm_json *type = type_value(given->list.at[i]);
    is_good = type != NULL;
    if (type)
      tm_json_set(out, given->keys[i], type);
  }
  if (is_good)
    return out;
  tm_json_free(out);
  return NULL;
}

static struct tm_json *list_value(const struct tm_json *given)
{
  return given->type == TM_JSON_ARRAY && !given->tag ? tm_json_copy(given) : NULL;
}

/* A PipelineParameter means its value, which by now is its default. */
static const struct tm_json *meant(const struct tm_field *f, const struct tm_json *given)
{
  bool is_parameter = (f->flags & TM_FIELD_PARAMETER) && is_tagged(given, "PipelineParameter");
  const struct tm_json *value = is_parameter ? tm_json_get(given, "default_value") : NULL;
  return value ? value : given;
}

static bool is_one(const struct tm_field *f, const struct tm_json *given)
{
  return (f->flags & TM_FIELD_OR_ONE) && is_tagged(meant(f, given), f->accepts);
}

static bool is_list_of(const struct tm_field *f, const struct tm_json *given)
{
  bool is_good = given->type == TM_JSON_ARRAY && !given->tag && given->list.len > 0;
  for (size_t i = 0; is_good && i < given->list.len; i++)
    is_good = is_tagged(meant(f, given->list.at[i]), f->accepts);
  return is_good;
}

static struct tm_json *objects_value(const struct tm_field *f, const struct tm_json *given)
{
  if (!is_one(f, given))
    return is_list_of(f, given) ? tm_json_copy(given) : NULL;
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  tm_json_add(list, tm_json_copy(given));
  return list;
}

bool tm_params_is_objects(const struct tm_field *f, const struct tm_json *given)
{
  return f->type == TM_FIELD_OBJECTS && (is_one(f, given) || is_list_of(f, given));
}

static struct tm_json *settle(const struct tm_field *f, const struct tm_json *given)
{
  struct tm_json *names;
  switch (f->type) {
  case TM_FIELD_INT: return integer_value(f, given);
  case TM_FIELD_SECONDS: return seconds_value(f, given);
  case TM_FIELD_PERCENT: return number_value(f, given);
  case TM_FIELD_SIZE: return size_value(f, given);
  case TM_FIELD_AMOUNT: return amount_value(f, given);
  case TM_FIELD_CHOICE: return choice_value(f, given);
  case TM_FIELD_PATH:
  case TM_FIELD_FILE_NAME:
  case TM_FIELD_SEPARATOR:
  case TM_FIELD_TEXT:
  case TM_FIELD_NAME:
  case TM_FIELD_WORD: return text_value(f, given);
  case TM_FIELD_BOOL: return bool_value(given);
  case TM_FIELD_VARIABLES: return variables_value(given);
  case TM_FIELD_ENVIRONMENT: return environment_value(given);
  case TM_FIELD_SCALAR: return scalar_value(f, given);
  case TM_FIELD_NAMES:
    names = f->flags & TM_FIELD_PARAMETER ? names_in_text(given) : NULL;
    return names ? names : names_value(given);
  case TM_FIELD_STRINGS: return strings_value(given);
  case TM_FIELD_TYPES: return types_value(given);
  case TM_FIELD_LIST: return list_value(given);
  case TM_FIELD_ANY: return tm_json_copy(given);
  case TM_FIELD_OBJECT: return is_tagged(given, f->accepts) ? tm_json_copy(given) : NULL;
  case TM_FIELD_OBJECTS: return objects_value(f, given);
  }
  return NULL;
}

/* The member of a list that is not accepted; it tells more than "a list". */
static const struct tm_json *odd_member(const struct tm_field *f, const struct tm_json *given,
                                        size_t *at)
{
  for (size_t i = 0;
       f->type == TM_FIELD_OBJECTS && given->type == TM_JSON_ARRAY && i < given->list.len; i++) {
    if (!is_tagged(meant(f, given->list.at[i]), f->accepts)) {
      *at = i + 1;
      return given->list.at[i];
    }
  }
  return NULL;
}

/* Users often give a step instead of its output, and a path instead of a dataset. */
static const char *hint_of(const struct tm_field *f, const struct tm_json *given)
{
  bool wants_data = tm_text_has_word(f->accepts, "FileDataset", strlen("FileDataset")),
       is_step = is_tagged(given, "ParallelRunStep") && wants_data;
  if (wants_data && given->type == TM_JSON_STRING)
    return " (write a path as Dataset.File.from_files(path))";
  if (f->flags & TM_FIELD_PARAMETER && is_tagged(given, "PipelineParameter"))
    return " whose default_value is not a dataset";
  return is_step ? " (its rows and files are in its output, an OutputFileDatasetConfig)" : "";
}

static void describe_names(struct tm_buf *out, const struct tm_field *f,
                           const struct tm_json *given)
{
  for (size_t i = 0; f->type == TM_FIELD_ENVIRONMENT && i < given->list.len; i++) {
    const char *name = given->keys[i];
    if (strcmp(name, "variables") == 0 || strcmp(name, "module_paths") == 0)
      continue;
    struct tm_buf word = TM_BUF_NONE;
    tm_text_one_line(&word, name, strlen(name), 80);
    tm_buf_printf(out, "a table with '%s' (no packages are installed)", word.data);
    tm_buf_release(&word);
    return;
  }
  tm_buf_add_str(out, "a table with other names or values");
}

struct tm_json *tm_params_value(const struct tm_field *f, const struct tm_json *given,
                                struct tm_err *err)
{
  struct tm_json *v = settle(f, given);
  if (v)
    return v;
  if (f->flags & TM_FIELD_WORDED) {
    tm_err_set(err, TM_EUSAGE, "%s", f->help);
    return NULL;
  }
  struct tm_buf said = TM_BUF_NONE, accepted = TM_BUF_NONE;
  size_t at = 0;
  const struct tm_json *member = odd_member(f, given, &at), *odd = member ? member : given;
  bool is_named = given->type == TM_JSON_OBJECT && !given->tag;
  bool wants_list = f->type == TM_FIELD_LIST || f->type == TM_FIELD_OBJECTS ||
                    f->type == TM_FIELD_NAMES || f->type == TM_FIELD_STRINGS;
  if ((f->type == TM_FIELD_VARIABLES || f->type == TM_FIELD_ENVIRONMENT) && is_named)
    describe_names(&said, f, given); /* values of variables are never printed */
  else if (wants_list && is_named)
    tm_buf_add_str(&said, "a table of names and values");
  else
    tm_params_describe(&said, odd);
  if (f->type == TM_FIELD_OBJECTS)
    tm_buf_add_str(&said, hint_of(f, odd));
  tm_params_accepted(&accepted, f);
  if (member)
    tm_err_set(err, TM_EUSAGE, "'%s[%zu]' is %s; accepted: %s", f->name, at, said.data,
               accepted.data);
  else
    tm_err_set(err, TM_EUSAGE, "'%s' is %s; accepted: %s", f->name, said.data, accepted.data);
  tm_buf_release(&said);
  tm_buf_release(&accepted);
  return NULL;
}

struct tm_json *tm_params_default(const struct tm_field *f)
{
  if (!f->otherwise)
    return NULL;
  struct tm_json *text = tm_json_new_string(f->otherwise);
  struct tm_json *v = tm_params_value(f, text, NULL);
  tm_json_free(text);
  return v;
}
