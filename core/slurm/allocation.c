/* allocation.c - see allocation.h. */
#include "slurm/allocation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/command_template.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "slurm/slurm_command.h"
#include "slurm/slurm_environment.h"
#include "slurm/slurm_text.h"
#include "slurm/slurm_run.h"
#include "plan/slurm_options.h"
#include "sys/fs.h"
#include "sys/process.h"

#define ANCESTORS_MAX 64
#define WORDS_MAX     ((size_t)2 << 20) /* bytes of a command */
#define ADVICE        "; to start a Slurm job for each node instead: slurm_allocation = \"new\""

/* ---- what our environment says ---- */

static const char *first_of(const char *name, const char *older)
{
  const char *value = getenv(name);

  return value && *value ? value : getenv(older);
}

/* Old versions set the second names alone. */
static const char *host_list(void)
{
  return first_of("SLURM_JOB_NODELIST", "SLURM_NODELIST");
}

bool tm_allocation_is_for(const struct tm_config *c)
{
  const char *job = tm_slurm_environment_job(environ), *hosts = host_list();

  return c->uses_slurm && !c->wants_slurm_jobs && job && strspn(job, "0123456789") == strlen(job) &&
         strlen(job) <= 10 && hosts && *hosts;
}

/* ---- its hosts ---- */

static int refuse(const struct tm_slurm_ran *ran, const char *job, const struct tm_err *why,
                  struct tm_err *err)
{
  char text[TM_SLURM_TEXT_MAX] = "it did not answer within 20 s";

  if (!ran->is_late)
    tm_slurm_text_error(tm_buf_str(&ran->said), ran->said.len, text);
  return tm_err_set(err, TM_EUSAGE,
                    "cannot list the hosts of the allocation %s (scontrol show hostnames): "
                    "%s" ADVICE,
                    job, ran->is_late || ran->has_failed ? text : why->text);
}

/* Calls scontrol; its output is in `ran`, which the caller releases. */
static int expand(struct tm_slurm_ran *ran, const char *list, const char *job, struct tm_err *err)
{
  char **argv = tm_slurm_command_hosts(list);
  struct tm_err why = TM_ERR_NONE;
  int rc = tm_slurm_run(ran, argv, TM_SLURM_LIMIT_NS, &why);

  if (rc < 0 || ran->is_late || ran->has_failed)
    rc = refuse(ran, job, &why, err);
  tm_command_words_free(argv);
  return rc;
}

/* What the user excludes, for add_hosts(). */
static int find_excluded(struct tm_map *excluded, const struct tm_config *c, const char *job,
                         struct tm_err *err)
{
  struct tm_slurm_ran ran = { .out = TM_BUF_NONE };
  size_t at = 0, len;
  const char *name;
  int rc = c->slurm_exclude ? expand(&ran, c->slurm_exclude, job, err) : 0;

  while (rc == 0 && (len = tm_slurm_text_next_host(tm_buf_str(&ran.out), ran.out.len, &at, &name)))
    tm_map_add(excluded, name, len, NULL);
  tm_slurm_ran_release(&ran);
  return rc;
}

static void add_hosts(struct tm_allocation *out, const struct tm_buf *names,
                      struct tm_map *excluded)
{
  const char *cpus = getenv("SLURM_JOB_CPUS_PER_NODE"), *name;
  size_t at = 0, len;
  bool is_new;

  for (size_t i = 0; (len = tm_slurm_text_next_host(tm_buf_str(names), names->len, &at, &name));
       i++) {
    size_t n = out->hosts_len;
    tm_map_add(excluded, name, len, &is_new);
    if (!is_new)
      continue;
    out->hosts = tm_xrealloc(out->hosts, (n + 1) * sizeof(*out->hosts));
    out->cpus = tm_xrealloc(out->cpus, (n + 1) * sizeof(*out->cpus));
    out->hosts[n] = tm_xstrndup(name, len);
    out->cpus[n] = cpus ? tm_slurm_text_cpus(cpus, i) : 0;
    out->hosts_len++;
  }
}

