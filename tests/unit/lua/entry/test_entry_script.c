/* test_entry_script.c - EntryScript: what it knows about its worker, and its log. */
#include "unit.h"

#include "script_fixture.h"

#include <ctype.h>
#include <unistd.h>

#include "lua/bind/state.h"
#include "lua/modules.h"

static struct fixture f;

static int setup(void **state)
{
  fixture_init(&f);
  return 0;
}

static int teardown(void **state)
{
  fixture_release(&f);
  return 0;
}

#define ENTRY "local EntryScript = require 'tidemill.entry_script'\nlocal e = EntryScript()\n"

/* The lines of the log without date, time and pid, which must be well-formed. The caller frees
 * them. */
static char *read_log(void)
{
  char *text = fixture_read(&f, "logs/0/process000.log.txt");
  struct tm_buf out = TM_BUF_NONE;
  char pid[32];
  snprintf(pid, sizeof pid, "|%d|process000|", (int)getpid());
  for (char *line = text, *end; *line != '\0'; line = end) {
    end = strchr(line, '\n');
    assert_non_null(end);
    *end++ = '\0';
    if (!isdigit((unsigned char)line[0])) {
      tm_buf_printf(&out, "%s\n", line);
      continue;
    }
    static const char form[] = "dddd-dd-dd dd:dd:dd,ddd|";
    for (size_t i = 0; form[i] != '\0'; i++)
      assert_true(form[i] == 'd' ? isdigit((unsigned char)line[i]) != 0 : line[i] == form[i]);
    char *level = line + sizeof form - 1, *message = strstr(level, pid);
    assert_non_null(message);
    tm_buf_printf(&out, "%.*s|%s\n", (int)(message - level), level, message + strlen(pid));
  }
  free(text);
  return tm_buf_take(&out);
}

static void expect_log(const char *body, const char *lines)
{
  char *source = tm_xprintf(ENTRY "function run()\n  %s\n  return {}\nend\n", body);
  assert_int_equal(fixture_load(&f, source), 0);
  expect_rows(&f, 1, "");
  char *log = read_log();
  assert_string_equal(log, lines);
  free(log);
  free(source);
}

static void it_is_the_same_object_every_time(void **state)
{
  fixture_write(&f, "other.lua", "return require 'tidemill.entry_script' ()");
  assert_int_equal(fixture_load(&f, ENTRY "function run()\n"
                                          "  return { e == EntryScript(), e == require 'other' }\n"
                                          "end\n"),
                   0);
  expect_rows(&f, 1, "true\ntrue\n");
}

static void it_names_the_worker_and_its_folders(void **state)
{
  assert_int_equal(fixture_load(&f, ENTRY
                                "function run()\n"
                                "  return { e.agent_name, e.node_id, e.output_dir, e.log_dir,\n"
                                "           e.temp_dir, e.script_dir, e.working_dir }\n"
                                "end\n"),
                   0);
  char cwd[4096];
  assert_non_null(getcwd(cwd, sizeof cwd));
  char *rows = tm_xprintf("process000\n0\n%s/output\n%s/logs/0\n%s/temp\n%s\n%s\n", f.dir, f.dir,
                          f.dir, f.dir, cwd);
  expect_rows(&f, 1, rows);
  free(rows);
}

static void it_has_what_its_settings_say_of_its_process(void **state)
{
  f.setup.cores = 3;
  f.setup.is_only_worker = true;
  f.setup.owns_process = true;
  assert_int_equal(fixture_load(&f, ENTRY "local c = require 'tidemill.entry_script_c'\n"
                                          "function run()\n"
                                          "  return { e.cores, c.is_only_worker, c.owns_process }\n"
                                          "end\n"),
                   0);
  expect_rows(&f, 1, "3\ntrue\ntrue\n");
}

static void folders_exist_when_init_is_called(void **state)
{
  assert_int_equal(fixture_load(&f, ENTRY "function init()\n"
                                          "  assert(io.open(e.output_dir .. '/a', 'w')):close()\n"
                                          "  assert(io.open(e.log_dir .. '/b', 'w')):close()\n"
                                          "end\n"
                                          "function run() return {} end\n"),
                   0);
}

static void an_unknown_property_raises(void **state)
{
  assert_int_equal(fixture_load(&f, ENTRY "function run()\n  return { e.outptu_dir }\nend\n"), 0);
  expect_failure(&f, TM_RUN_EXCEPTION,
                 "EntryScript has no 'outptu_dir'; did you mean 'output_dir'?");
  assert_string_equal(tm_buf_str(&f.error.where), "my/score.lua:4");
}

