/* Which options a user may pass on to srun, and how they are read. */
#include "unit.h"

#include <string.h>

#include "base/buf.h"
#include "base/command_template.h"
#include "base/mem.h"
#include "plan/slurm_options.h"

/* The words, separated by '|', then ';' and the excluded hosts; or the message. */
static void read(struct tm_buf *out, const char *text)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_slurm_options o;
  char **words = tm_command_words_split(text, &err);

  assert_non_null(words);
  if (tm_slurm_options_read(&o, words, &err) < 0) {
    tm_buf_add_str(out, err.text);
    assert_null(o.words);
    assert_null(o.exclude);
  } else {
    for (size_t i = 0; o.words[i]; i++)
      tm_buf_printf(out, "%s%s", i > 0 ? "|" : "", o.words[i]);
    tm_buf_printf(out, ";%s", o.exclude ? o.exclude : "");
    tm_slurm_options_release(&o);
  }
  tm_command_words_free(words);
}

struct row {
  const char *text, *expected;
};

static void expect_each(const struct row *rows, size_t len, bool is_whole)
{
  for (size_t i = 0; i < len; i++) {
    struct tm_buf out = TM_BUF_NONE;
    read(&out, rows[i].text);
    if (is_whole)
      assert_string_equal(tm_buf_str(&out), rows[i].expected);
    else if (!strstr(tm_buf_str(&out), rows[i].expected))
      fail_msg("'%s' is missing in: %s (%s)", rows[i].expected, tm_buf_str(&out), rows[i].text);
    tm_buf_release(&out);
  }
}

static void options_pass_as_they_are(void **state)
{
  static const struct row rows[] = {
    { "-p debug", "-p|debug;" },
    { "-pdebug --time=5", "-pdebug|--time=5;" },
    { "--partition debug -A 'my account'", "--partition|debug|-A|my account;" },
    { "-vvp debug -I5 -k", "-vvp|debug|-I5|-k;" },
    { "--exclusive=user --nice --bcast=/tmp/p", "--exclusive=user|--nice|--bcast=/tmp/p;" },
    { "--exclusive -p q", "--exclusive|-p|q;" },
    { "--gres=gpu:2 --constraint 'a&b'", "--gres=gpu:2|--constraint|a&b;" },
    { "--part=q", "--part=q;" },
    { "--segment 4 --later", "--segment|4|--later;" }, /* of a later version */
    { "-w -node", "-w|-node;" },                       /* a value may begin with a '-' */
  };
  expect_each(rows, TM_COUNT_OF(rows), true);
}

/* The words, then ';' and what is left out. */
static void a_step_gets_no_options_that_choose_machines(void **state)
{
  static const struct row rows[] = {
    { "-p debug --time=5", "-p|debug|--time=5;" },
    { "--exclusive -p q", "-p|q;--exclusive" },
    { "--exclusive=user --gres=gpu:1 -w node1 -C 'a&b'",
      "--gres=gpu:1;--exclusive, --nodelist, --constraint" },
    { "-vwnode1 --nodelist=a -F f --mem 4G", "--mem|4G;--nodelist, --nodelist, --nodefile" },
    { "-r 1 -b now --relat=1", ";--relative, --begin, --relative" },
    { "--later 5 -c 2", "--later|5|-c|2;" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(rows); i++) {
    struct tm_buf out = TM_BUF_NONE, left_out = TM_BUF_NONE;
    char **words = tm_command_words_split(rows[i].text, NULL);
    char **kept = tm_slurm_options_of_step(words, &left_out);
    for (size_t k = 0; kept[k]; k++)
      tm_buf_printf(&out, "%s%s", k > 0 ? "|" : "", kept[k]);
    tm_buf_printf(&out, ";%s", tm_buf_str(&left_out));
    assert_string_equal(tm_buf_str(&out), rows[i].expected);
    tm_buf_release(&out);
    tm_buf_release(&left_out);
    tm_command_words_free(words);
    tm_command_words_free(kept);
  }
}

static void without_options_a_step_gets_none(void **state)
{
  struct tm_buf left_out = TM_BUF_NONE;
  char **kept = tm_slurm_options_of_step(NULL, &left_out);

  assert_null(kept[0]);
  assert_int_equal(left_out.len, 0);
  tm_command_words_free(kept);
}

static void excluded_hosts_are_taken_out(void **state)
{
  static const struct row rows[] = {
    { "-x a", ";a" },
    { "-p q -xa,b --exclude=c[1-3] --mem=1", "-p|q|--mem=1;a,b,c[1-3]" },
    { "--exclude c -x d --exclud=e", ";c,d,e" },
    { "-v -x d", "-v;d" },
  };
  expect_each(rows, TM_COUNT_OF(rows), true);
}

static void what_would_break_a_node_is_refused(void **state)
{
  static const char *const bad[] = {
    "-n 1",
    "-n4",
    "--ntasks=4",
    "--ntasks 4",
    "-N2",
    "--nodes=2",
    "-o f",
    "-of",
    "--output=f",
    "--outp=f",
    "-e f",
    "--error f",
    "-i f",
    "--input=none",
    "-l",
    "-vl",
    "--label",
    "--lab",
    "-u",
    "--unbuffered",
    "--pty",
    "--pt",
    "-J x",
    "-Jx",
    "--job-name=x",
    "-K",
    "-K1",
    "--kill-on-bad-exit=1",
    "--multi-prog",
    "--jobid=4",
    "-Q",
    "-vQ",
    "--quiet",
    "--qui",
    "--test-only",
    "-h",
    "--help",
    "--usage",
    "-V",
    "--version",
    "-p q --mem=5 -vl",
  };
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++) {
    struct tm_buf out = TM_BUF_NONE;
    read(&out, bad[i]);
    if (!strstr(tm_buf_str(&out), "leave out '"))
      fail_msg("%s: %s", bad[i], tm_buf_str(&out));
    tm_buf_release(&out);
  }
}

