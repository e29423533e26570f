/* slurm_command.c - see slurm_command.h. */
#include "slurm/slurm_command.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"

#define BEGIN     "tidemill-"
#define EPOCH_LEN 16 /* hexadecimal digits */
#define JOB_MAX   60 /* characters of the job's name in that of the Slurm job */

struct words TM_ARRAY(char *);

static void add(struct words *w, const char *word)
{
  *TM_ARRAY_ADD(w) = tm_xstrdup(word); /* NULL: the end */
}

static void add_taken(struct words *w, char *word)
{
  *TM_ARRAY_ADD(w) = word;
}

static void add_all(struct words *w, char *const *words)
{
  for (size_t i = 0; words && words[i]; i++)
    add(w, words[i]);
}

static char **finish(struct words *w)
{
  add(w, NULL);
  return w->at;
}

/* ---- names ---- */

static bool is_safe(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

char *tm_slurm_command_names(const char *job, uint64_t epoch)
{
  struct tm_buf name = TM_BUF_NONE;
  size_t len = strlen(job), left_out = len > JOB_MAX ? len - JOB_MAX : 0;

  tm_buf_add_str(&name, BEGIN);
  for (size_t i = 0; i < len; i++)
    if (i < JOB_MAX / 2 || i >= JOB_MAX / 2 + left_out)
      tm_buf_add_char(&name, is_safe(job[i]) ? job[i] : '_');
  tm_buf_printf(&name, "-%016" PRIx64, epoch);
  return tm_buf_take(&name);
}

char *tm_slurm_command_name(const char *job, uint64_t epoch, uint32_t id)
{
  char *begin = tm_slurm_command_names(job, epoch), *name = tm_xprintf("%s-%" PRIu32, begin, id);

  free(begin);
  return name;
}

bool tm_slurm_command_is_name(const char *name, uint32_t id)
{
  size_t len = 0, begin = sizeof BEGIN - 1;
  char end[32];
  size_t end_len = (size_t)snprintf(end, sizeof end, "-%" PRIu32, id), rest = EPOCH_LEN + end_len;

  while (name[len] && is_safe(name[len]))
    len++;
  return !name[len] && len > begin + rest && strncmp(name, BEGIN, begin) == 0 &&
         name[len - rest - 1] == '-' &&
         strspn(name + len - rest, "0123456789abcdef") == EPOCH_LEN &&
         strcmp(name + len - end_len, end) == 0;
}

char *tm_slurm_command_exclude(const char *users, const char *const *hosts, size_t hosts_len)
{
  struct tm_buf all = TM_BUF_NONE;

  if (users)
    tm_buf_add_str(&all, users);
  for (size_t i = 0; i < hosts_len; i++) {
    if (all.len > 0)
      tm_buf_add_char(&all, ',');
    tm_buf_add_str(&all, hosts[i]);
  }
  return all.len > 0 ? tm_buf_take(&all) : NULL;
}

/* ---- srun ---- */

/* Without --unbuffered srun holds back what does not end in a line break. The others keep srun and
 * Slurm from ending a node, or its Slurm job, for reasons of their own; only we know whether it is
 * needed. */
static const char *const always[] = {
  "--unbuffered", "--nodes=1",        "--ntasks=1", "--kill-on-bad-exit=0", "--wait=0", "--no-kill",
  "--mpi=none",   "--propagate=NONE", "--chdir=/",
};

/* --signal: USR1 comes 90 s before the end of the time limit. */
static void add_new_job(struct words *w, const struct tm_slurm_request *r)
{
  add(w, "--signal=USR1@90");
  add_taken(w, tm_xprintf("--job-name=%s", r->name));
  if (r->processes > 0) {
    add_taken(w, tm_xprintf("--cpus-per-task=%" PRId64, r->processes));
  } else {
    add(w, "--exclusive");
    add(w, "--cpu-bind=none");
  }
  add_all(w, r->options);
  if (r->exclude)
    add_taken(w, tm_xprintf("--exclude=%s", r->exclude));
}

/* --overlap: other steps of the allocation may use the same CPUs, such as the one we run in. */
static void add_step(struct words *w, const struct tm_slurm_request *r)
{
  tm_require(r->host);
  add(w, "--overlap");
  add_taken(w, tm_xprintf("--jobid=%s", r->allocation));
  add_taken(w, tm_xprintf("--job-name=%s", r->name));
  if (r->processes > 0)
    add_taken(w, tm_xprintf("--cpus-per-task=%" PRId64, r->processes));
  add_all(w, r->options);
  add_taken(w, tm_xprintf("--nodelist=%s", r->host));
}

static char **srun(const struct tm_slurm_request *r, bool is_test)
{
  struct words w = { 0 };

  tm_require(r->name && r->program && r->program[0]);
  add(&w, "srun");
  if (is_test)
    add(&w, "--test-only");
  for (size_t i = 0; i < TM_COUNT_OF(always); i++)
    add(&w, always[i]);
  if (r->allocation)
    add_step(&w, r);
  else
    add_new_job(&w, r);
  add_all(&w, r->program);
  return finish(&w);
}

char **tm_slurm_command_start(const struct tm_slurm_request *r)
{
  return srun(r, false);
}

char **tm_slurm_command_test(const struct tm_slurm_request *r)
{
  return srun(r, true);
}

/* ---- the others ---- */

/* slurm_text.h reads this format. The reason is last: it may hold any character. */
static char **queue_of(char *user, char *which)
{
  struct words w = { 0 };

  add(&w, "squeue");
  add(&w, "--states=all");
  add(&w, "--noheader");
  add(&w, "--format=%i|%j|%T|%N|%L|%r");
  if (user)
    add_taken(&w, user);
  add_taken(&w, which);
  return finish(&w);
}

static char *joined_ids(const char *before, const uint32_t *ids, size_t len)
{
  struct tm_buf b = TM_BUF_NONE;

  tm_require(len > 0);
  tm_buf_add_str(&b, before);
  for (size_t i = 0; i < len; i++)
    tm_buf_printf(&b, "%s%" PRIu32, i > 0 ? "," : "", ids[i]);
  return tm_buf_take(&b);
}

char **tm_slurm_command_queue_of_names(const char *const *names, size_t len, uint32_t uid)
{
  struct tm_buf b = TM_BUF_NONE;
  char *user;

  tm_require(len > 0);
  tm_buf_printf(&b, "--user=%" PRIu32, uid);
  user = tm_buf_take(&b);
  tm_buf_add_str(&b, "--name=");
  for (size_t i = 0; i < len; i++)
    tm_buf_printf(&b, "%s%s", i > 0 ? "," : "", names[i]);
  return queue_of(user, tm_buf_take(&b));
}

char **tm_slurm_command_queue_of_ids(const uint32_t *ids, size_t len)
{
  return queue_of(NULL, joined_ids("--jobs=", ids, len));
}

char **tm_slurm_command_cancel(const uint32_t *ids, size_t len)
{
  struct words w = { 0 };

  tm_require(len > 0);
  add(&w, "scancel");
  add(&w, "--quiet"); /* one of them may have ended meanwhile */
  for (size_t i = 0; i < len; i++)
    add_taken(&w, tm_xprintf("%" PRIu32, ids[i]));
  return finish(&w);
}

char **tm_slurm_command_cancel_name(const char *name)
{
  struct words w = { 0 };

  add(&w, "scancel");
  add(&w, "--quiet");
  add_taken(&w, tm_xprintf("--name=%s", name));
  return finish(&w);
}

/* Our names have neither blanks nor characters that a shell expands; names of others may. scancel
 * fails if a job ends meanwhile, so only the exit status of squeue counts. */
#define JOBS  "jobs=$(squeue --me --noheader --format='%i %j') || exit\n"
#define STEPS "steps=$(squeue --me --steps --noheader --format='%i %j') || exit\n"
#define CANCEL(is_ours)                                                                            \
  "printf '%s\\n' \"$jobs\" \"$steps\" | while read -r id name rest; do\n"                         \
  "  [ -n \"$rest\" ] || case " is_ours " echo \"$id\" ;; esac\n"                                  \
  "done | xargs -r scancel --quiet || true\n"

#define BEGINS "$name in \"$1\"-*)"

static char **cancel_found(const char *script, const char *const *names, size_t len)
{
  struct words w = { 0 };

  add(&w, "sh");
  add(&w, "-c");
  add(&w, script);
  add(&w, "sh");
  for (size_t i = 0; i < len; i++)
    add(&w, names[i]);
  return finish(&w);
}

char **tm_slurm_command_cancel_names(const char *const *names, size_t len)
{
  tm_require(len > 0);
  return cancel_found(JOBS STEPS CANCEL("\" $* \" in *\" $name \"*)"), names, len);
}

char **tm_slurm_command_cancel_all(const char *names, bool has_steps)
{
  const char *script = has_steps ? JOBS STEPS CANCEL(BEGINS) : JOBS CANCEL(BEGINS);

  return cancel_found(script, &names, 1);
}

char *tm_slurm_command_cancel_by_hand(const char *name, bool are_steps)
{
  return tm_xprintf("squeue --me%s --noheader --format='%%i %%j' | "
                    "awk 'index($2 \"-\", \"%s-\") == 1 { print $1 }' | xargs -r scancel",
                    are_steps ? " --steps" : "", name);
}

char **tm_slurm_command_hosts(const char *list)
{
  struct words w = { 0 };

  add(&w, "scontrol");
  add(&w, "show");
  add(&w, "hostnames");
  add(&w, list);
  return finish(&w);
}
