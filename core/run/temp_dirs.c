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

#define MEMORY_DIR   "/dev/shm"
#define JOB_NAME_MAX 100 /* bytes, in the name of temp_dir: a name ends at 255 */

/* An absolute path, or NULL. */
static const char *named(const char *variable)
{
  const char *dir = getenv(variable);
  return dir && *dir == '/' ? dir : NULL;
}

static char *below(const char *dir, const char *job_dir, const char *step_dir, const char *worker)
{
  uint64_t hash = tm_hash64(step_dir, strlen(step_dir));

  return tm_xprintf("%s/tidemill-%u-%.*s-%08" PRIx32 "%s%s", dir, (unsigned)getuid(), JOB_NAME_MAX,
                    tm_path_base(job_dir), (uint32_t)hash, worker ? "-" : "", worker ? worker : "");
}

/* NULL: there is none. */
static const char *memory_dir(const char *tmp)
{
  return getenv(TM_ENV_MEMORY_DIR) ? named(TM_ENV_MEMORY_DIR) : tmp ? NULL : MEMORY_DIR;
}

struct tm_temp_dirs tm_temp_dirs_of(const char *job_dir, const char *step_dir,
                                    const char *worker_name)
{
  const char *tmp = named("TMPDIR"), *memory = memory_dir(tmp);

  return (struct tm_temp_dirs) {
    .temp = below(tmp ? tmp : "/tmp", job_dir, step_dir, worker_name),
    .memory = memory ? below(memory, job_dir, step_dir, worker_name) : tm_xstrdup(""),
  };
}

void tm_temp_dirs_release(struct tm_temp_dirs *d)
{
  free(d->temp);
  free(d->memory);
}

void tm_temp_dirs_remove(const char *job_dir, const char *step_dir, const char *worker_name)
{
  struct tm_temp_dirs d = tm_temp_dirs_of(job_dir, step_dir, worker_name);
  char *usual = below(MEMORY_DIR, job_dir, step_dir, worker_name);

  tm_tree_remove(d.temp, NULL);
  tm_tree_remove(usual, NULL);
  if (*d.memory)
    tm_tree_remove(d.memory, NULL);
  tm_temp_dirs_release(&d);
  free(usual);
}