static void each_level_is_a_line(void **state)
{
  f.setup.logging_level = TM_DEBUG;
  expect_log("e.logger:debug('a') e.logger:info('b') e.logger:warning('c') e.logger:error('d')",
             "DEBUG|a\nINFO|b\nWARNING|c\nERROR|d\n");
}

static void the_level_filters(void **state)
{
  expect_log("e.logger:debug('a') e.logger:info('b')", "INFO|b\n");
}

static void warnings_are_written_at_level_warning(void **state)
{
  f.setup.logging_level = TM_WARNING;
  expect_log("e.logger:info('b') e.logger:warning('c') e.logger:error('d')",
             "WARNING|c\nERROR|d\n");
}

static void arguments_are_formatted_a_message_alone_is_not(void **state)
{
  expect_log("e.logger:info('100%% %d', 7) e.logger:info('100% %d') e.logger:info(7.5) "
             "e.logger:info(nil) e.logger:info('%d', 'x')",
             "INFO|100% 7\nINFO|100% %d\nINFO|7.5\nINFO|nil\n"
             "INFO|%d x (bad argument #2 to 'format' (number expected, got string))\n");
}

static void a_dot_for_a_colon_loses_no_message(void **state)
{
  expect_log("e.logger.info('b') e.logger.warning('%d of %s', 3, 'x')", "INFO|b\nWARNING|3 of x\n");
}

static void a_message_of_several_lines_stays_one_entry(void **state)
{
  expect_log("e.logger:info('one\\n2026-01-31 23:59:58,123|ERROR|1|x|no\\r\\nthree\\rfour\\n') "
             "e.logger:info('')",
             "INFO|one\n    2026-01-31 23:59:58,123|ERROR|1|x|no\n    three\n    four\nINFO|\n");
}

static void the_log_is_appended_to(void **state)
{
  expect_log("e.logger:info('first')", "INFO|first\n");
  expect_log("e.logger:info('second')", "INFO|first\nINFO|second\n");
}

static void a_log_that_cannot_be_written_fails_nothing(void **state)
{
  fixture_write(&f, "logs/0/process000.log.txt/in_the_way", "");
  assert_int_equal(fixture_load(&f, ENTRY "function run()\n"
                                          "  e.logger:info('lost') e.logger:info('lost too')\n"
                                          "  return { 'done' }\n"
                                          "end\n"),
                   0);
  expect_rows(&f, 1, "done\n");
}

static void outside_a_worker_it_says_so(void **state)
{
  struct tm_lua_error e = { 0 };
  static const char source[] = "local EntryScript = require 'tidemill.entry_script'\n"
                               "EntryScript()\n";
  lua_State *L = tm_lua_new(tm_lua_modules(), NULL);
  assert_non_null(L);
  assert_int_equal(tm_lua_load(L, source, strlen(source), "some.lua", &e), 0);
  assert_true(tm_lua_pcall(L, 0, 0, &e) < 0);
  assert_string_equal(tm_buf_str(&e.where), "some.lua:2");
  assert_non_null(strstr(tm_buf_str(&e.message),
                         "EntryScript() works only in an entry script that a worker runs"));
  tm_lua_error_release(&e);
  tm_lua_free(L);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(it_is_the_same_object_every_time, setup, teardown),
    cmocka_unit_test_setup_teardown(it_names_the_worker_and_its_folders, setup, teardown),
    cmocka_unit_test_setup_teardown(it_has_what_its_settings_say_of_its_process, setup, teardown),
    cmocka_unit_test_setup_teardown(folders_exist_when_init_is_called, setup, teardown),
    cmocka_unit_test_setup_teardown(an_unknown_property_raises, setup, teardown),
    cmocka_unit_test_setup_teardown(each_level_is_a_line, setup, teardown),
    cmocka_unit_test_setup_teardown(the_level_filters, setup, teardown),
    cmocka_unit_test_setup_teardown(warnings_are_written_at_level_warning, setup, teardown),
    cmocka_unit_test_setup_teardown(arguments_are_formatted_a_message_alone_is_not, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(a_dot_for_a_colon_loses_no_message, setup, teardown),
    cmocka_unit_test_setup_teardown(a_message_of_several_lines_stays_one_entry, setup, teardown),
    cmocka_unit_test_setup_teardown(the_log_is_appended_to, setup, teardown),
    cmocka_unit_test(outside_a_worker_it_says_so),
    cmocka_unit_test_setup_teardown(a_log_that_cannot_be_written_fails_nothing, setup, teardown),
});
