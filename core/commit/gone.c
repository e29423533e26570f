/* gone.c - see gone.h. */
#include "commit/gone.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"

static const char *purpose_of(const char *path)
{
  static const struct {
    const char *name, *purpose;
  } files[] = {
    { "journal", "it says which mini-batches are committed" },
    { "manifest", "it is the list of mini-batches" },
    { "failures", "it has the failed items" },
    { "files", "it says which mini-batch made which output file" },
  };
  const char *name = tm_path_base(path);
  if (strncmp(name, "groups-", strlen("groups-")) == 0)
    return "it has the rows of the tables, by their keys";
  for (size_t i = 0; i < TM_COUNT_OF(files); i++)
    if (strcmp(name, files[i].name) == 0)
      return files[i].purpose;
  return "it has the rows of committed mini-batches";
}

int tm_gone_report(const char *path, struct tm_err *err)
{
  return tm_err_set(err, TM_EDAMAGE,
                    "'%s' has been removed or emptied; %s, and the step cannot be resumed without "
                    "it: restore the file, or start a new job",
                    path, purpose_of(path));
}
