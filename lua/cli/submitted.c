/* submitted.c - see submitted.h. */
#include "cli/submitted.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "runtime.h"
#include "sys/fs.h"

#define FILE_MAX (64u << 20) /* bytes of JSON */

static struct tm_param *find(struct tm_submitted *s, const char *name, size_t n)
{
  for (size_t i = 0; i < s->given.len; i++)
    if (strlen(s->given.at[i].name) == n && strncmp(s->given.at[i].name, name, n) == 0)
      return &s->given.at[i];
  return NULL;
}

static void release(struct tm_param *p)
{
  free((char *)p->name);
  free((char *)p->value);
  tm_json_free((struct tm_json *)p->tree);
  free((char *)p->origin);
  free((char *)p->base_dir);
  free((char *)p->file);
}

int tm_submitted_add_words(struct tm_submitted *s, const struct tm_words *words, const char *cwd,
                           struct tm_err *err)
{
  for (size_t i = 0; i < words->len; i++) {
    const char *given = words->at[i], *value = tm_option_pair(given, err);
    if (!value)
      return TM_EUSAGE;
    size_t name_len = (size_t)(value - given) - 1;
    struct tm_param *known = find(s, given, name_len), *p = known ? known : TM_ARRAY_ADD(&s->given);
    if (known)
      release(known);
    *p = (struct tm_param) { .name = tm_xstrndup(given, name_len),
                             .value = tm_xstrdup(value),
                             .origin = tm_xstrdup("--param"),
                             .base_dir = tm_xstrdup(cwd) };
  }
  return 0;
}

static struct tm_param *add(struct tm_submitted *s, const char *name, const struct tm_json *value)
{
  if (find(s, name, strlen(name)) || value->type == TM_JSON_NULL)
    return NULL;
  struct tm_param *p = TM_ARRAY_ADD(&s->given);
  *p = (struct tm_param) { .name = tm_xstrdup(name), .tree = tm_json_copy(value) };
  return p;
}

static struct tm_json *load_json(const char *path, const char *shown, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  int rc = tm_fs_read_file(tm_fs_real(), path, FILE_MAX, &text, err);
  if (rc < 0)
    tm_err_set(err, TM_EUSAGE, "cannot open file of parameters '%s': %s", shown, tm_code_text(rc));
  else if (!(v = tm_json_parse(tm_buf_str(&text), text.len, err)))
    tm_err_wrap(err, "file of parameters '%s'", shown);
  tm_buf_release(&text);
  return v;
}

static bool is_lua(const char *path)
{
  size_t n = strlen(path);
  return n > 4 && strcmp(path + n - 4, ".lua") == 0;
}

int tm_submitted_add_file(struct tm_submitted *s, const char *file, const char *cwd,
                          struct tm_err *err)
{
  char *path = tm_path_absolute(cwd, file), *dir = tm_path_dir(path);
  struct tm_json *v = is_lua(path) ? tm_lua_load_values(path, err) : load_json(path, file, err);
  bool is_empty = v && v->type == TM_JSON_ARRAY && v->list.len == 0; /* {} in Lua is either */
  int rc = v ? 0 : TM_EUSAGE;
  if (v && !is_empty && (v->type != TM_JSON_OBJECT || v->tag))
    rc = tm_err_set(err, TM_EUSAGE,
                    "file of parameters '%s' holds no names with values; accepted: a JSON object, "
                    "or a Lua file that returns a table",
                    file);
  for (size_t i = 0; rc == 0 && i < v->list.len; i++) {
    struct tm_param *p = add(s, v->keys[i], v->list.at[i]);
    if (!p)
      continue;
    p->origin = tm_xstrdup(file);
    p->file = tm_xstrdup(file);
    p->base_dir = tm_xstrdup(dir);
  }
  tm_json_free(v);
  free(dir);
  free(path);
  return rc;
}

void tm_submitted_add_given(struct tm_submitted *s, const struct tm_json *record)
{
  const struct tm_json *params = tm_json_get(record, "params");
  for (size_t i = 0; params && params->type == TM_JSON_OBJECT && i < params->list.len; i++) {
    struct tm_param *p = add(s, params->keys[i], params->list.at[i]);
    if (p)
      p->origin = tm_xstrdup("the job's record");
  }
}

static void add_used(struct tm_submitted *s, const struct tm_json *used, const char *job)
{
  for (size_t i = 0; used && used->type == TM_JSON_OBJECT && i < used->list.len; i++) {
    const struct tm_json *value = tm_json_get(used->list.at[i], "value");
    struct tm_param *p = value ? add(s, used->keys[i], value) : NULL;
    if (!p)
      continue;
    p->origin = tm_xprintf("job %s", job);
    p->is_optional = true;
  }
}

void tm_submitted_add_used(struct tm_submitted *s, const struct tm_json *record, const char *job)
{
  const struct tm_json *steps = tm_json_get(record, "steps");
  for (size_t i = 0; steps && steps->type == TM_JSON_ARRAY && i < steps->list.len; i++)
    add_used(s, tm_json_get(tm_json_get(steps->list.at[i], "definition"), "parameters"), job);
}

void tm_submitted_release(struct tm_submitted *s)
{
  for (size_t i = 0; i < s->given.len; i++)
    release(&s->given.at[i]);
  TM_ARRAY_RELEASE(&s->given);
}