static void a_refusal_names_the_option_and_the_reason(void **state)
{
  static const struct row rows[] = {
    { "-n4", "leave out '-n4' (--ntasks): each node is one task of an srun of its "
             "own; write node_count for more nodes" },
    { "-p q -o f", "leave out '-o' (--output): the messages of a node travel on "
                   "the standard input and output of srun" },
    { "-vQ", "leave out '-vQ' (--quiet): srun would not say that a node waits in the queue" },
    { "--kill-on-bad-exit=1",
      "leave out '--kill-on-bad-exit=1' (--kill-on-bad-exit): tidemill passes it itself" },
  };
  expect_each(rows, TM_COUNT_OF(rows), true);
}

/* Only srun would get it. */
static void another_cluster_is_refused_and_the_message_says_what_to_do(void **state)
{
  static const char advice[] =
      "(--clusters): squeue and scancel would ask another cluster; set SLURM_CLUSTERS=NAME in the "
      "environment of tidemill instead: all commands of Slurm read it";
  static const struct row rows[] = {
    { "-M c", advice },
    { "-vMc", advice },
    { "--clusters=c", advice },
    { "--cluster c", advice },
    { "--cluster-constraint=c", "--cluster-constraint=c;" },
  };
  expect_each(rows, TM_COUNT_OF(rows), false);
}

/* A value is not an option, whatever it looks like. */
static void the_same_letters_may_be_a_value(void **state)
{
  static const struct row rows[] = {
    { "-p -n", "-p|-n;" },
    { "-A--pty", "-A--pty;" },
    { "--comment=-l -p n", "--comment=-l|-p|n;" },
  };
  expect_each(rows, TM_COUNT_OF(rows), true);
}

static void what_srun_would_take_for_the_program_is_refused(void **state)
{
  static const struct row rows[] = {
    { "partition=q", "'partition=q' is not an option" },
    { "-p q hostname", "'hostname' is not an option" },
    { "--exclusive user", "'user' is not an option" },
    { "-v 4", "'4' is not an option" },
    { "-- x", "'--' is not an option" },
    { "- x", "'-' is not an option" },
    { "''", "'' is not an option" },
    { "-p", "'-p' needs a value (--partition)" },
    { "--mem=1 --time", "'--time' needs a value (--time)" },
    { "-x", "'-x' needs a value (--exclude)" },
    { "-vx a", "write -x on its own" },
    { "-y", "there is no -y" },
  };
  expect_each(rows, TM_COUNT_OF(rows), false);
}

static void there_may_be_none(void **state)
{
  struct tm_slurm_options o;
  char *none[] = { NULL };

  assert_int_equal(tm_slurm_options_read(&o, none, NULL), 0);
  assert_non_null(o.words);
  assert_null(o.words[0]);
  tm_slurm_options_release(&o);
  tm_slurm_options_release(&o);
}

UNIT_TESTS({
    cmocka_unit_test(a_step_gets_no_options_that_choose_machines),
    cmocka_unit_test(without_options_a_step_gets_none),
    cmocka_unit_test(options_pass_as_they_are),
    cmocka_unit_test(excluded_hosts_are_taken_out),
    cmocka_unit_test(what_would_break_a_node_is_refused),
    cmocka_unit_test(a_refusal_names_the_option_and_the_reason),
    cmocka_unit_test(another_cluster_is_refused_and_the_message_says_what_to_do),
    cmocka_unit_test(the_same_letters_may_be_a_value),
    cmocka_unit_test(what_srun_would_take_for_the_program_is_refused),
    cmocka_unit_test(there_may_be_none),
});
