/* output_name.c - names of files of context:output_file(): see agent_msg.h.
 *
 * In the step's first output, the name is the path there. In a further output it is "/OUTPUT/path",
 * because no path within a folder begins with '/'. Before it is committed, such a file is also in
 * the folder of its try, below a folder whose name no file of a script can have.
 */
#include <inttypes.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/mem.h"
#include "base/path.h"

#define STAGED "\n" /* no name has a line break */

bool tm_output_name_is_good(const char *name, size_t len)
{
  if (len == 0 || len > TM_OUTPUT_NAME_MAX || memchr(name, 0, len) || memchr(name, '\n', len))
    return false;
  for (size_t at = 0; at <= len;) {
    const char *slash = at < len ? memchr(name + at, '/', len - at) : NULL;
    size_t n = slash ? (size_t)(slash - name) - at : len - at;
    if (n == 0 || (name[at] == '.' && (n == 1 || (n == 2 && name[at + 1] == '.'))))
      return false;
    at += n + 1;
  }
  return true;
}

/* Where the path begins in the name of a file of a further output; 0: it is in the first. */
static size_t path_at(const char *name, size_t len)
{
  const char *slash = len > 1 && name[0] == '/' ? memchr(name + 1, '/', len - 1) : NULL;
  return slash ? (size_t)(slash + 1 - name) : 0;
}

bool tm_output_file_is_good(const char *name, size_t len)
{
  size_t at = path_at(name, len);
  if (len > TM_OUTPUT_NAME_MAX)
    return false;
  if (at == 0)
    return tm_output_name_is_good(name, len);
  return tm_output_name_is_good(name + 1, at - 2) && tm_output_name_is_good(name + at, len - at);
}

char *tm_output_file_name(const char *output, const char *path)
{
  return output ? tm_xprintf("/%s/%s", output, path) : tm_xstrdup(path);
}

char *tm_output_file_place(const char *output_dir, const char *name)
{
  size_t at = path_at(name, strlen(name));
  return at == 0 ? tm_path_join(output_dir, name) : tm_xprintf("%s.%s", output_dir, name + 1);
}

char *tm_output_file_folder(const char *output_dir, const char *name)
{
  size_t at = path_at(name, strlen(name));
  return at == 0 ? tm_xstrdup(output_dir)
                 : tm_xprintf("%s.%.*s", output_dir, (int)at - 2, name + 1);
}

char *tm_output_file_below(const char *staging, const char *name)
{
  size_t at = path_at(name, strlen(name));
  return at == 0 ? tm_path_join(staging, name) : tm_xprintf("%s/" STAGED "%s", staging, name + 1);
}

char *tm_output_file_call(const char *name)
{
  size_t at = path_at(name, strlen(name));
  return at == 0 ? tm_xprintf("context:output_file(\"%s\")", name)
                 : tm_xprintf("context:output_file(\"%s\", \"%.*s\")", name + at, (int)at - 2,
                              name + 1);
}

char *tm_staging_path(const char *staging_dir, const char *worker_name, uint64_t seq)
{
  return tm_xprintf("%s/%s.%" PRIu64, staging_dir, worker_name, seq);
}
