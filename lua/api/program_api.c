/* program_api.c - finds the tidemill program: named by the host, named by TIDEMILL_PROGRAM, the
 * host itself if it is that program, the one beside the loaded library, or the one in the prefix of
 * the library's build.
 *
 * The keeper's first message tells whether it has this version.
 */
#include "api/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "sys/process.h"

#define VARIABLE "TIDEMILL_PROGRAM"

static bool is_program(const struct tm_fs *fs, const char *path)
{
  struct tm_stat st;
  return fs->stat(fs->self, path, true, &st) == 0 && (st.mode & 0170000) == 0100000 &&
         access(path, X_OK) == 0;
}

static char *absolute(const char *path)
{
  char *cwd = getcwd(NULL, 0);
  char *out = cwd ? tm_path_absolute(cwd, path) : tm_xstrdup(path);
  free(cwd);
  return out;
}

/* The file that contains this code: a library in LIBDIR, a Lua module, or the program itself.
 * The linker knows the program by argv[0], which need not be a path: a shell that found it in
 * PATH passes the bare name. The caller frees it; or NULL. */
static char *own_file(void)
{
  Dl_info info;
  struct link_map *object = NULL;
  if (!dladdr1((const void *)(uintptr_t)tidemill_version, &info, (void **)&object,
               RTLD_DL_LINKMAP) ||
      !info.dli_fname)
    return NULL;
  bool is_program = object && (!object->l_name || !*object->l_name);
  return is_program ? tm_process_program() : realpath(info.dli_fname, NULL);
}

static bool is_self(const char *file)
{
  char *self = tm_process_program();
  bool is = self && strcmp(file, self) == 0 && strcmp(tm_path_base(file), "tidemill") == 0;
  free(self);
  return is;
}

/* Returns the program beside the library; the caller frees it. Or NULL. */
static char *beside(const struct tm_fs *fs)
{
  static const char *const places[] = { TM_PROGRAM_FROM_LIBRARY, TM_PROGRAM_FROM_MODULE };
  char *file = own_file(), *dir, *found = NULL;
  if (!file || is_self(file))
    return file;
  dir = tm_path_dir(file);
  for (size_t i = 0; i < TM_COUNT_OF(places) && !found; i++) {
    char *path = tm_path_absolute(dir, places[i]);
    if (is_program(fs, path))
      found = path;
    else
      free(path);
  }
  free(dir);
  free(file);
  return found;
}

static char *take(const struct tm_fs *fs, const char *path, const char *who, struct tm_err *err)
{
  char *out = absolute(path);
  if (is_program(fs, out))
    return out;
  tm_err_set(err, -ENOENT, "there is no program '%s', which %s names", out, who);
  free(out);
  return NULL;
}

char *tm_program_find(const struct tm_fs *fs, const char *given, struct tm_err *err)
{
  const char *named = getenv(VARIABLE);
  char *path;
  if (given)
    return take(fs, given, "the host", err);
  if (named && *named)
    return take(fs, named, VARIABLE, err);
  if ((path = beside(fs)) != NULL)
    return path;
  if (is_program(fs, TM_PROGRAM_INSTALLED))
    return tm_xstrdup(TM_PROGRAM_INSTALLED);
  tm_err_set(
      err, -ENOENT,
      "cannot find the tidemill program, which workers are: it is neither installed with this "
      "library nor as '%s'; name it in " VARIABLE,
      TM_PROGRAM_INSTALLED);
  return NULL;
}
