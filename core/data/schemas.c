/* schemas.c - see schemas.h. The file is written whole, and renamed into place. */
#include "data/schemas.h"

#include "base/mem.h"

#define SCHEMA_MAX ((size_t)64 << 20) /* bytes of the file */

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

static int read_inputs(struct tm_schemas *s, const struct tm_json *v, struct tm_err *err)
{
  const struct tm_json *inputs = tm_json_get(v, "inputs");
  if (tm_json_int(v, "version", 0) != 1)
    return tm_err_set(err, TM_EVERSION, "it is of version %lld, and this program knows version 1",
                      (long long)tm_json_int(v, "version", 0));
  if (!inputs || inputs->type != TM_JSON_ARRAY || inputs->list.len != s->len)
    return tm_err_set(err, TM_EDAMAGE, "it has no schemas for %zu inputs", s->len);
  for (size_t i = 0; i < s->len; i++) {
    tm_schema_release(&s->at[i]);
    if (inputs->list.at[i]->type != TM_JSON_NULL &&
        tm_schema_from_json(&s->at[i], inputs->list.at[i], err) < 0)
      return err->code;
  }
  return 0;
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
      tm_err_wrap(err, "'%s'", path);
  }
  tm_buf_release(&text);
  return rc < 0 ? rc : 0;
}

int tm_schemas_write(const struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                     struct tm_err *err)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf text = TM_BUF_NONE;
  tm_json_set(v, "version", tm_json_new_int(1));
  struct tm_json *inputs = tm_json_set(v, "inputs", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < s->len; i++)
    tm_json_add(inputs,
                s->at[i].len > 0 ? tm_schema_to_json(&s->at[i]) : tm_json_new(TM_JSON_NULL));
  tm_json_write(&text, v, (struct tm_json_style) { .indent = 2 });
  tm_buf_add_char(&text, '\n');
  int rc = tm_fs_write_file(fs, path, text.data, text.len, 0666, err);
  tm_buf_release(&text);
  tm_json_free(v);
  return rc;
}
