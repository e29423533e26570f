/* library.c - see library.h. The only file that calls the loader. */
#include "sys/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "base/check.h"

static int refuse(struct tm_err *err)
{
  const char *why = dlerror();

  return tm_err_set(err, -ELIBACC, "%s", why ? why : "it has no such function");
}

int tm_library_open(void **handle, const char *file, struct tm_err *err)
{
  *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  return *handle ? 0 : refuse(err);
}

int tm_library_find(void *handle, const char *const *names, size_t len, void *functions,
                    struct tm_err *err)
{
  for (size_t i = 0; i < len; i++) {
    void *address = dlsym(handle, names[i]);
    if (!address)
      return refuse(err);
    memcpy((char *)functions + i * sizeof(address), &address, sizeof(address));
  }
  return 0;
}

const char *tm_library_path(void *handle)
{
  struct link_map *map = NULL;

  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

void tm_library_close(void *handle)
{
  if (handle)
    dlclose(handle);
}

static int load(struct tm_library *l, struct tm_err *err)
{
  void *handle;
  int rc = tm_library_open(&handle, l->file, err);

  if (rc == 0)
    rc = tm_library_find(handle, l->names, l->len, l->functions, err);
  if (rc == 0) {
    l->is_loaded = true;
    return 0;
  }
  tm_library_close(handle);
  tm_err_wrap(err, "cannot load %s", l->file);
  tm_err_append(err, "; if it is missing, install Debian's package ");
  tm_err_append(err, l->package);
  return rc;
}

int tm_library_load(struct tm_library *l, struct tm_err *err)
{
  int rc = 0;

  tm_require(l->file && l->package && l->names && l->functions);
  tm_mutex_lock(&l->gate);
  if (!l->is_loaded)
    rc = load(l, TM_ERR_OWN(err));
  tm_mutex_unlock(&l->gate);
  return rc;
}
