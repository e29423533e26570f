/* same_libraries.c - see same_libraries.h.
 *
 * Each worker that loads such a library keeps a record of it (sys/plugin_record.h) in the state of
 * the step. The variables are those of this process and the step's own, as a worker gets them.
 */
#include "record/same_libraries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/plugin_record.h"

#define RECORD_MAX ((size_t)1 << 20) /* bytes */

struct check {
  const struct tm_fs *fs;
  const struct tm_step *step;
  const char *dir;
  struct tm_buf *why; /* empty: they are the same */
};

static const char *worker_variable(void *data, const char *name)
{
  char *const *at = ((const struct tm_step *)data)->config.environment;
  size_t len = strlen(name);

  for (; at && *at; at++)
    if (strncmp(*at, name, len) == 0 && (*at)[len] == '=')
      return *at + len + 1;
  return getenv(name);
}

static struct tm_json *read_record(const struct check *c, const char *path)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_fs_read_file(c->fs, path, RECORD_MAX, &text, NULL);
  struct tm_json *v = rc >= 0 ? tm_json_parse(tm_buf_str(&text), text.len, NULL) : NULL;

  tm_buf_release(&text);
  return v;
}

/* The search begins beside the user's script, so that must be where it was. */
static bool is_beside(const struct tm_json *record, const char *script)
{
  if (!script || !tm_path_is_absolute(script)) /* a text of the program */
    return true;
  char *dir = tm_path_dir(script);
  bool yes = tm_plugin_record_has_folder(record, dir);
  free(dir);
  return yes;
}

static void compare(const struct check *c, const struct tm_json *record)
{
  const struct tm_plugin_variables variables = { worker_variable, (void *)c->step };
  const char *script = c->step->config.entry_script, *dir = c->step->config.library_dir;

  if (dir && !tm_plugin_record_has_folder(record, dir))
    tm_buf_printf(c->why, "%s was not looked for in the folder of the pipeline file, '%s'",
                  tm_json_str(record, "name", "a library"), dir);
  else if (is_beside(record, script))
    (void)tm_plugin_record_differs(record, &variables, c->why);
  else
    tm_buf_printf(c->why, "%s was not looked for in the folder of the script, '%s'",
                  tm_json_str(record, "name", "a library"), script);
}

static int on_record(void *data, const char *name, int type)
{
  const struct check *c = data;

  if (*name == '.' || c->why->len > 0) /* a dot: a worker died while it wrote it */
    return 0;
  char *path = tm_path_join(c->dir, name);
  struct tm_json *record = read_record(c, path);
  if (record)
    compare(c, record);
  else
    tm_buf_printf(c->why, "a library that it used is not known: '%s' cannot be read", path);
  tm_json_free(record);
  free(path);
  return 0;
}

static char *dir_of(const struct tm_step *step, const char *job_dir)
{
  return tm_xprintf("%s/%s/state/libraries", job_dir, step->name);
}

bool tm_libraries_are_same(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                           struct tm_buf *why)
{
  char *dir = dir_of(step, job_dir);
  struct check c = { .fs = fs, .step = step, .dir = dir, .why = why };
  int rc = fs->dir_read(fs->self, dir, on_record, &c);

  if (rc < 0 && rc != -ENOENT) /* missing: they loaded none */
    tm_buf_printf(why, "the libraries that it used are not known: '%s' cannot be read", dir);
  free(dir);
  return why->len == 0;
}

int tm_libraries_forget(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                        struct tm_err *err)
{
  char *dir = dir_of(step, job_dir);
  int rc = tm_fs_remove_tree(fs, dir, err);

  free(dir);
  return rc;
}
