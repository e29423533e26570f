/* test_command_template.c - words and placeholders of command lines. */
#include "unit.h"

#include <string.h>

#include "base/buf.h"
#include "base/command_template.h"
#include "base/mem.h"

static const struct tm_template_value values[] = { { "host", "n 1;{cpus}" },
                                                   { "cpus", "" },
                                                   { "program", "/opt/tidemill" } };

static void expect_words(char **words, const char *expected)
{
  struct tm_buf all = TM_BUF_NONE;
  assert_non_null(words);
  for (size_t i = 0; words[i]; i++)
    tm_buf_printf(&all, "<%s>", words[i]);
  assert_string_equal(tm_buf_str(&all), expected);
  tm_buf_release(&all);
  tm_command_words_free(words);
}

static void words_are_split_as_a_shell_splits_them(void **state)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
    { "ssh", "<ssh>" },
    { " ssh\t -o  a=b\n", "<ssh><-o><a=b>" },
    { "a 'b c' d", "<a><b c><d>" },
    { "a'b c'd", "<ab cd>" },
    { "'a\\' '\"'", "<a\\><\">" },
    { "\"a b\" \"'\" \"\\\"\\\\\\$\\`\\n\"", "<a b><'><\"\\$`\\n>" },
    { "a\\ b \\' \\\" \\\\", "<a b><'><\"><\\>" },
    { "'' \"\" x", "<><><x>" },
    { "a\\\nb \\\n c", "<ab><c>" },
    { "\"a\\\nb\"", "<ab>" },
    { "$HOME ~ * | ; # `x` &", "<$HOME><~><*><|><;><#><`x`><&>" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    expect_words(tm_command_words_split(cases[i].text, NULL), cases[i].words);
}

static void a_quote_without_an_end_is_refused_with_its_position(void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "a 'b", "the quote ' at character 3 has no end: write \\' if it belongs to the word" },
    { "it's", "the quote ' at character 3 has no end: write \\' if it belongs to the word" },
    { "\"a\\\"", "the quote \" at character 1 has no end: write \\\" if it belongs to the word" },
    { "\"a\\", "the quote \" at character 1 has no end: write \\\" if it belongs to the word" },
    { "a\\", "the backslash at the end, character 2, quotes nothing: write \\\\" },
    { "", "the command is empty: write the program and its arguments" },
    { " \t\n", "the command is empty: write the program and its arguments" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_err err = TM_ERR_NONE, again = TM_ERR_NONE;
    assert_null(tm_command_words_split(cases[i].text, &err));
    assert_int_equal(err.code, TM_EUSAGE);
    assert_string_equal(err.text, cases[i].message);
    assert_int_equal(tm_command_template_check(cases[i].text, NULL, 0, &again), TM_EUSAGE);
    assert_string_equal(again.text, cases[i].message);
  }
}

static void expect_expanded(const char *text, const char *expected)
{
  char **words = tm_command_words_split(text, NULL);
  assert_int_equal(tm_command_template_check(text, values, TM_COUNT_OF(values), NULL), 0);
  expect_words(tm_command_words_expand(words, values, TM_COUNT_OF(values), NULL), expected);
  tm_command_words_free(words);
}

static void a_value_stays_within_its_word(void **state)
{
  expect_expanded("ssh {host} {program} node", "<ssh><n 1;{cpus}></opt/tidemill><node>");
  expect_expanded("{cpus}", "<>");
  expect_expanded("-c{cpus} x '{cpus}' ''", "<-c><x><><>");
  expect_expanded("a{cpus}b{program}c", "<ab/opt/tidemillc>");
  expect_expanded("{{host}} {{ }} {{{program}}}", "<{host}><{><}><{/opt/tidemill}>");
}

static void an_unknown_placeholder_is_refused(void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "a {hosts}", "'{hosts}' is not known; accepted: {host}, {cpus}, {program}; "
                   "write {{ and }} for braces" },
    { "{}", "'{}' is not known; accepted: {host}, {cpus}, {program}; write {{ and }} for braces" },
    { "'{ host}'", "'{ host}' is not known; accepted: {host}, {cpus}, {program}; "
                   "write {{ and }} for braces" },
    { "x{host", "'{' in 'x{host' belongs to no placeholder: write {{ for a brace" },
    { "{a{host}", "'{' in '{a{host}' belongs to no placeholder: write {{ for a brace" },
    { "x}y", "'}' in 'x}y' belongs to no placeholder: write }} for a brace" },
    { "{", "'{' in '{' belongs to no placeholder: write {{ for a brace" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_err err = TM_ERR_NONE, again = TM_ERR_NONE;
    char **words = tm_command_words_split(cases[i].text, NULL);
    assert_null(tm_command_words_expand(words, values, TM_COUNT_OF(values), &err));
    assert_int_equal(err.code, TM_EUSAGE);
    assert_string_equal(err.text, cases[i].message);
    assert_int_equal(tm_command_template_check(cases[i].text, values, TM_COUNT_OF(values), &again),
                     TM_EUSAGE);
    assert_string_equal(again.text, cases[i].message);
    tm_command_words_free(words);
  }
}

static void without_values_no_placeholder_is_accepted(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_command_template_check("a {b}", NULL, 0, &err), TM_EUSAGE);
  assert_string_equal(err.text, "'{b}' is not known; accepted: none; write {{ and }} for braces");
}

/* Time that grows with the square of a word's length would be minutes here. */
static void a_long_word_takes_a_moment(void **state)
{
  enum { LONG = 20000000 };
  char *word = tm_xmalloc(LONG + 1), *words[] = { word, NULL };
  char **got;
  memset(word, 'a', LONG);
  word[LONG] = '\0';
  got = tm_command_words_expand(words, NULL, 0, NULL);
  assert_string_equal(got[0], word);
  tm_command_words_free(got);
  free(word);
}

UNIT_TESTS({
    cmocka_unit_test(a_long_word_takes_a_moment),
    cmocka_unit_test(words_are_split_as_a_shell_splits_them),
    cmocka_unit_test(a_quote_without_an_end_is_refused_with_its_position),
    cmocka_unit_test(a_value_stays_within_its_word),
    cmocka_unit_test(an_unknown_placeholder_is_refused),
    cmocka_unit_test(without_values_no_placeholder_is_accepted),
});