int tm_allocation_find(struct tm_allocation *out, const struct tm_config *c, struct tm_err *err)
{
  const char *job = tm_slurm_environment_job(environ);
  struct tm_slurm_ran ran = { .out = TM_BUF_NONE };
  struct tm_map excluded = { 0 };
  int rc;

  tm_require(tm_allocation_is_for(c));
  *out = (struct tm_allocation) { .job = tm_xstrdup(job) };
  rc = find_excluded(&excluded, c, job, err);
  if (rc == 0)
    rc = expand(&ran, host_list(), job, err);
  if (rc == 0)
    add_hosts(out, &ran.out, &excluded);
  if (rc == 0 && out->hosts_len == 0)
    rc = tm_err_set(err, TM_EUSAGE,
                    "the allocation %s has no host, or slurm_options exclude all of them" ADVICE,
                    job);
  tm_slurm_ran_release(&ran);
  tm_map_release(&excluded);
  return rc;
}

void tm_allocation_release(struct tm_allocation *a)
{
  for (size_t i = 0; i < a->hosts_len; i++)
    free(a->hosts[i]);
  free(a->hosts);
  free(a->cpus);
  free(a->job);
  *a = (struct tm_allocation) { 0 };
}

/* ---- whether it runs ---- */

static int refuse_unanswered(const struct tm_allocation *a, const char *why, struct tm_err *err)
{
  return tm_err_set(
      err, TM_EUSAGE,
      "cannot ask Slurm about the allocation %s: %s (asked with: squeue --jobs=%s); try "
      "again when Slurm runs: scontrol ping",
      a->job, why, a->job);
}

static int refuse_ended(const struct tm_allocation *a, const char *why, struct tm_err *err)
{
  return tm_err_set(err, TM_EUSAGE,
                    "the allocation %s (SLURM_JOB_ID) does not run: %s; start tidemill in one that "
                    "runs" ADVICE,
                    a->job, why);
}

/* `ran`: squeue has ended, or was killed. */
static int judge(const struct tm_allocation *a, const struct tm_slurm_ran *ran, struct tm_err *err)
{
  struct tm_slurm_job job;
  char why[TM_SLURM_TEXT_MAX];
  size_t at = 0;

  tm_slurm_text_error(tm_buf_str(&ran->said), ran->said.len, why);
  if (ran->is_late)
    return refuse_unanswered(a, "its controller did not answer within 20 s", err);
  if (ran->has_failed)
    return tm_slurm_text_is_unanswered(why) ? refuse_unanswered(a, why, err)
                                            : refuse_ended(a, why, err);
  if (tm_slurm_text_next_job(tm_buf_str(&ran->out), ran->out.len, &at, &job) &&
      (job.state == TM_SLURM_ENDED || job.state == TM_SLURM_CANCELED))
    return refuse_ended(a, job.state_name, err);
  return 0;
}

int tm_allocation_check(const struct tm_allocation *a, struct tm_err *err)
{
  uint32_t id = (uint32_t)strtoul(a->job, NULL, 10);
  char **argv = tm_slurm_command_queue_of_ids(&id, 1);
  struct tm_slurm_ran ran;
  int rc = 0;

  if (tm_slurm_run(&ran, argv, TM_SLURM_LIMIT_NS, NULL) == 0) /* else nodes will show it */
    rc = judge(a, &ran, err);
  tm_slurm_ran_release(&ran);
  tm_command_words_free(argv);
  return rc;
}

/* ---- whether it survives ---- */

static bool is_no_kill(const char *word, size_t len)
{
  return (len == 2 && memcmp(word, "-k", 2) == 0) ||
         (len == 9 && memcmp(word, "--no-kill", 9) == 0);
}

