/* missing.c - see missing.h. Messages are free text, written by LuaJIT's `require`, by the C
 * library behind io.open(), or by us. */
#include "bind/missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/fs.h"

#define NAME_MAX_LEN 256 /* bytes of a module's or a file's name */
#define MODULE       "module '"
#define NOT_FOUND    "' not found:"
#define LIST         "\n\t" /* begins the list of all searched paths */
#define NO_FILE      ": no such file or directory"

static bool is_file(const char *dir, const char *name)
{
  char *path = tm_path_join(dir, name);
  bool is_there = tm_fs_exists(tm_fs_real(), path);
  free(path);
  return is_there;
}

static int count_name(void *data, const char *name, int type)
{
  return ++*(int *)data > 1 ? -ECANCELED : 0;
}

/* Whether the job copied only the script, because there was no source_directory. */
static bool is_copied_alone(const struct tm_setup *setup)
{
  int names = 0;
  return tm_dir_read(setup->script_dir, count_name, &names) == 0 && names == 1;
}

/* "; 'x.lua' lies beside 'score.lua', ..." */
static void add_reason(struct tm_buf *out, const char *name, const struct tm_setup *setup)
{
  const char *script = tm_path_base(setup->script_name);
  char *dir = tm_path_dir(setup->script_name), *word = tm_text_shell_word(dir);
  tm_buf_printf(out, "; '%s' lies beside '%s', ", name, script);
  if (is_copied_alone(setup))
    tm_buf_printf(out,
                  "but workers run a copy of '%s' alone; to copy the folder: source_directory = "
                  "\".\" in a pipeline file there, or map --source-directory %s; a "
                  ".tidemillignore in it leaves files out",
                  script, word);
  else
    tm_buf_add_str(out, "but not in the copy of source_directory that workers run: it came later, "
                        "or an ignore file leaves it out");
  free(word);
  free(dir);
}

/* ---- modules ---- */

/* The module's file beside the user's script, "a/b.lua" for "a.b"; the caller frees it. NULL: the
 * file does not exist. */
static char *find_module(const char *dir, const char *module)
{
  static const char *const endings[] = { ".lua", "/init.lua", ".so" };
  char *name = tm_xstrdup(module), *found = NULL;
  for (char *at = name; *at; at++)
    *at = *at == '.' ? '/' : *at;
  for (size_t i = 0; i < TM_COUNT_OF(endings) && !found; i++) {
    char *file = tm_xprintf("%s%s", name, endings[i]);
    if (is_file(dir, file))
      found = file;
    else
      free(file);
  }
  free(name);
  return found;
}

/* Replaces the list of all searched paths by one line. Where the message has no list, boot.lua has
 * answered the name of a Python module; only a file of that name beside the script is better. */
static void explain_module(struct tm_buf *message, const char *dir, const struct tm_setup *setup)
{
  const char *text = tm_buf_str(message), *begin = strstr(text, MODULE);
  const char *name = begin ? begin + strlen(MODULE) : NULL;
  const char *end = name ? strstr(name, NOT_FOUND) : NULL;
  if (!end || end - name > NAME_MAX_LEN || memchr(name, '\n', (size_t)(end - name)))
    return;
  char *module = tm_xstrndup(name, (size_t)(end - name)), *file = find_module(dir, module);
  bool is_answered = strncmp(end + strlen(NOT_FOUND), LIST, strlen(LIST)) != 0;
  if (is_answered && !file) {
    free(module);
    return;
  }
  message->len = (size_t)(end - text) + strlen(NOT_FOUND) - 1; /* without the colon */
  message->data[message->len] = '\0';
  if (file && !is_file(setup->script_dir, file))
    add_reason(message, file, setup);
  else
    tm_buf_printf(message, " beside '%s', nor by package.path and package.cpath",
                  setup->script_name);
  free(file);
  free(module);
}

/* ---- files ---- */

/* Whether a name may begin after the character before `at`: a blank, a quote or a parenthesis. */
static bool may_begin(const char *text, const char *at)
{
  return at == text || strchr(" '\"(\n", at[-1]) != NULL;
}

/* The name of the missing file; the caller frees it. NULL: the file is not beside the user's
 * script. */
static char *find_file(const char *text, const char *dir)
{
  const char *end = strcasestr(text, NO_FILE);
  if (!end)
    return NULL;
  const char *at = end - text > NAME_MAX_LEN ? end - NAME_MAX_LEN : text;
  const char *stop = end > at && end[-1] == '\'' ? end - 1 : end;
  for (; at < stop; at++) {
    if (!may_begin(text, at) || *at == '/')
      continue;
    char *name = tm_xstrndup(at, (size_t)(stop - at));
    if (is_file(dir, name) && !tm_fs_exists(tm_fs_real(), name))
      return name;
    free(name);
  }
  return NULL;
}

static void explain_file(struct tm_buf *message, const char *dir, const struct tm_setup *setup)
{
  char *name = find_file(tm_buf_str(message), dir), *here = getcwd(NULL, 0);
  if (name && here && strcmp(here, setup->script_dir) == 0)
    add_reason(message, name, setup);
  else if (name && here)
    tm_buf_printf(message, "; relative paths are against '%s', and '%s' lies beside '%s'", here,
                  name, setup->script_name);
  free(here);
  free(name);
}

void tm_lua_missing_explain(struct tm_buf *message, const struct tm_setup *setup)
{
  char *dir = tm_path_dir(setup->script_name);
  if (memchr(tm_buf_str(message), '\0', message->len) == NULL) {
    explain_module(message, dir, setup);
    explain_file(message, dir, setup);
  }
  free(dir);
}
