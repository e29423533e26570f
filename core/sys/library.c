/* library.c - see library.h. */
#include "sys/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/check.h"

static int refuse(const struct tm_library *l, struct tm_err *err)
{
  const char *why = dlerror();

  return tm_err_set(err, -ELIBACC,
                    "cannot load %s: %s; if it is missing, install Debian's package %s", l->file,
                    why ? why : "it has no such function", l->package);
}

static int load(struct tm_library *l, struct tm_err *err)
{
  void *handle = dlopen(l->file, RTLD_LAZY | RTLD_LOCAL);

  if (!handle)
    return refuse(l, err);
  for (size_t i = 0; i < l->len; i++) {
    void *address = dlsym(handle, l->names[i]);
    if (!address) {
      int rc = refuse(l, err);
      dlclose(handle);
      return rc;
    }
    memcpy((char *)l->functions + i * sizeof(address), &address, sizeof(address));
  }
  l->is_loaded = true;
  return 0;
}

int tm_library_load(struct tm_library *l, struct tm_err *err)
{
  int rc = 0;

  tm_require(l->file && l->package && l->names && l->functions);
  tm_mutex_lock(&l->gate);
  if (!l->is_loaded)
    rc = load(l, err);
  tm_mutex_unlock(&l->gate);
  return rc;
}
