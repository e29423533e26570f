/* test_html.c - nothing of a text is ever markup, whatever it holds. */
#include "unit.h"

#include "base/check.h"
#include "base/mem.h"
#include "page/html.h"

static const struct {
  const char *text, *written;
} cases[] = {
  { "", "" },
  { "plain, größe-Ελλάδα \xF0\x9F\x98\x80", "plain, größe-Ελλάδα \xF0\x9F\x98\x80" },
  { "two\nlines\tand a tab", "two\nlines\tand a tab" },
  { "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;" },
  { "<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;" },
  { "\" onclick='x' `y`", "&quot; onclick=&#39;x&#39; `y`" },
  { "a & b &amp; ]]> -->", "a &amp; b &amp;amp; ]]&gt; --&gt;" },
  { "javascript:alert(1)", "javascript:alert(1)" },
  /* control characters: visible, but for what a terminal does not show either */
  { "\x1B[31mred\x1B[0m, \x1B[2Kgone", "red, gone" },
  { "\x1B]0;title\x07 \x1B[31", "␛]0;title␇ ␛[31" },
  { "\x1B", "␛" },
  { "10%\r20%\r\nend\r", "10%␍20%\nend␍" },
  { "\x01 \x08 \x7F", "␁ ␈ ␡" },
  { "\xC2\x85\xC2\x9B"
    "31m",
    "[U+0085][U+009B]31m" },
  /* direction and lines */
  { "a\xE2\x80\xAE"
    "gpj.exe",
    "a[U+202E]gpj.exe" },
  { "\xE2\x81\xA6x\xE2\x81\xA9\xE2\x80\xAA\xE2\x80\xA8\xE2\x80\xA9",
    "[U+2066]x[U+2069][U+202A][U+2028][U+2029]" },
  { "\xD7\xA9\xE2\x80\x8F", "\xD7\xA9\xE2\x80\x8F" }, /* Hebrew, with a mark */
  /* bytes that are not UTF-8 */
  { "\xFF\xC3 \xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD" },
  { "\xC0\xBCscript\xC0\xBE", "\xEF\xBF\xBD\xEF\xBF\xBDscript\xEF\xBF\xBD\xEF\xBF\xBD" },
  { "\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
};

struct page {
  struct tm_buf out;
  struct tm_html h;
};

static void start(struct page *p)
{
  *p = (struct page) { .out = TM_BUF_NONE };
  tm_html_init(&p->h, &p->out);
}

static void expect(struct page *p, const char *written)
{
  tm_html_finish(&p->h);
  assert_string_equal(tm_buf_str(&p->out), written);
  tm_buf_release(&p->out);
}

static void text_is_escaped_everywhere(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct page p;
    start(&p);
    tm_html_void(&p.h, "i");
    tm_html_attr(&p.h, "title", cases[i].text);
    tm_html_text(&p.h, cases[i].text);
    tm_html_name(&p.h, cases[i].text);
    tm_html_textf(&p.h, "%s", cases[i].text);
    char *written = tm_xprintf("<i title=\"%s\"/>%s<bdi>%s</bdi>%s", cases[i].written,
                               cases[i].written, cases[i].written, cases[i].written);
    expect(&p, written);
    free(written);
  }
  (void)state;
}

static void a_nul_is_visible(void **state)
{
  struct page p;
  start(&p);
  tm_html_text_n(&p.h, "a\0b", 3);
  expect(&p, "a␀b");
  (void)state;
}

static void elements_attributes_and_numbers(void **state)
{
  struct page p;
  start(&p);
  tm_html_doctype(&p.h);
  tm_html_open(&p.h, "td class='num'");
  tm_html_attrf(&p.h, "id", "error-%d", 2);
  tm_html_attr(&p.h, "title", NULL);
  tm_html_void(&p.h, "br");
  tm_html_int(&p.h, 1234567);
  tm_html_put(&p.h, "b class='x'", "<");
  tm_html_close(&p.h, "td");
  expect(
      &p,
      "<!doctype html>\n<td class='num' id=\"error-2\"><br/>1,234,567<b class='x'>&lt;</b></td>");
  (void)state;
}

static void numbers_have_two_digits_at_most(void **state)
{
  static const struct {
    double n;
    const char *written;
  } numbers[] = { { 0, "0" },          { 1, "1" },        { -2.5, "-2.5" },   { 0.004, "0" },
                  { 12.346, "12.35" }, { -0.001, "0" },   { 1.0 / 0.0, "0" }, { 0.0 / 0.0, "0" },
                  { 1e300, "0" },      { 99.999, "100" }, { 0.05, "0.05" } };
  for (size_t i = 0; i < TM_COUNT_OF(numbers); i++) {
    struct page p;
    start(&p);
    tm_html_void(&p.h, "rect");
    tm_html_attr_num(&p.h, "x", numbers[i].n);
    tm_html_attr_percent(&p.h, "y", numbers[i].n);
    char *written =
        tm_xprintf("<rect x=\"%s\" y=\"%s%%\"/>", numbers[i].written, numbers[i].written);
    expect(&p, written);
    free(written);
  }
  (void)state;
}