bool tm_allocation_words_survive(const char *words, size_t len)
{
  for (size_t at = 0, n; at < len; at += n + 1) {
    n = strnlen(words + at, len - at);
    if (is_no_kill(words + at, n))
      return true;
  }
  return false;
}

/* A word behind a '#' is a comment. */
static bool line_survives(const char *line, size_t len)
{
  static const char mark[] = "#SBATCH";
  size_t at = sizeof mark - 1, n;

  if (len < at || memcmp(line, mark, at) != 0)
    return false;
  for (; at < len && line[at] != '#'; at += n) {
    at += strspn(line + at, " \t");
    n = strcspn(line + at, " \t\r\n#");
    if (is_no_kill(line + at, n))
      return true;
    if (n == 0)
      break;
  }
  return false;
}

bool tm_allocation_script_survives(const char *script)
{
  for (size_t len; *script; script += len + (script[len] == '\n')) {
    len = strcspn(script, "\n");
    if (line_survives(script, len))
      return true;
  }
  return false;
}

/* Whether that process is an salloc with this option. */
static bool is_surviving_salloc(pid_t pid)
{
  char *path = tm_xprintf("/proc/%ld/cmdline", (long)pid);
  struct tm_buf words = TM_BUF_NONE;
  bool survives = tm_fs_read_file(tm_fs_real(), path, WORDS_MAX, &words, NULL) == 0 &&
                  strcmp(tm_path_base(tm_buf_str(&words)), "salloc") == 0 &&
                  tm_allocation_words_survive(words.data, words.len);

  tm_buf_release(&words);
  free(path);
  return survives;
}

static bool is_below_surviving_salloc(void)
{
  pid_t pid = getppid();

  for (int i = 0; pid > 1 && i < ANCESTORS_MAX; i++, pid = tm_process_parent(pid))
    if (is_surviving_salloc(pid))
      return true;
  return false;
}

static bool is_surviving_script(const struct tm_allocation *a)
{
  const char *environment = getenv("ENVIRONMENT"); /* as sbatch sets it */
  char *argv[] = {
    (char *)"scontrol", (char *)"write", (char *)"batch_script", a->job, (char *)"-", NULL
  };
  struct tm_slurm_ran ran;
  bool survives;

  if (!environment || strcmp(environment, "BATCH") != 0)
    return false;
  survives = tm_slurm_run(&ran, argv, TM_SLURM_LIMIT_NS, NULL) == 0 && !ran.is_late &&
             !ran.has_failed && tm_allocation_script_survives(tm_buf_str(&ran.out));
  tm_slurm_ran_release(&ran);
  return survives;
}

bool tm_allocation_is_known_to_survive(const struct tm_allocation *a)
{
  return getenv("SALLOC_NO_KILL") || getenv("SBATCH_NO_KILL") || is_below_surviving_salloc() ||
         is_surviving_script(a);
}

/* ---- nodes ---- */

static int64_t cpus_of(const struct tm_allocation *a, const char *host)
{
  for (size_t i = 0; i < a->hosts_len; i++)
    if (strcmp(a->hosts[i], host) == 0)
      return a->cpus[i];
  return 0;
}

char **tm_allocation_node_command(const struct tm_allocation *a, const char *host,
                                  const struct tm_config *c, const char *name, const char *exclude,
                                  const char *program)
{
  char *words[] = { (char *)program, (char *)"node", NULL }, **argv, **options = NULL;
  struct tm_buf left_out = TM_BUF_NONE;
  struct tm_slurm_request r = { .name = name,
                                .processes = c->process_count_per_node,
                                .options = c->slurm_options,
                                .exclude = exclude,
                                .program = words };

  if (host) {
    options = tm_slurm_options_of_step(c->slurm_options, &left_out);
    r.allocation = a->job;
    r.host = host;
    r.options = options;
    r.processes = cpus_of(a, host);
  }
  argv = tm_slurm_command_start(&r);
  tm_command_words_free(options);
  tm_buf_release(&left_out);
  return argv;
}
