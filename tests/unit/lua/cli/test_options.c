/* test_options.c - options of a command: what is accepted, what is refused and the message. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

struct given {
  bool json;
  const char *job_dir, *progress, *report;
  struct tm_words params;
};

static const char *const modes[] = { "auto", "plain", NULL };
static const struct tm_option options[] = {
  { "json", TM_OPTION_FLAG, offsetof(struct given, json), NULL, NULL, "the result" },
  { "job-dir", TM_OPTION_VALUE, offsetof(struct given, job_dir), "DIR", NULL, "where" },
  { "progress", TM_OPTION_VALUE, offsetof(struct given, progress), "MODE", modes, "how" },
  { "report", TM_OPTION_MAYBE, offsetof(struct given, report), "FILE", NULL, "a page" },
  { "param", TM_OPTION_LIST, offsetof(struct given, params), "NAME=VALUE", NULL, "what" },
};

static int read(struct given *g, struct tm_words *rest, struct tm_err *err,
                const char *const *words)
{
  char *argv[16] = { "run" };
  int argc = 1;
  while (words[argc - 1]) {
    argv[argc] = (char *)words[argc - 1];
    argc++;
  }
  return tm_options_read(options, TM_COUNT_OF(options), argc, argv, g, rest, err);
}

#define READ(...) read(&g, &rest, &err, (const char *const[]) { __VA_ARGS__, NULL })

static void values_in_every_form(void **state)
{
  struct given g = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(READ("p.lua", "--job_dir", "a", "--json", "--param=x=1", "--progress=plain",
                        "--param", "y=-2", "-", "--", "--json=1"),
                   0);
  assert_true(g.json);
  assert_string_equal(g.job_dir, "a");
  assert_string_equal(g.progress, "plain");
  assert_int_equal(g.params.len, 2);
  assert_string_equal(g.params.at[0], "x=1");
  assert_string_equal(g.params.at[1], "y=-2");
  assert_int_equal(rest.len, 3);
  assert_string_equal(rest.at[0], "p.lua");
  assert_string_equal(rest.at[1], "-");
  assert_string_equal(rest.at[2], "--json=1");
  TM_ARRAY_RELEASE(&rest);
  TM_ARRAY_RELEASE(&g.params);
}

static void a_value_behind_an_equals_sign_only(void **state)
{
  struct given g = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf help = TM_BUF_NONE;
  assert_int_equal(READ("--report", "p.lua"), 0);
  assert_string_equal(g.report, "");
  assert_int_equal(rest.len, 1);
  assert_int_equal(READ("--report=a.html", "p.lua"), 0);
  assert_string_equal(g.report, "a.html");
  assert_int_equal(READ("--report="), TM_EUSAGE);
  tm_options_add_help(&help, options, TM_COUNT_OF(options));
  assert_non_null(strstr(help.data, "--report[=FILE]"));
  tm_buf_release(&help);
  TM_ARRAY_RELEASE(&rest);
  (void)state;
}

static void refused_with_a_message(void **state)
{
  static const struct {
    const char *words[3];
    const char *says;
  } cases[] = {
    { { "--jobdir=x" }, "unknown option '--jobdir'; did you mean '--job-dir'?" },
    { { "--quite-another" }, "accepted are --json, --job-dir, --progress, --report, --param" },
    { { "--job" }, "unknown option '--job'; did you mean '--job-dir'?" },
    { { "--job-dir" }, "option '--job-dir' needs a value: --job-dir DIR" },
    { { "--job-dir", "--a b" },
      "needs a value: --job-dir DIR; if its value is '--a b': "
      "--job-dir='--a b'" },
    { { "--job-dir", "--" }, "option '--job-dir' needs a value: --job-dir DIR" },
    { { "--job-dir", "" }, "the value of option '--job-dir' is empty; accepted: --job-dir DIR" },
    { { "--job-dir=" }, "the value of option '--job-dir' is empty" },
    { { "--json=yes" }, "option '--json' takes no value, 'yes' was given" },
    { { "--progress", "plan" },
      "'--progress plan' is not accepted; it is one of 'auto', 'plain'; did you mean 'plain'?" },
    { { "-j" }, "unknown option '-j'; options are written with two dashes" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct given g = { 0 };
    struct tm_words rest = { 0 };
    struct tm_err err = TM_ERR_NONE;
    assert_int_equal(read(&g, &rest, &err, cases[i].words), TM_EUSAGE);
    if (!strstr(err.text, cases[i].says))
      fail_msg("'%s' is not in '%s'", cases[i].says, err.text);
    TM_ARRAY_RELEASE(&rest);
  }
}

static void the_help_lists_each(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_options_add_help(&b, options, 2);
  assert_string_equal(b.data, "  --json                the result\n"
                              "  --job-dir DIR         where\n");
  tm_buf_release(&b);
}

struct letters {
  bool is_null;
  const char *size;
};

static int read_letters(struct letters *g, struct tm_words *rest, struct tm_err *err,
                        const char *const *words)
{
  static const struct tm_option table[] = {
    { "0", TM_OPTION_FLAG, offsetof(struct letters, is_null), NULL, NULL, "NUL between" },
    { "N", TM_OPTION_VALUE, offsetof(struct letters, size), "SIZE", NULL, "how many" },
    { "mini_batch_size", TM_OPTION_VALUE, offsetof(struct letters, size), "SIZE", NULL,
      "how many" },
  };
  char *argv[8] = { "map" };
  int argc = 1;
  for (; words[argc - 1]; argc++)
    argv[argc] = (char *)words[argc - 1];
  *g = (struct letters) { 0 };
  TM_ARRAY_RELEASE(rest);
  return tm_options_read(table, TM_COUNT_OF(table), argc, argv, g, rest, err);
}

#define LETTERS(...) read_letters(&g, &rest, &err, (const char *const[]) { __VA_ARGS__, NULL })

static void names_of_one_letter_are_short_options(void **state)
{
  struct letters g;
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(LETTERS("-0", "-", "-N", "5"), 0);
  assert_true(g.is_null);
  assert_string_equal(g.size, "5");
  assert_int_equal(rest.len, 1);
  assert_int_equal(LETTERS("-N7"), 0);
  assert_string_equal(g.size, "7");
  assert_int_equal(LETTERS("-N", "-1", "--", "-N", "x"), 0);
  assert_string_equal(g.size, "-1");
  assert_int_equal(rest.len, 2);
  assert_int_equal(LETTERS("--mini-batch-size", "3", "-N4"), 0);
  assert_string_equal(g.size, "4"); /* one place, so the last one counts */
  assert_int_equal(LETTERS("-N"), TM_EUSAGE);
  assert_string_equal(err.text, "option '-N' needs a value: -N SIZE");
  assert_int_equal(LETTERS("-N", "--mini-batch-size"), TM_EUSAGE);
  assert_int_equal(LETTERS("-0x"), TM_EUSAGE);
  assert_string_equal(err.text, "option '-0' takes no value, 'x' was given");
  assert_int_equal(LETTERS("-x"), TM_EUSAGE);
  assert_string_equal(err.text, "unknown option '-x'; the options with one dash are: -0, -N");
  assert_int_equal(LETTERS("--N", "5"), TM_EUSAGE);
  assert_string_equal(err.text, "unknown option '--N'; did you mean '-N'?");
  assert_int_equal(LETTERS("--k"), TM_EUSAGE);
  assert_null(strstr(err.text, "did you mean"));
  assert_int_equal(LETTERS("-I{}"), TM_EUSAGE);
  assert_string_equal(err.text,
                      "unknown option '-I'; leave it out: run(mini_batch) gets the paths, "
                      "and words after '--' go to the script");
  TM_ARRAY_RELEASE(&rest);
}

