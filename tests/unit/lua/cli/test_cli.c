/* test_cli.c - calls the program like main(): exit statuses, which output gets what, small complete
 * jobs.
 *
 * The test's program is also the keeper and the workers of its jobs: with arguments it is tidemill.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/commands.h"
#include "sys/fs.h"

struct place {
  char dir[64];
  char *out, *err; /* the output of the last call, for the test to free */
};

static const char score[] = "function run(mini_batch)\n"
                            "  local rows = {}\n"
                            "  for i, path in ipairs(mini_batch) do\n"
                            "    if path:match '[^/]+$':find 'bad' then error('bad file') end\n"
                            "    rows[i] = path:match '[^/]+$'\n"
                            "  end\n"
                            "  return rows\n"
                            "end\n";
static const char pipeline[] =
    "local t = require 'tidemill'\n"
    "return t.Pipeline { name = 'test-job', steps = { t.ParallelRunStep { name = 'test-step',\n"
    "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua', mini_batch_size = "
    "1,\n"
    "    process_count_per_node = t.PipelineParameter { name = 'workers', default_value = 1 },\n"
    "    error_threshold = 0 },\n"
    "  inputs = { t.Dataset.File.from_files('in/*'):as_named_input('files') } } } }\n";

static void put(const struct place *p, const char *name, const char *text)
{
  char *path = tm_path_join(p->dir, name);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
  free(path);
}

static char *get(const struct place *p, const char *name)
{
  char *path = tm_path_join(p->dir, name);
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_fs_read_file(tm_fs_real(), path, 1 << 20, &text, NULL);
  free(path);
  assert_true(rc >= 0);
  tm_buf_add(&text, "", 0);
  return text.data ? tm_buf_take(&text) : tm_xstrdup("");
}

static int open_place(void **state)
{
  struct place *p = TM_NEW(struct place);
  char *in;
  strcpy(p->dir, "/tmp/tidemill-cli-XXXXXX");
  assert_non_null(mkdtemp(p->dir));
  in = tm_path_join(p->dir, "in");
  assert_int_equal(mkdir(in, 0700), 0);
  free(in);
  put(p, "score.lua", score);
  put(p, "p.lua", pipeline);
  put(p, "in/a", "");
  put(p, "in/b", "");
  assert_int_equal(chdir(p->dir), 0);
  *state = p;
  return 0;
}

static int close_place(void **state)
{
  struct place *p = *state;
  assert_int_equal(chdir("/"), 0);
  assert_int_equal(tm_tree_remove(p->dir, NULL), 0);
  free(p->out);
  free(p->err);
  free(p);
  return 0;
}

/* Puts a file in place of a descriptor; returns the old one. */
static int redirect(const struct place *p, int fd, const char *name)
{
  char *path = tm_path_join(p->dir, name);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), old = dup(fd);
  assert_true(file >= 0 && old >= 0);
  dup2(file, fd);
  close(file);
  free(path);
  return old;
}

static void restore(int fd, int old)
{
  dup2(old, fd);
  close(old);
}

/* Calls the program and captures its output. Returns the exit status. */
static int call(struct place *p, const char *const *words)
{
  char *argv[16] = { "tidemill" };
  int argc = 1, out, err, status;
  for (; words[argc - 1]; argc++)
    argv[argc] = (char *)words[argc - 1];
  fflush(stdout);
  out = redirect(p, STDOUT_FILENO, "said.out");
  err = redirect(p, STDERR_FILENO, "said.err");
  status = tm_cli_main(argc, argv, tm_fs_real());
  fflush(stdout);
  restore(STDOUT_FILENO, out);
  restore(STDERR_FILENO, err);
  free(p->out);
  free(p->err);
  p->out = get(p, "said.out");
  p->err = get(p, "said.err");
  return status;
}

#define CALL(...) call(*state, (const char *const[]) { __VA_ARGS__, NULL })

static void assert_has(const char *text, const char *part)
{
  if (!strstr(text, part))
    fail_msg("'%s' is not in:\n%s", part, text);
}

static void wrong_usage_is_refused_with_the_accepted_words(void **state)
{
  struct place *p = *state;
  assert_int_equal(CALL("rnu"), 2);
  assert_has(p->err, "tidemill: unknown command 'rnu'; did you mean 'run'? There are: run, ");
  assert_int_equal(CALL("run"), 2);
  assert_has(p->err, "tidemill: a pipeline file is missing\nusage: tidemill run PIPELINE.lua");
  assert_int_equal(CALL("run", "p.lua", "q.lua"), 2);
  assert_has(p->err, "'q.lua' is too many");
  assert_int_equal(CALL("run", "p.lua", "--param", "workers"), 2);
  assert_has(p->err, "'--param workers' is not of the form NAME=VALUE");
  assert_int_equal(CALL("run", "p.lua", "--keep-failed"), 2);
  assert_has(p->err, "--keep-failed goes with --resume");
  assert_int_equal(CALL("-x"), 2);
  assert_int_equal(CALL("lua", "-x"), 2);
  assert_has(p->err, "there is no option '-x'; accepted: -e CODE, -l NAME, -i, -");
  assert_int_equal(CALL("-e"), 2);
  assert_has(p->err, "'-e' is the last word");
  assert_string_equal(p->out, "");
}

