/* plugin_record.c - see plugin_record.h. */
#include "sys/plugin_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sys/fs.h"

static void set_list(struct tm_json *record, const char *name, const char *const *words)
{
  struct tm_json *list = tm_json_set(record, name, tm_json_new(TM_JSON_ARRAY));

  for (size_t i = 0; words[i]; i++)
    tm_json_add(list, tm_json_new_string(words[i]));
}

struct tm_json *tm_plugin_record(const struct tm_plugin *p, const struct tm_plugin_kind *kind,
                                 const char *const *folders, const char *version)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_stat st = { 0 };

  (void)tm_fs_real()->stat(tm_fs_real()->self, p->path, true, &st);
  tm_json_set(v, "name", tm_json_new_string(kind->name));
  tm_json_set(v, "version", tm_json_new_string(version));
  tm_json_set(v, "path", tm_json_new_string(p->path));
  tm_json_set(v, "size", tm_json_new_int(st.size));
  tm_json_set(v, "mtime_ns", tm_json_new_int(st.mtime_ns));
  tm_json_set(v, "is_of_loader", tm_json_new_bool(p->is_of_loader));
  tm_json_set(v, "variable", tm_json_new_string(kind->variable));
  tm_json_set(v, "package", tm_json_new_string(kind->package));
  set_list(v, "files", kind->files);
  set_list(v, "folders", folders);
  return v;
}

/* Its strings, which stay its own, as a NULL-ended array; to free(). */
static const char **strings_of(const struct tm_json *record, const char *name)
{
  const struct tm_json *list = tm_json_get(record, name);
  size_t n = tm_json_items(list), len = 0;
  const char **words = tm_xcalloc(n + 1, sizeof *words);

  for (size_t i = 0; i < n; i++)
    if (list->list.at[i]->type == TM_JSON_STRING)
      words[len++] = list->list.at[i]->string.at;
  return words;
}

static bool has_changed(const struct tm_json *record, const char *path)
{
  struct tm_stat st;

  return tm_fs_real()->stat(tm_fs_real()->self, path, true, &st) < 0 ||
         st.size != tm_json_int(record, "size", -1) ||
         st.mtime_ns != tm_json_int(record, "mtime_ns", -1);
}

static bool compare(const struct tm_json *record, const char *found, struct tm_buf *why)
{
  const char *name = tm_json_str(record, "name", "a library"),
             *version = tm_json_str(record, "version", "?"),
             *path = tm_json_str(record, "path", "");

  if (!found && tm_json_bool(record, "is_of_loader", false))
    found = path;
  if (!found)
    tm_buf_printf(why, "%s %s of '%s' was used, and would not be found now", name, version, path);
  else if (strcmp(found, path) != 0)
    tm_buf_printf(why, "%s %s of '%s' was used, and '%s' would be now", name, version, path, found);
  else if (has_changed(record, path))
    tm_buf_printf(why, "%s %s was used, and its file '%s' has changed", name, version, path);
  else
    return false;
  return true;
}

bool tm_plugin_record_differs(const struct tm_json *record, const struct tm_plugin_variables *now,
                              struct tm_buf *why)
{
  const char **files = strings_of(record, "files"), **folders = strings_of(record, "folders");
  const struct tm_plugin_kind kind = { .name = tm_json_str(record, "name", ""),
                                       .variable = tm_json_str(record, "variable", ""),
                                       .files = files,
                                       .package = tm_json_str(record, "package", NULL) };
  char *found = files[0] ? tm_plugin_locate(&kind, folders, now) : NULL;
  bool differs = compare(record, found, why);

  free(found);
  free(files);
  free(folders);
  return differs;
}

bool tm_plugin_record_has_folder(const struct tm_json *record, const char *dir)
{
  const char **folders = strings_of(record, "folders");
  bool has = false;

  for (size_t i = 0; folders[i] && !has; i++)
    has = strcmp(folders[i], dir) == 0;
  free(folders);
  return has;
}
