/* program.c - where the tidemill program is: what the host names, what TIDEMILL_PROGRAM names, the host where it is that program
 * itself, the one beside the library that is loaded, the one of the prefix that the library was built for.
 *
 * Whether it is of this version is found out by the keeper's first words.
 */
#include "api/own.h"

#include <dlfcn.h>
#include <errno.h>
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

/* Of the file that this code is in: a library in LIBDIR, or the program itself. */
static char *beside(void)
{
  Dl_info info;
  if (!dladdr((const void *)(uintptr_t)tm_version, &info) || !info.dli_fname)
    return NULL;
  char *file = realpath(info.dli_fname, NULL), *self = tm_process_program();
  bool is_self = file && self && strcmp(file, self) == 0;
  char *dir = file ? tm_path_dir(file) : NULL;
  if (is_self && strcmp(tm_path_base(file), "tidemill") == 0) {
    free(dir);
    free(self);
    return file;
  }
  char *path = dir ? tm_path_absolute(dir, TM_PROGRAM_FROM_LIBRARY) : NULL;
  free(self);
  free(dir);
  free(file);
  return path;
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
  path = beside();
  if (path && is_program(fs, path))
    return path;
  if (!is_program(fs, TM_PROGRAM_INSTALLED)) {
    tm_err_set(
        err, -ENOENT,
        "cannot find the tidemill program, which workers are: neither '%s' nor '%s' is there; "
        "install it, or name it in " VARIABLE,
        path ? path : TM_PROGRAM_INSTALLED, TM_PROGRAM_INSTALLED);
    free(path);
    return NULL;
  }
  free(path);
  return tm_xstrdup(TM_PROGRAM_INSTALLED);
}
