/* schemas.c - see schemas.h. The file is written whole, and renamed into place. */
#include "data/schemas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define SCHEMA_MAX ((size_t)64 << 20) /* bytes of the file */
#define VERSION    2
#define CHECK_SIZE 17 /* 16 digits and NUL */

void tm_schemas_init(struct tm_schemas *s, size_t inputs)
{
  s->at = tm_xcalloc(inputs, sizeof(*s->at));
  s->len = inputs;
}

void tm_schemas_copy(struct tm_schemas *to, const struct tm_schemas *from)
{
  tm_schemas_init(to, from->len);
  for (size_t i = 0; i < from->len; i++)
    tm_schema_copy(&to->at[i], &from->at[i]);
}

void tm_schemas_release(struct tm_schemas *s)
{
  for (size_t i = 0; i < s->len; i++)
    tm_schema_release(&s->at[i]);
  free(s->at);
  s->at = NULL;
  s->len = 0;
}

static void check_of(char out[CHECK_SIZE], const struct tm_json *inputs)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_json_write(&text, inputs, (struct tm_json_style) { 0 });
  snprintf(out, CHECK_SIZE, "%016" PRIx64, tm_hash64(tm_buf_str(&text), text.len));
  tm_buf_release(&text);
}

static int check_inputs(const struct tm_schemas *s, const struct tm_json *v,
                        const struct tm_json *inputs, struct tm_err *err)
{
  char check[CHECK_SIZE];
  if (tm_json_int(v, "version", 0) != VERSION)
    return tm_err_set(err, TM_EVERSION, "it is of version %lld, and this program knows version %d",
                      (long long)tm_json_int(v, "version", 0), VERSION);
  if (!inputs || inputs->type != TM_JSON_ARRAY || inputs->list.len != s->len)
    return tm_err_set(err, TM_EDAMAGE, "it has no schemas for %zu inputs", s->len);
  check_of(check, inputs);
  if (strcmp(tm_json_str(v, "check", ""), check) != 0)
    return tm_err_set(err, TM_EDAMAGE, "its check sum is wrong");
  return 0;
}

static int read_inputs(struct tm_schemas *s, const struct tm_json *v, struct tm_err *err)
{
  const struct tm_json *inputs = tm_json_get(v, "inputs");
  int rc = check_inputs(s, v, inputs, err);
  if (rc < 0)
    return rc;
  for (size_t i = 0; i < s->len; i++) {
    tm_schema_release(&s->at[i]);
    if (inputs->list.at[i]->type != TM_JSON_NULL &&
        tm_schema_from_json(&s->at[i], inputs->list.at[i], err) < 0)
      return err->code;
  }
  return 0;
}

static void say_damage(const char *path, int code, struct tm_err *err)
{
  struct tm_err why = *err;
  tm_err_set(err, code,
             "'%s' %s: %s; the job wrote it itself: restore the file, or start a new job", path,
             code == TM_EVERSION ? "cannot be used" : "is damaged", why.text);
}

int tm_schemas_read(struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                    struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  if (!tm_fs_exists(fs, path))
    return 0;
  int rc = tm_fs_read_file(fs, path, SCHEMA_MAX, &text, err);
  if (rc >= 0) {
    struct tm_json *v = tm_json_parse(tm_buf_str(&text), text.len, err);
    rc = v ? read_inputs(s, v, err) : TM_EDAMAGE;
    tm_json_free(v);
    if (rc < 0)
      say_damage(path, rc, err);
  }
  tm_buf_release(&text);
  return rc < 0 ? rc : 0;
}

int tm_schemas_write(const struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                     struct tm_err *err)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf text = TM_BUF_NONE;
  char check[CHECK_SIZE];
  tm_json_set(v, "version", tm_json_new_int(VERSION));
  struct tm_json *inputs = tm_json_set(v, "inputs", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < s->len; i++)
    tm_json_add(inputs,
                s->at[i].len > 0 ? tm_schema_to_json(&s->at[i]) : tm_json_new(TM_JSON_NULL));
  check_of(check, inputs);
  tm_json_set(v, "check", tm_json_new_string(check));
  tm_json_write(&text, v, (struct tm_json_style) { .indent = 2 });
  tm_buf_add_char(&text, '\n');
  int rc = tm_fs_write_file(fs, path, text.data, text.len, 0600, err);
  tm_buf_release(&text);
  tm_json_free(v);
  return rc;
}
