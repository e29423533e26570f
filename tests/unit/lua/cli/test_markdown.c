/* test_markdown.c - parses the manual's markdown into blocks and spans. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "cli/help/markdown.h"

/* The blocks of a text, one per line: "kind(level) text", with '|' between cells. */
static void describe(const char *text, struct tm_buf *out)
{
  static const char *const kinds[] = { "heading", "paragraph", "item", "code", "table" };
  struct tm_md m;
  tm_md_init(&m, text);
  while (tm_md_next(&m)) {
    tm_buf_printf(out, "%s", kinds[m.kind]);
    if (m.kind == TM_MD_HEADING)
      tm_buf_printf(out, "%d", m.level);
    for (size_t i = 0; i < m.cells.len; i++)
      tm_buf_printf(out, "%s%s", i % m.columns == 0 ? " / " : "|", m.cells.at[i]);
    tm_buf_printf(out, " %s\n", tm_buf_str(&m.text));
  }
  tm_md_release(&m);
}

#define assert_blocks(text, expected)                                                              \
  do {                                                                                             \
    struct tm_buf got_ = TM_BUF_NONE;                                                              \
    describe(text, &got_);                                                                         \
    assert_string_equal(tm_buf_str(&got_), expected);                                              \
    tm_buf_release(&got_);                                                                         \
  } while (0)

static void blocks_are_distinguished(void **state)
{
  (void)state;
  assert_blocks("", "");
  assert_blocks("\n\n  \n", "");
  assert_blocks("# A: b\n\none\ntwo\n\nthree",
                "heading1 A: b\nparagraph one two\nparagraph three\n");
  assert_blocks("one\n## Two\nthree\n", "paragraph one\nheading2 Two\nparagraph three\n");
  assert_blocks("- one\n  more\n- two\n\nend\n", "item one more\nitem two\nparagraph end\n");
}

static void code_keeps_its_lines(void **state)
{
  (void)state;
  assert_blocks("```lua\nf()\n\n  -- | # -\n```\nx\n", "code f()\n\n  -- | # -\n\nparagraph x\n");
  assert_blocks("    a\n      b\nc\n", "code a\n  b\n\nparagraph c\n");
  assert_blocks("```\nno end", "code no end\n\n");
}

static void tables_have_as_many_cells_in_each_row(void **state)
{
  (void)state;
  assert_blocks("| a | b |\n| --- | --- |\n| 1 | `x|y` |\n| 2 |\n| 3 | 4 | 5 |\nend\n",
                "table / a|b / 1|`x|y` / 2| / 3|4 \nparagraph end\n");
  assert_blocks("| | |\n| --- | --- |\n| 1 | 2 |\n", "table / | / 1|2 \n");
}

static void describe_spans(const char *text, struct tm_buf *out)
{
  static const char *const styles[] = { "plain", "literal", "bold", "link" };
  struct tm_md_span span;
  while (tm_md_span(&text, &span)) {
    tm_buf_printf(out, "%s<%.*s>", styles[span.style], (int)span.len, span.text);
    if (span.style == TM_MD_LINK)
      tm_buf_printf(out, "<%.*s>", (int)span.target_len, span.target);
  }
}

#define assert_spans(text, expected)                                                               \
  do {                                                                                             \
    struct tm_buf got_ = TM_BUF_NONE;                                                              \
    describe_spans(text, &got_);                                                                   \
    assert_string_equal(tm_buf_str(&got_), expected);                                              \
    tm_buf_release(&got_);                                                                         \
  } while (0)

static void spans_are_distinguished(void **state)
{
  (void)state;
  assert_spans("", "");
  assert_spans("plain text", "plain<plain text>");
  assert_spans("`a` b **c**", "literal<a>plain< b >bold<c>");
  assert_spans("see [jobs](jobs.md), then", "plain<see >link<jobs><jobs.md>plain<, then>");
  assert_spans("`a[1](b)`", "literal<a[1](b)>");
  assert_spans("a *mini-batch*: b", "plain<a >bold<mini-batch>plain<: b>");
}

static void marks_without_an_end_are_text(void **state)
{
  (void)state;
  assert_spans("a ` b", "plain<a ` b>");
  assert_spans("2 ** 3 [x] (y) 2 * 3 *", "plain<2 ** 3 [x] (y) 2 * 3 *>");
  assert_spans("[x] and [y](z)", "plain<[x] and >link<y><z>");
}

UNIT_TESTS({
    cmocka_unit_test(blocks_are_distinguished),
    cmocka_unit_test(code_keeps_its_lines),
    cmocka_unit_test(tables_have_as_many_cells_in_each_row),
    cmocka_unit_test(spans_are_distinguished),
    cmocka_unit_test(marks_without_an_end_are_text),
});
