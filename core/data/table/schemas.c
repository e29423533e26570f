/* schemas.c - see schemas.h. The file is written completely, then renamed into place. */
#include "data/table/schemas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "data/rows/json_scan.h"

#define SCHEMA_MAX ((size_t)1 << 30) /* bytes of the file */
#define VERSION    2
#define CHECK_SIZE 17 /* 16 digits and NUL */
#define BEFORE_INPUTS                                                                              \
  (CHECK_SIZE - 1 + sizeof "\", \"inputs\": " - 1) /* bytes, from the check sum on */

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

static void check_of(char out[CHECK_SIZE], const char *inputs, size_t n)
{
  snprintf(out, CHECK_SIZE, "%016" PRIx64, tm_hash64(inputs, n));
}

static bool is_sound(const char *p, size_t n, const struct tm_slice *inputs)
{
  struct tm_slice stated;
  char check[CHECK_SIZE];
  check_of(check, inputs->p, inputs->n);
  return tm_json_scan_find(p, p + n, "check", &stated) && stated.n == CHECK_SIZE - 1 &&
         memcmp(stated.p, check, CHECK_SIZE - 1) == 0;
}

static int read_inputs(struct tm_schemas *s, const struct tm_slice *inputs, struct tm_err *err)
{
  const char *p = inputs->p, *end = inputs->p + inputs->n;
  struct tm_slice item = { .kind = TM_SLICE_NULL };
  size_t i = 0;
  for (;; i++) {
    p = tm_json_scan_item(p, end, i == 0, &item);
    if (p == NULL || item.kind == TM_SLICE_NONE || i == s->len)
      break;
    tm_schema_release(&s->at[i]);
    if (item.kind != TM_SLICE_NULL && tm_schema_read(&s->at[i], item.p, item.n, err) < 0)
      return err->code;
  }
  if (p != NULL && item.kind == TM_SLICE_NONE && i == s->len)
    return 0;
  return tm_err_set(err, TM_EDAMAGE, "it has no schemas for %zu inputs", s->len);
}

/* A tree of the whole file would take ten times its memory, so it is parsed one column at a time,
 * or completely only to report an error. */
static int read_text(struct tm_schemas *s, const char *p, size_t n, struct tm_err *err)
{
  struct tm_slice version, inputs;
  if (!tm_json_scan_find(p, p + n, "version", &version)) {
    tm_json_free(tm_json_parse(p, n, err));
    return err->code < 0 ? err->code : tm_err_set(err, TM_EDAMAGE, "it does not say its version");
  }
  if (version.n != 1 || *version.p != '0' + VERSION)
    return tm_err_set(err, TM_EVERSION, "it has version %.*s, and this program reads version %d",
                      version.n < 20 ? (int)version.n : 20, version.p, VERSION);
  if (!tm_json_scan_find(p, p + n, "inputs", &inputs) || inputs.kind != TM_SLICE_ARRAY)
    return tm_err_set(err, TM_EDAMAGE, "it has no schemas for %zu inputs", s->len);
  if (!is_sound(p, n, &inputs))
    return tm_err_set(err, TM_EDAMAGE, "its check sum is wrong");
  return read_inputs(s, &inputs, err);
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
  if (rc >= 0 && (rc = read_text(s, tm_buf_str(&text), text.len, err)) < 0)
    say_damage(path, rc, err);
  tm_buf_release(&text);
  return rc < 0 ? rc : 0;
}

int tm_schemas_write(const struct tm_schemas *s, const struct tm_fs *fs, const char *path,
                     struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  char check[CHECK_SIZE];
  tm_buf_printf(&text, "{\"version\": %d, \"check\": \"%016d\", \"inputs\": ", VERSION, 0);
  size_t inputs = text.len;
  tm_buf_add_str(&text, "[\n");
  for (size_t i = 0; i < s->len; i++) {
    tm_buf_add_str(&text, i > 0 ? ",\n" : "");
    if (s->at[i].len > 0)
      tm_schema_write(&text, &s->at[i]);
    else
      tm_buf_add_str(&text, "null");
  }
  tm_buf_add_str(&text, "\n]");
  check_of(check, text.data + inputs, text.len - inputs);
  memcpy(text.data + inputs - BEFORE_INPUTS, check, CHECK_SIZE - 1);
  tm_buf_add_str(&text, "}\n");
  int rc = text.len <= SCHEMA_MAX
               ? tm_fs_write_file(fs, path, text.data, text.len, 0600, err)
               : tm_err_set(err, TM_EINPUT,
                            "the names of the columns take %zu MB in '%s'; accepted: up to %zu MB",
                            text.len >> 20, path, SCHEMA_MAX >> 20);
  tm_buf_release(&text);
  return rc;
}
