/* How the life of a node that a command starts is described, and whether it has waited. */
#include "unit.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/time.h"
#include "job/launched_node.h"

static void says(const struct tm_launched_node *n, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_launched_node_describe(&text, n);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void a_command_that_ends_too_early_is_quoted(void **state)
{
  struct tm_launched_node n = { .id = 1, .has_ended = true, .why = (char *)"it has ended" };
  n.ended.exit_status = 255;
  strcpy(n.ended.last_line, "Permission denied (publickey).");
  says(&n, "cannot start node 1: its command exited with status 255 before the node was ready; its "
           "last line was 'Permission denied (publickey).'; see 'nodes/1.txt'");
}

static void a_command_that_succeeds_explains_little(void **state)
{
  struct tm_launched_node n = { .id = 1, .has_ended = true, .why = (char *)"it sent rubbish" };
  says(&n, "cannot start node 1: it sent rubbish; its command exited with status 0; see "
           "'nodes/1.txt'");
  n.why = NULL;
  says(&n, "cannot start node 1: its command exited with status 0 before the node was ready; see "
           "'nodes/1.txt'");
}

static void a_lost_node_is_named_with_its_host(void **state)
{
  struct tm_launched_node n = { .id = 12,
                                .host = "cn02",
                                .was_ready = true,
                                .lived_ns = 760 * TM_S,
                                .has_ended = true,
                                .why = (char *)"it is silent" };
  n.ended.signal = SIGKILL;
  says(&n, "lost node 12 (cn02) after 00:12:40: it is silent; its command was killed by signal 9 "
           "(Killed); see "
           "'nodes/12.txt'");
}

static struct tm_launched_node lost_slurm_job(void)
{
  return (struct tm_launched_node) { .id = 3,
                                     .was_ready = true,
                                     .slurm_name = (char *)"tidemill-x-1-3",
                                     .reported_host = (char *)"cn09",
                                     .lived_ns = 760 * TM_S,
                                     .why = (char *)"nothing heard for 15 s" };
}

static void what_slurm_says_of_its_end_is_told(void **state)
{
  struct tm_launched_node n = lost_slurm_job();

  says(&n, "lost node 3 (cn09) after 00:12:40: nothing heard for 15 s (Slurm: not known); see "
           "'nodes/3.txt'");
  n.is_step = true; /* Slurm is not asked */
  says(&n, "lost node 3 (cn09) after 00:12:40: nothing heard for 15 s; see 'nodes/3.txt'");
  n.is_step = false;
  n.slurm_end = TM_SLURM_END_NODE_FAIL;
  strcpy(n.slurm_state, "NODE_FAIL");
  says(&n, "lost node 3 (cn09) after 00:12:40: nothing heard for 15 s (Slurm: NODE_FAIL); see "
           "'nodes/3.txt'");
  n.was_ready = false;
  says(&n, "cannot start node 3 (cn09): nothing heard for 15 s (Slurm: NODE_FAIL); see "
           "'nodes/3.txt'");
  n.slurm_end = TM_SLURM_END_NOT_KNOWN;
  says(&n, "cannot start node 3 (cn09): nothing heard for 15 s; see 'nodes/3.txt'");
}

static void a_loss_is_reported_with_its_consequences(void **state)
{
  struct tm_launched_node n = lost_slurm_job();

  n.slurm_end = TM_SLURM_END_NODE_FAIL;
  strcpy(n.slurm_state, "NODE_FAIL");
  n.went_back = 24;
  n.may_have_run = 8;
  n.is_excluded = true;
  says(&n, "lost node 3 (cn09) after 00:12:40: nothing heard for 15 s (Slurm: NODE_FAIL); 24 "
           "mini-batches go back to the queue, 8 of which may have been running; 'cn09' is "
           "excluded for 10 minutes; see 'nodes/3.txt'");
  n.is_excluded = false;
  n.went_back = n.may_have_run = 1;
  n.slurm_end = TM_SLURM_END_CANCELED;
  strcpy(n.slurm_state, "CANCELLED");
  says(&n, "lost node 3 (cn09) after 00:12:40: nothing heard for 15 s (Slurm: CANCELLED); 1 "
           "mini-batch goes back to the queue, and may have been running; it was canceled, so it "
           "is not replaced; see 'nodes/3.txt'");
}

static void says_drained(const struct tm_launched_node *n, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_launched_node_describe_drained(&text, n);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void the_end_of_a_drained_node_is_reported_with_its_consequences(void **state)
{
  struct tm_launched_node n = lost_slurm_job();

  n.slurm_end = TM_SLURM_END_PREEMPTED;
  strcpy(n.slurm_state, "PREEMPTED");
  n.went_back = 2;
  says_drained(&n, "node 3 (cn09) has ended before all of its work was over: nothing heard for 15 "
                   "s (Slurm: PREEMPTED); 2 mini-batches go back to the queue");
  n.why = n.slurm_name = NULL;
  n.went_back = 0;
  n.slurm_end = TM_SLURM_END_NOT_KNOWN;
  says_drained(&n, "node 3 (cn09) has ended: all of its work is over");
}

static void our_own_signal_is_not_the_cause(void **state)
{
  struct tm_launched_node n = { .id = 3, .has_ended = true, .why = (char *)"it is silent" };
  n.ended.signal = SIGTERM;
  says(&n, "cannot start node 3: it is silent; see 'nodes/3.txt'");
  n.why = NULL; /* somebody else's signal */
  says(&n, "cannot start node 3: its command was killed by signal 15 (Terminated) before the node "
           "was ready; see 'nodes/3.txt'");
}

static void a_late_node_is_late_however_its_command_ends(void **state)
{
  struct tm_launched_node n = {
    .id = 3, .has_ended = true, .is_late = true, .why = (char *)"it was not ready after 2 s"
  };
  n.ended.exit_status = 1;
  says(&n, "cannot start node 3: it was not ready after 2 s; nothing came from its command, which "
           "must run 'tidemill node'; see 'nodes/3.txt'");
  n.reported_host = (char *)"cn03";
  says(&n, "cannot start node 3 (cn03): it was not ready after 2 s; see 'nodes/3.txt'");
  n.reported_host = NULL;
  n.slurm_name = (char *)"tidemill-j-0000000000000001-3"; /* its command is ours */
  says(&n, "cannot start node 3: it was not ready after 2 s; see 'nodes/3.txt'");
}

static void what_it_printed_may_explain_why_it_is_no_node(void **state)
{
  struct tm_launched_node n = { .id = 3,
                                .has_ended = true,
                                .is_late = true,
                                .why = (char *)"it was not ready after 2 s",
                                .printed = (char *)"Password:" };
  says(&n, "cannot start node 3: it was not ready after 2 s; it printed 'Password:'; the command "
           "must not ask for anything, because nobody can answer: with ssh, use a key and -o "
           "BatchMode=yes; see 'nodes/3.txt'");
  n.printed = (char *)"tidemill-stream 1 0123";
  says(&n, "cannot start node 3: it was not ready after 2 s; it printed 'tidemill-stream 1 0123', "
           "which the job had sent: it does not run 'tidemill node'; see 'nodes/3.txt'");
  n.printed = (char *)"Password:";
  n.is_late = false;
  strcpy(n.ended.last_line, "bye");
  says(&n, "cannot start node 3: it was not ready after 2 s; its command exited with status 0; its "
           "last line was 'bye'; it printed 'Password:'; it must run 'tidemill node'; see "
           "'nodes/3.txt'");
  n.why = (char *)"its stream ended after 'Password:'";
  says(&n,
       "cannot start node 3: its stream ended after 'Password:'; its command exited with status "
       "0; its last line was 'bye'; it must run 'tidemill node'; see 'nodes/3.txt'");
  n.why = (char *)"it was not ready after 2 s";
  n.ended = (struct tm_launch_ended) { .signal = SIGTERM }; /* ours: the text above quotes it */
  says(&n, "cannot start node 3: it was not ready after 2 s; see 'nodes/3.txt'");
}

/* What it reported is its name unless node_hosts has one; how its command ended explains
 * nothing. */
static void a_refused_node_says_why(void **state)
{
  struct tm_launched_node n = { .id = 2,
                                .reported_host = (char *)"cn17",
                                .is_refused = true,
                                .has_ended = true,
                                .why = (char *)"cannot read '/data': no such file" };
  n.ended.exit_status = 1;
  strcpy(n.ended.last_line, "bye");
  says(&n, "cannot use node 2 (cn17): cannot read '/data': no such file; see 'nodes/2.txt'");
  n.host = "cn02";
  says(&n, "cannot use node 2 (cn02): cannot read '/data': no such file; see 'nodes/2.txt'");
}

static void refusal(const char *problem, uint32_t uid, const char *expected)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_launched_node_refusal(&text, problem, "/p/jobs/x", uid, 0);
  assert_string_equal(tm_buf_str(&text), expected);
  tm_buf_release(&text);
}

static void a_refusal_says_what_to_do(void **state)
{
  refusal("cannot see the job directory '/p/jobs/x': no such file", 0,
          "cannot see the job directory '/p/jobs/x': no such file; the job directory must be on a "
          "file system that all nodes share and may write to: choose another one with --job-dir or "
          "TIDEMILL_WORKSPACE");
  refusal("cannot read '/data': no such file", 0,
          "cannot read '/data': no such file; nodes must be able to use the files of their steps "
          "under the same paths");
  refusal("cannot read '/data': permission denied", 1000,
          "cannot read '/data': permission denied; nodes must be able to use the files of their "
          "steps under the same paths; the node runs as another user: uid 1000, here it is 0; "
          "start it as this user");
}

static void a_command_that_never_ran_has_no_end(void **state)
{
  struct tm_launched_node n = { .id = 3, .why = (char *)"there is no such program" };
  says(&n, "cannot start node 3: there is no such program; see 'nodes/3.txt'");
}

static void expect(struct tm_buf *text, const char *expected)
{
  assert_string_equal(tm_buf_str(text), expected);
  tm_buf_clear(text);
}

static void the_life_of_a_node_is_reported(void **state)
{
  struct tm_launched_node n = { .id = 3, .host = "cn09" };
  struct tm_buf text = TM_BUF_NONE;
  tm_launched_node_add_requested(&text, &n);
  expect(&text, "node 3 (cn09) is requested");
  n.slurm_name = (char *)"tidemill-x-1-3";
  tm_launched_node_add_requested(&text, &n);
  expect(&text, "node 3 (cn09) is requested from Slurm as 'tidemill-x-1-3'");
  tm_launched_node_add_waits(&text, &n);
  expect(&text, "node 3 (cn09) waits in the queue of Slurm: Slurm gives no reason");
  strcpy(n.waits_for, "Resources");
  tm_launched_node_add_waits(&text, &n);
  expect(&text, "node 3 (cn09) waits in the queue of Slurm: Resources");
  tm_launched_node_add_ended(&text, &n, 0);
  expect(&text, "node 3 (cn09) has ended before it was ready");
  n.was_ready = true;
  tm_launched_node_add_ended(&text, &n, 760 * TM_S);
  expect(&text, "node 3 (cn09) has ended: it was ready for 12 min 40 s");
  tm_buf_release(&text);
}

static void a_wrong_clock_is_reported(void **state)
{
  struct tm_launched_node n = { .id = 3, .host = "cn09" };
  struct tm_buf text = TM_BUF_NONE;
#define REST                                                                                       \
  " that of this machine: start times in tables are corrected, those in the logs of its workers "  \
  "are not"
  tm_launched_node_add_clock(&text, &n, 2500 * TM_MS);
  expect(&text, "the clock of node 3 (cn09) is 2.5 s ahead of" REST);
  tm_launched_node_add_clock(&text, &n, -90 * TM_S);
  expect(&text, "the clock of node 3 (cn09) is 90.0 s behind" REST);
  tm_buf_release(&text);
}

static void advice_about_a_wrong_program(void **state)
{
  struct tm_launched_node n = { .id = 3, .host = "cn09", .has_ended = true };
  n.ended.exit_status = 127;
  says(&n, "cannot start node 3 (cn09): its command exited with status 127 before the node was "
           "ready; install tidemill on the node under that path, or write another path into "
           "node_command; see 'nodes/3.txt'");
  n.slurm_name = (char *)"tidemill-x-1-3";
  n.ended.exit_status = 2;
  strcpy(n.ended.last_line, "slurmstepd: error: execve(): /opt/tidemill: No such file");
  says(&n, "cannot start node 3 (cn09): its command exited with status 2 before the node was "
           "ready; its last line was 'slurmstepd: error: execve(): /opt/tidemill: No such file'; "
           "install tidemill on the node under that path, or send it along: --bcast=PATH in "
           "slurm_options; see 'nodes/3.txt'");
  n.why = (char *)"it runs 'tidemill 1', but this is 'tidemill 2'";
  n.is_refused = n.is_other_build = true;
  says(&n, "cannot use node 3 (cn09): it runs 'tidemill 1', but this is 'tidemill 2'; install the "
           "same build on both machines, or send this one along: --bcast=PATH in slurm_options; "
           "see 'nodes/3.txt'");
}

/* ---- node_start_timeout ---- */

/* When node_start_timeout is over. */
struct look {
  enum tm_slurm_line said;
  char squeue;  /* what squeue has said since the last one: 'w'aits, 'r'uns, or 0: nothing */
  bool reports; /* the node, since the last one */
  bool begins_again;
};

static void follow(const struct look *looks, size_t len)
{
  struct tm_launched_node n = { .id = 1 };

  for (size_t i = 0; i < len; i++) {
    n.is_queued = looks[i].squeue ? looks[i].squeue == 'w' : n.is_queued;
    n.is_known_to_wait = n.is_known_to_wait || n.is_queued;
    if (looks[i].reports)
      n.reported_host = (char *)"cn01";
    if (tm_launched_node_has_waited(&n, looks[i].said) != looks[i].begins_again)
      fail_msg("look %zu", i);
  }
}

#define FOLLOW(...)                                                                                \
  follow((const struct look[]) { __VA_ARGS__ },                                                    \
         TM_COUNT_OF(((const struct look[]) { __VA_ARGS__ })))
#define QUEUED  .said = TM_SLURM_LINE_QUEUED
#define GRANTED .said = TM_SLURM_LINE_GRANTED
#define AGAIN   .begins_again = true

static void a_node_that_never_waited_has_its_time_once(void **state)
{
  FOLLOW({ 0 });
  FOLLOW({ .squeue = 'r' });
}

static void a_node_that_waited_has_its_whole_time_when_it_runs(void **state)
{
  FOLLOW({ QUEUED, AGAIN }, { QUEUED, AGAIN }, { GRANTED, AGAIN }, { GRANTED });
  FOLLOW({ GRANTED, AGAIN }, { GRANTED });
  /* it ran, and was put into the queue again */
  FOLLOW({ GRANTED, AGAIN }, { QUEUED, AGAIN }, { GRANTED, AGAIN }, { GRANTED });
}

static void a_machine_that_boots_is_waited_for_after_it_is_granted(void **state)
{
  FOLLOW({ GRANTED, .squeue = 'w', AGAIN }, { GRANTED, AGAIN }, { GRANTED, .squeue = 'w', AGAIN },
         { GRANTED, .squeue = 'r', AGAIN }, { GRANTED });
  FOLLOW({ QUEUED, .squeue = 'w', AGAIN }, { GRANTED, AGAIN }, { GRANTED, .squeue = 'r', AGAIN },
         { GRANTED });
  FOLLOW({ GRANTED, AGAIN }, { GRANTED, .squeue = 'w', AGAIN }, { GRANTED, .squeue = 'r', AGAIN },
         { GRANTED });
}

/* srun prints neither line then. */
static void a_machine_that_boots_is_waited_for_if_it_is_granted_at_once(void **state)
{
  FOLLOW({ .squeue = 'w', AGAIN }, { .squeue = 'w', AGAIN }, { .squeue = 'r', AGAIN }, { 0 });
}

/* squeue may fail from then on. */
static void a_node_that_has_reported_waits_no_more(void **state)
{
  FOLLOW({ GRANTED, .squeue = 'w', AGAIN }, { GRANTED, .reports = true, AGAIN }, { GRANTED });
  FOLLOW({ .squeue = 'w', AGAIN }, { .reports = true, AGAIN }, { 0 });
}

UNIT_TESTS({
    cmocka_unit_test(a_node_that_never_waited_has_its_time_once),
    cmocka_unit_test(a_node_that_waited_has_its_whole_time_when_it_runs),
    cmocka_unit_test(a_machine_that_boots_is_waited_for_after_it_is_granted),
    cmocka_unit_test(a_machine_that_boots_is_waited_for_if_it_is_granted_at_once),
    cmocka_unit_test(a_node_that_has_reported_waits_no_more),
    cmocka_unit_test(the_life_of_a_node_is_reported),
    cmocka_unit_test(a_wrong_clock_is_reported),
    cmocka_unit_test(a_command_that_ends_too_early_is_quoted),
    cmocka_unit_test(a_command_that_succeeds_explains_little),
    cmocka_unit_test(a_lost_node_is_named_with_its_host),
    cmocka_unit_test(what_slurm_says_of_its_end_is_told),
    cmocka_unit_test(a_loss_is_reported_with_its_consequences),
    cmocka_unit_test(the_end_of_a_drained_node_is_reported_with_its_consequences),
    cmocka_unit_test(our_own_signal_is_not_the_cause),
    cmocka_unit_test(a_late_node_is_late_however_its_command_ends),
    cmocka_unit_test(what_it_printed_may_explain_why_it_is_no_node),
    cmocka_unit_test(a_refused_node_says_why),
    cmocka_unit_test(a_refusal_says_what_to_do),
    cmocka_unit_test(a_command_that_never_ran_has_no_end),
    cmocka_unit_test(advice_about_a_wrong_program),
});