static void help_and_version_go_to_standard_output(void **state)
{
  struct place *p = *state;
  assert_int_equal(CALL("version"), 0);
  assert_has(p->out, "tidemill " TM_VERSION "\nLuaJIT 2.1");
  assert_int_equal(CALL("--help"), 0);
  assert_has(p->out, "  run        runs a pipeline\n");
  assert_null(strstr(p->out, "worker  "));
  assert_int_equal(CALL("help", "run"), 0);
  assert_has(p->out, "  --job-dir DIR ");
  assert_int_equal(CALL("run", "--help"), 0);
  assert_has(p->out, "  --job-dir DIR ");
  assert_int_equal(CALL("resume", "--help"), 0);
  assert_has(p->out, "journal has only their names.\n\n  --param NAME=VALUE ");
  assert_int_equal(CALL("help", "nonsense"), 2);
  assert_has(p->err, "there is no command, topic, parameter or function 'nonsense'");
  assert_int_equal(CALL("help", "cancel"), 0);
  for (const char *line = strstr(p->out, "\n"); line; line = strstr(line + 1, "\n"))
    assert_true(strcspn(line + 1, "\n") <= 80);
  assert_int_equal(CALL("help", "run_max_tyr"), 2);
  assert_has(p->err, "did you mean 'run_max_try'?");
  assert_int_equal(CALL("help", "run", "lua"), 2);
  assert_int_equal(CALL("help", "--completion", "fish"), 2);
  assert_has(p->err, "it is one of 'bash', 'zsh'");
  assert_int_equal(CALL("status", "--help"), 0);
  assert_has(p->out, "or 'latest'");
  put(p, "x.lua", "print(...)");
  assert_int_equal(CALL("lua", "x.lua", "--help"), 0); /* the file's argument */
  assert_string_equal(p->out, "--help\n");
}

static void help_shows_pages_of_the_manual(void **state)
{
  struct place *p = *state;
  assert_int_equal(CALL("help"), 0);
  assert_has(p->out, "\n  troubleshooting  ");
  assert_has(p->out, "\n  map --manual ");
  assert_int_equal(CALL("help", "troubleshooting"), 0);
  assert_has(p->out, "Troubleshooting: ");
  assert_null(strchr(p->out, '\033'));
  assert_int_equal(CALL("help", "map"), 0);
  assert_has(p->out, "  --output FILE");
  assert_has(p->out, "tidemill help map --manual");
  assert_int_equal(CALL("help", "map", "--manual"), 0);
  assert_has(p->out, "Map: ");
  assert_int_equal(CALL("help", "--man", "map"), 0);
  assert_has(p->out, ".TH TIDEMILL\\-MAP 7 ");
  assert_int_equal(CALL("help", "run", "--manual"), 2);
  assert_has(p->err, "the manual has no page 'run'; 'tidemill help' lists its topics");
  assert_int_equal(CALL("help", "--manual"), 2);
  assert_has(p->err, "--manual needs the name of a page");
  assert_int_equal(CALL("help", "--man", "--manual", "map"), 2);
  assert_has(p->err, "one topic at a time");
  assert_int_equal(CALL("help", "troubleshoting"), 2);
  assert_has(p->err, "did you mean 'troubleshooting'?");
}

static void parameters_are_helped_with_from_their_table(void **state)
{
  struct place *p = *state;
  assert_int_equal(CALL("help", "run-max-try"), 0);
  assert_has(p->out, "run_max_try, of ParallelRunConfig\n");
  assert_has(p->out, "accepted:   an integer from 1 on\n");
  assert_has(p->out, "default:    3\n");
  assert_has(p->out, "PipelineParameter");
  assert_has(p->out, "it may have changed");
  assert_int_equal(CALL("help", "name"), 0); /* several constructors have it */
  assert_has(p->out, "name, of ParallelRunStep\n");
  assert_has(p->out, "name, of Pipeline\n");
  assert_int_equal(CALL("help", "parameters"), 0);
  assert_has(p->out, "ParallelRunStep\n  name ");
  assert_has(p->out, "(default: 60)");
  assert_has(p->out, "(required)");
}

