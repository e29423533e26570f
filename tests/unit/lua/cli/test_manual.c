/* test_manual.c - the manual's pages: how they are shown, and that each can be shown. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "cli/cli.h"
#include "cli/help/cmd_help.h"
#include "cli/help/cmd_manual.h"

static const struct tm_command *const commands[] = { &tm_command_jobs, NULL };
static const struct tm_cli cli = { .commands = commands };

static char *shown(const char *text, int width, bool has_bold)
{
  const struct tm_manual_page page = { "case", text };
  const struct tm_manual_look look = { .cli = &cli, .width = width, .has_bold = has_bold };
  struct tm_buf out = TM_BUF_NONE;
  tm_manual_write(&out, &page, &look);
  return tm_buf_take(&out);
}

#define assert_shown(text, width, has_bold, expected)                                              \
  do {                                                                                             \
    char *got_ = shown(text, width, has_bold);                                                     \
    assert_string_equal(got_, expected);                                                           \
    free(got_);                                                                                    \
  } while (0)

static void text_is_wrapped_and_code_is_not(void **state)
{
  (void)state;
  assert_shown("# T: about\n\nOne two three four five six seven eight nine.\n", 40, false,
               "T: about\n\n  One two three four five six seven\n  eight nine.\n");
  assert_shown("    a line of code that is longer than the page\n", 40, false,
               "      a line of code that is longer than the page\n");
  assert_shown("x `a b` y\n", 40, false, "  x a b y\n");
  assert_shown("1234567890 1234567890 123456789 `kept in one`\n", 40, false,
               "  1234567890 1234567890 123456789\n  kept in one\n");
  assert_shown("äöüäöüäöüä äöüäöüäöüä äöüäöüäöüä äöüäö\n", 40, false,
               "  äöüäöüäöüä äöüäöüäöüä äöüäöüäöüä äöüäö\n");
  assert_shown("- one\n- two\n\nend\n", 40, false, "  - one\n  - two\n\n  end\n");
}

static void bold_is_for_terminals_alone(void **state)
{
  (void)state;
  assert_shown("## Head\n\nx `y`.\n", 40, true, "\033[1mHead\033[22m\n\n  x \033[1my\033[22m.\n");
}

static void tables_fit_the_width(void **state)
{
  (void)state;
  assert_shown("| a | b |\n| --- | --- |\n| `-N 1` | one two three four five six 7 |\n", 40, false,
               "  a     b\n  -N 1  one two three four five six 7\n");
  assert_shown("| a | b |\n| --- | --- |\n| x | one two three four five six seven eight |\n", 40,
               false, "  a  b\n  x  one two three four five six seven\n     eight\n");
  assert_shown("| a | b | c |\n| --- | --- | --- |\n| A b | 2 | |\n| 3 | 4 | 5 |\n", 40, false,
               "  A b\n      b: 2\n  3\n      b: 4\n      c: 5\n");
}

static void links_to_pages_say_how_to_read_them(void **state)
{
  (void)state;
  assert_shown("[tables](tables.md), [jobs](jobs.md), [x](../y.md)\n", 80, false,
               "  tables (tidemill help tables), jobs (tidemill help jobs --manual), x\n");
}

static void every_page_is_shown(void **state)
{
  const struct tm_manual_look look = { .cli = &cli, .width = 80 };
  size_t n = 0;
  (void)state;
  for (const struct tm_manual_page *p = tm_manual_pages; p->name; p++, n++) {
    struct tm_buf out = TM_BUF_NONE, about = TM_BUF_NONE;
    tm_manual_add_about(&about, p);
    assert_true(about.len > 10 && about.len < 64); /* fits a line of `tidemill help` */
    assert_true(n == 0 || strcmp(p[-1].name, p->name) < 0);
    assert_ptr_equal(tm_manual_find(p->name), p);
    tm_manual_write(&out, p, &look);
    assert_null(strstr(out.data, "]("));     /* a link that was not read */
    assert_null(strstr(out.data, "\n  | ")); /* also not a table */
    tm_buf_release(&out);
    tm_buf_release(&about);
  }
  assert_true(n > 10);
  assert_null(tm_manual_find("none"));
}

static void troubleshooting_explains_every_status(void **state)
{
  const char *text = tm_manual_find("troubleshooting")->text;
  (void)state;
#define XX(name) assert_non_null(strstr(text, #name));
  TM_STATUS_MAP(XX)
#undef XX
  for (size_t i = 0; tm_help_exit_status_at(i); i++) {
    char row[16];
    assert_int_equal(sscanf(tm_help_exit_status_at(i), "%7[0-9]", row + 3), 1);
    memcpy(row, "\n| ", 3);
    assert_non_null(strstr(text, row));
  }
}

static void a_man_page_is_roff(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  const struct tm_manual_page page = {
    "case", "# Case: a \\ b\n\n`-N` × 3\n.x\n\n## Two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"
            "\n| a | b | c |\n| --- | --- | --- |\n| 3 | | 4 |\n| 5 | 6 | 7 |\n\nsee "
            "[tables](tables.md)\n\n    --code\n"
  };
  (void)state;
  tm_manual_write_man(&out, &page);
  assert_non_null(strstr(out.data,
                         ".TH TIDEMILL\\-CASE 7 \"\" \"tidemill " TM_VERSION "\" \"Manual\"\n"
                         ".SH NAME\ntidemill\\-case \\- a \\e b\n.SH DESCRIPTION\n"
                         ".PP\n\\fB\\-N\\fR \\[u00D7] 3 .x\n.SH Two\n.TP\n1\n2\n"
                         ".TP\n3\nc: 4\n.TP\n5\nb: 6\n.br\nc: 7\n"));
  assert_non_null(strstr(out.data, "see tables (\\fBtidemill\\-tables\\fR(7))\n"));
  assert_non_null(strstr(out.data, ".nf\n\\-\\-code\n.fi\n"));
  assert_non_null(strstr(out.data, ".SH SEE ALSO\n\\fBtidemill\\fR(1),\n"));
  tm_buf_release(&out);
}

UNIT_TESTS({
    cmocka_unit_test(text_is_wrapped_and_code_is_not),
    cmocka_unit_test(bold_is_for_terminals_alone),
    cmocka_unit_test(tables_fit_the_width),
    cmocka_unit_test(links_to_pages_say_how_to_read_them),
    cmocka_unit_test(every_page_is_shown),
    cmocka_unit_test(troubleshooting_explains_every_status),
    cmocka_unit_test(a_man_page_is_roff),
});
