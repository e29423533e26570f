/* slurm_test.c - see slurm_test.h. */
#include "slurm/slurm_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/command_template.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "slurm/slurm_command.h"
#include "slurm/slurm_text.h"
#include "slurm/allocation.h"
#include "slurm/slurm_run.h"
#include "sys/program.h"

char **tm_slurm_test_command(const struct tm_config *c, const char *exclude, const char *program)
{
  char *words[] = { (char *)program, (char *)"node", NULL };
  struct tm_slurm_request r = { .name = "tidemill",
                                .processes = c->process_count_per_node,
                                .options = c->slurm_options,
                                .exclude = exclude,
                                .program = words };

  return tm_slurm_command_test(&r);
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

static const char *advice_for(const char *reason, bool timed_out)
{
  if (timed_out || tm_slurm_text_is_unanswered(reason))
    return "check that Slurm jobs can be started from this machine, and that Slurm runs: "
           "scontrol ping";
  if (tm_slurm_text_is_unavailable(reason))
    return "correct slurm_options or process_count_per_node, or wait for nodes that are down or "
           "drained: sinfo";
  return "correct slurm_options or process_count_per_node";
}

/* `reason`: what srun has said, "" if nothing. */
static int refuse_reason(char *const *argv, const char *reason, bool timed_out, struct tm_err *err)
{
  char *why =
      tm_xprintf("%s%s%s%s%s", timed_out ? "its controller did not answer within 20 s" : "",
                 timed_out && *reason ? ": " : "", *reason ? "'" : "", reason, *reason ? "'" : "");
  int rc = refuse(argv, why, advice_for(reason, timed_out), err);

  free(why);
  return rc;
}

/* 0 also if srun was killed, or if its end is unknown. */
static int ask(char *const *argv, struct tm_err *err)
{
  char reason[TM_SLURM_TEXT_MAX];
  struct tm_slurm_ran ran;
  int rc = tm_slurm_run(&ran, argv, TM_SLURM_LIMIT_NS, NULL);

  tm_slurm_text_error(tm_buf_str(&ran.said), ran.said.len, reason);
  if (rc == 0 && (ran.is_late || (ran.has_failed && ran.signal == 0)))
    rc = refuse_reason(argv, reason, ran.is_late, err);
  else
    rc = 0;
  tm_slurm_ran_release(&ran);
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
                           "on a machine from which Slurm jobs can be started");
}

/* For all steps of a job. */
struct test {
  const char *program;
  struct tm_map asked; /* by command */
};

static int ask_once(struct test *t, const struct tm_config *c, struct tm_err *err)
{
  char **argv = tm_slurm_test_command(c, c->slurm_exclude, t->program);
  struct tm_buf key = TM_BUF_NONE;
  bool is_new;
  int rc = 0;

  for (size_t i = 0; argv[i]; i++)
    tm_buf_add(&key, argv[i], strlen(argv[i]) + 1);
  tm_map_add(&t->asked, key.data, key.len, &is_new);
  if (is_new)
    rc = ask(argv, err);
  tm_buf_release(&key);
  tm_command_words_free(argv);
  return rc;
}

static int check_allocation(const struct tm_config *c, struct tm_err *err)
{
  struct tm_allocation a;
  int rc = tm_allocation_find(&a, c, err);

  if (rc == 0)
    rc = tm_allocation_check(&a, err);
  tm_allocation_release(&a);
  return rc;
}

static int test(struct test *t, const struct tm_step *step, struct tm_err *err)
{
  const struct tm_config *c = &step->config;
  int rc = find_srun(err);

  if (rc == 0)
    rc = tm_allocation_is_for(c) ? check_allocation(c, err) : ask_once(t, c, err);
  if (rc < 0 && *step->where)
    rc = tm_err_wrap(err, "%s: step '%s'", step->where, step->name);
  return rc;
}

int tm_slurm_test(const struct tm_pipeline *pipeline, const char *program, struct tm_err *err)
{
  struct test t = { .program = program };
  int rc = 0;

  for (size_t i = 0; i < pipeline->steps_len && rc == 0; i++)
    if (pipeline->steps[i]->config.uses_slurm)
      rc = test(&t, pipeline->steps[i], err);
  tm_map_release(&t.asked);
  return rc;
}

char **tm_slurm_test_sample(const struct tm_config *c, const char *program, struct tm_err *err)
{
  struct tm_allocation a = { 0 };
  char **argv = NULL;

  if (!tm_allocation_is_for(c) || tm_allocation_find(&a, c, err) == 0)
    argv = tm_allocation_node_command(&a, a.hosts ? a.hosts[0] : NULL, c, "tidemill",
                                      c->slurm_exclude, program);
  tm_allocation_release(&a);
  return argv;
}