static void wrong_definitions_start_nothing(void **state)
{
  struct place *p = *state;
  assert_int_equal(CALL("run", "none.lua", "--job-dir", "job"), 2);
  assert_has(p->err, "none.lua': no such file or directory");
  put(p, "score.lua", "function run( end");
  assert_int_equal(CALL("run", "p.lua", "--job-dir", "job"), 2);
  assert_has(p->err, "score.lua:1: ");
  assert_int_equal(CALL("run", "p.lua", "--job-dir", "job", "--param", "wokers=2"), 2);
  assert_has(p->err, "workers");
  assert_int_equal(unlink("score.lua"), 0);
  assert_int_equal(CALL("run", "p.lua", "--job-dir", "job"), 2);
  assert_has(p->err, "score.lua");
  assert_false(tm_fs_exists(tm_fs_real(), "job"));
}

static void a_job_is_completed(void **state)
{
  struct place *p = *state;
  struct tm_json *result;
  assert_int_equal(CALL("run", "p.lua", "--job-dir=job", "--json", "--param", "workers=2"), 0);
  assert_has(p->err, "job: ");
  assert_has(p->err, "Completed: test-job");
  assert_null(strstr(p->err, "to go on"));
  result = tm_json_parse(p->out, strlen(p->out) - 1, NULL);
  assert_string_equal(tm_json_str(result, "status", ""), "Completed");
  tm_json_free(result);
  char *rows = get(p, "job/test-step/output/parallel_run_step.txt");
  assert_int_equal(strlen(rows), 4);
  assert_has(rows, "a\n");
  assert_has(rows, "b\n");
  free(rows);
  assert_int_equal(CALL("run", "p.lua", "--job-dir=job"), 2);
  assert_has(p->err, "--resume");
  assert_int_equal(CALL("run", "p.lua", "--job-dir=job", "--resume"), 0);
  assert_has(p->err, "is Completed: nothing is run");
}

static void a_failed_job_is_resumed(void **state)
{
  struct place *p = *state;
  put(p, "in/bad", "");
  assert_int_equal(CALL("run", "p.lua"), 1);
  assert_has(p->err, "Failed: test-job");
  assert_has(p->err, "1 failed");
  assert_has(p->err, "bad file");
  assert_has(p->err, "to go on: tidemill resume /");
  assert_has(p->err, "/.tidemill/jobs/test-job-");
  put(p, "score.lua", "function run(m) return m end");
  assert_int_equal(CALL("run", "p.lua", "--resume"),
                   2); /* finds the job, but the script has changed */
  assert_has(p->err, "--accept-changes");
  assert_int_equal(CALL("run", "p.lua", "--resume", "--accept-changes", "--json"), 0);
  assert_has(p->out, "\"failed\":0");
  assert_has(p->out, "/.tidemill/jobs/test-job-");
}

static void a_signal_cancels(void **state)
{
  struct place *p = *state;
  char text[256];
  snprintf(text, sizeof(text),
           "local ffi = require 'ffi' ffi.cdef 'int kill(int, int);'\n"
           "function run(m) ffi.C.kill(%d, 15) while true do end end\n",
           (int)getpid());
  put(p, "score.lua", text);
  /* the first signal lets the running mini-batch end, here by its timeout; the other mini-batch is
   * not handed out */
  put(p, "p.lua",
      "local t = require 'tidemill'\n"
      "return t.Pipeline { name = 'test-job', steps = { t.ParallelRunStep { name = 'test-step',\n"
      "  parallel_run_config = t.ParallelRunConfig { entry_script = 'score.lua', mini_batch_size = "
      "1,\n"
      "    process_count_per_node = 1, run_invocation_timeout = 0.2, run_max_try = 1 },\n"
      "  inputs = { t.Dataset.File.from_files('in/*'):as_named_input('files') } } } }\n");
  assert_int_equal(CALL("run", "p.lua", "--job-dir", "job", "--json"), 130);
  assert_has(p->err, "canceling: no more mini-batches are handed out");
  assert_has(p->err, "Canceled: test-job");
  assert_has(p->out, "\"status\":\"Canceled\"");
}

static void start(char **argv)
{
  unsetenv("TIDEMILL_WORKSPACE");
}

static int serve(int argc, char **argv)
{
  return tm_cli_main(argc, argv, tm_fs_real());
}

UNIT_HOOKS(.start = start, .serve = serve);
UNIT_TESTS({
    cmocka_unit_test_setup_teardown(wrong_usage_is_refused_with_the_accepted_words, open_place,
                                    close_place),
    cmocka_unit_test_setup_teardown(help_and_version_go_to_standard_output, open_place,
                                    close_place),
    cmocka_unit_test_setup_teardown(help_shows_pages_of_the_manual, open_place, close_place),
    cmocka_unit_test_setup_teardown(parameters_are_helped_with_from_their_table, open_place,
                                    close_place),
    cmocka_unit_test_setup_teardown(wrong_definitions_start_nothing, open_place, close_place),
    cmocka_unit_test_setup_teardown(a_job_is_completed, open_place, close_place),
    cmocka_unit_test_setup_teardown(a_failed_job_is_resumed, open_place, close_place),
    cmocka_unit_test_setup_teardown(a_signal_cancels, open_place, close_place),
});