/* A message that lists dozens of options hides its answer. */
static void many_options_are_not_listed(void **state)
{
  static const char *const names[] = { "aaaa", "bbbb",       "cccc",      "dddd",   "eeee",
                                       "ffff", "gggg",       "hhhh",      "iiii",   "jjjj",
                                       "kkkk", "max-number", "max-bytes", "min-max" };
  struct tm_option many[TM_COUNT_OF(names)] = { { 0 } };
  static const char *const cases[][2] = {
    { "--quite-another", "unknown option '--quite-another'; tidemill help map lists the options" },
    { "--max_", "unknown option '--max_'; did you mean '--max-number' or '--max-bytes'?" },
    { "--number", "unknown option '--number'; did you mean '--max-number'?" },
    { "--bbxb=1", "unknown option '--bbxb'; did you mean '--bbbb'?" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    many[i] = (struct tm_option) { .name = names[i], .kind = TM_OPTION_FLAG, .help = "what" };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    char *argv[] = { "map", (char *)cases[i][0] };
    struct tm_words rest = { 0 };
    struct tm_err err = TM_ERR_NONE;
    bool flag = false;
    assert_int_equal(tm_options_read(many, TM_COUNT_OF(many), 2, argv, &flag, &rest, &err),
                     TM_EUSAGE);
    assert_string_equal(err.text, cases[i][1]);
  }
}

UNIT_TESTS({
    cmocka_unit_test(many_options_are_not_listed),
    cmocka_unit_test(values_in_every_form),
    cmocka_unit_test(a_value_behind_an_equals_sign_only),
    cmocka_unit_test(refused_with_a_message),
    cmocka_unit_test(the_help_lists_each),
    cmocka_unit_test(names_of_one_letter_are_short_options),
});
