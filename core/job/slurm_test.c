/* slurm_test.c - see slurm_test.h. */
#include "job/slurm_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command_template.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "fleet/slurm_command.h"
#include "fleet/slurm_environment.h"
#include "fleet/slurm_text.h"
#include "sys/program.h"

#define LIMIT_NS (20 * TM_S)
#define SAID_MAX ((size_t)64 << 10)

static char **command_of(const struct tm_config *c)
{
  char *program[] = { (char *)"tidemill", (char *)"node", NULL };
  struct tm_slurm_request r = { .name = "tidemill",
                                .processes = c->process_count_per_node,
                                .options = c->slurm_options,
                                .exclude = c->slurm_exclude,
                                .program = program };

  return tm_slurm_command_test(&r);
}

/* What srun gets of our environment; the entries are not copied. */
static char **environment(void)
{
  bool is_in_allocation = tm_slurm_environment_job(environ) != NULL;
  size_t len = 0, n = 0;
  char **kept;

  while (environ[len])
    len++;
  kept = tm_xcalloc(len + 1, sizeof(*kept));
  for (size_t i = 0; i < len; i++)
    if (tm_slurm_environment_keeps(environ[i], strcspn(environ[i], "="), is_in_allocation))
      kept[n++] = environ[i];
  return kept;
}

static int refuse(char *const *argv, const char *why, const char *advice, struct tm_err *err)
{
  struct tm_buf command = TM_BUF_NONE;

  for (size_t i = 0; argv[i]; i++) {
    tm_buf_add_str(&command, i > 0 ? " " : "");
    tm_text_shell(&command, argv[i]);
  }
  tm_err_set(err, TM_EUSAGE, "cannot get a node from Slurm: %s (asked with: %s); %s", why,
             tm_buf_str(&command), advice);
  tm_buf_release(&command);
  return TM_EUSAGE;
}

/* `reason`: what srun has said, "" if nothing. */
static int refuse_reason(char *const *argv, const char *reason, bool timed_out, struct tm_err *err)
{
  bool is_unanswered = timed_out || tm_slurm_text_is_unanswered(reason);
  char *why =
      tm_xprintf("%s%s%s%s%s", timed_out ? "its controller did not answer within 20 s" : "",
                 timed_out && *reason ? ": " : "", *reason ? "'" : "", reason, *reason ? "'" : "");
  int rc = refuse(
      argv, why,
      is_unanswered ? "check that this machine is one from which Slurm jobs are started, and that "
                      "Slurm runs: scontrol ping"
                    : "correct slurm_options or process_count_per_node",
      err);

  free(why);
  return rc;
}

/* 0 also if srun has not answered: it was killed, or its end is unknown, as in a host that ignores
 * SIGCHLD. */
static int ask(char *const *argv, struct tm_err *err)
{
  struct tm_buf said = TM_BUF_NONE, out = TM_BUF_NONE;
  char **env = environment(), reason[TM_SLURM_TEXT_MAX];
  struct tm_program p = { .argv = argv, .env = env, .input = "" };
  struct tm_program_capture c = { .out = &out, .err = &said, .max = SAID_MAX };
  struct tm_process_end end;
  struct tm_err failed = TM_ERR_NONE;
  bool timed_out = false;
  int rc = tm_program_run(&p, &c, LIMIT_NS, &end, &timed_out, &failed);

  tm_slurm_text_error(tm_buf_str(&said), said.len, reason);
  if (rc == 0 && (timed_out || (end.signal == 0 && end.exit_status != 0)))
    rc = refuse_reason(argv, reason, timed_out, err);
  else
    rc = 0;
  tm_buf_release(&said);
  tm_buf_release(&out);
  free(env);
  return rc;
}

static int find_srun(struct tm_err *err)
{
  char *argv[] = { (char *)"srun", NULL };
  char *file = tm_program_file(&(struct tm_program) { .argv = argv }, NULL);

  free(file);
  return file ? 0
              : tm_err_set(err, TM_EUSAGE,
                           "compute_target is \"slurm\", but there is no srun in PATH; run the job "
                           "on a machine from which Slurm jobs are started");
}

static int test(const struct tm_step *step, struct tm_map *asked, struct tm_err *err)
{
  char **argv = command_of(&step->config);
  struct tm_buf key = TM_BUF_NONE;
  bool is_new;
  int rc;

  for (size_t i = 0; argv[i]; i++)
    tm_buf_add(&key, argv[i], strlen(argv[i]) + 1);
  tm_map_add(asked, key.data, key.len, &is_new);
  rc = is_new ? find_srun(err) : 0;
  if (is_new && rc == 0)
    rc = ask(argv, err);
  if (rc < 0 && *step->where)
    rc = tm_err_wrap(err, "%s: step '%s'", step->where, step->name);
  tm_buf_release(&key);
  tm_command_words_free(argv);
  return rc;
}

int tm_slurm_test(const struct tm_pipeline *pipeline, struct tm_err *err)
{
  struct tm_map asked = { 0 };
  int rc = 0;

  for (size_t i = 0; i < pipeline->steps_len && rc == 0; i++)
    if (pipeline->steps[i]->config.uses_slurm)
      rc = test(pipeline->steps[i], &asked, err);
  tm_map_release(&asked);
  return rc;
}
