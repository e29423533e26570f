/* What the settings of nodes must have in common, and what they come to. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "plan/node_settings.h"

/* `text` NULL: not given. */
static struct tm_json *json(const char *text)
{
  struct tm_buf quoted = TM_BUF_NONE;
  struct tm_json *v;
  if (!text)
    return NULL;
  tm_buf_add_str(&quoted, text);
  for (size_t i = 0; i < quoted.len; i++)
    quoted.data[i] = quoted.data[i] == '\'' ? '"' : quoted.data[i];
  v = tm_json_parse(quoted.data, quoted.len, NULL);
  assert_non_null(v);
  tm_buf_release(&quoted);
  return v;
}

static void add_all(struct tm_buf *out, char *const *texts)
{
  for (size_t i = 0; texts && texts[i]; i++)
    tm_buf_printf(out, "%s%s", i > 0 ? "," : "", texts[i]);
}

static void expect(int64_t nodes, bool is_exec, const char *command, const char *hosts,
                   const char *file, const char *expected)
{
  struct tm_json *c = json(command), *h = json(hosts);
  struct tm_node_settings s = { .node_count = nodes,
                                .is_exec = is_exec,
                                .has_processes = true,
                                .command = c,
                                .hosts = h,
                                .hosts_text = file };
  struct tm_config config = { 0 };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf out = TM_BUF_NONE;
  int rc = tm_node_settings_check(&s, &config, &err);
  if (rc < 0) {
    assert_int_equal(rc, TM_EUSAGE);
    tm_buf_add_str(&out, err.text);
  } else {
    add_all(&out, config.node_command);
    tm_buf_add_str(&out, ";");
    add_all(&out, config.node_hosts);
  }
  assert_string_equal(tm_buf_str(&out), expected);
  tm_buf_release(&out);
  tm_config_release(&config);
  tm_json_free(c);
  tm_json_free(h);
}

static void a_command_is_a_list_or_is_split(void **state)
{
  expect(1, false, NULL, NULL, "", ";");
  expect(3, true, "'{program} node'", NULL, "", "{program},node;");
  expect(3, true, "['{program}','a b','a b']", NULL, "", "{program},a b,a b;");
  expect(1, true, "'run {node_id} {job_dir} {processes}'", NULL, "",
         "run,{node_id},{job_dir},{processes};");
}

static void processes_are_known_only_if_they_are_given(void **state)
{
  struct tm_json *c = json("'run {processes}'");
  struct tm_node_settings s = { .node_count = 1, .is_exec = true, .command = c };
  struct tm_config config = { 0 };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_node_settings_check(&s, &config, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "'node_command' contains {processes}, but there is no "
                                   "'process_count_per_node'"));
  tm_config_release(&config);
  s.has_processes = true;
  assert_int_equal(tm_node_settings_check(&s, &config, &err), 0);
  tm_config_release(&config);
  tm_json_free(c);
}

static void hosts_are_names_or_the_lines_of_a_file(void **state)
{
  expect(2, true, "'ssh {host}'", "['a','b','a','c']", "", "ssh,{host};a,b,c");
  expect(2, true, "'ssh {host}'", "'hosts'", "# all\n\n a \r\nb # old\nb\n  \nc",
         "ssh,{host};a,b,c");
  expect(1, true, "'ssh {host}'", "'hosts'", "a", "ssh,{host};a");
  expect(1, true, "'start'", "['a']", "", "start;a");
}

static void a_local_target_has_one_node_and_no_command(void **state)
{
  expect(2, false, NULL, NULL, "",
         "'node_count' is 2 with compute_target = \"local\", which is one machine; write "
         "compute_target = \"slurm\", or \"exec\" and a node_command, or node_count = 1");
  expect(1, false, "'x'", NULL, "",
         "'node_command' is given with compute_target = \"local\": workers run on this machine; "
         "write compute_target = \"exec\", or leave it out");
  expect(1, false, NULL, "['a']", "",
         "'node_hosts' is given with compute_target = \"local\": workers run on this machine; "
         "write compute_target = \"exec\", or leave it out");
}

static void a_command_that_cannot_be_used_is_refused(void **state)
{
  expect(1, true, NULL, NULL, "",
         "compute_target is \"exec\", but 'node_command' is missing; write the command that starts "
         "a node, such as node_command = \"ssh -T {host} {program} node\"");
  expect(1, true, "'ssh {host} {program} node'", NULL, "",
         "'node_command' contains {host}, but there are no 'node_hosts'; name the machines: "
         "node_hosts = { \"cn01\", \"cn02\" }, or a file with one name per line");
}

static void a_placeholder_that_is_not_known_is_named(void **state)
{
  struct tm_json *c = json("'ssh {hst}'");
  struct tm_node_settings s = { .node_count = 1, .is_exec = true, .command = c };
  struct tm_config config = { 0 };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_node_settings_check(&s, &config, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "'node_command': "));
  assert_non_null(strstr(err.text, "hst"));
  assert_non_null(
      strstr(err.text, "accepted: {host}, {node_id}, {program}, {job_dir}, {processes}"));
  tm_config_release(&config);
  tm_json_free(c);
}

static void too_few_hosts_are_refused(void **state)
{
  expect(3, true, "'ssh {host}'", "['a','b','a']", "",
         "'node_hosts' has 2 different names, but 'node_count' is 3; name more machines, or lower "
         "node_count");
  expect(1, true, "'ssh {host}'", "'hosts'", "# none\n",
         "'node_hosts' has 0 different names, but 'node_count' is 1; name more machines, or lower "
         "node_count");
}

