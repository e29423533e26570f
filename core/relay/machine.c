/* machine.c - see machine.h. */
#include "relay/machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "node/temp_left.h"
#include "sys/errand.h"
#include "sys/fs.h"
#include "sys/machine/gpus.h"
#include "sys/machine/memory.h"
#include "sys/process.h"

#define HOST_MAX   255
#define DIGITS     "0123456789"
#define DIGITS_MAX 9          /* of a number that Slurm sets */
#define PATIENCE   (2 * TM_S) /* for the file system of TMPDIR */

/* ---- CPUs ---- */

/* The number at *at, which must be in range; *at moves behind it. 0: there is none. */
static int read_number(const char **at)
{
  size_t len = strspn(*at, DIGITS);
  int n = len > 0 && len <= DIGITS_MAX ? (int)strtol(*at, NULL, 10) : 0;

  *at += len;
  return n <= TM_NODE_CPUS_MAX ? n : 0;
}

/* "4", or "4(x2)" for two nodes; *at moves behind it. 0: it is neither. */
static int read_group(const char **at)
{
  int n = read_number(at);

  if (strncmp(*at, "(x", 2) != 0)
    return n;
  *at += 2;
  if (read_number(at) == 0 || **at != ')')
    return 0;
  ++*at;
  return n;
}

/* 0: there is no such limit. */
static int read_slurm(const char *text)
{
  int first, next;

  if (!text)
    return 0;
  first = next = read_group(&text);
  while (next > 0 && *text == ',') {
    text++;
    next = read_group(&text);
  }
  return next > 0 && *text == '\0' ? first : 0;
}

struct tm_machine_cpus tm_machine_cpus(int affinity, int quota, const char *slurm)
{
  const struct tm_machine_cpus limits[] = {
    { affinity, "the affinity" },
    { quota, "the quota of the control group" },
    { read_slurm(slurm), "what Slurm granted" },
  };
  struct tm_machine_cpus least = { 0 };

  for (size_t i = 0; i < TM_COUNT_OF(limits); i++)
    if (limits[i].count > 0 && (least.count == 0 || limits[i].count < least.count))
      least = limits[i];
  if (least.count == 0)
    return (struct tm_machine_cpus) { 1, "a guess: no limit is known" };
  if (least.count > TM_NODE_CPUS_MAX)
    least.count = TM_NODE_CPUS_MAX;
  return least;
}

/* ---- names ---- */

const char *tm_machine_slurm_job(const char *id)
{
  return id && id[strspn(id, DIGITS)] == '\0' ? id : "";
}

const char *tm_machine_host(const char *name)
{
  size_t len = name ? strlen(name) : 0;

  for (size_t i = 0; i < len; i++)
    if (name[i] <= ' ' || name[i] > '~')
      return NULL;
  return len > 0 && len <= HOST_MAX ? name : NULL;
}

static char *find_host(void)
{
  char own[HOST_MAX + 1] = "";
  const char *name = tm_machine_host(getenv("SLURMD_NODENAME"));

  if (!name && gethostname(own, sizeof own - 1) == 0)
    name = tm_machine_host(own);
  return tm_xstrdup(name ? name : "localhost");
}

/* ---- folders ---- */

/* Asked on a thread: a file system may hang. */
struct look {
  struct tm_errand errand;
  char *path;
  bool is_folder;
};

static void run_look(void *data)
{
  struct look *look = data;
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;

  look->is_folder = fs->stat(fs->self, look->path, true, &st) == 0 && S_ISDIR(st.mode);
}

static void free_look(void *data)
{
  struct look *look = data;

  free(look->path);
  free(look);
}

bool tm_machine_has_folder(const char *path, int64_t patience_ns)
{
  struct look *look = TM_NEW(struct look);
  bool is_folder;

  look->path = tm_xstrdup(path);
  look->errand = (struct tm_errand) { .run = run_look, .free_data = free_look, .data = look };
  if (tm_errand_start(&look->errand, NULL) < 0)
    return false;
  is_folder = tm_errand_wait(&look->errand, patience_ns) && look->is_folder;
  tm_errand_end(&look->errand, 0);
  return is_folder;
}

/* ---- all of it ---- */

static size_t count_gpus(void)
{
  struct tm_gpus gpus;
  size_t n;

  tm_gpus_find(&gpus, getenv(TM_GPUS_VISIBLE), getenv(TM_GPUS_COUNT));
  n = gpus.len;
  tm_gpus_release(&gpus);
  return n;
}

/* A step of an allocation that srun joined by --jobid has only the second. In a Slurm job of its
 * own that counts the CPUs of one task. */
static const char *granted_cpus(void)
{
  const char *cpus = getenv("SLURM_JOB_CPUS_PER_NODE");

  return cpus ? cpus : getenv("SLURM_CPUS_ON_NODE");
}

void tm_machine_describe(struct tm_node_report *out, const char **bad_tmpdir)
{
  struct tm_machine_cpus cpus =
      tm_machine_cpus(tm_process_affinity(), tm_process_own_quota(), granted_cpus());
  struct tm_temp_places places = tm_temp_places(getenv("TMPDIR"), getenv(TM_ENV_MEMORY_DIR));
  bool is_good = places.temp != getenv("TMPDIR") || tm_machine_has_folder(places.temp, PATIENCE);

  *bad_tmpdir = is_good ? NULL : places.temp;
  *out = (struct tm_node_report) {
    .host = find_host(),
    .boot_id = tm_process_boot_id(),
    .cpus_why = tm_xstrdup(cpus.why),
    .slurm_job = tm_xstrdup(tm_machine_slurm_job(getenv("SLURM_JOB_ID"))),
    .temp_dir = tm_xstrdup(is_good ? places.temp : "/tmp"),
    .memory_dir = tm_xstrdup(places.memory ? places.memory : ""),
    .uid = (uint32_t)geteuid(),
    .pid = (uint32_t)getpid(),
    .cpus = (uint32_t)cpus.count,
    .gpus = (uint32_t)count_gpus(),
    .memory = (uint64_t)tm_memory_limit("/proc", "/sys/fs/cgroup"),
  };
}