static void a_link_has_no_scheme(void **state)
{
  static const struct {
    const char *path, *href;
  } links[] = {
    { "score/output/a b.csv", "score/output/a%20b.csv" },
    { "javascript:alert(1)", "javascript%3Aalert%281%29" },
    { "//evil.example/x", "file:////evil.example/x" },
    { "/data/ä.txt", "file:///data/%C3%A4.txt" },
    { "a?b#c%41\"", "a%3Fb%23c%2541%22" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(links); i++) {
    struct page p;
    start(&p);
    tm_html_open(&p.h, "a");
    tm_html_href_path(&p.h, links[i].path);
    tm_html_close(&p.h, "a");
    char *written = tm_xprintf("<a href=\"%s\"></a>", links[i].href);
    expect(&p, written);
    free(written);
  }
  struct page p;
  start(&p);
  tm_html_open(&p.h, "a");
  tm_html_href_idf(&p.h, "worker-%s", "x\"y");
  tm_html_close(&p.h, "a");
  expect(&p, "<a href=\"#worker-x%22y\"></a>");
  (void)state;
}

static void a_long_message_is_cut_between_characters(void **state)
{
  for (size_t before = TM_HTML_LONG - 4; before <= TM_HTML_LONG + 1; before++) {
    struct page p;
    start(&p);
    char *text = tm_xmalloc(before + 5);
    memset(text, 'a', before);
    memcpy(text + before, "\xF0\x9F\x98\x80", 5);
    bool is_cut = tm_html_long(&p.h, text);
    assert_int_equal(is_cut, before + 4 > TM_HTML_LONG);
    assert_null(strstr(tm_buf_str(&p.out), "\xEF\xBF\xBD"));
    assert_true(p.out.len <= TM_HTML_LONG + strlen("…"));
    assert_int_equal(is_cut, strstr(tm_buf_str(&p.out), "…") != NULL);
    tm_buf_release(&p.out);
    free(text);
  }
  (void)state;
}

static void nothing_in_json_ends_its_element(void **state)
{
  struct page p;
  start(&p);
  const char *json = "{\"a\":\"</script><!--<script>\"}";
  tm_html_json(&p.h, "data", json, strlen(json));
  expect(&p, "<script type='application/json' class=\"data\">"
             "{\"a\":\"\\u003c/script>\\u003c!--\\u003cscript>\"}</script>");
  start(&p);
  tm_html_style(&p.h, "n0nce", "a{}", 3);
  expect(&p, "<style nonce=\"n0nce\">a{}</style>");
  (void)state;
}

static void only_a_plain_name_is_in_the_margin(void **state)
{
  struct page p;
  start(&p);
  tm_html_print_margin(&p.h, "n", "a\"}b{");
  tm_html_print_margin(&p.h, "n", "</style>");
  tm_html_print_margin(&p.h, "n", "scans-2026_1.x");
  expect(&p, "<style nonce=\"n\">@page{@bottom-left{content:\"scans-2026_1.x\";"
             "font:8pt sans-serif;color:#55514a}}</style>");
  (void)state;
}

static jmp_buf after_fault;
static void on_fault(const char *text, bool fatal, void *data)
{
  (void)text, (void)data;
  if (fatal)
    longjmp(after_fault, 1);
}

/* Whether `act` is a fault. */
static bool fails(void (*act)(struct tm_html *h))
{
  struct page p;
  start(&p);
  tm_set_on_fault(on_fault, NULL);
  volatile bool is_fault = true;
  if (setjmp(after_fault) == 0) {
    act(&p.h);
    is_fault = false;
  }
  tm_set_on_fault(NULL, NULL);
  tm_buf_release(&p.out);
  return is_fault;
}

static void write_handler(struct tm_html *h)
{
  tm_html_open(h, "p");
  tm_html_attr(h, "onclick", "x");
}
static void write_style(struct tm_html *h)
{
  tm_html_open(h, "p");
  tm_html_attr(h, "style", "x");
}
static void write_href(struct tm_html *h)
{
  tm_html_open(h, "a");
  tm_html_attr(h, "href", "javascript:x");
}
static void write_late(struct tm_html *h)
{
  tm_html_open(h, "p");
  tm_html_text(h, "x");
  tm_html_attr(h, "title", "x");
}
static void close_another(struct tm_html *h)
{
  tm_html_open(h, "p class='x'");
  tm_html_close(h, "div");
}
static void leave_open(struct tm_html *h)
{
  tm_html_open(h, "p");
  tm_html_finish(h);
}
static void end_script(struct tm_html *h)
{
  tm_html_script(h, NULL, "'</script>'", 11);
}
static void write_well(struct tm_html *h)
{
  tm_html_open(h, "p");
  tm_html_attr(h, "title", "x");
  tm_html_close(h, "p");
  tm_html_finish(h);
}

static void what_the_writer_refuses(void **state)
{
  assert_true(fails(write_handler));
  assert_true(fails(write_style));
  assert_true(fails(write_href));
  assert_true(fails(write_late));
  assert_true(fails(close_another));
  assert_true(fails(leave_open));
  assert_true(fails(end_script));
  assert_false(fails(write_well));
  (void)state;
}

UNIT_TESTS({
    cmocka_unit_test(text_is_escaped_everywhere),
    cmocka_unit_test(a_nul_is_visible),
    cmocka_unit_test(elements_attributes_and_numbers),
    cmocka_unit_test(numbers_have_two_digits_at_most),
    cmocka_unit_test(a_link_has_no_scheme),
    cmocka_unit_test(a_long_message_is_cut_between_characters),
    cmocka_unit_test(nothing_in_json_ends_its_element),
    cmocka_unit_test(only_a_plain_name_is_in_the_margin),
    cmocka_unit_test(what_the_writer_refuses),
});