static void a_host_that_looks_like_an_option_is_refused(void **state)
{
  expect(1, true, "'ssh {host}'", "['a','-oProxyCommand=x']", "",
         "'node_hosts' has the name '-oProxyCommand=x': commands would take it for an option; "
         "names of machines do not begin with '-'");
  expect(1, true, "'ssh {host}'", "'hosts'", "-4\n",
         "'node_hosts' has the name '-4': commands would take it for an option; names of machines "
         "do not begin with '-'");
}

static void a_host_of_two_lines_is_refused(void **state)
{
  expect(1, true, "'ssh {host}'", "['a','b\\nc']", "",
         "'node_hosts' has the name 'b\\nc': names of machines have no control characters");
}

#define SHELL "$`&;|<>()\"'\\*?!{}#"

static void a_host_that_a_shell_would_take_for_more_is_refused(void **state)
{
  for (const char *c = SHELL; *c && *c != '#'; c++) { /* '#' begins a comment */
    char *name = tm_xprintf("a%cb", *c);
    char *why = tm_xprintf("'node_hosts' has the name '%s': names of machines have none of the "
                           "characters " SHELL,
                           name);
    expect(1, true, "'ssh {host}'", "'hosts'", name, why);
    free(name);
    free(why);
  }
  expect(1, true, "'ssh {host}'", "['a','b c']", "",
         "'node_hosts' has the name 'b c': names of machines have none of the characters " SHELL);
  expect(1, true, "'ssh {host}'", "'hosts'", "me@cn-1.example_2\n[fe80::1%eth0]\npod/x\n",
         "ssh,{host};me@cn-1.example_2,[fe80::1%eth0],pod/x");
}

static void a_byte_order_mark_is_not_part_of_a_name(void **state)
{
  expect(1, true, "'ssh {host}'", "'hosts'",
         "\xef\xbb\xbf"
         "a\nb",
         "ssh,{host};a,b");
}

static void expect_slurm(bool is_slurm, const char *command, const char *options,
                         const char *expected)
{
  struct tm_json *c = json(command), *o = json(options);
  struct tm_node_settings s = { .node_count = 3,
                                .is_exec = !is_slurm,
                                .command = c,
                                .hosts_text = "",
                                .is_slurm = is_slurm,
                                .slurm_options = o };
  struct tm_config config = { 0 };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf out = TM_BUF_NONE;
  int rc = tm_node_settings_check(&s, &config, &err);
  add_all(&out, config.slurm_options);
  tm_buf_printf(&out, ";%s", config.slurm_exclude ? config.slurm_exclude : "");
  assert_int_equal(rc, err.code);
  assert_string_equal(rc < 0 ? err.text : tm_buf_str(&out), expected);
  tm_buf_release(&out);
  tm_config_release(&config);
  tm_json_free(c);
  tm_json_free(o);
}

static void slurm_has_options_for_srun(void **state)
{
  expect_slurm(true, NULL, NULL, ";");
  expect_slurm(true, NULL, "'-p long -x a'", "-p,long;a");
  expect_slurm(true, NULL, "['--account','my lab']", "--account,my lab;");
  expect_slurm(true, NULL, "'-N 2'",
               "'slurm_options': leave out '-N' (--nodes): each node is one task of an srun of its "
               "own; write node_count for more nodes");
  expect_slurm(true, NULL, "'-p'", "'slurm_options': '-p' needs a value (--partition)");
}

static void a_setting_of_another_target_is_refused(void **state)
{
  expect_slurm(true, "'ssh'", NULL,
               "'node_command' is given with compute_target = \"slurm\": srun starts the nodes; "
               "write compute_target = \"exec\", or leave it out");
  expect_slurm(false, "'ssh'", "'-p q'",
               "'slurm_options' is given with compute_target = \"exec\": node_command starts the "
               "nodes; write compute_target = \"slurm\", or leave it out");
}

static void slurm_allocation_new_needs_slurm(void **state)
{
  struct tm_node_settings s = { .node_count = 1, .hosts_text = "", .wants_slurm_jobs = true };
  struct tm_config config = { 0 };
  struct tm_err err = TM_ERR_NONE;

  assert_int_equal(tm_node_settings_check(&s, &config, &err), TM_EUSAGE);
  assert_string_equal(err.text,
                      "'slurm_allocation' is given with compute_target = \"local\": workers run on "
                      "this machine; write compute_target = \"slurm\", or leave it out");
  s.is_slurm = true;
  assert_int_equal(tm_node_settings_check(&s, &config, NULL), 0);
  tm_config_release(&config);
}

UNIT_TESTS({
    cmocka_unit_test(slurm_allocation_new_needs_slurm),
    cmocka_unit_test(a_host_that_looks_like_an_option_is_refused),
    cmocka_unit_test(a_host_of_two_lines_is_refused),
    cmocka_unit_test(a_host_that_a_shell_would_take_for_more_is_refused),
    cmocka_unit_test(a_byte_order_mark_is_not_part_of_a_name),
    cmocka_unit_test(a_command_is_a_list_or_is_split),
    cmocka_unit_test(processes_are_known_only_if_they_are_given),
    cmocka_unit_test(hosts_are_names_or_the_lines_of_a_file),
    cmocka_unit_test(a_local_target_has_one_node_and_no_command),
    cmocka_unit_test(a_command_that_cannot_be_used_is_refused),
    cmocka_unit_test(a_placeholder_that_is_not_known_is_named),
    cmocka_unit_test(too_few_hosts_are_refused),
    cmocka_unit_test(slurm_has_options_for_srun),
    cmocka_unit_test(a_setting_of_another_target_is_refused),
});
