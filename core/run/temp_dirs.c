/* temp_dirs.c - see temp_dirs.h. */
#include "run/temp_dirs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

#define JOB_NAME_MAX 100 /* bytes, in the name of temp_dir: a name ends at 255 */

char *tm_temp_dirs_base(const char *job_dir, const char *step_dir)
{
  const char *tmp = getenv("TMPDIR");
  uint64_t hash = tm_hash64(step_dir, strlen(step_dir));

  return tm_xprintf("%s/tidemill-%u-%.*s-%08" PRIx32, tmp && *tmp == '/' ? tmp : "/tmp",
                    (unsigned)getuid(), JOB_NAME_MAX, tm_path_base(job_dir), (uint32_t)hash);
}

void tm_temp_dirs_remove(const char *job_dir, const char *step_dir, const char *worker_name)
{
  char *base = tm_temp_dirs_base(job_dir, step_dir);
  char *path = tm_xprintf("%s-%s", base, worker_name);

  tm_tree_remove(path, NULL);
  free(base);
  free(path);
}
