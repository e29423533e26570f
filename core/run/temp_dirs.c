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

struct removal {
  const char *job_dir, *step_dir;
  int64_t next;
};

static int on_log_name(void *data, const char *name, int type)
{
  struct removal *r = data;
  int64_t number = 0;
  size_t at = strlen("process");

  if (strncmp(name, "process", at) != 0)
    return 0;
  for (; name[at] >= '0' && name[at] <= '9' && number < INT32_MAX; at++)
    number = number * 10 + (name[at] - '0');
  char *worker = tm_xstrndup(name, at);
  tm_temp_dirs_remove(r->job_dir, r->step_dir, worker);
  free(worker);
  if (number >= r->next)
    r->next = number + 1;
  return 0;
}

int64_t tm_temp_dirs_remove_all(const char *job_dir, const char *step_dir)
{
  struct removal r = { .job_dir = job_dir, .step_dir = step_dir };
  char *dir = tm_path_join(step_dir, "logs/user/stdout/0");

  (void)tm_dir_read(dir, on_log_name, &r); /* missing in a new job */
  free(dir);
  return r.next;
}
