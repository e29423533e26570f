/* classes.c - see classes.h. */
#include "classes.h"

#include <string.h>

#include "params/params.h"

/* For types that are the same in every field. */
static const char *const types[] = {
  [TM_FIELD_INT] = "integer",
  [TM_FIELD_SECONDS] = "number|string",
  [TM_FIELD_PERCENT] = "number",
  [TM_FIELD_SIZE] = "integer|string",
  [TM_FIELD_AMOUNT] = "integer|string",
  [TM_FIELD_PATH] = "string",
  [TM_FIELD_FILE_NAME] = "string",
  [TM_FIELD_TEXT] = "string",
  [TM_FIELD_SEPARATOR] = "string",
  [TM_FIELD_BOOL] = "boolean",
  [TM_FIELD_NAME] = "string",
  [TM_FIELD_WORD] = "string",
  [TM_FIELD_VARIABLES] = "table<string, string|number|boolean>",
  [TM_FIELD_ENVIRONMENT] = "string|tidemill.Environment",
  [TM_FIELD_NAMES] = "string|string[]",
  [TM_FIELD_STRINGS] = "string|string[]",
  [TM_FIELD_TYPES] = "table<string, tidemill.ColumnType>",
  [TM_FIELD_LIST] = "tidemill.Argument[]",
};

/* Adds the parts of "a|b", each between `before` and `after`: `tidemill.A|tidemill.B`. */
static void add_parts(struct tm_buf *out, const char *parts, const char *before, const char *after)
{
  for (const char *at = parts; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
    tm_buf_printf(out, "%s%s%.*s%s", at == parts ? "" : "|", before, (int)strcspn(at, "|"), at,
                  after);
}

static void add_type(struct tm_buf *out, const struct tm_field *f)
{
  bool is_union = f->accepts && strchr(f->accepts, '|');
  if (f->type == TM_FIELD_CHOICE) {
    add_parts(out, f->accepts, "\"", "\"");
    tm_buf_add_str(out, strstr(f->accepts, "true") ? "|boolean" : "");
  } else if (f->type == TM_FIELD_SCALAR) {
    tm_buf_add_str(out, "string|number|boolean|");
    add_parts(out, f->accepts, "tidemill.", "");
  } else if (f->type == TM_FIELD_OBJECT || f->type == TM_FIELD_OBJECTS) {
    if (f->type == TM_FIELD_OBJECT || f->flags & TM_FIELD_OR_ONE)
      add_parts(out, f->accepts, "tidemill.", "");
    tm_buf_add_str(out, f->flags & TM_FIELD_OR_ONE ? "|" : "");
    if (f->type == TM_FIELD_OBJECTS) {
      tm_buf_add_str(out, is_union ? "(" : "");
      add_parts(out, f->accepts, "tidemill.", "");
      tm_buf_add_str(out, is_union ? ")[]" : "[]");
    }
  } else {
    tm_buf_add_str(out, types[f->type]);
  }
  if (f->flags & TM_FIELD_PARAMETER)
    tm_buf_add_str(out, "|tidemill.PipelineParameter");
}

static void add_field(struct tm_buf *out, const struct tm_field *f)
{
  tm_buf_printf(out, "---@field %s%s ", f->name, f->flags & TM_FIELD_REQUIRED ? "" : "?");
  add_type(out, f);
  tm_buf_printf(out, " %s", f->help);
  if (f->otherwise && !strstr(f->help, "default"))
    tm_buf_printf(out, "; by default %s", f->otherwise);
  tm_buf_add_char(out, '\n');
}

/* "Dataset.File.from_files" is FromFilesOptions; an object's constructor has its own name. */
static void add_class(struct tm_buf *out, const char *kind)
{
  size_t n;
  const struct tm_field *fields = tm_params_fields(kind, &n);
  const char *name = kind;
  for (const char *at = kind; *at; at++)
    if (strchr(".:", *at))
      name = at + 1;
  tm_buf_add_str(out, "\n---@class tidemill.");
  for (const char *at = name; *at; at++)
    if (*at != '_')
      tm_buf_add_char(out, at == name || at[-1] == '_' ? *at & ~0x20 : *at);
  tm_buf_add_str(out, strcmp(name, "Workspace") == 0 ? "Fields\n"
                      : *name >= 'a'                 ? "Options\n"
                                                     : "\n");
  for (size_t i = 0; i < n; i++)
    add_field(out, &fields[i]);
}

int tm_lua_classes(lua_State *L)
{
  struct tm_buf out = TM_BUF_NONE;
  const char *kind;
  tm_buf_add_str(&out, "---@meta\n-- The fields of constructors and of tables of options.\n");
  for (size_t i = 0; (kind = tm_params_kind(i)) != NULL; i++)
    if (strcmp(kind, "arguments") != 0)
      add_class(&out, kind);
  lua_pushlstring(L, out.data, out.len);
  tm_buf_release(&out);
  return 1;
}
